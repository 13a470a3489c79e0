import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Properties, ProviderHost } from "../../testing/harness/providerHost.ts";
import { DynamicHost } from "../../testing/harness/stage.ts";
import { line, type Curves } from "./curves.ts";
import { type Figure, figure, peakMemory, runs, timeWork } from "./measure.ts";
import { each, BenchPlatform } from "./platform.ts";
import { bodies, fields, writeRows } from "./seeds.ts";

const news = { table: "seeded", key: "Code", source: "rows.csv" };

/** Cost of one seed with so many rows. Times in milliseconds, memory in MB. */
interface Cost {
  posting: number;
  hashing: number;
  firstPreview: number;
  firstMemory: number;
  seeding: number;
  calls: number;
  memory: number;
  unchanged: number;
  unchangedMemory: number;
  stateBytes: number;
  platformMemory: number;
}

const costs = new Map<number, Promise<Cost>>();

/** Seeds an empty table in steps as an engine takes them, each preview in a process of its own; each size once in a run. */
function costOf(count: number): Promise<Cost> {
  const cost = costs.get(count) ?? measured(count);
  costs.set(count, cost);
  return cost;
}

async function measured(count: number): Promise<Cost> {
  const platform = await BenchPlatform.start({ seeded: { fields }, posted: { fields } });
  const host = await DynamicHost.start(platform.configuration);
  try {
    const file = path.join(host.folder, "rows.csv");
    await writeRows(file, count);
    const posting = await postingTime(platform, count);
    const hashing = await timeWork(() => pipeline(createReadStream(file), createHash("sha256")));
    const firstPreview = await timeWork(() => host.check("SeedRows", news));
    const firstMemory = peakMemory(host.pid);
    await host.restart();
    let made: { id: string; outputs: Properties } = { id: "", outputs: {} };
    let seeding = 0;
    const calls = await platform.calls(async () => {
      const { inputs } = await host.check("SeedRows", news);
      seeding = await timeWork(async () => {
        made = await host.create("SeedRows", inputs);
      });
    });
    const memory = peakMemory(host.pid);
    await host.restart();
    const unchanged = await timeWork(async () => {
      const { inputs } = await host.check("SeedRows", news, made.outputs);
      await host.diff("SeedRows", made.id, made.outputs, inputs);
    });
    const unchangedMemory = peakMemory(host.pid);
    const stateBytes = JSON.stringify(made.outputs).length;
    const previews = { hashing, firstPreview, firstMemory, unchanged, unchangedMemory };
    return { posting, seeding, calls, memory, stateBytes, platformMemory: peakMemory(platform.pid), ...previews };
  } finally {
    await host.stop();
    await platform.stop();
  }
}

/** The floor: milliseconds of posting ready bodies for the same rows, four at a time. */
async function postingTime(platform: BenchPlatform, count: number): Promise<number> {
  const size = 200_000; // bodies for all rows would fill the memory
  let time = 0;
  for (let first = 0; first < count; first += size) {
    const ready = bodies("posted", Math.min(size, count - first), 10_000, first);
    time += await timeWork(() => each(ready, 4, (body) => platform.post("/api/insertmicroapprows", body)));
  }
  return time;
}

