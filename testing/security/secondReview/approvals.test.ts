import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changeSet, type ChangeSet, type EnvironmentChanges } from "../../../cli/changes/model/changeSet.ts";
import { fieldOf } from "../../../cli/changes/model/values.ts";
import { markdown } from "../../../cli/changes/rendering/markdown.ts";
import { environment, row, seed, set } from "../../../cli/changes/testing/made.ts";
import { Repository } from "../../../cli/changes/testing/repository.ts";
import { readApproval } from "../../../provider/approval/approved.ts";
import { digestOf } from "../../../provider/approval/canonical.ts";
import { ApprovalError } from "../../../provider/approval/signature.ts";
import { runCommand } from "../../harness/commands.ts";
import { environmentOf } from "../../harness/project.ts";

// `approve` signed a report that nobody was shown.

const files = {
  "environments.yaml": 'dev: { file: dev.yaml, endpoint: "https://platform.example.com" }\n',
  "dev.yaml": "organizations: { acme: { name: Acme } }\n",
  "index.js": "import './lib.ts';\n",
  "lib.ts": "export {};\n",
  "package-lock.json": '{ "lockfileVersion": 3, "packages": {} }\n',
};
const edit = { "dev.yaml": "organizations: { acme: { name: Evil } }\n" };
let repository: Repository;
let outside: string;
let report: ChangeSet;
beforeAll(async () => {
  repository = new Repository(files);
  outside = realpathSync(mkdtempSync(join(tmpdir(), "microapps-approvals-")));
  repository.write(edit);
  await run("report", "--format", "json", "--output", place("report.json"));
  report = changeSet.parse(JSON.parse(readFileSync(place("report.json"), "utf8")));
});
afterAll(() => {
  repository.remove();
  rmSync(outside, { recursive: true });
});

const place = (file: string): string => join(outside, file);
const run = (...words: string[]) =>
  runCommand({
    words,
    folder: repository.folder,
    environment: environmentOf({
      NO_COLOR: "1",
      PULUMI_HOME: place("home"),
      XDG_STATE_HOME: place("state"),
      MICROAPPS_APPROVAL_KEY: "a key of the tests that is long enough",
    }),
  });

/** Edits the report as an attacker on its way does, and has it approved by somebody who saw the digest of the seal in it. */
async function approved(edit: (dev: EnvironmentChanges) => void): Promise<{ status: number | null; output: string }> {
  const copy = structuredClone(report);
  for (const one of copy.environments) edit(one);
  writeFileSync(place("edited.json"), JSON.stringify(copy));
  const { output } = await run("report", "--from", place("edited.json"), "--format", "text");
  const [, digest = "0"] = /digest: ([0-9a-f]{64})/.exec(output) ?? [];
  return run("approve", place("edited.json"), "--output", place("signed.json"), "--expect", digest);
}

test("a report whose shown part was emptied is not signed", async () => {
  const ended = await approved((dev) => void dev.change.things.splice(0));
  expect(ended).toEqual({ status: 2, output: expect.stringContaining("dev (change)") as unknown });
});

test("a report whose seal excepts everything is not signed", async () => {
  const ended = await approved(({ seal }) => {
    if (!seal || "why" in seal) throw new Error("there is no seal");
    for (const one of Object.values(seal.resources)) one.except = ["name", "description"];
  });
  expect(ended).toEqual({ status: 2, output: expect.stringContaining("dev (seal)") as unknown });
});

test("the report as it was made is signed", async () => {
  expect(await approved(() => undefined)).toMatchObject({ status: 0 });
  expect(changeSet.parse(JSON.parse(readFileSync(place("signed.json"), "utf8"))).approval).toBeDefined();
});

/** Why no run is held against the signed report in this tree; empty where one is. */
async function refusalOf(branch: Readonly<Record<string, string>>): Promise<string> {
  const { folder } = repository;
  repository.git("stash");
  repository.git("checkout", "--quiet", "-b", "later");
  try {
    repository.write(edit);
    repository.commit(branch);
    const run = { file: place("signed.json"), folder, project: folder, stack: "dev", account: undefined };
    await readApproval({ ...run, endpoint: "https://platform.example.com", environment: {}, now: Date.now() });
    return "";
  } catch (error) {
    if (error instanceof ApprovalError) return error.message;
    throw error;
  } finally {
    repository.git("checkout", "--quiet", "main");
    repository.git("branch", "-D", "later");
    repository.git("stash", "pop");
  }
}

