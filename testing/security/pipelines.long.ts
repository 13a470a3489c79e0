import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inOrder, type Pipelines } from "../../cli/commands/ci/pipelines.ts";
import { renderPipelines } from "../../cli/commands/ci/pipelines.ts";
import { environmentsIn } from "../../cli/report/environments.ts";
import { Runner } from "../gitops/runner.ts";

// Pipelines take their tool from the base, also where the project lies in a folder below the top, and pin what they take.

let folder: string;
let author: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-second-")));
  author = join(folder, "author");
  mkdirSync(author);
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", join(folder, "remote")]);
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", join(folder, "remote"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words], {
    cwd: author,
    encoding: "utf8",
  }).trim();

function commit(files: Readonly<Record<string, string>>): string {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(author, file)), { recursive: true });
    writeFileSync(join(author, file), text);
  }
  git("add", "--all", "--force");
  git("commit", "--quiet", "--message=Next");
  git("push", "--quiet", "origin", "HEAD");
  return git("rev-parse", "HEAD");
}

const list = 'dev: { file: dev.yaml, endpoint: "https://platform.example.com" }\n';
const pipelines = (more: Partial<Pipelines>): Pipelines => ({
  environments: inOrder(environmentsIn(list)),
  ...{
    engine: "embedded",
    folder: "env",
    branch: "main",
    command: "microapps ci",
    version: "3.260.0",
    ...more,
  },
});
const project = (at = ""): Record<string, string> => ({
  [`${at}Pulumi.yaml`]: "name: shop\nruntime: nodejs\n",
  [`${at}environments.yaml`]: list,
  [`${at}dev.yaml`]: "organizations: { acme: { name: Acme } }\n",
  [`${at}package.json`]: '{ "name": "shop" }\n',
  [`${at}package-lock.json`]: '{ "lockfileVersion": 3, "version": "of the base" }\n',
});

/** Commits into a folder what Git takes for a repository of its own, whose every commit is that of the attacker. */
function hostileFolder(at: string): Record<string, string> {
  const theirs = join(folder, "theirs");
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", theirs]);
  const lock = '{ "lockfileVersion": 3, "version": "of the branch" }\n';
  for (const place of ["", at]) {
    mkdirSync(join(theirs, place), { recursive: true });
    writeFileSync(join(theirs, place, "package-lock.json"), lock);
    writeFileSync(join(theirs, place, "package.json"), '{ "name": "evil" }\n');
  }
  const run = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=Eve", "-c", "user.email=eve@example.com", ...words], {
      cwd: theirs,
      encoding: "utf8",
    }).trim();
  run("add", "--all");
  run("commit", "--quiet", "--message=Evil");
  const evil = run("rev-parse", "HEAD");
  const files: Record<string, string> = {
    [`${at}/HEAD`]: `${evil}\n`,
    [`${at}/config`]: `[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = "touch ${folder}/ran"\n`,
    [`${at}/refs/remotes/origin/microapps-base`]: `${evil}\n`,
  };
  mkdirSync(join(author, at, "objects"), { recursive: true });
  execFileSync("cp", ["-r", join(theirs, ".git/objects/."), join(author, at, "objects")]);
  return files;
}

