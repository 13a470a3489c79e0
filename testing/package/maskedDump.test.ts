import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import { read } from "../../provider/sources/read.ts";
import { runCommand } from "../harness/commands.ts";
import { environmentOf, freshFolder, Project, type Ended } from "../harness/project.ts";

const administrator = { email: "admin@example.com", password: "correct-horse" };
const secret = "0123456789abcdef0123456789abcdef";
const linked = (table: string, field: string) => ({ type: "linked", table, field }) as const;
const tables = {
  t1customers: {
    name: "Customers",
    fields: {
      Email: "text",
      Name: "text",
      Phone: "text",
      Born: "date",
      Joined: "date",
      Plan: "text",
      Note: "text",
      Score: "number",
      Friend: linked("t1customers", "Email"),
    },
  },
  t2orders: {
    name: "Orders",
    fields: { Number: "text", Customer: linked("t1customers", "Email"), Placed: "date", Contact: "text" },
  },
  t3lines: { name: "Lines", parent: "t2orders", fields: { Line: "text", Item: "text" } },
} as const;

let folder: string;
let source: Emulator;
let client: Client;
let variables: Record<string, string>;

beforeEach(async () => {
  folder = await freshFolder();
  source = await createEmulator({ seed: { administrator, tables, settings: { strict: false } } });
  client = createClient({ endpoint: source.url, ...administrator });
  variables = { MICROAPPS_MASK_SECRET: secret };
});
afterEach(async () => {
  await client.close();
  await source.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (...words: string[]): Promise<Ended> =>
  runCommand({
    words: ["dump", ...words],
    folder,
    environment: environmentOf({
      MICROAPPS_ENDPOINT: source.url,
      MICROAPPS_EMAIL: administrator.email,
      MICROAPPS_PASSWORD: administrator.password,
      ...variables,
    }),
  });

const insert = async (microAppID: string, rowData: Record<string, unknown>, embeddingRowID?: string): Promise<string> =>
  (await client.insertmicroapprow({ microAppID, rowData, ...(embeddingRowID ? { embeddingRowID } : {}) })).rowID;
const linkTo = (rowID: string) => ({
  crossAppRowID: rowID,
  value: { label: "Email", value: "copied@in-clear.example" },
});
const letters = (count: number): string =>
  Array.from(randomBytes(count), (byte) => "abcdefghijklmnopqrstuvwxyz"[byte % 26]).join("");
const word = (): string => letters(1).toUpperCase() + letters(8);

interface Person {
  email: string;
  name: string;
  phone: string;
  born: string;
  note: string;
  id: string;
}

/** People with an order and two lines each. */
async function fill(count: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let index = 0; index < count; index++) {
    const email = `${letters(7)}@${letters(6)}.example`;
    const one = {
      email,
      name: `${word()} ${word()}`,
      phone: `+49 170 ${String(1_000_000 + index * 7919)}`,
      born: `19${50 + index}-03-0${1 + (index % 9)}`,
      note: letters(20),
    };
    const values = {
      Email: email,
      Name: one.name,
      Phone: one.phone,
      Born: one.born,
      Joined: `2021-06-1${index % 10}T08:09:10Z`,
      Plan: index % 2 ? "gold" : "tin",
      Note: one.note,
      Score: index,
    };
    const id = await insert("t1customers", values);
    people.push({ ...one, id });
    const order = await insert("t2orders", {
      Number: `ORD-${1000 + index}`,
      Customer: linkTo(id),
      Placed: `2022-01-0${1 + (index % 9)}`,
      Contact: email.toUpperCase(),
    });
    for (const line of ["a", "b"]) await insert("t3lines", { Line: `${index}${line}`, Item: "chair" }, order);
  }
  return people;
}

const rules = `labels:
  Email: address
  Name: name
  Phone: digits
  Born: date
  Joined: date
  Note: drop
  Plan: keep
  Score: keep
  Contact: address
tables:
  t2orders:
    Number: digits
    Placed: { date: { by: Customer } }
  t3lines: { Line: keep, Item: { constant: thing } }
`;
const all = [
  "--table",
  "t1customers:Email:people.csv",
  "--table",
  "t2orders:Number:orders.ndjson",
  "--table",
  "t3lines:Line:lines.csv",
];

const masks = (text: string): Promise<void> => writeFile(join(folder, "masks.yaml"), text);

/** Everything below the folder, by path. */
async function everything(where: string): Promise<Record<string, string>> {
  const files = await readdir(join(folder, where), { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map(
      async ({ parentPath, name }) => [join(parentPath, name), await readFile(join(parentPath, name), "utf8")] as const,
    );
  return Object.fromEntries(await Promise.all(texts));
}

type Rows = Record<string, unknown>[];

async function rowsOf(file: string, types = {}): Promise<Rows> {
  const rows: Rows = [];
  for await (const block of read({ source: file, types }, folder)) rows.push(...block.map(({ values }) => values));
  return rows;
}

test("a masked dump has no value of its source, its links hold, and it comes up on an emulator as it stands", async () => {
  const people = await fill(6);
  const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Zorgdrager Holding" } });
  const { teamID } = await client.insertteam({
    teamInfo: { organizationID, name: "Klantenteam", description: "Secret plans" },
  });
  await client.insertteammembers({ teamIDs: [teamID], emails: [(people[0]?.email ?? "").toUpperCase()] });
  await client.updatemicroapprow({ rowID: people[1]?.id ?? "", rowData: { Friend: linkTo(people[0]?.id ?? "") } });
  await masks(`${rules}organizations: { name: name }\nteams: { name: name }\n`);
  const before = source.calls().at(-1)?.sequence ?? 0;
  const { status, output } = await run("out", "--mask", "masks.yaml", "--team", teamID, ...all);
  expect([status, output]).toEqual([0, expect.stringContaining("Dumped into out")]);
  expect(source.calls({ since: before, mutating: true })).toEqual([]);
  expect(output).toContain("unmasked: t1customers.Plan, t1customers.Score, t3lines.Line");
  expect(output).toContain("refers to t1customers in a circle");
  expect(await readdir(folder)).toEqual(["masks.yaml", "out"]);
  for (const [, text] of Object.entries(await everything("out"))) {
    for (const one of people)
      for (const clear of [
        one.email,
        one.email.toUpperCase(),
        ...one.name.split(" "),
        one.phone,
        one.born,
        one.note,
        one.id,
      ])
        expect(`${text}${output}`).not.toContain(clear);
    for (const clear of [
      "copied@",
      "Zorgdrager",
      "Klantenteam",
      "Secret plans",
      teamID,
      organizationID,
      "t1customers",
      "t2orders",
    ])
      expect(text).not.toContain(clear);
  }
  const customers = await rowsOf("out/data/people.csv");
  const orders = await rowsOf("out/data/orders.ndjson");
  const lines = await rowsOf("out/data/lines.csv");
  expect([customers, orders, lines].map((rows) => rows.length)).toEqual([6, 6, 12]);
  expect(customers).toContainEqual({
    Email: expect.stringMatching(/^[a-z2-9]{13}@example\.com$/),
    Born: expect.stringMatching(/^19\d\d-\d\d-\d\d$/),
    Friend: expect.stringMatching(/@example\.com$/),
    Joined: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    Name: expect.stringMatching(/^[A-Z][a-z]+ [A-Z][a-z]+$/),
    Phone: expect.stringMatching(/^\+\d\d \d{3} \d{7}$/),
    Plan: "gold",
    Score: "1",
  });
  for (const order of orders) {
    expect(order["Contact"]).toBe(order["Customer"]);
    expect(order["Number"]).toMatch(/^[A-Z]{3}-\d{4}$/);
    // An order's date moves as the dates of its customer do.
    const customer = customers.find((one) => one["Email"] === order["Customer"]);
    const index = Number(customer?.["Score"]);
    const days = (text: unknown, clear: string): number => (Date.parse(String(text)) - Date.parse(clear)) / 86_400_000;
    expect(days(order["Placed"], `2022-01-0${1 + (index % 9)}`)).toBe(
      days(customer?.["Born"], people[index]?.born ?? ""),
    );
  }
  expect(new Set(lines.map((line) => line["Item"]))).toEqual(new Set(["thing"]));
  const yaml = await readFile(join(folder, "out/environment.yaml"), "utf8");
  // The same person has the same mask in a team and in a table.
  expect(yaml).toContain(String(customers.find((one) => one["Score"] === "0")?.["Email"]));

  // A circle of links finds rows that are there already, so an empty platform takes them without it.
  await masks(
    `${rules.replace("Note: drop", "Note: drop\n  Friend: drop")}organizations: { name: name }\nteams: { name: name }\n`,
  );
  const straight = await run("straight", "--mask", "masks.yaml", "--team", teamID, ...all, "--json");
  expect(JSON.parse(straight.output)).toMatchObject({ warnings: [], members: 2 });
  const project = await Project.running(
    `import { Environment } from "pulumi-microapps";\nnew Environment("environment", { file: "environment.yaml" });`,
    {
      "microapps:endpoint": "emulator:platform.db?seed=environment.yaml",
      "microapps:email": "admin@example.com",
      "microapps:password": "admin",
    },
  );
  try {
    for (const [path, text] of Object.entries(await everything("straight")))
      await project.write(path.slice(join(folder, "straight").length + 1), text);
    await project.succeed("stack init dev");
    expect(await project.succeed("up", "--yes")).toContain("created");
    expect(await project.steps("preview")).toEqual([]);
  } finally {
    await project.remove();
  }
});

test("one secret is one world in every run, another secret another", async () => {
  await fill(4);
  await masks(rules);
  for (const name of ["one", "two", "other"]) {
    if (name === "other") variables = { MICROAPPS_MASK_SECRET: secret.replace("0", "x") };
    expect(await run(name, "--mask", "masks.yaml", ...all)).toMatchObject({ status: 0 });
  }
  const texts = async (name: string): Promise<string[]> => Object.values(await everything(name));
  expect(await texts("one")).toEqual(await texts("two"));
  const words = (rows: Rows): Set<unknown> =>
    new Set(rows.flatMap(({ Email, Name, Phone, Born }) => [Email, Name, Phone, Born]));
  const [one, other] = [words(await rowsOf("one/data/people.csv")), words(await rowsOf("other/data/people.csv"))];
  expect(one.size).toBe(16);
  expect([...one].filter((each) => other.has(each))).toEqual([]);
});

test("a subset has what its rows link to, their parents and their children, round and round", async () => {
  const people = await fill(8);
  const [a = "", b = "", c = ""] = people.map(({ id }) => id);
  for (const [from, to] of [
    [a, b],
    [b, c],
    [c, a],
  ])
    await client.updatemicroapprow({ rowID: from ?? "", rowData: { Friend: linkTo(to ?? "") } });
  await masks(rules);
  const { output } = await run("one", "--mask", "masks.yaml", ...all, "--where", "t2orders:Number=ORD-1000", "--json");
  expect(JSON.parse(output)).toMatchObject({
    tables: [{ rows: 3 }, { rows: 1 }, { rows: 2 }],
    subset: [
      { table: "t1customers", chosen: 0, cameAlong: 3 },
      { table: "t2orders", chosen: 1, cameAlong: 0 },
      { table: "t3lines", chosen: 0, cameAlong: 2 },
    ],
  });
  expect((await rowsOf("one/data/lines.csv")).map(({ Line }) => Line)).toEqual(["0a", "0b"]);
  const again = await run("two", "--mask", "masks.yaml", ...all, "--rows", "t3lines=1");
  expect(again.output).toMatch(/table t3lines: 1 row chosen, 1 came along by links, parents and children/);
  await run("three", "--mask", "masks.yaml", ...all, "--rows", "t2orders=2");
  await run("four", "--mask", "masks.yaml", ...all, "--rows", "t2orders=2");
  expect(await rowsOf("three/data/orders.ndjson")).toHaveLength(2);
  expect(await rowsOf("three/data/orders.ndjson")).toEqual(await rowsOf("four/data/orders.ndjson"));
  const none = await run("five", "--mask", "masks.yaml", ...all, "--where", "t2orders:Number=none");
  expect(none).toMatchObject({ status: 1, output: expect.stringContaining("--where matches no row") });
});

test("--check names what would be unmasked and what would stop a dump, needs no secret and writes nothing", async () => {
  const [one] = await fill(3);
  variables = {};
  await masks("labels:\n  Email: address\n  Gone: drop\n");
  const { status, output } = await run("--check", "masks.yaml", "--table", "t1customers:Email");
  expect(status).toBe(1);
  for (const text of [
    "t1customers.Email: address, 3 values\n",
    "t1customers.Name: no rule, 3 values, unmasked, looks like name\n",
    "t1customers.Phone: no rule, 3 values, unmasked, looks like telephone\n",
    "    Name: name\n",
    "    Phone: digits\n",
    'masks.yaml:3:9: this rule matched nothing, since no row has "Gone"',
    't1customers: "Plan" has no rule: write one for it',
  ])
    expect(output).toContain(text);
  expect(output).not.toContain(one?.name ?? "");
  await masks(rules.split("tables:")[0]?.replace("  Contact: address\n", "") ?? "");
  expect(await run("--check", "masks.yaml", "--table", "t1customers:Email")).toMatchObject({
    status: 0,
    output: expect.stringContaining("t1customers.Plan: keep, 3 values, unmasked"),
  });
  expect(await readdir(folder)).toEqual(["masks.yaml"]);
});

const people = ["--table", "t1customers:Email"];
const customerRules = rules.split("tables:")[0]?.replace("  Contact: address\n", "") ?? "";

test("whatever stops a masked dump leaves nothing behind and quotes no value", async () => {
  const [one, two] = await fill(2);
  const clear = [one?.email ?? "", one?.name ?? "", one?.phone ?? "", one?.note ?? "", two?.email ?? ""];
  const cases: [text: string, flags: string[], sentence: string][] = [
    [customerRules.replace("  Note: drop\n", ""), people, 'table t1customers: "Note" has no rule: write one for it'],
    [
      `others: keep\n${customerRules.replace("  Phone: digits\n", "")}`,
      people,
      '"Phone" has no rule and looks like a telephone',
    ],
    [
      customerRules.replace("Email: address", "Email: drop"),
      people,
      'masks.yaml:2:10: drop can\'t be the rule for "Email"',
    ],
    [
      customerRules.replace("Born: date", "Born: date\n  Fax: digits"),
      people,
      "masks.yaml:6:8: this rule matched nothing",
    ],
    [
      customerRules.replace("Plan: keep", "Plan: date"),
      people,
      'masks.yaml:8:9: table t1customers: 2 values of "Plan": not a date',
    ],
    [customerRules.replace("name", "names"), people, "masks.yaml:3:9: labels.Name: must be keep, drop, name"],
    [`${customerRules}labls: {}\n`, people, 'labls: is not known here; did you mean "labels"?'],
    [`${customerRules}tables: { other: { Email: keep } }\n`, people, "table other is not dumped"],
    [
      "others: keep\nkinds: { address: address }\n",
      ["--table", "t2orders:Number"],
      '"Customer" leads to rows of a table that is not dumped',
    ],
    [
      rules.replace("Contact: address", "Contact: keep"),
      all,
      'orders.ndjson:1 (2 values): "Contact" holds a value of "Email" (table t1customers), which is not kept',
    ],
    [
      rules.replace("  t2orders:", "  t2orders:\n    Email: keep"),
      all,
      '"Email" is the natural key of table t1customers by address, and keep in t2orders',
    ],
  ];
  for (const [text, flags, sentence] of cases) {
    await masks(text);
    const { status, output } = await run("out", "--mask", "masks.yaml", ...flags);
    expect([status, output]).toEqual([1, expect.stringContaining(sentence)]);
    for (const value of clear) expect(output).not.toContain(value);
    expect(await readdir(folder)).toEqual(["masks.yaml"]);
  }
});

test("free text that names people of other columns is found, and may be allowed by name", async () => {
  const [one] = await fill(2);
  const note = customerRules.replace("Note: drop", "Note: keep");
  await client.updatemicroapprow({ rowID: one?.id ?? "", rowData: { Note: `Called ${one?.name ?? ""} twice` } });
  await masks(note);
  const { status, output } = await run("out", "--mask", "masks.yaml", ...people);
  expect([status, output]).toEqual([
    1,
    expect.stringContaining('(1 value): "Note" holds a value of "Name" (table t1customers)'),
  ]);
  expect(output).not.toContain(one?.name ?? "");
  await masks(note.replace("Note: keep", "Note: { keep: { mayHold: [Name] } }"));
  expect(await run("out", "--mask", "masks.yaml", ...people)).toMatchObject({ status: 0 });
});

test("keys that differ in case or Unicode form alone are one person, so they are refused by their IDs", async () => {
  const ids = [
    await insert("t1customers", { Email: "ren\u00e9@in.example" }),
    await insert("t1customers", { Email: "RENE\u0301@in.example" }),
  ];
  await masks("labels: { Email: address }\n");
  const { status, output } = await run("out", "--mask", "masks.yaml", ...people);
  expect([status, output]).toEqual([1, expect.stringContaining("two rows with different Email have the same mask")]);
  for (const id of ids) expect(output).toContain(id);
  expect(await readdir(folder)).toEqual(["masks.yaml"]);
});

test("the secret comes from a variable or a file outside of Git, and a weak one is refused", async () => {
  await fill(1);
  await masks(customerRules);
  const file = join(folder, "secret");
  const attempt = async (own: Record<string, string>): Promise<string> => {
    variables = own;
    const { status, output } = await run("out", "--mask", "masks.yaml", ...people);
    return `${String(status)} ${output}`;
  };
  expect(await attempt({})).toContain("1 error: there is no secret to mask with: set MICROAPPS_MASK_SECRET");
  expect(await attempt({ MICROAPPS_MASK_SECRET: "short" })).toContain("has less than 32 characters");
  expect(await attempt({ MICROAPPS_MASK_SECRET: "ab".repeat(20) })).toContain("less than 8 different characters");
  expect(await attempt({ MICROAPPS_MASK_SECRET_FILE: file })).toContain("can't be read");
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  expect(await attempt({ MICROAPPS_MASK_SECRET: secret, MICROAPPS_MASK_SECRET_FILE: file })).toContain("are both set");
  await chmod(file, 0o644);
  if (process.platform !== "win32") expect(await attempt({ MICROAPPS_MASK_SECRET_FILE: file })).toContain("chmod 600");
  await chmod(file, 0o600);
  await mkdir(join(folder, ".git"));
  expect(await attempt({ MICROAPPS_MASK_SECRET_FILE: file })).toContain("lies in a Git repository");
  await rm(join(folder, ".git"), { recursive: true });
  expect(await attempt({ MICROAPPS_MASK_SECRET_FILE: file })).toContain("0 Dumped into out");
  const masked = await readFile(join(folder, "out/data/t1customers.csv"), "utf8");
  await rm(join(folder, "out"), { recursive: true });
  await attempt({ MICROAPPS_MASK_SECRET: secret });
  expect(await readFile(join(folder, "out/data/t1customers.csv"), "utf8")).toBe(masked);
  expect((await stat(join(folder, "out/data/t1customers.csv"))).mode & 0o077).toBe(0);
});

test("a masked dump takes a folder of its own, and flags that don't fit are refused", async () => {
  await fill(1);
  await masks(customerRules);
  expect(await run("out", ...people)).toMatchObject({ status: 0 });
  for (const flags of [[], ["--force"]])
    expect(await run("out", "--mask", "masks.yaml", ...people, ...flags)).toMatchObject({
      status: 1,
      output: expect.stringContaining("import.json beside what is dumped: a masked dump takes a folder of its own"),
    });
  const cases: [string[], string][] = [
    [["x", "--rows", "3", ...people], "add --mask <file>"],
    [["x", "--mask", "masks.yaml", "--rows", "0", ...people], "write a number from 1 on"],
    [["x", "--mask", "masks.yaml", "--rows", "1", "--where", "a:b=c", ...people], "can't be combined"],
    [["x", "--mask", "masks.yaml", "--where", "a:b", ...people], "--where must have the form"],
    [["x", "--mask", "masks.yaml", "--where", "a:b=c", ...people], "table a of --rows or --where is not dumped"],
    [["x", "--mask", "none.yaml", ...people], "none.yaml can't be read"],
    [["x", "--check", "masks.yaml", ...people], "leave the folder out"],
    [people, "say where to"],
  ];
  for (const [flags, sentence] of cases)
    expect(await run(...flags)).toMatchObject({ status: 1, output: expect.stringContaining(sentence) });
});

test("labels without a rule follow the rules of kinds, and those of a file below count where a file has none", async () => {
  const [one] = await fill(3);
  await client.updatemicroapprow({
    rowID: one?.id ?? "",
    rowData: { Note: `Write to ${one?.email ?? ""}, or call +49 170 7654321; pat ghp_0123456789abcdefXYZ0` },
  });
  const base =
    "labels: { Email: address, Name: drop, Born: date, Joined: date }\nkinds: { address: address, telephone: digits }\n";
  await writeFile(join(folder, "base.yaml"), base);
  await masks("extends: base.yaml\nothers: keep\nlabels: { Name: name }\n");
  const refused = await run("out", "--mask", "masks.yaml", ...people);
  expect(refused).toMatchObject({
    status: 1,
    output: expect.stringContaining('"Note" has no rule and looks like a token'),
  });
  await masks("extends: base.yaml\nothers: keep\nlabels: { Name: name }\nkinds: { token: { constant: hidden } }\n");
  const { status, output } = await run("out", "--mask", "masks.yaml", ...people);
  expect([status, output]).toEqual([
    0,
    expect.stringContaining("unmasked: t1customers.Note, t1customers.Phone, t1customers.Plan"),
  ]);
  const rows = await rowsOf("out/data/t1customers.csv");
  const changed = rows.find(({ Note }) => String(Note).startsWith("Write"));
  expect(changed?.["Note"]).toMatch(/^Write to [a-z2-9]{13}@example\.com, or call \+\d\d \d{3} \d{7}; pat hidden$/);
  expect(changed?.["Note"]).toContain(String(changed?.["Email"]));
  expect(String(changed?.["Name"])).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+$/);
  const phones = rows.map(({ Phone }) => Phone);
  expect(phones).toHaveLength(3);
  for (const phone of phones) expect(phone).toMatch(/^\+\d\d \d{3} \d{7}$/);
  expect(phones).not.toContain(one?.phone);
});

test("teams need a rule for their names, and people may be kept", async () => {
  const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Acme" } });
  const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: "Crew", description: "Fine" } });
  await masks("people: keep\norganizations: { name: keep }\n");
  expect(await run("out", "--mask", "masks.yaml", "--team", teamID)).toMatchObject({
    status: 1,
    output: expect.stringContaining("teams are dumped and have no rule: write teams: {name: keep}"),
  });
  await masks("people: keep\norganizations: { name: keep }\nteams: { name: keep, description: keep }\n");
  expect(await run("out", "--mask", "masks.yaml", "--team", teamID)).toMatchObject({ status: 0 });
  const text = await readFile(join(folder, "out/environment.yaml"), "utf8");
  for (const kept of ["name: Acme", "name: Crew", "description: Fine", administrator.email])
    expect(text).toContain(kept);
  for (const id of [teamID, organizationID]) expect(text).not.toContain(id);
});

