import { afterEach, beforeEach, expect, test } from "@jest/globals";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pages } from "../../platform/client/index.ts";
import { isLong } from "../harness/drawn.ts";
import { plugin } from "../harness/kinds.ts";
import { eventually } from "../harness/processes.ts";
import { InitFailed } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";

const names = Array.from({ length: isLong ? 8 : 5 }, (_, index) => `table${index}`);
const rowCount = 10_010; // two batches
const mostBatches = 4;

let stage: Stage;
beforeEach(async () => {
  const fields = { Code: { type: "text", sort: 1 }, Name: "text" };
  stage = await Stage.set({ tables: Object.fromEntries(names.map((name) => [name, { fields }])) }, {}, plugin);
  const lines = Array.from({ length: rowCount }, (_, index) => `C${index},Name`);
  await writeFile(join(stage.host.folder, "rows.csv"), ["Code,Name", ...lines].join("\n"));
});
afterEach(() => stage.clear());

/** Begins all seeds at once, each as it was left; answers what became of each. */
const all = (left: readonly unknown[]): Promise<unknown[]> =>
  Promise.all(
    names.map(async (table, index) => {
      const { host } = stage;
      const before = left[index];
      const news = { table, key: "Code", source: "rows.csv" };
      try {
        host.resource = table;
        if (!(before instanceof InitFailed)) return await host.create("SeedRows", (await asked(news, {})).inputs);
        const { inputs } = await asked(news, before.properties);
        return await host.update("SeedRows", before.id, before.properties, inputs);
      } catch (error) {
        return error;
      }
    }),
  );

/** Checks a seed; what follows at once is about the same one. */
async function asked(news: { table: string }, olds: Record<string, unknown>) {
  stage.host.resource = news.table;
  const checked = await stage.host.check("SeedRows", news, olds);
  stage.host.resource = news.table;
  return checked;
}

const insertions = () => stage.emulator.calls({ endpoint: "insertmicroapprows" });

test("many seeds at once share the room for batches; killed, then cancelled, then left alone they lose and double nothing", async () => {
  const { emulator, host } = stage;
  emulator.setFaults({ faults: [{ endpoint: "insertmicroapprows", kind: "timeout", commit: true }] });
  const killed = all([]);
  await eventually("full room", () => emulator.calls({ endpoint: "microappdata" }).length === names.length);
  await eventually("batches", () => insertions().length >= mostBatches);
  expect(insertions()).toHaveLength(mostBatches);
  process.kill(host.pid ?? 0, "SIGKILL");
  expect((await killed).every((end) => end instanceof Error && !(end instanceof InitFailed))).toBe(true);

  await host.restart();
  emulator.setFaults({ faults: [{ endpoint: "insertmicroapprows", kind: "slow", milliseconds: 300 }] });
  const before = insertions().length;
  const cancelled = all([]);
  await eventually("batches", () => insertions().length > before);
  await host.ask((client, done) => client.cancel(new emptyProto.Empty(), done));
  const left = await cancelled;
  expect(left.some((end) => end instanceof InitFailed)).toBe(true);

  await host.restart();
  emulator.setFaults();
  const ends = await all(left);
  expect(ends.filter((end) => end instanceof Error)).toEqual([]);
  for (const table of names) {
    const codes: unknown[] = [];
    for await (const page of pages(stage.client, { microAppID: table })) codes.push(...page.map(({ Code }) => Code));
    expect([codes.length, new Set(codes).size]).toEqual([rowCount, rowCount]);
  }
});
