import { BenchPlatform, figure, timeWork, type Figure } from "./stage.ts";

/** How soon the emulator is there, and how fast it takes a batch. */
export async function measureEmulator(batch: number): Promise<Figure[]> {
  const [starts, batches]: [number[], number[]] = [[], []];
  for (let round = 0; round < 5; round++) {
    const platform = await BenchPlatform.start({ rows: { fields: { Code: { type: "text", sort: 1 }, Name: "text" } } });
    starts.push(platform.startedIn);
    const rows = Array.from({ length: batch }, (_, at) => ({ Code: `K${at}`, Name: `Name ${at}` }));
    const body = JSON.stringify({ microAppID: "rows", rows });
    batches.push(await timeWork(() => platform.post("insertmicroapprows", body)));
    await platform.stop();
  }
  return [
    figure("emulator: start", starts, "ms", 300),
    figure(`emulator: batch of ${batch.toLocaleString("en")} rows`, batches, "ms", 200),
  ];
}
