import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { Project, runsInPulumi } from "../harness/project.ts";
import {
  administrator,
  all,
  customerRules,
  everything,
  fill,
  here,
  insert,
  linkTo,
  masks,
  openPlatforms,
  people,
  rowsOf,
  rules,
  run,
  secret,
  type Rows,
} from "./maskedPlatform.ts";

openPlatforms();

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
  const project = await Project.running(
    `import { Environment } from "pulumi-microapps";\nnew Environment("environment", { file: "environment.yaml" });`,
    {
      "microapps:endpoint": "emulator:platform.db?seed=environment.yaml",
      "microapps:email": "admin@example.com",
      "microapps:password": "admin",
    },
  );
  try {
    for (const [path, text] of Object.entries(await everything("out")))
      await project.write(path.slice(join(here.folder, "out").length + 1), text);
    await project.succeed("stack init dev");
    // The embedded engine refuses to log for debugging.
    const logs = runsInPulumi ? ["--debug", "--logtostderr", "-v", "9"] : [];
    const printed = await project.succeed("up", "--yes", ...logs);
    expect(printed).toContain("created");
    expect(await project.steps("preview")).toEqual([]);
    const kept = Object.values(await everything(relative(here.folder, project.folder)));
    expect(kept.join("\n")).toContain(masked(1)); // the state and the platform are among the files
    for (const clear of [
      secret,
      ...people.flatMap(({ email, name, phone, born, note }) => [email, name, phone, born, note]),
    ])
      for (const text of [printed, ...kept]) expect(text).not.toContain(clear);
    await project.isSettled(false);
    // Both seeds have the row: a change of either one is its own, and the link stays.
    await project.edit("data/people-links.csv", `,${masked(0)}`, `,${masked(2)}`);
    await project.write("data/people.csv", (await project.read("data/people.csv")).replaceAll("gold", "silver"));
    expect(await project.succeed("up", "--yes")).toContain("updated");
    await project.isSettled(false);
    // A row that somebody's link leads to can't leave.
    const left = (await project.read("data/people.csv")).split("\n").filter((line) => !line.startsWith(masked(2)));
    await project.write("data/people.csv", left.join("\n"));
    const { status, output } = await project.run("preview");
    expect([status, output]).toEqual([expect.any(Number), expect.stringContaining(masked(2))]);
    expect(status).not.toBe(0);
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
