import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../platform/client/index.ts";
import type { Row } from "../../platform/contract/values.ts";
import { leftRunning } from "../harness/processes.ts";
import { Comments } from "./comments.ts";
import { environments, jobs, passphrase, PipelineStage } from "./pipelineStage.ts";
import type { JobEnd } from "./runner.ts";

let stage: PipelineStage;
/** The applied commit, a branch that breaks a rule, and the same branch mended. */
const commits = { base: "", broken: "", mended: "" };

// A run of an engine is three processes, and here are eight runs.

beforeAll(async () => {
  stage = await PipelineStage.open();
  commits.base = stage.commit("Everything");
  // GitLab's pipeline makes the three of them, each by the digest that the first job hands on.
  const plans: Record<string, string> = {};
  for (const job of ["plan", ...jobs.map((name) => `apply-${name}`)]) {
    const given = { CI_COMMIT_BEFORE_SHA: "0".repeat(40), ...plans, ...stage.own };
    const { status, log, folder } = await stage.runner.gitLab(stage.read(".gitlab-ci.yml"), job, commits.base, given);
    if (status !== 0) throw new Error(`${job}: ${log}`);
    if (job !== "plan") continue;
    const handedOn = readFileSync(join(folder, "microapps-report/plan.env"), "utf8");
    for (const [, name = "", digest = ""] of handedOn.matchAll(/^(.*?)=(.*)$/gm)) plans[name] = digest;
  }
  stage.git("checkout", "--quiet", "-b", "summer");
  editEverything();
  commits.broken = stage.commit("Dearer articles, and other things");
  stage.edit("live.eu.yaml", "maxRemovals: 0.9", "maxRemovals: 0.5");
  commits.mended = stage.commit("As the rule wants it");
});
afterAll(async () => {
  const left = await leftRunning(stage.folder);
  await stage.close();
  expect(left).toEqual([]);
});

/** A network that refuses everything, and where it writes down who tried. */
const noNetwork = (): { log: string; variables: Record<string, string> } => {
  const log = join(stage.folder, `connections-${randomUUID()}`);
  return { log, variables: { NODE_OPTIONS: `--import=${new URL("noNetwork.js", import.meta.url).href}?log=${log}` } };
};

/** Text of others stands in a report as entities. */
const decoded = (markdown: string): string =>
  markdown.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** Both jobs of a pull request; what the first one made. */
async function reported(comments: Comments, head: string): Promise<JobEnd & { text: string }> {
  const event = {
    pull_request: {
      number: 7,
      base: { sha: commits.base },
      head: { sha: head, repo: { full_name: "acme/environments" } },
    },
  };
  const github = { event, repository: "acme/environments", token: "the token of the bot" };
  const { log, variables } = noNetwork();
  const report = await stage.runner.gitHub(stage.workflow("report"), "report", { github }, variables);
  if (!report) throw new Error("the report did not run");
  expect(existsSync(log)).toBe(false);
  const post = { GITHUB_API_URL: comments.url, GITHUB_REPOSITORY: "acme/environments" };
  const posted = await stage.runner.gitHub(stage.workflow("report"), "comment", { github, needs: { report } }, post);
  expect([posted?.status, posted?.log]).toEqual([0, ""]);
  return { ...report, text: decoded(report.summary) };
}

/** Jobs of the apply workflow after a merge, one after the other until one fails; the last one's end. */
async function applied(before: string, jobs: readonly string[], plan?: JobEnd): Promise<JobEnd & { job: string }> {
  const github = { sha: commits.mended, ref: "refs/heads/main", event: { before }, event_name: "push" };
  let last: (JobEnd & { job: string }) | undefined;
  for (const job of jobs) {
    const end = await stage.runner.gitHub(stage.workflow("apply"), job, { github, needs: { plan } });
    if (!end) throw new Error(`${job} did not run`);
    last = { ...end, job };
    if (end.status !== 0) break;
  }
  if (!last) throw new Error("nothing was applied");
  return last;
}

