import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Requests } from "../../../testing/gitops/requests.ts";
import { renderPart, type Flavour } from "./templates.ts";

const run = promisify(execFile);
const bot = "bot@example.com";
let top: string;
let requests: Requests;

beforeEach(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "microapps-offers-")));
  requests = await Requests.start();
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", join(top, "remote")]);
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", join(top, "remote"));
  commit("rows.csv", "Code,Name\nA,a\nB,b\n");
  git("push", "--quiet", "origin", "main");
});
afterEach(async () => {
  await requests.close();
  rmSync(top, { recursive: true });
});

const clone = (): string => join(top, "clone");
function git(...words: string[]): string {
  mkdirSync(clone(), { recursive: true });
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...who, ...words], { cwd: clone(), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
function commit(file: string, text: string): void {
  writeFileSync(join(clone(), file), text);
  git("add", file);
  git("commit", "--quiet", "--message", "more");
}

/** A night: the job that pulls hands on what it wrote, and the one behind it offers it. */
async function night(name: string, rows: string | undefined, status = 0, system: Flavour = "github"): Promise<string> {
  const offer = join(top, "offer");
  mkdirSync(offer, { recursive: true });
  if (rows !== undefined) writeFileSync(join(clone(), "rows.csv"), rows);
  writeFileSync(join(offer, "patch"), git("diff", "--binary"));
  writeFileSync(join(offer, "page"), "~ seed rows A: ``` in a value\n");
  writeFileSync(join(offer, "status"), `${status}\n`);
  git("reset", "--quiet", "--hard", "main");
  const address = requests.url;
  const lines = renderPart(system, "pushPatch", { offer: "$OFFER", root: "$CLONE" });
  const { stdout } = await run("bash", ["-eo", "pipefail", "-c", lines.join("\n")], {
    env: {
      ...process.env,
      ...{ OFFER: offer, CLONE: clone(), NAME: name, TITLE: "Take changes", BASE: "main", BOT: "bot", BOT_EMAIL: bot },
      ...{ GITHUB_API_URL: address, GITHUB_REPOSITORY: "acme/rows", GITHUB_TOKEN: "t" },
      ...{ CI_API_V4_URL: address, CI_PROJECT_ID: "1", MICROAPPS_PULL_TOKEN: "t" },
    },
  });
  git("reset", "--quiet", "--hard", "main");
  return stdout;
}
const branch = (name: string): string =>
  execFileSync("git", ["log", "--format=%ae", `main..microapps/${name}`], {
    cwd: join(top, "remote"),
    encoding: "utf8",
  });
const rowsOn = (name: string): string =>
  execFileSync("git", ["show", `microapps/${name}:rows.csv`], { cwd: join(top, "remote"), encoding: "utf8" });

test.each([
  ["GitHub", "github"],
  ["GitLab", "gitlab"],
] as const)(
  "%s: one request an environment, kept by new commits, closed without drift, and no other's",
  async (_, system) => {
    await night("pull-dev", "Code,Name\nA,by hand\nB,b\n", 0, system);
    await night("pull-prod", "Code,Name\nA,a\nB,prod\n", 0, system);
    expect(requests.open).toEqual(["microapps/pull-dev", "microapps/pull-prod"]);
    expect(requests.all[0]?.body).toContain("````text\n~ seed rows A: ``` in a value\n");
    // The same once more is no commit; another value is one on top; what main gets in between is merged.
    await night("pull-dev", "Code,Name\nA,by hand\nB,b\n", 0, system);
    expect(branch("pull-dev")).toBe(`${bot}\n`);
    commit("other.txt", "main went on\n");
    git("push", "--quiet", "origin", "main");
    await night("pull-dev", "Code,Name\nA,again\nB,b\n", 0, system);
    expect([branch("pull-dev"), rowsOn("pull-dev")]).toEqual([`${bot}\n${bot}\n`, "Code,Name\nA,again\nB,b\n"]);
    // The request stays open where something can't be taken: there is drift.
    await night("pull-dev", undefined, 2, system);
    expect(requests.open).toHaveLength(2);
    await night("pull-dev", undefined, 0, system);
    expect(requests.open).toEqual(["microapps/pull-prod"]);
    await night("pull-dev", "Code,Name\nA,third\nB,b\n", 0, system);
    expect(requests.open).toEqual(["microapps/pull-prod", "microapps/pull-dev"]);
  },
);

test("a branch with somebody's commit is left as it is", async () => {
  await night("pull-dev", "Code,Name\nA,by hand\nB,b\n");
  git("fetch", "--quiet", "origin", "microapps/pull-dev");
  git("checkout", "--quiet", "--detach", "FETCH_HEAD");
  commit("rows.csv", "Code,Name\nA,corrected\nB,b\n");
  git("push", "--quiet", "origin", "HEAD:refs/heads/microapps/pull-dev");
  git("checkout", "--quiet", "main");
  expect(await night("pull-dev", "Code,Name\nA,later\nB,b\n")).toContain("has commits of somebody else");
  expect(rowsOn("pull-dev")).toBe("Code,Name\nA,corrected\nB,b\n");
});
