import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lookingContext } from "../../cli/commands/lookingContext.ts";
import { dump, type DumpSummary } from "../../cli/dump/dump.ts";
import { tableOption } from "../../cli/dump/tableOption.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, pages, type Client } from "../../provider/client/index.ts";
import { TableReads } from "../../provider/client/lists/tableReads.ts";
import { MemberLists } from "../../provider/client/members/memberLists.ts";
import type { RequestOf } from "../../provider/contract/endpoints.ts";
import type { Habits } from "../../provider/habits/habits.ts";
import { InProcessEngine } from "../gitops/inProcessEngine.ts";
import { declarationIn } from "../gitops/pullFrom.ts";
import { runCommand } from "../harness/commands.ts";
import { environmentOf, freshFolder, Project, type Ended } from "../harness/project.ts";
import { both, nestedTables, tableAlone } from "../harness/seeds/hiddenParents.ts";

// Dumps of platforms that do not show below which row each row of a sub-table stands.

const administrator = { email: "admin@example.com", password: "correct-horse" };
const tables = { ...nestedTables, currencies: tableAlone, empty: tableAlone };

let folder: string;
let source: Emulator;
let client: Client;

beforeEach(async () => {
  folder = await freshFolder();
  source = await createEmulator({ seed: { administrator, tables } });
  client = createClient({ endpoint: source.url, ...administrator });
});
afterEach(async () => {
  await client.close();
  await source.close();
  await rm(folder, { recursive: true, force: true });
});

const become = (habits: Partial<Habits>): void => source.setProfile({ version: 1, habits });
const insert = async (microAppID: string, Name: string, embeddingRowID?: string): Promise<string> =>
  (await client.insertmicroapprow({ microAppID, rowData: { Name }, ...(embeddingRowID ? { embeddingRowID } : {}) }))
    .rowID;

async function fill(): Promise<{ at: string; cz: string }> {
  const [at, cz] = [await insert("countries", "AT"), await insert("countries", "CZ")];
  await insert("countries", "SK");
  for (const name of ["Graz", "Linz"]) await insert("cities", name, at);
  await insert("streets", "Husova", await insert("cities", "Brno", cz));
  await insert("currencies", "EUR");
  return { at, cz };
}

const connection = () => ({
  MICROAPPS_ENDPOINT: source.url,
  MICROAPPS_EMAIL: administrator.email,
  MICROAPPS_PASSWORD: administrator.password,
  MICROAPPS_MASK_SECRET: "a secret of the tests that is long enough",
});

/** Runs the command, with a profile of these habits. */
async function runDump(words: string, habits?: Partial<Habits>): Promise<Ended> {
  await writeFile(join(folder, "profile.yaml"), JSON.stringify({ version: 1, habits }));
  return runCommand({
    words: ["dump", "out", ...words.split(" ")],
    folder,
    environment: environmentOf({
      ...connection(),
      ...(habits ? { MICROAPPS_PROFILE: join(folder, "profile.yaml") } : {}),
    }),
  });
}
const named = (...all: string[]): string => all.map((each) => `--table ${each}`).join(" ");
const allTables = named("streets:Name", "cities:Name", "countries:Name", "currencies:Name");
const file = (name: string): Promise<string> => readFile(join(folder, "out/data", `${name}.csv`), "utf8");

/** All rows of a usual platform by table: their names, each with that of the row that it stands below. */
async function rowsOf(platform: Client): Promise<unknown> {
  const all = await Promise.all(
    Object.keys(tables).map(async (microAppID) => ({
      microAppID,
      rows: (await platform.microappdata({ microAppID })).microAppRows,
    })),
  );
  const names = new Map(all.flatMap(({ rows }) => rows.map((row) => [row._id, row["Name"]])));
  return Object.fromEntries(
    all.map(({ microAppID, rows }) => [
      microAppID,
      rows.map((row) => `${String(names.get(row.embeddingRowID ?? ""))}/${String(row["Name"])}`).sort(),
    ]),
  );
}

/** Brings up what was dumped on an empty platform, and returns the rows that are there then. */
async function rowsAfterUp(): Promise<unknown> {
  const target = await createEmulator({ seed: { administrator, tables } });
  const login = { endpoint: target.url, ...administrator };
  const other = createClient(login);
  try {
    const engine = new InProcessEngine(login);
    await engine.run(declarationIn(join(folder, "out"), "environment.yaml"), true);
    return await rowsOf(other);
  } finally {
    await other.close();
    await target.close();
  }
}

