import { afterEach, beforeEach, expect, test } from "@jest/globals";
import fc from "fast-check";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { Project, runOn, runsInPulumi, type Ended } from "../../testing/harness/project.ts";

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
    fields: {
      Number: "text",
      Customer: linked("t1customers", "Email"),
      Placed: "date",
      Contact: "text",
      Main: linked("t3lines", "Line"),
    },
  },
  t3lines: { name: "Lines", parent: "t2orders", fields: { Line: "text", Item: "text" } },
} as const;

/** Platform and folder of a case. */
interface MaskedPlatform {
  folder: string;
  source: Emulator;
  client: Client;
  /** Variables of the command beside those of the platform. */
  variables: Record<string, string>;
}

/** A platform of customers, orders and their lines, another one for each case. */
const here = {} as MaskedPlatform; // filled before each case

beforeEach(open);
afterEach(close);

async function open(): Promise<void> {
  const source = await createEmulator({ seed: { administrator, tables, settings: { strict: false } } });
  const client = createClient({ endpoint: source.url, ...administrator });
  drawn = 0;
  Object.assign(here, { folder: temporaryFolder(), source, client, variables: { MICROAPPS_MASK_SECRET: secret } });
}

async function close(): Promise<void> {
  await here.client.close();
  await here.source.close();
}

/** Runs dump. */
const run = (...words: string[]): Promise<Ended> =>
  runOn(here.source, administrator, here.folder, ["dump", ...words], here.variables);

const insert = async (microAppID: string, rowData: Record<string, unknown>, embeddingRowID?: string): Promise<string> =>
  (await here.client.insertmicroapprow({ microAppID, rowData, ...(embeddingRowID ? { embeddingRowID } : {}) })).rowID;
const linkTo = (rowID: string) => ({
  crossAppRowID: rowID,
  value: { label: "Email", value: "copied@in-clear.example" },
});
let drawn = 0;
/** Letters that occur nowhere else, the same ones in each run. */
const letters = (count: number): string =>
  Array.from(createHash("sha256").update(String(drawn++)).digest().subarray(0, count), (byte) =>
    "abcdefghijklmnopqrstuvwxyz".charAt(byte % 26),
  ).join("");
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

const masks = (text: string): Promise<void> => writeFile(join(here.folder, "masks.yaml"), text);

/** Everything below the here.folder, by path. */
async function everything(where: string): Promise<Record<string, string>> {
  const files = await readdir(join(here.folder, where), { recursive: true, withFileTypes: true });
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
  for await (const block of read({ source: file, types }, here.folder)) rows.push(...block.map(({ values }) => values));
  return rows;
}

/** Flags of the table of customers alone, and its rules. */
const people = ["--table", "t1customers:Email"];
const customerRules = rules.split("tables:")[0]?.replace("  Contact: address\n", "") ?? "";

