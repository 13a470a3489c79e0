import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changeSet, type ChangeSet, type EnvironmentChanges } from "../../../cli/changes/model/changeSet.ts";
import { fieldOf } from "../../../cli/changes/model/values.ts";
import { markdown } from "../../../cli/changes/rendering/markdown.ts";
import { environment, row, seed, set } from "../../../cli/changes/testing/made.ts";
import { Repository } from "../../../cli/changes/testing/repository.ts";
import { digestOf } from "../../../provider/approval/canonical.ts";
import { runCommand } from "../../harness/commands.ts";
import { environmentOf } from "../../harness/project.ts";

// `approve` signed a report that nobody was shown.

const files = {
  "environments.yaml": 'dev: { file: dev.yaml, endpoint: "https://platform.example.com" }\n',
  "dev.yaml": "organizations: { acme: { name: Acme } }\n",
};
let repository: Repository;
let outside: string;
let report: ChangeSet;
beforeAll(async () => {
  repository = new Repository(files);
  outside = realpathSync(mkdtempSync(join(tmpdir(), "microapps-approvals-")));
  repository.write({ "dev.yaml": "organizations: { acme: { name: Evil } }\n" });
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