test("what can't be masked is named by its label and rule", async () => {
  await insert("t1customers", { Email: "a@in.example", Note: { street: "Long Road 1" }, Score: 1 });
  await insert("t1customers", { Email: "b@in.example", Note: ["Anna Zorgdrager", "Bob Woudstra"], Score: 1.5 });
  await masks("labels: { Email: address, Note: name, Score: digits }\n");
  expect(await run("out", "--mask", "masks.yaml", ...people)).toMatchObject({
    status: 1,
    output: expect.stringContaining(
      'masks.yaml:1:33: table t1customers: 1 value of "Note": name can\'t mask a map: drop it',
    ),
  });
  await client.removemicroapprow({
    rowID:
      (await client.microappdata({ microAppID: "t1customers" })).microAppRows.find((row) => row["Score"] === 1)?._id ??
      "",
  });
  expect(await run("out", "--mask", "masks.yaml", ...people)).toMatchObject({ status: 0 });
  const [row] = await rowsOf("out/data/t1customers.csv", { Note: "json", Score: "number" });
  expect(row).toEqual({
    Email: expect.any(String),
    Note: [expect.stringMatching(/^[A-Z][a-z]+ [A-Z][a-z]+$/), expect.stringMatching(/^[A-Z][a-z]+ [A-Z][a-z]+$/)],
    Score: expect.any(Number),
  });
});
