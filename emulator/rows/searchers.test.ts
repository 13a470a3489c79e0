import { expect, test } from "@jest/globals";
import { Worker } from "node:worker_threads";
import { Searchers } from "./searchers.ts";

// As a thread that the system ends, or that runs out of memory.
const dying = (): Worker =>
  new Worker(`require("node:worker_threads").parentPort.once("message", () => process.exit(3));`, { eval: true });
const failing = (): Worker =>
  new Worker(`require("node:worker_threads").parentPort.once("message", () => { throw new Error("no memory"); });`, {
    eval: true,
  });
const good = (): Worker => new Worker(new URL("./searcher.js", import.meta.url));

const row = { table_id: "t", parent: null, creator: null, submitted: 0, viewers: null, team_viewers: null };
const rows = ["aa", "b"].map((Name) => ({
  ...{ ...row, id: Name, locked: 0, conflict: 0 },
  data: JSON.stringify({ Name }),
}));
const table = { id: "t", name: "T", parent: null, generation: "1", fields: new Map(), sorted: [] };
const search = { table, rest: [{ _id: { $regex: "a+" } }], wanted: undefined };

function searching(...threads: (() => Worker)[]) {
  let started = 0;
  const searchers = new Searchers(() => (threads[started++] ?? good)());
  return { searchers, started: () => started };
}

test.each([
  ["ends", dying],
  ["fails", failing],
])("a thread that %s is replaced, and the search goes on", async (_, wrong) => {
  const { searchers, started } = searching(wrong, wrong);
  const one = searchers.begin(search);
  expect(await one.scores(rows)).toHaveLength(2);
  one.end();
  expect(started()).toBe(3);
});

test("threads that end again and again are a refusal that says so, and the next search has threads of its own", async () => {
  const { searchers, started } = searching(dying, failing, dying, dying);
  const one = searchers.begin(search);
  await expect(one.scores(rows)).rejects.toThrow(/^The thread that looks at the rows ended 4 times/);
  one.end();
  expect(started()).toBe(4);
  const others = Array.from({ length: 6 }, () => searchers.begin(search));
  const scores = await Promise.all(
    others.map(async (other) => {
      const found = await other.scores(rows);
      other.end();
      return found;
    }),
  );
  expect(scores.flat()).toHaveLength(12);
});

test("an idle thread that ended meanwhile is replaced by the search that gets it", async () => {
  const made: Worker[] = [];
  const searchers = new Searchers(() => {
    made.push(good());
    return made.at(-1) ?? good();
  });
  const one = searchers.begin(search);
  await one.scores(rows);
  one.end();
  await made[0]?.terminate();
  const other = searchers.begin(search);
  expect(await other.scores(rows)).toHaveLength(2);
  other.end();
  expect(made).toHaveLength(2);
});
