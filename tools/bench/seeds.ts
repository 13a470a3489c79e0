import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pages } from "../../provider/client/lists/pages.ts";
import { DynamicHost } from "../../testing/harness/stage.ts";
import { type Figure, figure, measurePair, peakMemory, runs, timeWork } from "./measure.ts";
import { each, BenchPlatform } from "./platform.ts";

/** Fields of a table for such rows. */
export const fields = { Code: { type: "text", sort: 1 }, Name: "text", City: "text", Amount: "text", Note: "text" };
const note = "A remark of some length, as people write them beside their figures.";
const cells = (index: number, amount: number): string[] => [
  `K${String(index).padStart(8, "0")}`,
  `Name ${index}`,
  `City ${index % 977}`,
  String(amount),
  note,
];
const labels = ["Code", "Name", "City", "Amount", "Note"];

function* lines(count: number): Generator<string> {
  yield `${labels.join(",")}\n`;
  for (let i = 0; i < count; i++)
    yield `${cells(i, i * 7)
      .map((cell) => (cell.includes(",") ? `"${cell}"` : cell))
      .join(",")}\n`;
}

/** Writes a CSV of so many rows. */
export const writeRows = (file: string, count: number): Promise<void> =>
  pipeline(Readable.from(lines(count)), createWriteStream(file));

/** Ready-made request bodies for the same rows, so many in each; with `from`, for those from that one on. */
export function bodies(table: string, count: number, size = 10_000, from = 0): string[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, batch) => {
    const first = from + batch * size;
    const rows = Array.from({ length: Math.min(size, from + count - first) }, (__, i) =>
      Object.fromEntries(cells(first + i, (first + i) * 7).map((cell, column) => [labels[column] ?? "", cell])),
    );
    return JSON.stringify({ microAppID: table, rows });
  });
}

/** Seeds an empty table from a CSV file, and plans again with nothing changed; each several times. */
export async function seeding(count: number, rounds: number): Promise<Figure[]> {
  const tables = Array.from({ length: rounds }, (_, round) => [`seeded${round}`, `posted${round}`] as const);
  const platform = await BenchPlatform.start(Object.fromEntries(tables.flat().map((name) => [name, { fields }])));
  const host = await DynamicHost.start(platform.configuration);
  try {
    const named = count.toLocaleString("en");
    const file = path.join(host.folder, "rows.csv");
    await writeRows(file, count);
    const times: number[] = [];
    const calls: number[] = [];
    const memories: number[] = [];
    let news = {};
    let made: { id: string; outputs: Record<string, unknown> } = { id: "", outputs: {} };
    for (const [table, posted] of tables) {
      const ready = bodies(posted, count);
      const floor = await timeWork(() => each(ready, 4, (body) => platform.post("/api/insertmicroapprows", body)));
      news = { table, key: "Code", source: "rows.csv" };
      await host.restart(); // the most memory is that of one seed
      const call = await platform.calls(async () => {
        const { inputs } = await host.check("SeedRows", news);
        const seeded = await timeWork(async () => void (made = await host.create("SeedRows", inputs)));
        times.push(seeded / floor);
      });
      calls.push(call);
      memories.push(peakMemory(host.pid));
    }
    const preview = async (): Promise<void> => {
      const { inputs } = await host.check("SeedRows", news, made.outputs);
      await host.diff("SeedRows", made.id, made.outputs, inputs);
    };
    const previewCalls = await platform.calls(preview);
    const previewed = await measurePair(rounds, preview, () => pipeline(createReadStream(file), createHash("sha256")));
    return [
      figure(`seed ${named} rows: time to that of posting ready bodies`, runs(times), "ratio", 1.3),
      figure(`seed ${named} rows: calls`, Math.max(...calls), "calls", Math.ceil(count / 10_000) + 3),
      figure(`seed ${named} rows: peak memory of the provider`, runs(memories), "MB", 350),
      figure(`preview of ${named} rows unchanged: time to that of reading and hashing`, previewed, "ratio", 2),
      figure(`preview of ${named} rows unchanged: calls`, previewCalls, "calls", 0),
      figure(`state of a seed of ${named} rows`, JSON.stringify(made.outputs).length / 1024, "KB", 256),
    ];
  } finally {
    await host.stop();
    await platform.stop();
  }
}

/** IDs of rows, in their order on the platform: batches are under way side by side, so it is not that of the file. */
async function idsByCode(platform: BenchPlatform, table: string): Promise<Map<unknown, string>> {
  const byCode = new Map<unknown, string>();
  for await (const page of pages(platform.client, { microAppID: table }))
    for (const row of page) byCode.set(row["Code"], row._id);
  return byCode;
}

/** Changes one row in a hundred, several times, beside the same calls made bare. */
export async function measureChanges(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start({ seeded: { fields } });
  const host = await DynamicHost.start(platform.configuration);
  try {
    const named = count.toLocaleString("en");
    const file = path.join(host.folder, "rows.csv");
    await writeRows(file, count);
    const news = { table: "seeded", key: "Code", source: "rows.csv" };
    const before = await host.check("SeedRows", news);
    const made = await host.create("SeedRows", before.inputs);
    let { outputs } = made;
    const byCode = await idsByCode(platform, "seeded");
    const ids = [...byCode.values()];
    const ofHundred = Array.from({ length: count / 100 }, (_, index) => byCode.get(cells(index * 100, 0)[0]) ?? "");
    const reads = [
      ...Array.from({ length: count / 10_000 + 1 }, (_, page) => ({
        optViewSort: { _id: 1 },
        ...(page > 0 ? { optViewFilters: [{ _id: { $gt: ids[page * 10_000 - 1] } }] } : {}),
      })),
      { optViewFilters: [{ _id: { $in: ofHundred } }] },
    ].map((query) => JSON.stringify({ microAppID: "seeded", searchFilter: [{ skip: 0, limit: 10_000 }], ...query }));
    const ratios: number[] = [];
    let calls = 0;
    for (let round = 1; round <= 5; round++) {
      const writes = ofHundred.map((rowID, index) => {
        const rowData = Object.fromEntries(
          cells(index * 100, round).map((cell, column) => [labels[column] ?? "", cell] as const),
        );
        return JSON.stringify({ rowID, microAppID: "seeded", rowData });
      });
      const bare = await timeWork(async () => {
        await each(reads, 1, (body) => platform.post("/api/microappdata", body));
        await each(writes, 16, (body) => platform.post("/api/updatemicroapprow", body));
      });
      const text = await readFile(file, "utf8");
      let line = 0;
      await writeFile(
        file,
        text.replace(/^(K\d+,[^,]*,[^,]*,)\d+/gm, (whole, start: string) =>
          line++ % 100 === 0 ? `${start}${count + round}` : whole,
        ),
      );
      calls = await platform.calls(async () => {
        const { inputs } = await host.check("SeedRows", news, outputs);
        const ours = await timeWork(async () => {
          outputs = await host.update("SeedRows", made.id, outputs, inputs);
        });
        ratios.push(ours / bare);
      });
    }
    return [
      figure(`change 1 % of ${named} rows: time to that of the same calls made bare`, runs(ratios), "ratio", 1.3),
      figure(`change 1 % of ${named} rows: calls`, calls, "calls", reads.length + count / 100),
    ];
  } finally {
    await host.stop();
    await platform.stop();
  }
}