/** Renames a team, moves a person, changes 500 rows, takes a seed out of the last one and breaks a rule there. */
function editEverything(): void {
  stage.edit("package-lock.json", "of the base", "of the branch");
  const trace = 'import { writeFileSync } from "node:fs";\nwriteFileSync(new URL("ran", import.meta.url), "");\n';
  stage.write("index.ts", `${trace}${stage.read("index.ts")}`);
  stage.edit(
    "base.yaml",
    "      crew:\n        name: Crew",
    "      pilots:\n        formerly: [crew]\n        name: Pilots",
  );
  stage.edit("base.yaml", "grace@example.com: member", "grace@example.com: member, kay@example.com: member");
  stage.edit("base.yaml", ", kay@example.com: member }\nseeds", " }\nseeds");
  const rows = stage.read("data/articles.csv").split("\n");
  const dearer = rows.map((row, at) => (at > 0 && at <= 500 ? row.replace(/,[^,]*$/, ",999") : row));
  stage.write("data/articles.csv", dearer.join("\n"));
  stage.edit("live.eu.yaml", "extends: base.yaml", "extends: base.yaml\nseeds: { samples: null }");
  stage.edit("live.eu.yaml", "maxRemovals: 0.5", "maxRemovals: 0.9");
}

/** True when the program ran in a job: that of the branch leaves a trace. */
const hasRun = (end: JobEnd): boolean => existsSync(join(end.folder, "ran"));

test("a change is reported without secrets and network, stopped by a rule, and mended", async () => {
  const comments = await Comments.start();
  const first = await reported(comments, commits.broken);
  expect(first.status).toBe(2);
  expect(first.text).toContain(
    "live.eu.yaml:8:32: organizations.acme.teams.support.roster.maxRemovals is the number 0.9; " +
      "the rule at base.yaml:4:5 says at most 0.5, because a mistake must not empty a team",
  );
  const all = "<code>lab</code>, <code>pre-live</code> and <code>live.eu</code>";
  for (const line of [
    `<code>acme/pilots</code> (was <code>acme/crew</code>) | 1 person added, 1 setting; `,
    `<code>acme/support</code> | 1 person removed | <code>lab</code> and <code>pre-live</code> |`,
    `<code>acme/support</code> | 1 person removed, 1 setting | <code>live.eu</code> |`,
    `<code>articles</code> | 500 rows changed | ${all} |`,
    "<code>samples</code> | removed; 2 rows removed | <code>live.eu</code> |",
  ])
    expect(first.text).toContain(line);
  // Settings of two teams, and 500 rows; a person of each, and a seed of two rows.
  const counts = { added: "3", changed: "1504", removed: "6", stops: "1" };
  expect(first.outputs).toMatchObject(counts);
  expect(first.text).toContain("| ~ | row | <code>A200</code> |");
  expect(comments.all.slice(1)).toEqual([expect.objectContaining({ id: 2, body: first.summary.trimEnd() })]);
  const second = await reported(comments, commits.mended);
  await comments.close();
  expect([second.status, second.text]).toEqual([0, expect.not.stringContaining("What stops it")]);
  expect(comments.all).toHaveLength(2);
  expect(comments.all[0]?.body).toContain("All is well.");
  expect(comments.all[1]?.body).toBe(second.summary.trimEnd());
  // The tool is the base's, and nothing of the branch has run.
  expect(stage.runner.installed.at(-1)).toContain("of the base");
  expect([first, second].map(hasRun)).toEqual([false, false]);
});

