import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import type { Row } from "../../provider/contract/values.ts";
import { runCommand } from "../harness/commands.ts";
import { leftRunning } from "../harness/processes.ts";
import { freshFolder, repository } from "../harness/project.ts";
import { Comments } from "./comments.ts";
import { Runner, type JobEnd } from "./runner.ts";

const environments = ["dev", "staging", "prod"] as const;
const account = { email: "admin@example.com", password: "admin" };
const passphrase = "the passphrase of the stacks";

let folder: string;
/** The clone of the person who writes the branch. */
let author: string;
let runner: Runner;
let comments: Comments;
const platforms = new Map<string, Emulator>();

beforeAll(async () => {
  folder = await freshFolder();
  author = join(folder, "author");
  const remote = join(folder, "remote.git");
  const example = join(repository, "examples/gitops");
  cpSync(example, author, {
    recursive: true,
    filter: (path) => !/^\.(github|gitlab.*|microapps|pulumi)$/.test(basename(path)),
  });
  for (const name of environments) {
    const data = join(folder, `${name}.db`);
    platforms.set(name, await createEmulator({ data, seed: join(author, "platform.yaml") }));
  }
  const lines = environments.map((name, at) => {
    const after = at === 0 ? "" : `, after: ${environments[at - 1] ?? ""}`;
    return `${name}: { file: ${name}.yaml, endpoint: ${platformOf(name).url}${after} }\n`;
  });
  write("environments.yaml", lines.join(""));
  write(".gitignore", "node_modules\n.microapps\n.pulumi\n");
  write("package-lock.json", '{ "lockfileVersion": 3, "version": "of the base" }\n');
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", remote]);
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", remote);
  const backend = join(folder, "states");
  mkdirSync(backend);
  const own = { PULUMI_BACKEND_URL: `file://${backend}` };
  for (const name of environments)
    await command(["stack", "init", name], { ...own, PULUMI_CONFIG_PASSPHRASE: passphrase });
  for (const system of ["github", "gitlab"]) await command(["ci", system, "--engine", "embedded"]);
  commit("Everything");
  comments = await Comments.start();
  const secrets = { MICROAPPS_PASSWORD: account.password, PULUMI_CONFIG_PASSPHRASE: passphrase };
  const protectedOnes = environments.flatMap((name) => [name, `${name}-read`]);
  const vars = { ...own, MICROAPPS_EMAIL: account.email };
  runner = new Runner(folder, remote, {
    "": { vars: own, secrets: {} },
    ...Object.fromEntries(protectedOnes.map((name) => [name, { vars, secrets }])),
  });
});
afterAll(async () => {
  const left = await leftRunning(folder);
  await comments.close();
  for (const platform of platforms.values()) await platform.close();
  await rm(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
});

function platformOf(name: string): Emulator {
  const found = platforms.get(name);
  if (!found) throw new Error(name);
  return found;
}

const git = (...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words], {
    cwd: author,
    encoding: "utf8",
  }).trim();

/** Commits everything, pushes the branch and tells the commit. */
function commit(message: string): string {
  git("add", "--all");
  git("commit", "--quiet", `--message=${message}`);
  git("push", "--quiet", "origin", "HEAD");
  return git("rev-parse", "HEAD");
}

const read = (file: string): string => readFileSync(join(author, file), "utf8");
const write = (file: string, text: string): void => writeFileSync(join(author, file), text);

function edit(file: string, piece: string, instead: string): void {
  const text = read(file);
  if (text.split(piece).length !== 2) throw new Error(`"${piece}" is not in ${file} exactly once`);
  write(
    file,
    text.replace(piece, () => instead),
  );
}

