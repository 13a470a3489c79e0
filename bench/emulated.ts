import { type Figure, figure, median, timed } from "./measure.ts";
import { Platform } from "./platform.ts";

/** How soon the emulator is there, and how fast it takes a batch. */
export async function emulated(): Promise<Figure[]> {
  const starts: number[] = [];
  const batches: number[] = [];
  for (let round = 0; round < 5; round++) {
    const platform = await Platform.start({ rows: { fields: { Code: { type: "text", sort: 1 }, Name: "text" } } });
    starts.push(platform.startedIn);
    const rows = Array.from({ length: 10_000 }, (_, i) => ({ Code: `K${i}`, Name: `Name ${i}` }));
    const body = JSON.stringify({ microAppID: "rows", rows });
    batches.push(await timed(() => platform.post("/api/insertmicroapprows", body)));
    await platform.stop();
  }
  return [
    figure("emulator: start", median(starts), "ms", 300),
    figure("emulator: batch of 10,000 rows", median(batches), "ms", 200),
  ];
}
