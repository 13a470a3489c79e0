import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { parse } from "../../provider/pulumi/properties.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { runCommand } from "../../testing/harness/commands.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { InProcessEngine } from "../../testing/harness/inProcessEngine.ts";
import { environmentOf, repository, runOn, type Project, type Ended } from "../../testing/harness/project.ts";
import { declarationIn } from "../between/testing/pullStage.ts";
import { imported, projectOn } from "./testing/imported.ts";

const administrator = { email: "admin@example.com", password: "correct-horse" };
const tables = {
  currencies: { name: "Currencies", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  countries: {
    name: "Countries",
    fields: {
      Code: { type: "text", sort: 1 },
      Name: "text",
      People: "number",
      Tags: "checkbox",
      Note: "text",
      Currency: { type: "linked", table: "currencies", field: "Code" },
    },
  },
  cities: { name: "Cities", parent: "countries", fields: { Name: "text" } },
  offices: {
    name: "Offices",
    fields: { City: "text", Floor: "number", Country: { type: "linked", table: "countries", field: "Code" } },
  },
};
const seed = { administrator, tables, users: [{ email: "ada@example.com" }], settings: { strict: false } };

let folder: string;
let source: Emulator;
let client: Client;
const ids: Record<string, string> = {};

beforeEach(async () => {
  folder = temporaryFolder();
  source = await createEmulator({ seed });
  client = createClient({ endpoint: source.url, ...administrator });
});
afterEach(async () => {
  await client.close();
  await source.close();
});

/** Runs the command against a platform. */
const dump = (platform: Emulator, ...flags: string[]): Promise<Ended> =>
  runOn(platform, administrator, folder, ["dump", ...flags]);

const insert = async (microAppID: string, rowData: Record<string, unknown>, embeddingRowID?: string): Promise<string> =>
  (await client.insertmicroapprow({ microAppID, rowData, ...(embeddingRowID ? { embeddingRowID } : {}) })).rowID;

const linkTo = (rowID: string | undefined) => ({ crossAppRowID: rowID ?? "" });

/** Fills the platform with what is hard to write down. */
async function fill(): Promise<string[]> {
  const { organizationID } = await client.insertorganization({
    organizationInfo: { name: "Acme & Søn", description: 'Says "hello": #1' },
  });
  const crew = await client.insertteam({ teamInfo: { organizationID, name: "Crew" } });
  const support = await client.insertteam({ teamInfo: { organizationID, name: "Support", description: "Helps." } });
  await client.insertteammembers({ teamIDs: [crew.teamID], emails: ["ada@example.com", "Grace@example.com"] });
  const { userID } = await client.userid({ email: "ada@example.com" });
  await client.updateteammember({ teamID: crew.teamID, userID, role: "admin" });
  ids["yen"] = await insert("currencies", { Code: "JPY", Name: "Yen" });
  ids["euro"] = await insert("currencies", { Code: "EUR", Name: "Euro" });
  ids["PT"] = await insert("countries", {
    Code: "PT",
    Name: 'The "Republic", of\nPortugal ',
    People: 10.5,
    Currency: linkTo(ids["euro"]),
    Tags: ["a", "b,c"],
    Note: "1",
  });
  ids["JP"] = await insert("countries", {
    Code: "JP",
    Name: " Japan",
    People: 124,
    Currency: linkTo(ids["yen"]),
    Note: 1,
  });
  ids["01"] = await insert("countries", { Code: "01", Name: "Nowhere", Note: { b: [true, null], a: "x" } });
  await insert("cities", { Name: "Osaka" }, ids["JP"]);
  await insert("cities", { Name: "Lisbon" }, ids["PT"]);
  await insert("offices", { City: "Lisbon", Floor: 10, Country: linkTo(ids["PT"]) });
  await insert("offices", { City: "Lisbon", Floor: 9, Country: linkTo(ids["PT"]) });
  return ["--team", support.teamID, "--team", crew.teamID];
}

const allTables = [
  "currencies:Code",
  "countries:Code",
  "cities:Name",
  "offices:City+Floor:rooms/offices.ndjson",
].flatMap((text) => ["--table", text]);

/** What is dumped, file by file. */
const names = [
  "environment.yaml",
  "data/currencies.csv",
  "data/countries.csv",
  "data/cities.csv",
  "rooms/offices.ndjson",
];
const textsIn = async (where: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(names.map(async (file) => [file, await readFile(join(where, file), "utf8")] as const)),
  );
const written = (where: string) => textsIn(join(folder, where));
const files = await textsIn(join(repository, "cli/dump/testdata/dumped"));

/** A project that runs the dumped environment on a platform. */
async function projectOf(where: string, platform: Emulator, hasProgram = true): Promise<Project> {
  const project = await projectOn(platform, administrator, hasProgram);
  for (const [file, text] of Object.entries(await written(where))) await project.write(file, text);
  await project.succeed("stack init dev");
  return project;
}

test("what is dumped brings an empty platform to the same state: dumped again it is the same, byte for byte", async () => {
  const people = await fill();
  const before = source.calls().at(-1)?.sequence ?? 0;
  const { status, output } = await dump(source, "one", ...people, ...allTables, "--json");
  expect([status, output]).toEqual([0, expect.any(String)]);
  expect(JSON.parse(output)).toEqual({
    folder: "one",
    organizations: 1,
    teams: 2,
    members: 4,
    tables: [
      { table: "currencies", seed: "currencies", file: "data/currencies.csv", rows: 2 },
      { table: "countries", seed: "countries", file: "data/countries.csv", rows: 3 },
      { table: "cities", seed: "cities", file: "data/cities.csv", rows: 2 },
      { table: "offices", seed: "offices", file: "rooms/offices.ndjson", rows: 2 },
    ],
    files: [...Object.keys(files), "import.json"],
    warnings: [],
  });
  expect(await written("one")).toEqual(files);
  expect(await readFile(join(folder, "one/import.json"), "utf8")).not.toContain(administrator.password);
  expect(source.calls({ since: before, mutating: true })).toEqual([]);

  const empty = await createEmulator({ seed });
  const project = await projectOf("one", empty, false);
  try {
    await project.succeed("up", "--yes");
    const made = [...(await project.state()).values()].filter(({ urn }) => urn.includes("index:Team::"));
    const teams = made.flatMap(({ id = "" }) => ["--team", id]);
    expect(await dump(empty, "two", ...teams, ...allTables)).toMatchObject({ status: 0 });
    expect(await written("two")).toEqual(files);
  } finally {
    await project.remove();
    await empty.close();
  }
});

test("what is imported from the file is unchanged in the next preview, and its rows are ours", async () => {
  const people = await fill();
  expect(await dump(source, "one", ...people, ...allTables, "--import", "dynamic")).toMatchObject({ status: 0 });
  const project = await projectOf("one", source);
  try {
    const text = await readFile(join(folder, "one/import.json"), "utf8");
    const salts = Array.from(text.matchAll(/"plaintext": "\\"([^"\\]+)\\""/g), ([, salt = ""]) => salt);
    expect(new Set(salts).size).toBe(4);
    expect(text).not.toContain('"salt": "');
    // As an import in the program's folder reads them, and takes them for inputs.
    const inputs = (JSON.parse(text) as { resources: { inputs?: object }[] }).resources.map((one) => one.inputs);
    expect(inputs).toContainEqual(expect.objectContaining({ source: "one/data/countries.csv" }));
    expect(inputs).not.toContainEqual(expect.objectContaining({ rowCount: expect.anything() as unknown }));
    await imported(project, text);
    expect(await project.steps("preview")).toEqual([]);
    expect(await project.steps("up", "--yes")).toEqual([]);
    const state = await project.stateText();
    for (const salt of salts) expect(state).not.toContain(salt);
    await project.edit("data/currencies.csv", "EUR,Euro\n", "");
    await project.edit("data/countries.csv", "PT,EUR", "PT,");
    expect(await project.succeed("preview")).toContain('rows: 1 to remove ("EUR"), 1 unchanged');
  } finally {
    await project.remove();
  }
});

/** A value of an import file, which may be marked as a secret. */
const withoutSecrets = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "plaintext" in value ? JSON.parse(String(value.plaintext)) : value;

test("the plugin's import file has IDs, and the rows whole", async () => {
  const people = await fill();
  await dump(source, "one", ...people, ...allTables, "--import", "plugin");
  const { resources } = JSON.parse(await readFile(join(folder, "one/import.json"), "utf8")) as {
    resources: { type: string; name: string; inputs?: Record<string, unknown> }[];
  };
  // The Pulumi CLI has the provider check each entry's inputs, and warns of a bug where they are refused.
  for (const { type, inputs = {} } of resources) {
    const resource = resourceNamed(type.split(":").at(-1) ?? "");
    const inClear = Object.entries(inputs).map(([name, value]) => [name, withoutSecrets(value)] as const);
    if (resource && inClear.length > 0) expect(parse(resource, Object.fromEntries(inClear)).problems).toEqual([]);
  }
  expect(resources.map(({ name }) => name)).toEqual([
    "acme-s-n",
    "acme-s-n-crew",
    "acme-s-n-crew-grace-example-com",
    "acme-s-n-crew-ada-example-com",
    "acme-s-n-crew-admin-example-com",
    "acme-s-n-support",
    "acme-s-n-support-admin-example-com",
    "currencies",
    "countries",
    "cities",
    "offices",
  ]);
  expect(resources[1]).toEqual({ type: "microapps:index:Team", name: "acme-s-n-crew", id: people[3] });
  expect(resources[7]).toMatchObject({
    id: "currencies/Code",
    inputs: { source: "one/data/currencies.csv" },
    outputs: { rowCount: 2 },
  });
});

test("members whose addresses are not shown go by user ID: unchanged here, and made where they are known", async () => {
  const [, , , crew = ""] = await fill();
  const { teamMembers } = await client.teammembers({ teamIDs: [crew] });
  const hidden = { memberForm: "userIDs", memberAddress: "no" } as const;
  source.behave(hidden);
  const { output } = await dump(source, "one", "--team", crew, "--import", "dynamic", "--json");
  expect(JSON.parse(output)).toMatchObject({
    warnings: [
      'team "Crew": 3 members without an address that the platform shows: declared by user ID, which another platform does not know',
    ],
  });
  const text = await readFile(join(folder, "one/environment.yaml"), "utf8");
  for (const { userID, role = "" } of teamMembers) expect(text).toMatch(new RegExp(`^ +"?${userID}"?: ${role}$`, "m"));
  const users = teamMembers.map(({ userID: id, email = "" }) => ({ id, email }));
  const [own] = users.filter(({ email }) => email === administrator.email);
  const others = users.filter((user) => user !== own);
  const known = await createEmulator({ seed: { administrator: { ...administrator, ...own }, users: others } });
  known.behave(hidden);
  const projects = [
    await projectOn(source, administrator, true),
    await projectOn(known, administrator, false),
  ] as const;
  try {
    for (const project of projects) {
      await project.write("environment.yaml", text);
      await project.succeed("stack init dev");
    }
    const [here, there] = projects;
    await imported(here, await readFile(join(folder, "one/import.json"), "utf8"));
    expect(await here.steps("up", "--yes")).toEqual([]);
    await there.succeed("up", "--yes");
    const [made] = [...(await there.state()).values()].filter(({ urn }) => urn.includes("index:Team::"));
    await dump(known, "two", "--team", made?.id ?? "");
    expect(await readFile(join(folder, "two/environment.yaml"), "utf8")).toBe(text);
  } finally {
    for (const project of projects) await project.remove();
    await known.close();
  }
});

test("init makes a project of files alone of a dump, with what the plugin imports under its names", async () => {
  const people = await fill();
  await dump(source, "one", ...people, ...allTables);
  await mkdir(join(folder, "made"));
  const words = [
    "init",
    "--from",
    "../one",
    "--endpoint",
    source.url,
    "--email",
    administrator.email,
    "--non-interactive",
  ];
  const { status, output } = await runCommand({ words, folder: join(folder, "made"), environment: environmentOf({}) });
  expect([status, output]).toEqual([
    0,
    expect.stringContaining("  pulumi import --file import.json --generate-code=false"),
  ]);
  const { resources } = JSON.parse(await readFile(join(folder, "made/import.json"), "utf8")) as { resources: object[] };
  expect(resources.slice(0, 3)).toEqual([
    { type: "microapps:index:Environment", name: "environment", component: true },
    {
      type: "microapps:index:Organization",
      name: "environment/acme-s-n",
      parent: "environment",
      id: expect.any(String),
    },
    { type: "microapps:index:Team", name: "environment/acme-s-n/crew", parent: "environment/acme-s-n", id: people[3] },
  ]);
  expect(resources).toContainEqual(
    expect.objectContaining({
      ...{ type: "microapps:index:SeedRows", name: "environment/currencies", parent: "environment" },
      ...{ inputs: expect.objectContaining({ source: "data/currencies.csv" }) as unknown },
    }),
  );
  // In the folder of a program its Environment is meant, also where variables name the platform.
  await writeFile(join(folder, "Pulumi.yaml"), "name: tests\nruntime: nodejs\n");
  await dump(source, "two", ...people);
  expect(await readFile(join(folder, "two/import.json"), "utf8")).toContain("pulumi-nodejs:dynamic/microapps:Team");
});

test("nothing is overwritten unless it is told to, and nothing is left of a dump that fails", async () => {
  await fill();
  expect(await dump(source, "one", "--table", "currencies:Code", "--table", "offices:Floor+City")).toMatchObject({
    status: 0,
  });
  const refused = await dump(source, "one", "--table", "currencies:Code");
  expect(refused).toMatchObject({ status: 1 });
  expect(refused.output).toContain(
    "has environment.yaml, data/currencies.csv, import.json already: choose another folder, or overwrite with --force",
  );
  expect(await dump(source, "one", "--table", "currencies:Code", "--import", "none", "--force")).toMatchObject({
    status: 0,
  });
  for (const place of ["two", "below/a/missing/one"])
    expect(await dump(source, place, "--table", "countries:Currency")).toMatchObject({ status: 1 });
  expect(await readdir(folder)).toEqual(["one"]);
});

test.each([
  [[], "say what to dump: --organization <id>, --team <id>, --table <id>:<key label>"],
  [["--table", "countries"], "--table countries must have the form <table ID>:<label>[+<label>…][:<file>]"],
  [["--table", "countries:Code:../x.csv"], "the file must lie in the folder of the dump and end in .csv or .ndjson"],
  [["--table", "countries:Code", "--table", "countries:Name:x.csv"], "two --table have the same table, countries"],
  [["--organization", "Acme"], "there is no organization Acme on the platform: name it by its ID"],
  [["--team", "none"], "there is no team none on the platform: name it by its ID"],
  [["--table", "none:Code"], "there is no table none on the platform: name it by its ID"],
  [
    ["--table", "countries:People"],
    "table countries: 1 row without People, which is to be the natural key: the IDs are",
  ],
  [
    ["--table", "offices:City"],
    'table offices: several rows have the same City: "Lisbon". Name more labels as its key',
  ],
  [["--table", "cities:Name"], "table cities is a sub-table: dump the table of its parent rows as well"],
])("%j: what can't be dumped is said in one sentence", async (flags, sentence) => {
  await fill();
  const { status, output } = await dump(source, "one", ...flags);
  expect(status).toBe(1);
  expect(output).toContain(`error: `);
  expect(output).toContain(sentence);
  expect(output.trim().split("\n")).toHaveLength(1);
});

test("texts that look like a conflict stay in a CSV, and what no CSV holds goes into NDJSON: both come up as they were", async () => {
  const rows = {
    currencies: [
      { Code: "<<<<<<< HEAD", Name: "one\n<<<<<<< HEAD\n=======\n>>>>>>> other" },
      { Code: ">>>>>>> other", Name: "two" },
    ],
    countries: [{ Code: "a\0b", Name: "zero \0" }],
  };
  for (const [table, all] of Object.entries(rows)) for (const row of all) await insert(table, row);
  const flags = ["--table", "currencies:Code", "--table", "countries:Code", "--json"];
  const { status, output } = await dump(source, "one", ...flags);
  expect([status, JSON.parse(output)]).toEqual([
    0,
    expect.objectContaining({
      tables: [
        expect.objectContaining({ file: "data/currencies.csv" }),
        expect.objectContaining({ file: "data/countries.ndjson" }),
      ],
      warnings: ["table countries: its texts hold what no CSV can, so its rows are written to data/countries.ndjson"],
    }),
  ]);
  const empty = await createEmulator({ seed });
  const login = { endpoint: empty.url, ...administrator };
  const other = createClient(login);
  try {
    await new InProcessEngine(login).run(declarationIn(join(folder, "one"), "environment.yaml"), true);
    for (const [microAppID, all] of Object.entries(rows)) {
      const { microAppRows } = await other.microappdata({ microAppID });
      const cells = microAppRows.map(({ Code, Name }) => ({ Code, Name }));
      expect(cells.toSorted((a, b) => (String(a.Code) < String(b.Code) ? -1 : 1))).toEqual(all);
    }
  } finally {
    await other.close();
    await empty.close();
  }
});

test("links of a table to itself are set once all rows are there, on an empty platform and where they are", async () => {
  await client.close();
  await source.close();
  const staff = { name: "Staff", fields: { Name: "text", Lead: { type: "linked", table: "staff", field: "Name" } } };
  const own = { administrator, tables: { staff } };
  source = await createEmulator({ seed: own });
  client = createClient({ endpoint: source.url, ...administrator });
  const ada = await insert("staff", { Name: "Ada" });
  await insert("staff", { Name: "Grace", Lead: linkTo(ada) });
  const { output } = await dump(source, "one", "--table", "staff:Name", "--import", "dynamic", "--json");
  expect(JSON.parse(output)).toMatchObject({ warnings: [] });
  const read = (file: string): Promise<string> => readFile(join(folder, "one", file), "utf8");
  const text = ["environment.yaml", "data/staff.csv", "data/staff-links.csv"];
  expect(await Promise.all(text.slice(1).map(read))).toEqual(["Name\nAda\nGrace\n", "Name,Lead\nGrace,Ada\n"]);
  const empty = await createEmulator({ seed: own });
  const project = await projectOn(source, administrator, true);
  try {
    const login = { endpoint: empty.url, ...administrator };
    await new InProcessEngine(login).run(declarationIn(join(folder, "one"), "environment.yaml"), true);
    await dump(empty, "two", "--table", "staff:Name");
    for (const file of text) expect(await readFile(join(folder, "two", file), "utf8")).toBe(await read(file));
    for (const file of text) await project.write(file, await read(file));
    await project.succeed("stack init dev");
    await imported(project, await read("import.json"));
    expect(await project.steps("preview")).toEqual([]);
  } finally {
    await project.remove();
    await empty.close();
  }
});