test("a masked dump has no value of its source, its links hold, and it comes up on an emulator as it stands", async () => {
  const people = await fill(6);
  const { organizationID } = await here.client.insertorganization({ organizationInfo: { name: "Zorgdrager Holding" } });
  const { teamID } = await here.client.insertteam({
    teamInfo: { organizationID, name: "Klantenteam", description: "Secret plans" },
  });
  await here.client.insertteammembers({ teamIDs: [teamID], emails: [(people[0]?.email ?? "").toUpperCase()] });
  await here.client.updatemicroapprow({ rowID: people[1]?.id ?? "", rowData: { Friend: linkTo(people[0]?.id ?? "") } });
  // An order links to a line, whose parent row an order is.
  await linkOrders();
  await masks(`${rules}organizations: { name: name }\nteams: { name: name }\n`);
  const before = here.source.calls().at(-1)?.sequence ?? 0;
  const { status, output } = await run("out", "--mask", "masks.yaml", "--team", teamID, ...all);
  expect([status, output]).toEqual([0, expect.stringContaining("Dumped into out")]);
  expect(here.source.calls({ since: before, mutating: true })).toEqual([]);
  expect(output).toContain("unmasked: t1customers.Plan, t1customers.Score, t3lines.Line");
  expect(output).not.toContain("in a circle");
  expect(await readdir(here.folder)).toEqual(["masks.yaml", "out"]);
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
  const yaml = await readFile(join(here.folder, "out/environment.yaml"), "utf8");
  const masked = (index: number): string => String(customers.find((one) => one["Score"] === String(index))?.["Email"]);
  // The same person has the same mask in a team and in a table.
  expect(yaml).toContain(String(customers.find((one) => one["Score"] === "0")?.["Email"]));

  // A link of the table to itself is set once all rows are there.
  const friend = { Email: masked(1), Friend: masked(0) };
  expect(await rowsOf("out/data/people-links.csv")).toEqual([friend]);
  expect(await rowsOf("out/data/orders-links.ndjson")).toEqual(
    orders.map((order) => ({ Number: order["Number"], Main: expect.stringMatching(/^\da$/) })),
  );
  const config = {
    "microapps:endpoint": "emulator:platform.db?seed=environment.yaml",
    "microapps:email": "admin@example.com",
    "microapps:password": "admin",
  };
  const project = await Project.declaring(config, { file: "environment.yaml" });
  try {
    for (const [path, text] of Object.entries(await everything("out")))
      await project.write(path.slice(join(here.folder, "out").length + 1), text);
    await project.succeed("stack init dev");
    // The embedded engine refuses to log for debugging.
    const logs = runsInPulumi ? ["--debug", "--logtostderr", "-v", "9"] : [];
    const printed = await project.succeed("up", "--yes", ...logs);
    expect(printed).toContain("created");
    expect(await project.changes("preview")).toEqual([]);
    const kept = Object.values(await everything(relative(here.folder, project.folder)));
    expect(kept.join("\n")).toContain(masked(1)); // the state and the platform are among the files
    for (const clear of [
      secret,
      ...people.flatMap(({ email, name, phone, born, note }) => [email, name, phone, born, note]),
    ])
      for (const text of [printed, ...kept]) expect(text).not.toContain(clear);
    await project.isSettled(true);
  } finally {
    await project.remove();
  }
});

/** Links each order to its first line. */
async function linkOrders(): Promise<void> {
  const { microAppRows } = await here.client.microappdata({ microAppID: "t3lines" });
  for (const { _id, embeddingRowID, Line } of microAppRows) {
    if (typeof Line === "string" && Line.endsWith("a"))
      await here.client.updatemicroapprow({ rowID: embeddingRowID ?? "", rowData: { Main: linkTo(_id) } });
  }
}

