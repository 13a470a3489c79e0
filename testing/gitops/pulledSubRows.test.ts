import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Repository } from "../../cli/changes/testing/repository.ts";
import { writeFiles } from "../../cli/edits/writing.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import type { Habits } from "../../provider/habits/habits.ts";
import { both, hiding } from "../harness/seeds/hiddenParents.ts";
import { InProcessEngine } from "./inProcessEngine.ts";
import { declarationIn, pullFrom } from "./pullFrom.ts";

// Rows below others that were edited by hand, on platforms that do not show below which row each of them stands.

const login = { email: "admin@example.com", password: "correct-horse" };
const fields = { Name: "text", Note: "text" } as const;
const files = {
  "environments.yaml": "dev: { file: dev.yaml }\n",
  "dev.yaml": `seeds:
  countries: { table: countries, key: Name, rows: [{ Name: AT }, { Name: CZ }, { Name: SK }] }
  cities:
    table: cities
    key: [Name, In]
    parent: { seed: countries, by: In }
    source: cities.csv
`,
  "cities.csv": "Name,In,Note\nBrno,AT,one\nBrno,CZ,two\nGraz,AT,three\nKladno,CZ,four\nTrnava,SK,five\n",
};

let emulator: Emulator;
let client: Client;
let repository: Repository;
let engine: InProcessEngine;

const become = (habits: Partial<Habits>): void => emulator.setProfile({ version: 1, habits });
const declared = () => declarationIn(repository.folder, "dev.yaml");
const apply = () => engine.run(declared(), true);
const pull = (habits?: Partial<Habits>) =>
  pullFrom({ endpoint: emulator.url, ...login, ...(habits ? { profile: { version: 1, habits } } : {}) }, engine, {
    folder: repository.folder,
    name: "dev",
    entries: [{ name: "dev", file: "dev.yaml" }],
    foreign: true,
  });
const changes = ({ items }: Awaited<ReturnType<typeof pull>>): string[] =>
  items.map(({ change: { op, name }, thing }) => `${op} ${thing}/${name}`).sort();

/** The cities with their countries, whatever the platform shows. */
async function cities(): Promise<Map<string, { id: string; Note: unknown }>> {
  emulator.setProfile();
  const read = async (microAppID: string) => (await client.microappdata({ microAppID })).microAppRows;
  const countries = new Map((await read("countries")).map(({ _id, Name }) => [_id, Name as string]));
  const name = (parent: string | null | undefined): string => countries.get(parent ?? "") ?? "none";
  return new Map(
    (await read("cities")).map((row) => [
      `${row["Name"] as string} ${name(row.embeddingRowID)}`,
      { id: row._id, Note: row["Note"] },
    ]),
  );
}

beforeEach(async () => {
  const tables = { countries: { fields }, cities: { parent: "countries", fields } };
  emulator = await createEmulator({ seed: { administrator: login, tables } });
  client = createClient({ endpoint: emulator.url, ...login });
  repository = new Repository(files);
  engine = new InProcessEngine({ endpoint: emulator.url, ...login });
});
afterEach(async () => {
  repository.remove();
  await client.close();
  await emulator.close();
});

test.each(both)("where parents %s and %s, edits by hand are pulled", async (_how, _known, habits, profile) => {
  become(habits);
  await apply();
  expect(changes(await pull(profile))).toEqual([]);
  const before = await cities();
  const rowID = before.get("Brno CZ")?.id ?? "";
  await client.updatemicroapprow({ rowID, microAppID: "cities", rowData: { Note: "by hand" } });
  await client.removemicroapprow({ rowID: before.get("Graz AT")?.id ?? "" });
  become(habits);
  const pulled = await pull(profile);
  expect(changes(pulled)).toEqual(["change cities/Brno, CZ", "remove cities/Graz, AT"]);
  expect(pulled.look.unread).toEqual([]);
  await writeFiles(repository.folder, pulled.files);
  expect(repository.git("diff", "--no-color", "--unified=0").match(/^[-+](?!--|\+\+).*/gm)).toEqual([
    "-Brno,CZ,two",
    "-Graz,AT,three",
    "+Brno,CZ,by hand",
  ]);
  const since = emulator.lastCall();
  await apply();
  expect(emulator.calls({ since, mutating: true })).toEqual([]);
  expect([...(await cities()).keys()].sort()).toEqual(["Brno AT", "Brno CZ", "Kladno CZ", "Trnava SK"]);
});

test.each(hiding)("where parents %s, a row that is theirs is seen as nobody's", async (_how, habits) => {
  become(habits);
  await apply();
  await cities();
  const { microAppRows } = await client.microappdata({ microAppID: "countries" });
  const at = microAppRows.find((row) => row["Name"] === "SK")?._id ?? "";
  await client.insertmicroapprow({ microAppID: "cities", rowData: { Name: "Nitra" }, embeddingRowID: at });
  become(habits);
  expect(changes(await pull())).toEqual(["add cities/Nitra, SK"]);
});

test("where parents are neither shown nor found, the seed counts as unread", async () => {
  await apply();
  become({ parentShown: "no", parentFilter: "ignored" });
  const { items, look } = await pull();
  expect(items).toEqual([]);
  expect(look.unread).toEqual([expect.stringMatching(/^cities: table cities does not show below which row/)]);
});

test("where no filter finds them, a pull takes nothing for gone", async () => {
  await apply();
  become({ subRows: "byParent", parentFilter: "ignored" });
  const { items, files } = await pull();
  expect(files).toEqual([]);
  const none = expect.stringContaining("the platform shows none of its rows: nothing is removed for an empty answer");
  expect(items.map(({ refused }) => refused)).toEqual(Array.from({ length: 5 }, () => none));
});

test("where parents are shown, it takes the calls that reading takes", async () => {
  await apply();
  const since = emulator.lastCall();
  expect(changes(await pull())).toEqual([]);
  const tables = emulator.calls({ since }).flatMap(({ endpoint }) => (endpoint === "microappdata" ? [endpoint] : []));
  expect(tables).toHaveLength(4);
});
