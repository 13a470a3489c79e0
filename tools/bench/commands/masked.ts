import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Figure, figure } from "../measure.ts";
import { BenchPlatform } from "../platform.ts";
import { runMicroapps, type CommandCost } from "./command.ts";

const fields = { Code: "text", Name: "text", Email: "text", Phone: "text", Born: "text", City: "text", Note: "text" };
const masks = `labels:
  Code: digits
  Name: name
  Email: address
  Phone: digits
  Born: date
  City: keep
  Note: drop
`;

const rowAt = (index: number): Record<string, string> => ({
  Code: `K${String(index).padStart(8, "0")}`,
  Name: `Vorname${index % 9_973} Nachname${index % 99_991}`,
  Email: `person.${index}@mail.example`,
  Phone: `+49 170 ${String(10_000_000 + ((index * 7_919) % 89_999_999))}`,
  Born: new Date(Date.UTC(1950, 0, 1 + (index % 20_000))).toISOString().slice(0, 10),
  City: `Town ${index % 977}`,
  Note: "A remark of some length, as people write them beside their figures.",
});

/** The schema of a table of so many rows of seven labels, and a masked dump of it beside one in clear. */
export async function measureMasks(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start({ people: { fields } });
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
  const { configuration } = platform;
  const variables = {
    MICROAPPS_ENDPOINT: configuration["microapps:endpoint"],
    MICROAPPS_EMAIL: configuration["microapps:email"],
    MICROAPPS_PASSWORD: configuration["microapps:password"],
    MICROAPPS_MASK_SECRET: "0123456789abcdef0123456789abcdef",
  };
  const dump = (...flags: string[]): Promise<CommandCost> =>
    runMicroapps(folder, ["dump", ...flags, "--table", "people:Code", "--import", "none"], variables);
  try {
    for (let first = 0; first < count; first += 10_000) {
      const rows = Array.from({ length: Math.min(10_000, count - first) }, (_, at) => rowAt(first + at));
      await platform.post("/api/insertmicroapprows", JSON.stringify({ microAppID: "people", rows }));
    }
    await writeFile(path.join(folder, "masks.yaml"), masks);
    const schema = await runMicroapps(folder, ["table", "schema", "people"], variables);
    const clear = await dump("clear");
    const hidden = await dump("masked", "--mask", "masks.yaml");
    const named = `masked dump of ${count.toLocaleString("en")} rows`;
    const described = `table schema of ${count.toLocaleString("en")} rows`;
    return [
      figure(described, schema.time, "ms", 60_000),
      figure(`${described}: peak memory`, schema.memory, "MB", 400),
      figure(`dump of ${count.toLocaleString("en")} rows in clear: peak memory`, clear.memory, "MB", 700),
      figure(`${named}: beyond one in clear`, hidden.time - clear.time, "ms", 40_000),
      figure(`${named}: peak memory`, hidden.memory, "MB", 1_000),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
    await platform.stop();
  }
}
