import { type Figure, figure, median, peakMemory, timeWork } from "../measure.ts";
import { fill, manyFields, BenchPlatform } from "../platform.ts";

/** How soon the emulator is there, and how fast it takes a batch. */
export async function measureEmulator(): Promise<Figure[]> {
  const starts: number[] = [];
  const batches: number[] = [];
  for (let round = 0; round < 5; round++) {
    const platform = await BenchPlatform.start({ rows: { fields: { Code: { type: "text", sort: 1 }, Name: "text" } } });
    starts.push(platform.startedIn);
    const rows = Array.from({ length: 10_000 }, (_, i) => ({ Code: `K${i}`, Name: `Name ${i}` }));
    const body = JSON.stringify({ microAppID: "rows", rows });
    batches.push(await timeWork(() => platform.post("/api/insertmicroapprows", body)));
    await platform.stop();
  }
  const large = await paged(1_000_000);
  return [
    figure("emulator: start", median(starts), "ms", 300),
    figure("emulator: batch of 10,000 rows", median(batches), "ms", 200),
    ...large,
  ];
}

/** Times of reading 20 rows. */
async function small(platform: BenchPlatform, query: object): Promise<number[]> {
  const body = JSON.stringify({ microAppID: "rows", optLimit: 20, ...query });
  const times: number[] = [];
  for (let round = 0; round < 9; round++) times.push(await timeWork(() => platform.post("/api/microappdata", body)));
  return times;
}

/** How fast a page out of many rows is read, and what the rows cost in memory. */
async function paged(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start({ rows: { fields: manyFields } });
  try {
    await fill(platform, count);
    const page = async (filter: object, sort: object): Promise<number[]> => {
      const body = JSON.stringify({ microAppID: "rows", optViewFilters: [filter], optViewSort: sort, optLimit: 1000 });
      const times: number[] = [];
      for (let round = 0; round < 5; round++)
        times.push(await timeWork(() => platform.post("/api/microappdata", body)));
      return times;
    };
    const named = count.toLocaleString("en");
    const first = await small(platform, {});
    const narrow = await small(platform, { optViewFilters: [{ Amount: { $gte: count / 2, $lte: count / 2 + 20 } }] });
    const range = await page({ Amount: { $gte: count / 2 } }, { Amount: 1 });
    const other = await page({ Amount: { $gte: count / 2 } }, { Code: -1 });
    const plain = await page({ Name: "Name 5" }, { Code: 1 });
    const memory = peakMemory(platform.pid);
    return [
      figure(`emulator: first page of 20 out of ${named} rows`, median(first), "ms", 10),
      figure(`emulator: range of 20 on a sort field out of ${named} rows`, median(narrow), "ms", 10),
      figure(
        `emulator: page of 1,000 out of ${named} rows, filter and sort on one sort field`,
        median(range),
        "ms",
        50,
      ),
      figure(`emulator: page of 1,000 out of ${named} rows, filter on one, sort on another`, median(other), "ms", 100),
      figure(
        `emulator: page of 1,000 out of ${named} rows, filter on a field without index`,
        median(plain),
        "ms",
        2000,
      ),
      figure(`emulator: peak memory at ${named} rows`, memory, "MB", 350),
    ];
  } finally {
    await platform.stop();
  }
}
