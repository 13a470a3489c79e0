import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../../../emulator/index.ts";
import type { Habits } from "../../habits/habits.ts";
import { createClient, type Client } from "../index.ts";
import { parentPages } from "./parentPages.ts";

const administrator = { email: "admin@example.com", password: "correct-horse" };
const fields = { Name: "text" } as const;
const tables = { countries: { fields }, cities: { parent: "countries", fields } };

let emulator: Emulator;
let client: Client;
const parents = new Map<string, string>();

beforeEach(async () => {
  emulator = await createEmulator({ seed: { administrator, tables } });
  client = createClient({ endpoint: emulator.url, ...administrator });
  parents.clear();
  for (const name of ["AT", "CZ", "SK"]) parents.set(await insert("countries", name), name);
  const [at = "", cz = ""] = parents.keys();
  for (const [name, parent] of [["Graz", at] as const, ["Brno", cz] as const, ["Brno", at] as const])
    await insert("cities", name, parent);
});
afterEach(async () => {
  await client.close();
  await emulator.close();
});

const insert = async (microAppID: string, Name: string, embeddingRowID?: string): Promise<string> =>
  (await client.insertmicroapprow({ microAppID, rowData: { Name }, ...(embeddingRowID ? { embeddingRowID } : {}) }))
    .rowID;

async function read(ids: Iterable<string>, toleratesFilter?: boolean): Promise<string[]> {
  const all: string[] = [];
  for await (const rows of parentPages(client, { microAppID: "cities" }, ids, toleratesFilter))
    all.push(...rows.map((row) => `${String(row["Name"])} ${parents.get(row.embeddingRowID ?? "") ?? "nothing"}`));
  return all;
}

test.each<Partial<Habits>>([
  {},
  { parentShown: "no" },
  { subRows: "byParent" },
  { parentShown: "no", subRows: "byParent" },
])("%j: each row comes once, with its parent", async (habits) => {
  emulator.setProfile({ version: 1, habits });
  expect(await read(parents.keys())).toEqual(["Graz AT", "Brno AT", "Brno CZ"]);
  expect(await read(parents.keys(), true)).toEqual(["Graz AT", "Brno AT", "Brno CZ"]);
});

test("rows below none of the parents come last", async () => {
  emulator.setProfile({ version: 1, habits: { parentShown: "no" } });
  const [at = ""] = parents.keys();
  expect(await read([at])).toEqual(["Graz AT", "Brno AT", "Brno nothing"]);
});

test.each<Partial<Habits>>([{ parentFilter: "ignored" }, { viewFilters: "ignored" }, { viewFilters: "refused" }])(
  "%j: is an error, or tolerated: then every row comes once",
  async (habits) => {
    emulator.setProfile({ version: 1, habits: { ...habits, parentShown: "no" } });
    const refused = habits.viewFilters === "refused" ? "takes none" : "comes for two parents";
    await expect(read(parents.keys())).rejects.toThrow(refused);
    const names = (await read(parents.keys(), true)).map((text) => text.split(" ")[0]);
    expect(names).toEqual(["Graz", "Brno", "Brno"]);
  },
);
