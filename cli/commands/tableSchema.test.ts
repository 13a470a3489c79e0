import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { runOn, type Ended } from "../../testing/harness/project.ts";

const administrator = { email: "admin@example.com", password: "correct-horse" };
const tables = { items: { name: "Items", fields: { Code: { type: "text", sort: 1 }, Size: "text", Note: "text" } } };

let folder: string;
let emulator: Emulator;
let client: Client;
beforeAll(async () => {
  folder = temporaryFolder();
  emulator = await createEmulator({ seed: { administrator, tables, settings: { strict: false } } });
  client = createClient({ endpoint: emulator.url, ...administrator });
  const rows = Array.from({ length: 12_000 }, (_, at) => ({ Code: `K${at}`, Size: at === 11_000 ? "large" : at }));
  for (const part of [rows.slice(0, 10_000), rows.slice(10_000)])
    await client.insertmicroapprows({ microAppID: "items", rows: part });
});
afterAll(async () => {
  await client.close();
  await emulator.close();
});

const schema = (...flags: string[]): Promise<Ended> =>
  runOn(emulator, administrator, folder, ["table", "schema", ...flags]);

test("a table is read once, page by page, and the row that differs is named", async () => {
  const since = emulator.lastCall();
  const { status, output } = await schema("items");
  expect(output).toContain("table items: 12000 rows, 2 labels, natural key Code");
  expect(output).toContain("1 of 12000: text");
  expect(status).toBe(0);
  const calls = emulator.calls({ since }).map(({ endpoint }) => endpoint);
  expect(calls.filter((endpoint) => endpoint === "microappdata")).toHaveLength(6);
  expect(emulator.calls({ since, mutating: true })).toEqual([]);
});

test("fields that an environment file declares need no platform, and links name their tables", async () => {
  const file = `organizations: {}
seeds: { towns: { table: t1, key: Name, rows: [{ Name: Graz, Land: AT }] } }
platform:
  tables:
    lands: { fields: { Code: text } }
    towns: { id: t1, fields: { Name: text, Land: { type: linked, table: lands, field: Code }, Photo: file } }
`;
  await writeFile(join(folder, "dev.yaml"), file);
  const { output } = await schema("t1", "--from", "dev.yaml", "--as", "table-schema");
  expect(JSON.parse(output)).toMatchObject({
    fields: [{ name: "Name" }, { name: "Land", type: "string" }],
    primaryKey: ["Name"],
    foreignKeys: [{ fields: ["Land"], reference: { resource: "lands", fields: ["Code"] } }],
  });
});

test("mistakes are named", async () => {
  const mistakes: [string[], string][] = [
    [["itms"], "there is no table itms on the platform"],
    [["items", "--key", "Cdoe"], '--key: table items has no label "Cdoe"; did you mean "Code"?'],
    [["items", "--type", "my type"], '--type: "my type" is not a name for a type'],
    [["none", "--from", "dev.yaml"], 'dev.yaml: platform has no table "none"'],
    [["none", "--from", "no.yaml"], "no.yaml"],
  ];
  for (const [flags, message] of mistakes) {
    const { status, output } = await schema(...flags);
    expect([flags, status, output]).toEqual([flags, 1, expect.stringContaining(message)]);
  }
});
