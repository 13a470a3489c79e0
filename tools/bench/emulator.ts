import { BenchPlatform, figure, run, timeWork, type Figure } from "./stage.ts";

/** How soon the emulator is there beside a bare Node, and how fast it takes a batch and gives a page. */
export async function measureEmulator(batch: number): Promise<Figure[]> {
  const [starts, beside, batches, pages]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < 5; round++) {
    const bare = await run([process.execPath, "-e", "console.log(1)"]);
    const platform = await BenchPlatform.start({ rows: { fields: { Code: { type: "text", sort: 1 }, Name: "text" } } });
    starts.push(platform.startedIn);
    beside.push(platform.startedIn / 1000 / bare.whole);
    const rows = Array.from({ length: batch }, (_, at) => ({ Code: `K${at}`, Name: `Name ${at}` }));
    const body = JSON.stringify({ microAppID: "rows", rows });
    const page = JSON.stringify({ microAppID: "rows", searchFilter: [{ skip: 0, limit: batch }] });
    batches.push(await timeWork(() => platform.post("insertmicroapprows", body)));
    pages.push(await timeWork(() => platform.post("microappdata", page)));
    await platform.stop();
  }
  const named = batch.toLocaleString("en");
  return [
    figure("emulator: start", starts, "ms", 300),
    figure("emulator: start, to that of a bare Node", beside, "ratio", 8),
    figure(`emulator: batch of ${named} rows`, batches, "ms", 200),
    figure(`emulator: page of ${named} rows`, pages, "ms", 200),
  ];
}
