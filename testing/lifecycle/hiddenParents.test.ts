import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import type { Habits } from "../../provider/habits/habits.ts";
import { InProcessHost } from "../harness/inProcessHost.ts";
import type { Properties } from "../harness/providerHost.ts";
import { nestedTables as tables } from "../harness/seeds/hiddenParents.ts";

// Platforms that do not show below which row each row of a sub-table stands, without a profile.

const administrator = { email: "admin@example.com", password: "correct-horse" };

let emulator: Emulator;
let client: Client;
let folder: string;
let host: InProcessHost;

beforeEach(async () => {
  emulator = await createEmulator({ seed: { administrator, tables } });
  client = createClient({ endpoint: emulator.url, ...administrator });
  folder = await mkdtemp(join(tmpdir(), "microapps-parents-"));
  host = new InProcessHost({ endpoint: emulator.url, ...administrator }, folder);
});
afterEach(async () => {
  host.stop();
  await client.close();
  await emulator.close();
  await rm(folder, { recursive: true });
});

const become = (habits: Partial<Habits>): void => emulator.setProfile({ version: 1, habits });
const add = async (microAppID: string, Name: string, embeddingRowID?: string): Promise<string> =>
  (await client.insertmicroapprow({ microAppID, rowData: { Name }, ...(embeddingRowID ? { embeddingRowID } : {}) }))
    .rowID;
const cities = async (): Promise<unknown[]> => {
  emulator.setProfile();
  const { microAppRows } = await client.microappdata({ microAppID: "cities", optViewSort: { _id: 1 } });
  return microAppRows.map(({ Name, Note, embeddingRowID }) => [Name, Note ?? "", embeddingRowID]);
};
const seed = (rows: Properties[], more: Properties = {}): Properties => ({
  ...{ table: "cities", key: ["Name", "in"], parent: { table: "countries", key: "Name", by: "in" }, rows },
  ...more,
});
async function create(resource: string, inputs: Properties): ReturnType<InProcessHost["create"]> {
  host.resource = resource;
  const checked = await host.check("SeedRows", inputs);
  expect(checked.problems).toEqual([]);
  return host.create("SeedRows", checked.inputs);
}
const slower = (): string[] => host.told.filter((text) => text.includes("parent by parent"));

const hiding: [string, Partial<Habits>][] = [
  ["are not named", { parentShown: "no" }],
  ["alone show their rows", { subRows: "byParent" }],
];

test.each(hiding)("where parents %s, rows that are there are found, and it is said once", async (_, habits) => {
  const [at, cz] = [await add("countries", "AT"), await add("countries", "CZ")];
  await add("cities", "Brno", cz);
  become(habits);
  await create("one", seed([{ Name: "Brno", in: "CZ" }]));
  const rest = await create("two", seed(["Graz", "Brno"].map((Name) => ({ Name, in: "AT" }))));
  expect(slower()).toHaveLength(1);
  const there = [
    ["Brno", "", cz],
    ["Graz", "", at],
    ["Brno", "", at],
  ];
  expect(await cities()).toEqual(expect.arrayContaining(there));
  become(habits);
  host.resource = "two";
  await host.destroy("SeedRows", rest.id, rest.outputs);
  expect(await cities()).toEqual([["Brno", "", cz]]);
});

test.each(hiding)("where parents %s, a row of others with the same key stops a seed", async (_, habits) => {
  const cz = await add("countries", "CZ");
  await add("cities", "Brno", cz);
  become(habits);
  const rows = [{ Name: "Brno", Note: "ours", in: "CZ" }];
  await expect(create("one", seed(rows))).rejects.toThrow(/adopt/);
  expect(await cities()).toEqual([["Brno", "", cz]]);
});

test("a later run finds rows below a parent that comes after many without rows", async () => {
  for (let index = 0; index < 40; index++) await add("countries", `C${index}`);
  const last = await add("countries", "CZ");
  become({ subRows: "byParent" });
  const made = await create("one", seed([{ Name: "Brno", in: "CZ" }]));
  expect(await cities()).toEqual([["Brno", "", last]]);
  become({ subRows: "byParent" });
  await host.restart();
  await host.destroy("SeedRows", made.id, made.outputs);
  expect(await cities()).toEqual([]);
});

test.each(hiding)(
  "where parents %s, no row below another one is imported as one that stands alone",
  async (_, habits) => {
    const at = await add("countries", "AT");
    await add("cities", "Graz", at);
    become(habits);
    const below = /declare it by a SeedRows with parent/;
    await expect(host.import("SeedRows", "cities/Name=Graz")).rejects.toThrow(below);
    await expect(host.import("SeedRows", "cities/Name=Wien")).rejects.toThrow(
      /table cities lists no row Name=Wien; correct/,
    );
    expect((await host.import("SeedRows", "countries/Name=AT")).outputs).toMatchObject({ rowCount: 1 });
    const profile = join(folder, "profile.yaml");
    await writeFile(profile, JSON.stringify({ version: 1, habits }));
    host = new InProcessHost({ endpoint: emulator.url, ...administrator, profile }, folder);
    await expect(host.import("SeedRows", "cities/Name=Graz")).rejects.toThrow(below);
    expect((await host.import("SeedRows", "countries/Name=AT")).outputs).toMatchObject({ rowCount: 1 });
  },
);

test("where nothing shows whether a row stands below another one, none is imported without a profile", async () => {
  await add("cities", "Graz", await add("countries", "AT"));
  const profile = join(folder, "profile.yaml");
  for (const filters of [{ viewFilters: "refused" }, { parentFilter: "ignored" }] as const) {
    become({ ...filters, parentShown: "no" });
    await host.restart();
    await expect(host.import("SeedRows", "cities/Name=Graz")).rejects.toThrow(
      /microapps:profile .*habits|microapps:profile names/,
    );
    become(filters);
    await writeFile(profile, JSON.stringify({ version: 1, habits: filters }));
    const knowing = new InProcessHost({ endpoint: emulator.url, ...administrator, profile }, folder);
    await expect(knowing.import("SeedRows", "cities/Name=Graz")).rejects.toThrow("is a row below another one");
    expect((await knowing.import("SeedRows", "countries/Name=AT")).outputs).toMatchObject({ rowCount: 1 });
    knowing.stop();
  }
});

test("where parents are shown, an import asks once whether a row stands below another one, and not with a profile", async () => {
  await add("cities", "Graz", await add("countries", "AT"));
  const reads = async (work: () => Promise<unknown>): Promise<string[]> => {
    const since = emulator.lastCall();
    await work();
    return emulator.calls({ since }).flatMap(({ endpoint }) => (endpoint.startsWith("microapp") ? [endpoint] : []));
  };
  const usual = await reads(() => host.import("SeedRows", "countries/Name=AT"));
  const profile = join(folder, "profile.yaml");
  await writeFile(profile, JSON.stringify({ version: 1 }));
  host.stop();
  host = new InProcessHost({ endpoint: emulator.url, ...administrator, profile }, folder);
  const known = await reads(() => host.import("SeedRows", "countries/Name=AT"));
  expect(usual).toEqual([...known, "microappdata"]);
});

test("rows below rows that stand below others are refused where parents alone show them", async () => {
  const cz = await add("countries", "CZ");
  await add("cities", "Brno", cz);
  become({ subRows: "byParent" });
  await create("one", seed([{ Name: "Brno", in: "CZ" }]));
  const parent = { table: "cities", key: "Name", by: "in" };
  const streets = seed([{ Name: "Husova", in: "Brno" }], { table: "streets", parent });
  await expect(create("two", streets)).rejects.toThrow(/table streets is a sub-table of cities, .* itself/);
});