test("GitLab's jobs report the same, and comment with their own token", async () => {
  const comments = await Comments.start();
  const own = {
    ...{ CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main", CI_MERGE_REQUEST_IID: "7", CI_MERGE_REQUEST_PROJECT_ID: "1" },
    CI_API_V4_URL: comments.url,
  };
  const { log, variables } = noNetwork();
  const pipeline = stage.read(".gitlab-ci.yml");
  const broken = await stage.runner.gitLab(pipeline, "report", commits.broken, own, variables);
  expect([broken.status, existsSync(log), hasRun(broken)]).toEqual([2, false, false]);
  expect(decoded(broken.summary)).toContain("the rule at base.yaml:4:5 says at most 0.5");
  const outputs = readFileSync(join(broken.folder, "microapps-report/report.env"), "utf8");
  const digests = outputs.match(/^plan_(lab|pre_live)=sha256:[\da-f-]+$/gm);
  expect([outputs.split("\nplan_")[0], digests?.length]).toEqual(["added=3\nchanged=1504\nremoved=6\nstops=1", 2]);
  const token = { MICROAPPS_COMMENT_TOKEN: "the token of the bot" };
  const posted = await stage.runner.gitLab(pipeline, "comment", commits.broken, { ...own, ...token });
  const updated = await stage.runner.gitLab(pipeline, "comment", commits.broken, { ...own, ...token });
  expect([posted, updated]).toMatchObject([
    { status: 0, log: "" },
    { status: 0, log: "" },
  ]);
  await comments.close();
  expect(comments.all.slice(1)).toEqual([expect.objectContaining({ id: 2, body: broken.summary })]);
});

test("what was merged is applied in order, and an edit by hand as onConflict says", async () => {
  // Somebody edits a row of the second; then the branch is merged.
  await setPrice("pre-live", 7);
  const plan = await applied(commits.base, ["plan"]);
  expect([plan.status, decoded(plan.summary)]).toEqual([0, expect.stringContaining("500 rows changed")]);
  const done = await applied(
    commits.base,
    jobs.map((name) => `apply-${name}`),
    plan,
  );
  expect([done.job, done.status, done.log]).toEqual(["apply-live_eu", 0, expect.any(String)]);
  expect([stage.runner.installed.at(-1), hasRun(done)]).toEqual([expect.stringContaining("of the branch"), true]);
  // The same digest again, and one that somebody made up: the state is another one now.
  const again = await applied(commits.base, ["apply-lab"], plan);
  expect([again.status, again.log]).toEqual([2, expect.stringContaining("What differs: the state.")]);
  expect((await applied(commits.base, ["apply-live_eu"])).status).toBe(2);
  for (const name of environments) expect(await prices(name)).toEqual({ A009: 999, A010: 999, A501: 182.5 });
  expect(JSON.stringify(done)).not.toContain(passphrase);

  for (const name of environments) expect(await drift(name)).toMatchObject({ status: 0 });
  await stage.byHand("live.eu", async (client) => {
    const teamID = pilotsOf("live.eu");
    const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
    const kay = teamMembers.find(({ email }) => email === "kay@example.com");
    await client.updateteammember({ teamID, userID: kay?.userID ?? "", role: "admin" });
  });
  const found = await drift("live.eu");
  expect(found.status).toBe(7);
  expect(decoded(found.summary)).toContain("kay@<!-- -->example.com");

  // Whoever had opened a connection in the report's job would have been noticed.
  const { log, variables } = noNetwork();
  expect(await drift("lab", variables)).toMatchObject({ status: 4 });
  expect(readFileSync(log, "utf8")).not.toBe("");
  expect(JSON.stringify(found)).not.toContain(passphrase);
});

test("GitHub's jobs make three environments from nothing as well", async () => {
  const other = await PipelineStage.open();
  const event = { before: "0".repeat(40) };
  const github = { sha: other.commit("Everything"), ref: "refs/heads/main", event, event_name: "push" };
  let plan: JobEnd | undefined;
  for (const job of ["plan", ...jobs.map((name) => `apply-${name}`)]) {
    const end = await other.runner.gitHub(other.workflow("apply"), job, { github, needs: { plan } });
    expect([job, end?.status, end?.log]).toEqual([job, 0, expect.any(String)]);
    plan ??= end;
  }
  for (const name of environments) expect(await other.byHand(name, articles)).toHaveLength(600);
  await other.close();
});

const articles = async (client: Client): Promise<Row[]> => {
  const searchFilter = [{ skip: 0, limit: 1000 }];
  return (await client.microappdata({ microAppID: "articles", searchFilter })).microAppRows;
};

/** Somebody sets the price of an article by hand. */
const setPrice = (platform: string, price: number, code = "A010"): Promise<unknown> =>
  stage.byHand(platform, async (client) => {
    const row = (await articles(client)).find(({ Code }) => Code === code);
    await client.updatemicroapprow({ microAppID: "articles", rowID: row?._id ?? "", rowData: { Price: price } });
  });

/** Prices of three articles: the last one is none of those that change. */
const prices = (platform: string): Promise<Record<string, unknown>> =>
  stage.byHand(platform, async (client) => {
    const named = (await articles(client)).filter(({ Code }) => ["A009", "A010", "A501"].includes(String(Code)));
    return Object.fromEntries(named.map(({ Code, Price }) => [String(Code), Price]));
  });

async function drift(name: string, more: Readonly<Record<string, string>> = {}): Promise<JobEnd> {
  const github = { sha: commits.mended };
  const end = await stage.runner.gitHub(stage.workflow("drift"), `drift-${name.replace(".", "_")}`, { github }, more);
  if (!end) throw new Error("nobody looked");
  return end;
}

/** The ID of the renamed team, as the state has it. */
function pilotsOf(name: string): string {
  const state = readFileSync(join(stage.folder, `states/.pulumi/stacks/microapps-gitops/${name}.json`), "utf8");
  return /"urn": "[^"]*acme\/pilots",[^}]*?"id": "([^"]+)"/.exec(state)?.[1] ?? "";
}