test("the tool of the base comes from the base, where a folder of the branch is a repository of its own", async () => {
  const base = commit(project("env/"));
  git("checkout", "--quiet", "-b", "evil");
  const head = commit(hostileFolder("env"));
  const runner = new Runner(folder, join(folder, "remote"), { "": { vars: {}, secrets: {} } });
  const event = { pull_request: { number: 7, base: { sha: base }, head: { sha: head } } };
  const report = renderPipelines("github", pipelines({}))[".github/workflows/microapps-report.yml"] ?? "";
  const ended = await runner.gitHub(report, "report", { github: { event } });
  expect(ended?.log).not.toContain("of the branch");
  const merge = { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main" };
  await runner.gitLab(renderPipelines("gitlab", pipelines({}))[".gitlab-ci.yml"] ?? "", "report", head, merge);
  expect(runner.installed).toHaveLength(2);
  for (const line of runner.installed) expect(line).toContain("of the base");
  expect(() => readFileSync(join(folder, "ran"))).toThrow("ENOENT");
});

test("each line of Git names the top of the clone, and takes no folder for a repository", () => {
  const files = {
    ...renderPipelines("github", pipelines({})),
    ...renderPipelines("gitlab", pipelines({})),
    ...renderPipelines("github", pipelines({ engine: "pulumi" })),
  };
  const lines = Object.values(files).flatMap((text) => text.split("\n").filter((line) => /\bgit\s/.test(line)));
  expect(lines.length).toBeGreaterThan(4);
  const guarded = /git -C "\$(GITHUB_WORKSPACE|CI_PROJECT_DIR)" -c safe\.bareRepository=explicit /;
  expect(
    lines.filter((line) => line.match(/\bgit\s/g)?.length !== line.match(new RegExp(guarded, "g"))?.length),
  ).toEqual([]);
});

test("a tag with the name of the branch applies nothing", async () => {
  const base = commit(project("env/"));
  const runner = new Runner(folder, join(folder, "remote"), { "": { vars: {}, secrets: {} } });
  const apply = renderPipelines("github", pipelines({}))[".github/workflows/microapps-apply.yml"] ?? "";
  const tagged = { ref_name: "main", ref: "refs/tags/main", sha: base, event: {} };
  expect(await runner.gitHub(apply, "plan", { github: tagged })).toBeUndefined();
});

/** An archive as that of the Pulumi CLI, whose program writes down how it is called. */
function standIn(runner: Runner, log: string): string {
  mkdirSync(join(folder, "pulumi"));
  const program = `#!/bin/sh\necho "$* | backend $PULUMI_BACKEND_URL" >> "${log}"\necho '{"version":3,"deployment":{}}'\n`;
  writeFileSync(join(folder, "pulumi/pulumi"), program, { mode: 0o755 });
  const archive = join(folder, "pulumi-v3.260.0-linux-x64.tar.gz");
  execFileSync("tar", ["-czf", archive, "-C", folder, "pulumi"]);
  runner.program("curl", `for word; do last="$word"; done; cp "${folder}/\${last##*/}" .`);
  return createHash("sha256").update(readFileSync(archive)).digest("hex");
}

test("with the Pulumi CLI a pipeline plans, applies and looks for drift with the archive of that digest and no other", async () => {
  const base = commit(project("env/"));
  const settings = { vars: { PULUMI_BACKEND_URL: "file:///states" }, secrets: {} };
  const runner = new Runner(folder, join(folder, "remote"), { "": settings, dev: settings, "dev-read": settings });
  const log = join(folder, "calls");
  const files = renderPipelines("github", pipelines({ engine: "pulumi", digest: standIn(runner, log) }));
  const text = (name: string): string => files[`.github/workflows/microapps-${name}.yml`] ?? "";
  const needs = { plan: { outputs: {} } };
  const context = { github: { sha: base, ref: "refs/heads/main", event: {} }, needs };
  const plan = await runner.gitHub(text("apply"), "plan", context);
  expect([plan?.status, plan?.log]).toEqual([0, expect.any(String)]);
  const applied = await runner.gitHub(text("apply"), "apply-dev", context);
  expect([applied?.status, applied?.log]).toEqual([0, expect.stringContaining("linux-x64.tar.gz: OK")]);
  await runner.gitHub(text("drift"), "drift-dev", context);
  expect(readFileSync(log, "utf8").split("\n")).toEqual([
    "up --stack dev --yes --non-interactive | backend file:///states",
    "stack export --stack dev --show-secrets | backend file:///states",
    "",
  ]);
  writeFileSync(join(folder, "pulumi-v3.260.0-linux-x64.tar.gz"), "something else");
  const refused = await runner.gitHub(text("apply"), "apply-dev", context);
  expect([refused?.status, refused?.log]).toEqual([1, expect.stringContaining("FAILED")]);
});
