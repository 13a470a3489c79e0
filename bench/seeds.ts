import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DynamicHost } from "../testing/dynamicHost.ts";
import { type Figure, figure, peakMemory, timed } from "./measure.ts";
import { each, Platform } from "./platform.ts";

const fields = { Code: { type: "text", sort: 1 }, Name: "text", City: "text", Amount: "text", Note: "text" };
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

const writeRows = (file: string, count: number): Promise<void> =>
  pipeline(Readable.from(lines(count)), createWriteStream(file));

/** Ready-made request bodies for the same rows, so many in each. */
function bodies(table: string, count: number, size = 10_000): string[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, batch) => {
    const first = batch * size;
    const rows = Array.from({ length: Math.min(size, count - first) }, (__, i) =>
      Object.fromEntries(cells(first + i, (first + i) * 7).map((cell, column) => [labels[column] ?? "", cell])),
    );
    return JSON.stringify({ microAppID: table, rows });
  });
}

/** Seeds an empty table from a CSV file, and plans again with nothing changed. */
export async function seeding(count: number): Promise<Figure[]> {
  const platform = await Platform.start({ seeded: { fields }, posted: { fields } });
  const host = await DynamicHost.start(platform.configuration);
  try {
    const named = count.toLocaleString("en");
    const file = path.join(host.folder, "rows.csv");
    await writeRows(file, count);
    const ready = bodies("posted", count);
    const floor = await timed(() => each(ready, 4, (body) => platform.post("/api/insertmicroapprows", body)));
    const news = { table: "seeded", key: "Code", source: "rows.csv" };
    let made: { id: string; outputs: Record<string, unknown> } = { id: "", outputs: {} };
    let seeded = 0;
    const calls = await platform.calls(async () => {
      const { inputs } = await host.check("SeedRows", news);
      seeded = await timed(async () => {
        made = await host.create("SeedRows", inputs);
      });
    });
    const hashing = await timed(() => pipeline(createReadStream(file), createHash("sha256")));
    let previewed = 0;
    const previewCalls = await platform.calls(async () => {
      previewed = await timed(async () => {
        const { inputs } = await host.check("SeedRows", news, made.outputs);
        await host.diff("SeedRows", made.id, made.outputs, inputs);
      });
    });
    return [
      figure(`seed ${named} rows: time to that of posting ready bodies`, seeded / floor, "ratio", 1.3),
      figure(`seed ${named} rows: calls`, calls, "calls", Math.ceil(count / 10_000) + 3),
      figure(`seed ${named} rows: peak memory of the provider`, peakMemory(host.pid), "MB", 350),
      figure(
        `preview of ${named} rows unchanged: time to that of reading and hashing`,
        previewed / hashing,
        "ratio",
        2,
      ),
      figure(`preview of ${named} rows unchanged: calls`, previewCalls, "calls", 0),
      figure(`state of a seed of ${named} rows`, JSON.stringify(made.outputs).length / 1024, "KB", 256),
    ];
  } finally {
    await host.stop();
    await platform.stop();
  }
}

/** Changes one row in a hundred. */
export async function changing(count: number): Promise<Figure[]> {
  const platform = await Platform.start({ seeded: { fields } });
  const host = await DynamicHost.start(platform.configuration);
  try {
    const named = count.toLocaleString("en");
    const file = path.join(host.folder, "rows.csv");
    await writeRows(file, count);
    const news = { table: "seeded", key: "Code", source: "rows.csv" };
    const before = await host.check("SeedRows", news);
    const made = await host.create("SeedRows", before.inputs);
    const ids = (
      await platform.client.microappdata({ microAppID: "seeded", searchFilter: [{ skip: 0, limit: count / 100 }] })
    ).microAppRows.map(({ _id }) => _id);
    const pages = Array.from({ length: count / 10_000 + 1 }, (_, page) =>
      JSON.stringify({ microAppID: "seeded", searchFilter: [{ skip: page * 10_000, limit: 10_000 }] }),
    );
    const floor = await timed(async () => {
      for (const body of pages) await platform.post("/api/microappdata", body);
      const writes = ids.map((rowID) => JSON.stringify({ rowID, microAppID: "seeded", rowData: { Note: "bare" } }));
      await each(writes, 16, (body) => platform.post("/api/updatemicroapprow", body));
    });
    for (const rowID of ids)
      await platform.client.updatemicroapprow({ rowID, rowData: { Note: note }, microAppID: "seeded" });
    const text = await readFile(file, "utf8");
    let line = 0;
    await writeFile(
      file,
      text.replace(/^(K\d+,[^,]*,[^,]*,)\d+/gm, (whole, start: string) => (line++ % 100 === 0 ? `${start}1` : whole)),
    );
    let changed = 0;
    const calls = await platform.calls(async () => {
      const { inputs } = await host.check("SeedRows", news, made.outputs);
      changed = await timed(() => host.update("SeedRows", made.id, made.outputs, inputs));
    });
    return [
      figure(`change 1 % of ${named} rows: time to that of the same calls made bare`, changed / floor, "ratio", 1.3),
      figure(`change 1 % of ${named} rows: calls`, calls, "calls", pages.length + count / 100 + 1),
    ];
  } finally {
    await host.stop();
    await platform.stop();
  }
}