test("one secret is one world in every run, another secret another", async () => {
  await fill(4);
  await masks(rules);
  for (const name of ["one", "two", "other"]) {
    if (name === "other") here.variables = { MICROAPPS_MASK_SECRET: secret.replace("0", "x") };
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

test("--check names what would be unmasked and what would stop a dump, needs no secret and writes nothing", async () => {
  const [one] = await fill(3);
  here.variables = {};
  await masks("labels:\n  Email: address\n  Gone: drop\n");
  const { status, output } = await run("--check", "masks.yaml", "--table", "t1customers:Email");
  expect(status).toBe(1);
  for (const text of [
    "t1customers.Email: address, 3 values\n",
    "t1customers.Name: no rule, 3 values, unmasked\n",
    "tables:\n  t1customers:\n    Born: drop\n",
    'masks.yaml:3:9: this rule matched nothing, since no row has "Gone"',
    'table t1customers: "Plan" has no rule\n',
  ])
    expect(output).toContain(text);
  expect(output).not.toContain(one?.name ?? "");
  await masks(rules.split("tables:")[0]?.replace("  Contact: address\n", "") ?? "");
  expect(await run("--check", "masks.yaml", "--table", "t1customers:Email")).toMatchObject({
    status: 0,
    output: expect.stringContaining("t1customers.Plan: keep, 3 values, unmasked"),
  });
  expect(await readdir(here.folder)).toEqual(["masks.yaml"]);
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
    [["x", "--rows", "3", ...people], "--rows is gone: dump whole tables"],
    [["x", "--where", "a:b=c", ...people], "--where is gone: dump whole tables"],
    [["x", "--mask", "none.yaml", ...people], "none.yaml can't be read"],
    [["x", "--check", "masks.yaml", ...people], "leave the folder out"],
    [people, "say where to"],
  ];
  for (const [flags, sentence] of cases)
    expect(await run(...flags)).toMatchObject({ status: 1, output: expect.stringContaining(sentence) });
});

test("a label without a rule stops it; with the rules that it prints it goes on, and those of a file below count", async () => {
  const [one] = await fill(3);
  await writeFile(join(here.folder, "base.yaml"), "labels: { Email: address, Name: drop, Born: date }\n");
  const text = "extends: base.yaml\nlabels: { Name: name }\n";
  await masks(text);
  const { status, output } = await run("out", "--mask", "masks.yaml", ...people);
  expect([status, output]).toEqual([1, expect.stringContaining('table t1customers: "Note" has no rule\n')]);
  const [, rules = ""] = output.split("(keep where everybody may see it):\n");
  expect(rules).toBe(
    "tables:\n  t1customers:\n    Joined: drop\n    Note: drop\n    Phone: drop\n    Plan: drop\n    Score: drop\n",
  );
  await masks(text + rules.replace("Phone: drop", "Phone: digits"));
  expect(await run("out", "--mask", "masks.yaml", ...people)).toMatchObject({ status: 0 });
  const rows = await rowsOf("out/data/t1customers.csv");
  expect(Object.keys(rows[0] ?? {})).toEqual(["Email", "Born", "Name", "Phone"]);
  for (const { Phone } of rows) expect(Phone).toMatch(/^\+\d\d \d{3} \d{7}$/);
  expect(rows.map(({ Phone }) => Phone)).not.toContain(one?.phone);
});

test.each([
  ["kinds: { address: address }\n", "masks.yaml:1:8: kinds is gone: write a rule for each label"],
  ["others: keep\n", "masks.yaml:1:9: others is gone: write a rule or keep for each label"],
  ["labels: { Note: { keep: { mayHold: [Name] } } }\n", "masks.yaml:1:25: mayHold is gone: write keep"],
])("what earlier masks files had is answered in a sentence: %j", async (text, sentence) => {
  await masks(text);
  const { status, output } = await run("out", "--mask", "masks.yaml", ...people);
  expect([status, output]).toEqual([1, expect.stringContaining(sentence)]);
});

test("of random tables and rules, no masked value stands in anything that is written or printed", async () => {
  const value = fc.stringMatching(/^[a-zA-Z0-9]{8,14}( [a-zA-Z0-9]{5,9})?(@[a-z]{5,9}\.org)?$/);
  const cell = fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }), fc.integer({ min: 10_000_000 }));
  const rule = fc.constantFrom("name", "address", "digits", "drop", "{ constant: same }");
  const table = fc.record({
    rules: fc.record({ Plan: rule, Note: rule, Phone: rule }),
    rows: fc.array(fc.record({ Plan: cell, Note: cell, Phone: cell }), { minLength: 1, maxLength: 4 }),
  });
  for (const [round, { rules: own, rows }] of fc.sample(table, { numRuns: 12, seed: 32 }).entries()) {
    const clear: string[] = [];
    for (const [index, row] of rows.entries()) {
      const email = `${"abcdefghij".charAt(index)}${round}person@where.example`;
      clear.push(email, secret, administrator.password);
      clear.push(...Object.values(row).flatMap((each) => [each].flat().map(String)));
      await insert("t1customers", { ...row, Email: email });
    }
    const labels = Object.entries(own).map(([label, each]) => `  ${label}: ${each}\n`);
    await masks(`labels:\n  Email: address\n${labels.join("")}`);
    const { status, output } = await run(`out${round}`, "--mask", "masks.yaml", ...people);
    expect([status, output]).toEqual([0, expect.stringContaining("Dumped")]);
    const all = [output, ...Object.values(await everything(`out${round}`))].join("\n").toLowerCase();
    for (const each of clear) expect(all).not.toContain(each.toLowerCase());
    for (const row of (await here.client.microappdata({ microAppID: "t1customers" })).microAppRows)
      await here.client.removemicroapprow({ rowID: row._id });
  }
});

