import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { changeSet, type ChangeSet, type EnvironmentChanges } from "../../../cli/changes/model/changeSet.ts";
import { fieldOf } from "../../../cli/changes/model/values.ts";
import { markdown } from "../../../cli/changes/rendering/markdown.ts";
import { environment, row, seed, set } from "../../../cli/changes/testing/made.ts";
import { Repository } from "../../../cli/changes/testing/repository.ts";
import { approve } from "../../../cli/commands/approval/approving.ts";
import type { Terminal } from "../../../engine/index.ts";
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
  report = await reported();
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

async function reported(): Promise<ChangeSet> {
  await run("report", "--format", "json", "--output", place("report.json"));
  return changeSet.parse(JSON.parse(readFileSync(place("report.json"), "utf8")));
}

/** Edits the report as an attacker on its way does, and has it approved by somebody who saw the digest of the seal in it. */
async function approved(
  edit: (dev: EnvironmentChanges) => void,
  shown = report,
  ...more: string[]
): Promise<{ status: number | null; output: string }> {
  const copy = structuredClone(shown);
  for (const one of copy.environments) edit(one);
  writeFileSync(place("edited.json"), JSON.stringify(copy));
  const { output } = await run("report", "--from", place("edited.json"), "--format", "text");
  const [, digest = "0"] = /digest: ([0-9a-f]{64})/.exec(output) ?? [];
  return run("approve", place("edited.json"), "--output", place("signed.json"), "--expect", digest, ...more);
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
async function whyRefused(): Promise<string> {
  const { folder } = repository;
  const run = { file: place("signed.json"), folder, project: folder, stack: "dev", account: undefined };
  try {
    await readApproval({ ...run, endpoint: "https://platform.example.com", environment: {}, now: Date.now() });
    return "";
  } catch (error) {
    if (error instanceof ApprovalError) return error.message;
    throw error;
  }
}

/** The same on a branch that has these files as well. */
async function refusalOf(branch: Readonly<Record<string, string>>): Promise<string> {
  repository.git("stash");
  repository.git("checkout", "--quiet", "-b", "later");
  try {
    repository.write(edit);
    repository.commit(branch);
    return await whyRefused();
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

test("code that nobody has committed is flagged, sealed, and is then what runs or nothing", async () => {
  const { folder } = repository;
  const remove = (...names: string[]): void => names.forEach((name) => rmSync(join(folder, name), { force: true }));
  const unread =
    "extra.js, lib.ts change and decide what runs: read it. Nothing here understands code: pass --code-reviewed";
  try {
    repository.write({ "extra.js": "export {};\n", "lib.ts": "import './extra.js';\n" });
    repository.write({ "node_modules/a/index.js": "\n", ".pulumi/stacks/a.js": "\n" }); // as installs and runs leave it
    const coded = await reported();
    const refused = await approved(() => undefined, coded);
    expect(refused).toEqual({ status: 2, output: expect.stringContaining(unread) as unknown });
    expect(await approved(() => undefined, coded, "--code-reviewed")).toMatchObject({ status: 0 });
    expect(await whyRefused()).toBe("");
    for (const [file, text] of [
      ["extra.js", "process.exit();\n"],
      ["second.js", "process.exit();\n"],
      [".npmrc", "registry=https://evil.example\n"],
    ] as const) {
      repository.write({ [file]: text });
      expect(await whyRefused()).toMatch(new RegExp(`what runs \\(.*${file}.*\\) is not as it was`));
      remove(file);
      if (file === "extra.js") {
        expect(await whyRefused()).toContain("is not as it was");
        repository.write({ "extra.js": "export {};\n" });
      }
    }
    // As a commit it is the same tree.
    repository.git("add", "extra.js", "lib.ts");
    repository.git("commit", "--quiet", "--message=Code");
    expect(await whyRefused()).toBe("");
    repository.git("reset", "--quiet", "HEAD~1");
  } finally {
    remove("extra.js", "second.js", ".npmrc");
    rmSync(join(folder, "node_modules"), { recursive: true });
    rmSync(join(folder, ".pulumi"), { recursive: true });
    repository.git("checkout", "--quiet", "lib.ts");
  }
});

test("nothing is sealed while a file that no reader explains is not committed", async () => {
  try {
    repository.write({ ".npmrc": "registry=https://evil.example\n" });
    const { environments } = await reported();
    expect(environments[0]?.seal).toEqual({
      why: expect.stringContaining(".npmrc changes and decides what runs") as unknown,
    });
  } finally {
    rmSync(join(repository.folder, ".npmrc"));
  }
});

/** A terminal at which somebody gives these answers, one after the other, and what is shown there. */
function sitting(answers: readonly string[]): { terminal: Terminal; shown: () => string } {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const left = [...answers];
  let text = "";
  output.on("data", (data: Buffer) => {
    text += data.toString();
    const answer = /\[yes\/no\] $/.test(data.toString()) ? left.shift() : undefined;
    if (answer !== undefined) input.write(`${answer}\n`);
  });
  const streams = [input, output].map((stream) => Object.assign(stream, { isTTY: true }));
  const [stdin, stdout] = streams as unknown as [NodeJS.ReadStream, NodeJS.WriteStream]; // no more of them is used
  return { terminal: { input: stdin, output: stdout, errors: stdout, environment: {} }, shown: () => text };
}

test("on a terminal each flag of code is a question of its own, before the one that approves", async () => {
  const before = { ...process.env };
  const forged = "a.js\n::error::b\u001b[31m\r.js";
  const codeQuestion = "lib.ts changes and decides what runs: read it. Have you read it? [yes/no] ";
  const asked = async (answers: readonly string[], codeReviewed = false): Promise<[string, boolean]> => {
    rmSync(place("signed.json"), { force: true });
    const { terminal, shown } = sitting(answers);
    const options = {
      cwd: repository.folder,
      output: place("signed.json"),
      validFor: "1h",
      stack: "dev",
      codeReviewed,
    };
    const ended = await approve(undefined, options, terminal).then(() => "signed", String);
    // Prompts of Node move the cursor by these; anything else of the kind would come from a name.
    const text = shown().replaceAll(/\u001b\[\d+[GJ]/g, "");
    expect(text).not.toMatch(/\u001b/);
    const questions = text.match(/[^\n]*\[yes\/no\] /g) ?? [];
    return [`${questions.join("|")} ${ended}`, existsSync(place("signed.json"))];
  };
  Object.assign(process.env, {
    PULUMI_HOME: place("home"),
    MICROAPPS_APPROVAL_KEY: "a key of the tests that is long enough",
  });
  try {
    repository.write({ "lib.ts": "process.exit();\n" });
    const both = `${codeQuestion}|Approve this? [yes/no] `;
    expect(await asked(["no"])).toEqual([`${codeQuestion} EngineError: not approved`, false]);
    expect(await asked(["yes", "no"])).toEqual([`${both} EngineError: not approved`, false]);
    expect(await asked(["yes", "yes"])).toEqual([`${both} signed`, true]);
    expect(await asked(["yes"], true)).toEqual(["Approve this? [yes/no]  signed", true]);
    repository.git("checkout", "--quiet", "lib.ts");
    repository.write({ [forged]: "" });
    expect((await asked(["no"]))[0]).toMatch(/^a\.js\\n::error::b.*\.js changes and decides what runs/);
    rmSync(join(repository.folder, forged));
    expect(await asked(["yes"])).toEqual(["Approve this? [yes/no]  signed", true]);
  } finally {
    process.env = before;
    rmSync(join(repository.folder, forged), { force: true });
    repository.git("checkout", "--quiet", "lib.ts");
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