describe.each(both)("where parents %s and %s", (_how, _known, habits, profile) => {
  test("a dump and an up on an empty platform give the same rows", async () => {
    await fill();
    const before = await rowsOf(client);
    become(habits);
    const { output, status } = await runDump(allTables, profile);
    expect(output).toContain("3 rows of table cities");
    expect(status).toBe(0);
    expect(await file("cities")).toBe("Name,Parent\nBrno,CZ\nGraz,AT\nLinz,AT\n");
    expect(await rowsAfterUp()).toEqual(before);
  });

  test("a sub-table without the table of its parents is refused", async () => {
    await fill();
    become(habits);
    const { output, status } = await runDump(named("cities:Name", "currencies:Name"), profile);
    expect(output).toMatch(/table cities .*: dump the table of its parent rows as well \(--table <ID>:<key label>\)/);
    expect(status).toBe(1);
    expect(existsSync(join(folder, "out"))).toBe(false);
  });

  test("children of two parents with the same key are told apart by the parent in their key", async () => {
    const { at } = await fill();
    await insert("cities", "Brno", at);
    const before = await rowsOf(client);
    become(habits);
    const twice = await runDump(named("countries:Name", "cities:Name"), profile);
    expect(twice.output).toContain('table cities: several rows have the same Name: "Brno"');
    expect(twice.status).toBe(1);
    const { status } = await runDump(named("countries:Name", "cities:Name+Parent", "currencies:Name"), profile);
    expect(status).toBe(0);
    expect(await file("cities")).toBe("Name,Parent\nBrno,AT\nBrno,CZ\nGraz,AT\nLinz,AT\n");
    expect(await rowsAfterUp()).toEqual({ ...(before as object), streets: [] });
  });

  test("a parent that is deleted between two pages takes its own rows along, and no other", async () => {
    const { cz } = await fill();
    for (const name of ["Olomouc", "Plzen"]) await insert("cities", name, cz);
    source.setProfile({ version: 1, habits, limits: { maximumLimit: 1 } });
    let isGone = false;
    const { tables: dumped, warnings } = await dumpThrough(profile, async (request) => {
      if (isGone || request.microAppID !== "cities" || !JSON.stringify(request).includes(cz)) return;
      // The first of its rows was read.
      if (!JSON.stringify(request).includes("$gt") && request.searchFilter?.[0]?.skip === 0) return;
      isGone = true;
      await client.removemicroapprow({ rowID: cz });
    });
    expect(isGone).toBe(true);
    expect(warnings).toEqual([]);
    expect(dumped.map(({ table, rows }) => `${rows} ${table}`)).toEqual(["3 countries", "3 cities"]);
    expect(await file("cities")).toMatch(/^Name,Parent\nBrno,CZ\nGraz,AT\nLinz,AT\n$/);
  });
});

/** Dumps countries and cities in this process; `before` happens before each read of rows. */
async function dumpThrough(
  profile: Partial<Habits> | undefined,
  before: (request: RequestOf<"microappdata">) => Promise<void>,
): Promise<DumpSummary> {
  const login = { endpoint: source.url, ...administrator };
  const reader = createClient({ ...login, readOnly: true, profile: profile && { version: 1, habits: profile } });
  const watched = new Proxy(reader, {
    get: (target, name: keyof Client) =>
      name === "microappdata"
        ? async (...[request, options]: Parameters<Client["microappdata"]>) => {
            await before(request);
            return target.microappdata(request, options);
          }
        : target[name],
  });
  try {
    const reads = { client: watched, members: new MemberLists(watched), tables: new TableReads(watched) };
    const context = lookingContext(reads, login, folder, new AbortController().signal);
    const options = ["countries:Name", "cities:Name"].map(tableOption);
    const request = {
      organizations: [],
      teams: [],
      tables: options,
      importFor: "none",
      name: "x",
      force: false,
    } as const;
    return await dump(context, request, join(folder, "out"));
  } finally {
    await reader.close();
  }
}

