import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentsIn } from "../../../cli/changes/base/environments.ts";
import { parseAccepted } from "../../../cli/changes/drift/accepted.ts";
import { Repository } from "../../../cli/changes/testing/repository.ts";
import { parseCheckpoint } from "../../../engine/state/checkpoint.ts";
import { BoundError, checkJsonBounds } from "../../../machine/settings/bounds.ts";
import { readSettings } from "../../../machine/settings/strict.ts";
import { parseReply } from "../../../provider/client/http/answers.ts";
import { LateError, until } from "../../../provider/files/deadline.ts";
import { parse, type Problem } from "../../../provider/layers/document.ts";
import { readProfile } from "../../../provider/layers/profileFile.ts";
import { read } from "../../../provider/sources/read.ts";
import { partOf } from "../../harness/drawn.ts";

// "93 KB that become 2.1 GB": each row of the table of limits in docs/limits.md, with a file that only its author wants.

let folder: string;
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-bounds-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const million = 1_000_000;
const deep = "[".repeat(million);
const many = `[${"1,".repeat(million / 4)}1]`;
/** Shapes that a parser of YAML takes long for. */
const heavy: [string, string][] = [
  ["brackets", deep],
  ["braces", "{a: ".repeat(250_000)],
  ["compact lists", "- ".repeat(500_000)],
  ["explicit keys", "? ".repeat(500_000)],
  ["steps to the right", Array.from({ length: 1_500 }, (_, at) => `${" ".repeat(at)}a:\n`).join("")],
  ["values", many],
  ["empty items", "-\n".repeat(million / 4)],
];

const beyond = /more than (100 levels|100000 values|250000 values)|too many values on one line/;
const reasonOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return "";
  } catch (error) {
    return String(error);
  }
};

test.each(partOf(heavy, 0))("a project or stack file of %s is refused before it is parsed", async (_, text) => {
  expect(await reasonOf(() => readSettings(`config:\n  shop:k: x\nother: ${text}`))).toMatch(/SettingsError/);
  expect(await reasonOf(() => readSettings(text))).toMatch(beyond);
});

test.each(partOf(heavy, 1))("an Environment file, environments.yaml and drift.yaml of %s are", async (_, text) => {
  const problems: Problem[] = [];
  expect(parse(text, "dev.yaml", (problem) => problems.push(problem))).toBeUndefined();
  expect(problems.map(({ message }) => message).join()).toMatch(beyond);
  expect(
    environmentsIn(text)
      .problems.map((each) => each.text)
      .join(),
  ).toMatch(beyond);
  expect(await reasonOf(() => parseAccepted(text, 0))).toMatch(beyond);
});

test.each(partOf(heavy, 2))("a profile of %s is", async (_, text) => {
  writeFileSync(join(folder, "profile.yaml"), text);
  expect(await reasonOf(() => readProfile("profile.yaml", folder))).toMatch(beyond);
});

test("a profile has 4 MB at most", async () => {
  const text = `# ${"x".repeat(5 * 2 ** 20)}\n`;
  writeFileSync(join(folder, "large.yaml"), text);
  expect(await reasonOf(() => readProfile("large.yaml", folder))).toMatch(/4 MB/);
});

test("environments.yaml lists a thousand environments at most", () => {
  const list = (count: number): string =>
    Array.from({ length: count }, (_, at) => `e${at}: { file: a.yaml }\n`).join("");
  expect(environmentsIn(list(1_000)).problems).toEqual([]);
  expect(environmentsIn(list(20_000)).problems.map(({ text }) => text)).toEqual([
    "has more than 1000 environments; split the project",
  ]);
});

async function rowsIn(name: string, text: string): Promise<string> {
  writeFileSync(join(folder, name), text);
  return reasonOf(async () => {
    for await (const block of read({ source: name }, folder)) expect(block).toBeDefined();
  });
}

test.each(["rows.yaml", "rows.json", "rows.ndjson"])("rows in %s have a hundred levels at most", async (name) => {
  expect(await rowsIn(name, deep)).toMatch(/more than 100 levels|too many values on one line|nested too deeply/);
  expect(await rowsIn(name, `[{"a": ${"[".repeat(200)}${"]".repeat(200)}}]`)).toMatch(
    /more than 100 levels|nested too deeply/,
  );
});

test.each([".csv", ".ndjson"])("rows in %s are read until the time of a report is over", async (ending) => {
  const text = ending === ".csv" ? `Code\n${"CZ\n".repeat(10_000)}` : '{"Code":"CZ"}\n'.repeat(10_000);
  expect(await rowsIn(`rows${ending}`, text)).toBe("");
  expect(await until(AbortSignal.abort(), () => rowsIn(`rows${ending}`, text))).toBe(
    String(new LateError("it took longer than it may")),
  );
});

test("rows in YAML and in JSON have 64 MB at most", async () => {
  for (const name of ["rows.yaml", "rows.json"]) {
    writeFileSync(join(folder, name), "");
    truncateSync(join(folder, name), 65 * 2 ** 20); // a hole, which takes no room on the disk
    expect(await reasonOf(() => read({ source: name }, folder).next())).toMatch(/64 MB/);
  }
});

test("rows in YAML have 250,000 values at most", async () => {
  expect(await rowsIn("rows.yaml", "- { a: 1 }\n".repeat(170_000))).toMatch(beyond);
});

test("an answer of a platform is no answer beyond a hundred levels", () => {
  const reply = { status: 200, text: `{"status":"success","body":${deep}`, location: undefined };
  expect(parseReply("readorganization", reply as never)).toMatchObject({ failed: { code: "badAnswer" } });
  const closed = { ...reply, text: `{"status":"success","body":${"[".repeat(150)}${"]".repeat(150)}}` };
  expect(parseReply("readorganization", closed as never)).toMatchObject({ failed: { code: "badAnswer" } });
});

test("a state has two hundred levels at most", () => {
  expect(() => parseCheckpoint(deep, "dev.json")).toThrow("more than 200 levels");
});

test("brackets in texts are no levels", () => {
  expect(() => checkJsonBounds(JSON.stringify([deep, '\\"[['.repeat(200)]), { levels: 2, values: 10 })).not.toThrow();
  expect(() => checkJsonBounds("[[[]]]", { levels: 2, values: 10 })).toThrow(BoundError);
  const text = `a: |\n  ${"[".repeat(200)}\nb: "${"{".repeat(200)}"\nc: ${"x[".repeat(200)}\n# ${deep}\n`;
  expect(readSettings(text)).toMatchObject({ c: "x[".repeat(200) });
});

test("a report says what it has when its time is over", async () => {
  const file = "organizations: { acme: { name: Acme } }\n";
  const repository = new Repository({
    "Pulumi.yaml": "name: shop\nruntime: nodejs\n",
    "environments.yaml": "dev: { file: dev.yaml }\nprod: { file: prod.yaml }\n",
    "dev.yaml": file,
    "prod.yaml": file,
  });
  try {
    repository.write({ "dev.yaml": file.replace("name: Acme", "name: Other") });
    const over = AbortSignal.abort();
    const { environments } = await repository.report({ deadline: over });
    expect(environments.map(({ change }) => change.compared)).toEqual([false, false]);
  } finally {
    repository.remove();
  }
});
