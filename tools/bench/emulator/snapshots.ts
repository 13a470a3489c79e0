import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createEmulator } from "../../../emulator/index.ts";
import { type Figure, figure, median, memoryNow, timeWork } from "../measure.ts";
import { fill, manyFields, BenchPlatform } from "../platform.ts";

/** How fast a snapshot's file is there, one with very many rows, and instances on demand. */
export async function snapshots(few: number, many: number): Promise<Figure[]> {
  return [...(await loaded(few)), ...(await restored(many)), ...(await onDemand(100))];
}

async function loaded(count: number): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
  const file = path.join(folder, "state.db");
  const platform = await BenchPlatform.start({ rows: { fields: manyFields } }, { inMemory: true });
  try {
    await fill(platform, count);
    const emulator = await createEmulator();
    const response = await fetch(`${platform.url}/_emulator/state`, {
      headers: { authorization: `Bearer ${platform.token}` },
    });
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
    const times: number[] = [];
    for (let round = 0; round < 3; round++) times.push(await timeWork(() => emulator.loadSnapshotFile(file)));
    await emulator.close();
    return [
      figure(`emulator: load a snapshot's file of ${count.toLocaleString("en")} rows`, median(times), "ms", 1000),
    ];
  } finally {
    await platform.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function restored(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start({ rows: { fields: manyFields } });
  try {
    await fill(platform, count);
    const send = (method: "GET" | "PUT" | "POST", path: string) => () => platform.administrate(method, path);
    const saved = await timeWork(send("PUT", "snapshots/many"));
    const compared = await timeWork(send("GET", "snapshots/many"));
    const loaded = await timeWork(send("POST", "snapshots/many"));
    const named = count.toLocaleString("en");
    return [
      figure(`emulator: save a snapshot of ${named} rows`, saved, "ms", 10_000),
      figure(`emulator: compare a snapshot of ${named} rows`, compared, "ms", 20_000),
      figure(`emulator: load a snapshot of ${named} rows`, loaded, "ms", 20_000),
    ];
  } finally {
    await platform.stop();
  }
}

async function onDemand(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start({ rows: { fields: manyFields } });
  try {
    await fill(platform, 10_000);
    await platform.administrate("PUT", "snapshots/template");
    const make = () => platform.administrate("POST", "instances?from=template") as Promise<{ name: string }>;
    await platform.administrate("DELETE", `instances/${(await make()).name}`);
    const names: string[] = [];
    const rounds = async () => {
      for (let made = 0; made < count; made++) names.push((await make()).name);
    };
    const before = memoryNow(platform.pid);
    const spent = await timeWork(rounds);
    for (const name of names.splice(0)) await platform.administrate("DELETE", `instances/${name}`);
    await rounds();
    for (const name of names) await platform.administrate("DELETE", `instances/${name}`);
    const left = memoryNow(platform.pid) - before;
    return [
      figure(`emulator: ${count} instances on demand of 10,000 rows`, spent, "ms", 1000),
      figure(`emulator: memory that ${2 * count} instances leave when they end`, left, "MB", 100),
    ];
  } finally {
    await platform.stop();
  }
}