test("whatever stops a masked dump leaves nothing behind and quotes no value", async () => {
  const [one, two] = await fill(2);
  const clear = [one?.email ?? "", one?.name ?? "", one?.phone ?? "", one?.note ?? "", two?.email ?? ""];
  const cases: [text: string, flags: string[], sentence: string][] = [
    [customerRules.replace("  Note: drop\n", ""), people, 'table t1customers: "Note" has no rule'],
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
      "labels: { Number: digits, Contact: address, Placed: date }\n",
      ["--table", "t2orders:Number"],
      '"Customer" leads to rows of a table that is not dumped',
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
    expect(await readdir(here.folder)).toEqual(["masks.yaml"]);
  }
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
  expect(await readdir(here.folder)).toEqual(["masks.yaml"]);
});

test("the secret comes from a variable or a file outside of Git, and a weak one is refused", async () => {
  await fill(1);
  await masks(customerRules);
  const file = join(here.folder, "secret");
  const attempt = async (own: Record<string, string>): Promise<string> => {
    here.variables = own;
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
  await mkdir(join(here.folder, ".git"));
  expect(await attempt({ MICROAPPS_MASK_SECRET_FILE: file })).toContain("lies in a Git repository");
  await rm(join(here.folder, ".git"), { recursive: true });
  expect(await attempt({ MICROAPPS_MASK_SECRET_FILE: file })).toContain("0 Dumped into out");
  const masked = await readFile(join(here.folder, "out/data/t1customers.csv"), "utf8");
  await rm(join(here.folder, "out"), { recursive: true });
  await attempt({ MICROAPPS_MASK_SECRET: secret });
  expect(await readFile(join(here.folder, "out/data/t1customers.csv"), "utf8")).toBe(masked);
  expect((await stat(join(here.folder, "out/data/t1customers.csv"))).mode & 0o077).toBe(0);
});

test("teams need a rule for their names, and people may be kept", async () => {
  const { organizationID } = await here.client.insertorganization({ organizationInfo: { name: "Acme" } });
  const { teamID } = await here.client.insertteam({ teamInfo: { organizationID, name: "Crew", description: "Fine" } });
  await masks("people: keep\norganizations: { name: keep }\n");
  expect(await run("out", "--mask", "masks.yaml", "--team", teamID)).toMatchObject({
    status: 1,
    output: expect.stringContaining("teams are dumped and have no rule: write teams: {name: keep}"),
  });
  await masks("people: keep\norganizations: { name: keep }\nteams: { name: keep, description: keep }\n");
  expect(await run("out", "--mask", "masks.yaml", "--team", teamID)).toMatchObject({ status: 0 });
  const text = await readFile(join(here.folder, "out/environment.yaml"), "utf8");
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
  await here.client.removemicroapprow({
    rowID:
      (await here.client.microappdata({ microAppID: "t1customers" })).microAppRows.find((row) => row["Score"] === 1)
        ?._id ?? "",
  });
  expect(await run("out", "--mask", "masks.yaml", ...people)).toMatchObject({ status: 0 });
  const [row] = await rowsOf("out/data/t1customers.csv", { Note: "json", Score: "number" });
  expect(row).toEqual({
    Email: expect.any(String),
    Note: [expect.stringMatching(/^[A-Z][a-z]+ [A-Z][a-z]+$/), expect.stringMatching(/^[A-Z][a-z]+ [A-Z][a-z]+$/)],
    Score: expect.any(Number),
  });
});