test.each<[string, Record<string, string>, string]>([
  ["the program", { "index.js": "import 'node:fs';\n" }, "what runs (index.js)"],
  ["a file that comes before the one that was read", { "lib.js": "process.exit();\n" }, "what runs (lib.js)"],
  ["what is installed", { "package-lock.json": '{ "lockfileVersion": 3 }\n' }, "what runs (package-lock.json)"],
  ["where packages come from", { ".npmrc": "registry=https://evil.example\n" }, "what runs (.npmrc)"],
  ["a package among the code", { "node_modules/a/index.js": "\n" }, "what runs (node_modules/a/index.js)"],
])("code that changes after approval is refused: %s", async (_, branch, reason) => {
  await approved(() => undefined);
  expect(await refusalOf({})).toBe("");
  expect(await refusalOf({ "notes.txt": "data\n", "sub/.github/workflows/a.yml": "\n" })).toBe("");
  expect(await refusalOf(branch)).toContain(`${reason} is not as it was when this was approved`);
});

test("a run that can't know which code a branch added is refused", async () => {
  await approved(() => undefined);
  const folder = place("copied");
  cpSync(repository.folder, folder, { recursive: true, filter: (path) => !path.endsWith("/.git") });
  const run = { file: place("signed.json"), folder, project: folder, stack: "dev", account: undefined };
  const endpoint = "https://platform.example.com";
  await expect(readApproval({ ...run, endpoint, environment: {}, now: Date.now() })).rejects.toThrow("in a clone");
});

test("code that changes with what is declared is approved by who says that people read it", async () => {
  repository.git("stash");
  repository.git("checkout", "--quiet", "-b", "coded");
  try {
    repository.commit({ ...edit, "lib.ts": "process.exit();\n" });
    await run("report", "--base", "main", "--format", "json", "--output", place("coded.json"));
    const { output } = await run("report", "--from", place("coded.json"), "--format", "text");
    const [, digest = ""] = /digest: ([0-9a-f]{64})/.exec(output) ?? [];
    const words = ["approve", place("coded.json"), "--output", place("signed.json"), "--expect", digest];
    const refused =
      "lib.ts changes and decides what runs: read it. Nothing here understands code: pass --code-reviewed";
    expect(await run(...words)).toEqual({ status: 2, output: expect.stringContaining(refused) as unknown });
    expect(await run(...words, "--code-reviewed")).toMatchObject({ status: 0 });
  } finally {
    repository.git("checkout", "--quiet", "main");
    repository.git("branch", "-D", "coded");
    repository.git("stash", "pop");
  }
});

const decoded = (text: string): string =>
  text.replaceAll("<!-- -->", "").replaceAll(/&#(\d+);/g, (_, number) => String.fromCodePoint(Number(number)));

test("four added environments push no other endpoint out of a comment", () => {
  const flagged = (name: string, count: number): EnvironmentChanges =>
    environment([], { name, flags: Array.from({ length: count }, (_, at) => ({ text: `${name} flag ${at}` })) });
  const added = ["w", "x", "y", "z"].map((name) => flagged(name, 60));
  const prod = environment([], { name: "prod", flags: [{ text: "endpoint changes to https://evil.example" }] });
  expect(decoded(markdown(set([...added, prod])))).toContain("endpoint changes to https://evil.example");
});

test("two values that differ behind ninety letters are shown as two", () => {
  const change = { ...row("A"), fields: [fieldOf("Name", `${"a".repeat(90)}good`, `${"a".repeat(90)}EVIL`)] };
  const comment = decoded(markdown(set([environment([seed([change])])])));
  expect([comment.includes("good"), comment.includes("EVIL")]).toEqual([true, true]);
});

test("null and nothing have two digests", () => {
  expect(digestOf({ description: null })).not.toBe(digestOf({}));
});
