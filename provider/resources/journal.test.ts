import { beforeEach, expect, test } from "@jest/globals";
import { appendFileSync, chmodSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { Journal } from "./journal.ts";

const urn = "urn:pulumi:dev::tests::microapps:index:Team::crew";
let home = "";
beforeEach(() => void (process.env["XDG_STATE_HOME"] = home = temporaryFolder()));

const journal = (platform = "https://a.example"): Journal => new Journal(() => platform);
const folder = (): string => join(home, "pulumi-microapps/journal");
const files = (): string[] => readdirSync(folder());
const begin = (one: Journal): void => one.begin(urn, "Team t1", "2026-01-01T00:00:00.000Z", { digest: "d" });

test("what was begun is known to a later run of the same stack and platform alone, until a state shows it", () => {
  begin(journal());
  expect(journal().find(urn, "Team t1")).toMatchObject({ startedAt: "2026-01-01T00:00:00.000Z", digest: "d" });
  expect(journal().find(urn, "Team t2")).toBeUndefined();
  expect(journal("https://b.example").find(urn, "Team t1")).toBeUndefined();
  expect(journal().find(urn.replace("dev", "prod"), "Team t1")).toBeUndefined();
  journal().settle(urn, "Team t1");
  expect(files()).toEqual([]);
});

test("a run that ends in order leaves what got no answer, and nothing else", () => {
  const run = journal();
  begin(run);
  run.begin(urn, "Team t2", "2026-01-02T00:00:00.000Z");
  run.answered(urn, "Team t1", { id: "t1" });
  run.close(true);
  expect(journal().find(urn, "Team t1")).toBeUndefined();
  expect(journal().find(urn, "Team t2")).toBeDefined();
});

test("an answer that its engine may not have saved stays", () => {
  const run = journal();
  begin(run);
  run.answered(urn, "Team t1", { link: "https://a.example/app/1" });
  run.orphaned();
  run.close();
  expect(journal().find(urn, "Team t1")).toMatchObject({ digest: "d", link: "https://a.example/app/1" });
});

test("a line that was not written whole is none", () => {
  begin(journal());
  appendFileSync(join(folder(), files()[0] ?? ""), '{"urn":"urn:pulumi:dev::tests::a::b","thing":"Team');
  expect(journal().find(urn, "Team t1")).toBeDefined();
});

test("only this user reads and writes it; where that is not so, nothing is sent", () => {
  begin(journal());
  const file = join(folder(), files()[0] ?? "");
  expect([statSync(folder()).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  chmodSync(file, 0o666);
  expect(() => journal().find(urn, "Team t1")).toThrow("may be written by others");
  rmSync(file);
  symlinkSync("/dev/null", file);
  expect(() => journal().find(urn, "Team t1")).toThrow("may be written by others");
  rmSync(file);
  chmodSync(folder(), 0o777);
  expect(() => begin(journal())).toThrow("nothing was sent, since it can't be noted that it was begun");
});
