import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../testing/harness/processes.ts";
import { RunJournal, type Entry } from "./runJournal.ts";

let state: string;
let runs: string;
const { XDG_STATE_HOME } = process.env;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "microapps-runs-"));
  process.env["XDG_STATE_HOME"] = state;
  runs = join(state, "pulumi-microapps/runs");
});
afterEach(() => {
  if (XDG_STATE_HOME === undefined) delete process.env["XDG_STATE_HOME"];
  else process.env["XDG_STATE_HOME"] = XDG_STATE_HOME;
  rmSync(state, { recursive: true, force: true });
});

const entry = (method: string): Entry => ({ platform: "p", object: "o", method, with: ["ä", { deep: [1] }] });
const methods = async (journal: RunJournal): Promise<string[]> => (await journal.hear()).map(({ method }) => method);

test("each hears what the others of its run have noted, once and in order", async () => {
  const [one, two, other] = [new RunJournal("here:1"), new RunJournal("here:1"), new RunJournal("here:2")];
  for (const journal of [one, two, other]) expect(await journal.hear()).toEqual([]);
  one.note(entry("a"));
  one.note(entry("b"));
  two.note(entry("c"));
  other.note(entry("d"));
  expect(await two.hear()).toEqual([entry("a"), entry("b")]);
  one.note(entry("e"));
  const [first, second] = await Promise.all([methods(two), methods(two)]);
  expect([first, second]).toEqual([["e"], []]);
  expect(await methods(one)).toEqual(["c"]);
  expect(await methods(other)).toEqual([]);
  expect(statSync(runs).mode & 0o777).toBe(0o700);
});

test("one that comes after the folder was listed is heard, however old the folder's time is", async () => {
  const [one, two, three] = [new RunJournal("here:1"), new RunJournal("here:1"), new RunJournal("here:1")];
  await one.hear();
  utimesSync(runs, 1.5, 1.5); // the folder has been left alone for long
  expect(await methods(one)).toEqual([]);
  await two.hear();
  two.note(entry("a"));
  expect(await methods(one)).toEqual(["a"]);
  await three.hear();
  three.note(entry("b"));
  expect(await methods(one)).toEqual(["b"]);
});

test("without an engine nothing is told, and nothing is made", async () => {
  const journal = new RunJournal(undefined);
  journal.note(entry("a"));
  expect(await journal.hear()).toEqual([]);
  expect(readdirSync(state)).toEqual([]);
});

test("a folder that others reach is not used", async () => {
  mkdirSync(runs, { recursive: true });
  chmodSync(runs, 0o755);
  const [one, two] = [new RunJournal("here:1"), new RunJournal("here:1")];
  await one.hear();
  expect(await two.hear()).toEqual([]);
  expect(readdirSync(runs)).toEqual([]);
});

test("where the path of a socket would be too long, the folder for temporary files serves", async () => {
  process.env["XDG_STATE_HOME"] = join(state, "long".repeat(30));
  const [one, two] = [new RunJournal("here:1"), new RunJournal("here:1")];
  await one.hear();
  one.note(entry("a"));
  expect(await methods(two)).toEqual(["a"]);
});

test("what a killed process left is removed by the next run, and what is new or still answers is not", async () => {
  const [one, two] = [new RunJournal("here:1"), new RunJournal("here:2")];
  await one.hear();
  const [alive = ""] = readdirSync(runs);
  const [old, young] = ["dead-1-a", "dead-1-b"].map((name) => join(runs, name)) as [string, string];
  for (const path of [old, young]) writeFileSync(path, "");
  for (const path of [old, join(runs, alive)]) utimesSync(path, 1, 1);
  await two.hear();
  await eventually("the removal", () => !readdirSync(runs).includes("dead-1-a"));
  expect(readdirSync(runs)).toEqual(expect.arrayContaining([alive, "dead-1-b"]));
});

test("one that answers something else is an error: it may declare the same things", async () => {
  const journal = new RunJournal("here:1");
  await journal.hear();
  const [own = ""] = readdirSync(runs);
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => socket.resume().end("{"));
  await new Promise<void>((resolve) => server.listen(join(runs, `${own.split("-")[0] ?? ""}-1-a`), resolve));
  await expect(journal.hear()).rejects.toThrow("another provider of this run does not answer");
  server.close();
  // It has ended: it declares nothing any more.
  expect(await journal.hear()).toEqual([]);
});