/** One seed of ten times as many rows beside ten times one of so many. */
export async function measureGrowth(count: number): Promise<Figure[]> {
  const [one, ten] = [await costOf(count), await costOf(count * 10)];
  const named = (count * 10).toLocaleString("en");
  const to = `time to ten times that of ${count.toLocaleString("en")}`;
  const ratio = (of: (cost: Cost) => number): number => of(ten) / of(one) / 10;
  return [
    figure(
      `post ${named} rows bare: ${to}`,
      ratio(({ posting }) => posting),
      "ratio",
      1.1,
    ),
    figure(
      `seed ${named} rows: ${to}`,
      ratio(({ seeding }) => seeding),
      "ratio",
      1.1,
    ),
    figure(`seed ${named} rows: time to that of posting them bare`, ten.seeding / ten.posting, "ratio", 1.3),
    figure(`seed ${named} rows: calls`, ten.calls, "calls", Math.ceil(count / 1_000) + 3),
    figure(`seed ${named} rows: peak memory of the provider`, ten.memory, "MB", 600),
    figure(`seed ${named} rows: state`, ten.stateBytes / 1024, "KB", 256),
    figure(
      `first preview of ${named} rows: ${to}`,
      ratio(({ firstPreview }) => firstPreview),
      "ratio",
      1.1,
    ),
    figure(`first preview of ${named} rows: peak memory`, ten.firstMemory, "MB", 600),
    figure(
      `preview of ${named} rows unchanged: ${to}`,
      ratio(({ unchanged }) => unchanged),
      "ratio",
      1.1,
    ),
    figure(
      `preview of ${named} rows unchanged: time to that of reading and hashing`,
      ten.unchanged / ten.hashing,
      "ratio",
      1.5,
    ),
    figure(`preview of ${named} rows unchanged: peak memory`, ten.unchangedMemory, "MB", 600),
    figure(`emulator: peak memory at ${(count * 20).toLocaleString("en")} rows`, ten.platformMemory, "MB", 600),
  ];
}

/** Measures seeding rows, and previewing them unchanged. */
export async function rowGrowth(sizes: readonly number[]): Promise<Curves> {
  const lines = [
    await line("seeded into an empty table", sizes, async (size) => {
      const { seeding, calls, memory } = await costOf(size);
      return { seconds: seeding / 1000, calls, memory };
    }),
    await line("preview with nothing changed", sizes, async (size) => {
      const { unchanged, unchangedMemory } = await costOf(size);
      return { seconds: unchanged / 1000, calls: 0, memory: unchangedMemory };
    }),
  ];
  return { name: "rows", title: "Rows of a seed", unit: "rows", lines };
}

/** Some seeds of so many rows each, at once beside one after the other; several times, each on a platform of its own. */
export async function crowding(seeds: number, count: number, rounds: number): Promise<Figure[]> {
  const times: number[] = [];
  const memories: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { one, alone, crowd } = await crowded(seeds, count);
    times.push(crowd.time / alone.time);
    memories.push(crowd.memory / one.memory);
  }
  const named = `${seeds} seeds of ${count.toLocaleString("en")} rows at once`;
  return [
    figure(`${named}: time to that of one after the other`, runs(times), "ratio", 0.8),
    figure(`${named}: peak memory to that of one`, runs(memories), "ratio", 1.5),
  ];
}

interface Work {
  time: number;
  memory: number;
}

/** One seed, some one after the other, and as many at once, each in a process of its own. */
async function crowded(seeds: number, count: number): Promise<Record<"one" | "alone" | "crowd", Work>> {
  const tables = (name: string): string[] => Array.from({ length: seeds }, (_, index) => `${name}${index}`);
  const all = ["one", ...tables("alone"), ...tables("crowd")];
  const platform = await BenchPlatform.start(Object.fromEntries(all.map((name) => [name, { fields }])));
  const work = async (seed: (host: ProviderHost) => Promise<unknown>): Promise<Work> => {
    const host = await DynamicHost.start(platform.configuration);
    try {
      await writeRows(path.join(host.folder, "rows.csv"), count);
      return { time: await timeWork(() => seed(host)), memory: peakMemory(host.pid) };
    } finally {
      await host.stop();
    }
  };
  try {
    const one = await work((host) => seeded(host, "one"));
    const alone = await work(async (host) => {
      for (const table of tables("alone")) await seeded(host, table);
    });
    const crowd = await work((host) => Promise.all(tables("crowd").map((table) => seeded(host, table))));
    return { one, alone, crowd };
  } finally {
    await platform.stop();
  }
}

/** Checks and creates a seed, as an engine does that may have others under way. */
async function seeded(host: ProviderHost, table: string): Promise<void> {
  host.resource = table; // for the call that follows at once
  const { inputs } = await host.check("SeedRows", { ...news, table });
  host.resource = table;
  await host.create("SeedRows", inputs);
}