async function command(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const own = { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1", ...environment };
  const { status, output } = await runCommand({ words, folder: author, environment: own });
  if (status !== 0) throw new Error(output);
  return output;
}

/** Somebody changes a platform by hand. */
async function byHand<Answer>(name: string, work: (client: Client) => Promise<Answer>): Promise<Answer> {
  const client = createClient({ endpoint: platformOf(name).url, ...account });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const workflow = (name: string): string => read(`.github/workflows/microapps-${name}.yml`);

/** A network that refuses everything, and where it writes down who tried. */
const noNetwork = (): { log: string; variables: Record<string, string> } => {
  const log = join(folder, "connections");
  return { log, variables: { NODE_OPTIONS: `--import=${new URL("noNetwork.js", import.meta.url).href}?log=${log}` } };
};

/** Text of others stands in a report as entities. */
const decoded = (markdown: string): string =>
  markdown.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** Both jobs of a pull request; what the first one made. */
async function reported(base: string, head: string): Promise<JobEnd & { text: string }> {
  const event = {
    pull_request: { number: 7, base: { sha: base }, head: { sha: head, repo: { full_name: "acme/environments" } } },
  };
  const github = { event, repository: "acme/environments", token: "the token of the bot" };
  const { log, variables } = noNetwork();
  const report = await runner.gitHub(workflow("report"), "report", { github }, variables);
  if (!report) throw new Error("the report did not run");
  expect(existsSync(log) ? readFileSync(log, "utf8") : "").toBe("");
  const post = { GITHUB_API_URL: comments.url, GITHUB_REPOSITORY: "acme/environments" };
  const posted = await runner.gitHub(workflow("report"), "comment", { github, needs: { report } }, post);
  expect([posted?.status, posted?.log]).toEqual([0, ""]);
  return { ...report, text: decoded(report.summary) };
}

/** Jobs of the apply workflow after a merge, one after the other until one fails; the last one's end. */
async function applied(before: string, after: string, jobs: readonly string[]): Promise<JobEnd & { job: string }> {
  const github = { sha: after, ref_name: "main", event: before === "" ? {} : { before } };
  let last: (JobEnd & { job: string }) | undefined;
  for (const job of jobs) {
    const end = await runner.gitHub(workflow("apply"), job, { github });
    if (!end) throw new Error(`${job} did not run`);
    last = { ...end, job };
    if (end.status !== 0) break;
  }
  if (!last) throw new Error("nothing was applied");
  return last;
}

test("the pipelines of GitLab make three environments", async () => {
  const pipeline = read(".gitlab-ci.yml");
  const head = git("rev-parse", "HEAD");
  const own = { CI_COMMIT_BEFORE_SHA: "0".repeat(40), PULUMI_BACKEND_URL: `file://${join(folder, "states")}` };
  for (const job of ["plan", ...environments.map((name) => `apply-${name}`)]) {
    const { status, log } = await runner.gitLab(pipeline, job, head, own);
    expect([job, status, log]).toEqual([job, 0, expect.anything()]);
  }
});

test("a change is reported without secrets and network, stopped, mended, approved, applied in order, and watched", async () => {
  const base = git("rev-parse", "HEAD");
  git("checkout", "--quiet", "-b", "summer");
  edit("package-lock.json", "of the base", "of the branch");
  const traces = join(folder, "the program ran");
  write("index.ts", `import { writeFileSync } from "node:fs";\nwriteFileSync("${traces}", "");\n${read("index.ts")}`);
  edit("base.yaml", "      crew:\n        name: Crew", "      pilots:\n        formerly: [crew]\n        name: Pilots");
  edit("base.yaml", "grace@example.com: member", "grace@example.com: member, kay@example.com: member");
  edit("base.yaml", ", kay@example.com: member }\nseeds", " }\nseeds");
  edit(
    "base.yaml",
    "removals: declared",
    "removed:\n  members: { acme/support: [kay@example.com] }\nremovals: declared",
  );
  const rows = read("data/articles.csv").split("\n");
  const dearer = rows.map((row, at) => (at > 0 && at <= 500 ? row.replace(/,[^,]*$/, ",999") : row));
  write("data/articles.csv", dearer.join("\n"));
  edit(
    "prod.yaml",
    "extends: base.yaml",
    "extends: base.yaml\nremoved: { seeds: [samples] }\nseeds: { samples: null }",
  );
  edit("prod.yaml", "maxRemovals: 0.5", "maxRemovals: 0.9");
  const first = await reported(base, commit("Dearer articles, and other things"));
  expect(first.status).toBe(2);
  expect(first.text).toContain(
    "prod.yaml:9:32: organizations.acme.teams.support.roster.maxRemovals is the number 0.9; " +
      "the rule at base.yaml:7:5 says at most 0.5, because a mistake must not empty a team",
  );
  for (const name of environments) {
    const [, chapter = ""] = first.text.split(`\n### <code>${name}</code>\n`);
    const [shown] = chapter.split(/\n(?:### |<details>)/);
    expect(shown).toContain(
      "<code>acme/pilots</code> (was <code>acme/crew</code>) | changed; 1 person added, 1 setting",
    );
    expect(shown).toContain("<code>acme/support</code> | changed; 1 person removed");
    expect(shown).toContain("<code>articles</code> | changed; 500 rows changed");
    if (name === "prod") expect(shown).toContain("<code>samples</code> | removed");
  }
  expect(first.text).toContain("| ~ | row | <code>A200</code> |");
  expect(comments.all.slice(1)).toEqual([expect.objectContaining({ id: 2, body: first.summary.trimEnd() })]);
  edit("prod.yaml", "maxRemovals: 0.9", "maxRemovals: 0.5");
  const head = commit("As the rule wants it");
  const second = await reported(base, head);
  expect([second.status, second.text]).toEqual([0, expect.not.stringContaining("What stops it")]);
  expect(comments.all).toHaveLength(2);
  expect(comments.all[0]?.body).toContain("All is well.");
  expect(comments.all[1]?.body).toBe(second.summary.trimEnd());
  // The tool is the base's, and nothing of the branch has run.
  expect(runner.installed.at(-1)).toContain("of the base");
  expect(existsSync(traces)).toBe(false);

  // Meanwhile somebody edits a row of staging; then the branch is merged.
  await setPrice("staging", 7);
  git("checkout", "--quiet", "main");
  git("merge", "--quiet", "--ff-only", "summer");
  git("push", "--quiet", "origin", "main");
  const stopped = await applied(base, head, ["plan", "apply-dev", "apply-staging", "apply-prod"]);
  expect(stopped.job).toBe("apply-staging");
  expect([runner.installed.at(-1), existsSync(traces)]).toEqual([expect.stringContaining("of the branch"), true]);
  expect(stopped.status).toBe(1);
  expect(stopped.log).toContain(
    "1 rows of table articles are not as they were when this was approved, and were left alone",
  );
  expect(await prices("dev")).toEqual({ A009: 999, A010: 999, A501: 182.5 });
  expect(await prices("staging")).toEqual({ A009: 999, A010: 7, A501: 182.5 });
  expect(await prices("prod")).toEqual({ A009: 158.5, A010: 15, A501: 182.5 });

  // Somebody takes the edit back, and has the plan of what is there now approved.
  await setPrice("staging", 15);
  const done = await applied("", head, ["plan", "apply-dev", "apply-staging", "apply-prod"]);
  expect([done.job, done.status]).toEqual(["apply-prod", 0]);
  for (const name of environments) expect(await prices(name)).toEqual({ A009: 999, A010: 999, A501: 182.5 });

  for (const name of environments) expect(await drift(name)).toMatchObject({ status: 0 });
  await byHand("prod", async (client) => {
    const teamID = pilotsOf("prod");
    const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
    const kay = teamMembers.find(({ email }) => email === "kay@example.com");
    await client.updateteammember({ teamID, userID: kay?.userID ?? "", role: "admin" });
  });
  const found = await drift("prod");
  expect(found.status).toBe(7);
  expect(decoded(found.summary)).toContain("kay@<!-- -->example.com");

  // Whoever had opened a connection in the report's job would have been noticed.
  const { log, variables } = noNetwork();
  expect(await drift("dev", variables)).toMatchObject({ status: 4 });
  expect(readFileSync(log, "utf8")).not.toBe("");
  const ends = [first, second, stopped, done, found];
  expect(
    ends.filter((end) => [passphrase, "the token of the bot"].some((one) => JSON.stringify(end).includes(one))),
  ).toEqual([]);
});

const articles = async (client: Client): Promise<Row[]> => {
  const searchFilter = [{ skip: 0, limit: 1000 }];
  return (await client.microappdata({ microAppID: "articles", searchFilter })).microAppRows;
};

/** Somebody sets the price of an article by hand. */
const setPrice = (platform: string, price: number): Promise<unknown> =>
  byHand(platform, async (client) => {
    const row = (await articles(client)).find(({ Code }) => Code === "A010");
    await client.updatemicroapprow({ microAppID: "articles", rowID: row?._id ?? "", rowData: { Price: price } });
  });

/** Prices of three articles: the last one is none of those that change. */
const prices = (platform: string): Promise<Record<string, unknown>> =>
  byHand(platform, async (client) => {
    const named = (await articles(client)).filter(({ Code }) => ["A009", "A010", "A501"].includes(String(Code)));
    return Object.fromEntries(named.map(({ Code, Price }) => [String(Code), Price]));
  });

async function drift(name: string, more: Readonly<Record<string, string>> = {}): Promise<JobEnd> {
  const github = { sha: git("rev-parse", "main") };
  const end = await runner.gitHub(workflow("drift"), `drift-${name}`, { github }, more);
  if (!end) throw new Error("nobody looked");
  return end;
}

/** The ID of the renamed team, as the state has it. */
function pilotsOf(name: string): string {
  const state = readFileSync(join(folder, `states/.pulumi/stacks/microapps-gitops/${name}.json`), "utf8");
  return /"urn": "[^"]*acme\/pilots",[^}]*?"id": "([^"]+)"/.exec(state)?.[1] ?? "";
}