describe("where parents are shown", () => {
  /** Calls that read rows, of a piece of work. */
  async function reads(work: () => Promise<unknown>): Promise<number> {
    const since = source.lastCall();
    await work();
    return source.calls({ since }).filter(({ endpoint }) => endpoint === "microappdata").length;
  }
  const readAll = async (names: readonly string[]): Promise<void> => {
    for (const microAppID of names) {
      const reading = pages(client, { microAppID });
      while (!(await reading.next()).done);
    }
  };

  test("a dump takes the calls that reading each table takes, whichever comes first", async () => {
    await fill();
    const all = ["currencies", "streets", "cities", "countries"];
    const expected = await reads(() => readAll(all));
    for (const order of [all, all.toReversed()]) {
      const flags = `${named(...order.map((each) => `${each}:Name`))} --import none --force`;
      expect(await reads(async () => expect((await runDump(flags)).status).toBe(0))).toBe(expected);
    }
  });

  test("a profile that knows it spares the question whether tables without parents are sub-tables", async () => {
    await fill();
    const flags = `${named("currencies:Name", "countries:Name")} --import none --force`;
    const expected = await reads(() => readAll(["currencies", "countries"]));
    expect(await reads(async () => expect((await runDump(flags, {})).status).toBe(0))).toBe(expected);
    expect(await reads(async () => expect((await runDump(flags)).status).toBe(0))).toBe(expected + 2);
  });

  test("a table without rows is left out where another one shows parents, and refused where nothing shows them", async () => {
    const { cz } = await fill();
    const shown = await runDump(`${named("cities:Name", "countries:Name", "empty:Name")} --force`);
    expect(shown.output).toContain("table empty has no rows: it is left out");
    expect(shown.status).toBe(0);
    expect((await runDump(`${named("empty:Name")} --force`, {})).status).toBe(0);
    const unknown = await runDump(`${named("empty:Name", "countries:Name")} --force`);
    expect(unknown.output).toMatch(
      /table empty shows no rows, and nobody knows .* or leave table empty out, or set microapps:profile/,
    );
    expect(unknown.status).toBe(1);
    expect(cz).not.toBe("");
  });
});

test("a stack's state knows the tables of parents, and the columns that name them", async () => {
  await fill();
  const program = `import { Environment } from "pulumi-microapps";\nnew Environment("environment", { file: "environment.yaml" });`;
  const config = { endpoint: source.url, email: administrator.email, password: administrator.password };
  const keys = Object.entries(config).map(([key, value]) => [`microapps:${key}`, value] as const);
  const project = await Project.running(program, Object.fromEntries(keys));
  try {
    await project.write(
      "environment.yaml",
      `seeds:
  countries: { table: countries, key: Name, mode: updateOnly, rows: [{ Name: AT }, { Name: CZ }] }
  cities:
    table: cities
    key: [Name, In]
    parent: { seed: countries, by: In }
    rows: [{ Name: Graz, In: AT }, { Name: Brno, In: CZ }]
    adopt: true
`,
    );
    await project.succeed("stack init dev");
    await project.succeed("up --yes");
    become({ parentShown: "no", subRows: "byParent" });
    await project.succeed("dump copy --import none");
    expect(await project.read("copy/data/cities.csv")).toBe("Name,In\nBrno,CZ\nGraz,AT\nLinz,AT\n");
  } finally {
    await project.remove();
  }
});

test.each([
  [named("cities:Name", "countries:Name"), "Name,Parent"],
  [named("cities:Name+Parent", "countries:Name"), "Name,Parent"],
])("a masked dump has the rows of each parent (%s)", async (flags, head) => {
  await fill();
  become({ parentShown: "no", idForm: "number" });
  await writeFile(join(folder, "masks.yaml"), "tables: { cities: { Name: name }, countries: { Name: name } }\n");
  const checked = await runCommand({
    words: ["dump", "--check", "masks.yaml", ...flags.split(" ")],
    ...{ folder, environment: environmentOf(connection()) },
  });
  expect(checked.output).toContain("cities.Name: name, 3 values");
  expect(checked.status).toBe(0);
  const { output, status } = await runDump(`${flags} --mask masks.yaml`);
  expect(output).toContain("3 rows of table cities");
  expect(status).toBe(0);
  const [first, ...rows] = (await file("cities")).trim().split("\n");
  expect(first).toBe(head);
  const parents = Map.groupBy(rows, (row) => row.split(",")[1]);
  expect([...parents.values()].map(({ length }) => length).sort()).toEqual([1, 2]);
});

test.each([
  { viewFilters: "ignored" },
  { viewFilters: "refused" },
  { parentFilter: "ignored" },
  { rangeFilters: "refused" },
] as const)("where neither rows nor filters (%j) show parents, a dump is refused", async (filters) => {
  await fill();
  const habits = { ...filters, parentShown: "no" } as const;
  become(habits);
  for (const profile of [undefined, habits]) {
    const { output, status } = await runDump(named("cities:Name", "countries:Name"), profile);
    expect(output).toContain(
      "table cities names no parent rows (embeddingRowID), and filters of the platform don't show",
    );
    expect(output).toContain("set microapps:profile to a file with habits.parentShown");
    expect(status).toBe(1);
  }
  expect((await runDump(named("countries:Name"), { ...filters })).status).toBe(0);
});
