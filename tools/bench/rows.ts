import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pages } from "../../platform/client/index.ts";
import type { Properties } from "../../testing/harness/providerHost.ts";
import { DynamicHost } from "../../testing/harness/stage.ts";
import { BenchPlatform, each, figure, peakMemory, ratiosOf, timeWork, type Figure } from "./stage.ts";

const fields = { Code: { type: "text", sort: 1 }, Name: "text", City: "text", Amount: "text", Note: "text" };
const note = "A remark of some length as people write them beside their figures.";
const labels = ["Code", "Name", "City", "Amount", "Note"];
const cells = (index: number, amount: number): string[] => [
  `K${String(index).padStart(8, "0")}`,
  `Name ${index}`,
  `City ${index % 977}`,
  String(amount),
  note,
];
const toRow = (index: number, amount: number): Record<string, string> =>
  Object.fromEntries(cells(index, amount).map((cell, column) => [labels[column] ?? "", cell]));

function* lines(count: number): Generator<string> {
  yield `${labels.join(",")}\n`;
  for (let index = 0; index < count; index++) yield `${cells(index, index * 7).join(",")}\n`;
}

/** The floor: milliseconds of posting ready bodies for the same rows, four at a time. */
async function postingTime(platform: BenchPlatform, count: number): Promise<number> {
  const [size, most] = [10_000, 200_000]; // bodies for all rows would fill the memory
  let time = 0;
  for (let first = 0; first < count; first += most) {
    const all = Array.from({ length: Math.min(most, count - first) }, (_, at) => toRow(first + at, (first + at) * 7));
    const ready = Array.from({ length: Math.ceil(all.length / size) }, (_, batch) =>
      JSON.stringify({ microAppID: "posted", rows: all.slice(batch * size, (batch + 1) * size) }),
    );
    time += await timeWork(() => each(ready, 4, (body) => platform.post("insertmicroapprows", body)));
  }
  return time;
}

const news = { table: "seeded", key: "Code", source: "rows.csv" };

/** Cost of a seed into an empty table, in a process of its own. Times in milliseconds. */
interface Cost {
  posting: number;
  seeding: number;
  calls: number;
  memory: number;
  state: number;
  /** Time of a preview with nothing changed, to that of reading and hashing the file. */
  preview: number[];
  previewCalls: number;
}

async function costOf(count: number): Promise<Cost> {
  const platform = await BenchPlatform.start({ seeded: { fields }, posted: { fields } });
  const host = await DynamicHost.start(platform.configuration);
  try {
    const file = path.join(host.folder, "rows.csv");
    await pipeline(Readable.from(lines(count)), createWriteStream(file));
    const posting = await postingTime(platform, count);
    let made: { id: string; outputs: Properties } = { id: "", outputs: {} };
    let seeding = 0;
    const calls = await platform.calls(async () => {
      const { inputs } = await host.check("SeedRows", news);
      seeding = await timeWork(async () => {
        made = await host.create("SeedRows", inputs);
      });
    });
    const memory = peakMemory(host.pid);
    const unchanged = async (): Promise<void> => {
      const { inputs } = await host.check("SeedRows", news, made.outputs);
      await host.diff("SeedRows", made.id, made.outputs, inputs);
    };
    const previewCalls = await platform.calls(unchanged);
    const preview = await ratiosOf(3, unchanged, () => pipeline(createReadStream(file), createHash("sha256")));
    return { posting, seeding, calls, memory, state: JSON.stringify(made.outputs).length, preview, previewCalls };
  } finally {
    await host.stop();
    await platform.stop();
  }
}

/** Changes one row in a hundred beside the same calls made bare. */
async function change(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start({ seeded: { fields } });
  const host = await DynamicHost.start(platform.configuration);
  try {
    const file = path.join(host.folder, "rows.csv");
    await pipeline(Readable.from(lines(count)), createWriteStream(file));
    const { inputs } = await host.check("SeedRows", news);
    const made = await host.create("SeedRows", inputs);
    let { outputs } = made;
    // Batches are under way side by side, so the platform's order is not that of the file.
    const ids = new Map<unknown, string>();
    for await (const page of pages(platform.client, { microAppID: "seeded" }))
      for (const row of page) ids.set(row["Code"], row._id);
    const all = [...ids.values()];
    const changed = Array.from({ length: count / 100 }, (_, index) => ids.get(cells(index * 100, 0)[0]) ?? "");
    const reads = [
      ...Array.from({ length: count / 10_000 + 1 }, (_, page) => ({
        optViewSort: { _id: 1 },
        ...(page > 0 ? { optViewFilters: [{ _id: { $gt: all[page * 10_000 - 1] } }] } : {}),
      })),
      { optViewFilters: [{ _id: { $in: changed } }] },
    ].map((query) => JSON.stringify({ microAppID: "seeded", searchFilter: [{ skip: 0, limit: 10_000 }], ...query }));
    const ratios: number[] = [];
    let calls = 0;
    for (let round = 1; round <= 5; round++) {
      const writes = changed.map((rowID, index) =>
        JSON.stringify({ rowID, microAppID: "seeded", rowData: toRow(index * 100, round) }),
      );
      const bare = await timeWork(async () => {
        await each(reads, 1, (body) => platform.post("microappdata", body));
        await each(writes, 16, (body) => platform.post("updatemicroapprow", body));
      });
      let line = 0;
      const text = (await readFile(file, "utf8")).replace(/^(K\d+,[^,]*,[^,]*,)\d+/gm, (whole, start: string) =>
        line++ % 100 === 0 ? `${start}${count + round}` : whole,
      );
      await writeFile(file, text);
      calls = await platform.calls(async () => {
        const { inputs: next } = await host.check("SeedRows", news, outputs);
        ratios.push(
          (await timeWork(async () => (outputs = await host.update("SeedRows", made.id, outputs, next)))) / bare,
        );
      });
    }
    const named = `change 1 % of ${count.toLocaleString("en")} rows`;
    return [
      figure(`${named}: time to that of the same calls made bare`, ratios, "ratio", 1.2),
      figure(`${named}: calls`, calls, "calls", reads.length + count / 100),
    ];
  } finally {
    await host.stop();
    await platform.stop();
  }
}

/** Seeds so many rows beside posting them bare, ten times as many beside ten times the first, and changes of fewer. */
export async function measureRows(count: number): Promise<Figure[]> {
  const [one, ten] = [await costOf(count), await costOf(count * 10)];
  const [named, more] = [count, count * 10].map((size) => `${size.toLocaleString("en")} rows`);
  return [
    figure(`seed ${named}: time to that of posting ready bodies`, one.seeding / one.posting, "ratio", 1.2),
    figure(`seed ${named}: calls`, one.calls, "calls", Math.ceil(count / 10_000) + 6),
    figure(`seed ${named}: peak memory of the provider`, one.memory, "MB", 250),
    figure(`seed ${named}: state`, one.state / 1024, "KB", 480),
    figure(`seed ${more}: time to ten times that of ${named}`, ten.seeding / one.seeding / 10, "ratio", 1.1),
    figure(`seed ${more}: time to that of posting ready bodies`, ten.seeding / ten.posting, "ratio", 1.2),
    figure(`seed ${more}: peak memory of the provider`, ten.memory, "MB", 600),
    figure(`preview of ${named} unchanged: time to that of reading and hashing`, one.preview, "ratio", 2),
    figure(`preview of ${named} unchanged: calls`, one.previewCalls, "calls", 0),
    figure(`preview of ${more} unchanged: time to that of reading and hashing`, ten.preview, "ratio", 2),
    ...(await change(count / 10)),
  ];
}
