import { expect, test } from "@jest/globals";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  administrator,
  all,
  customerRules,
  fill,
  here,
  insert,
  masks,
  openPlatforms,
  people,
  rowsOf,
  rules,
  run,
  secret,
} from "./maskedPlatform.ts";

openPlatforms();

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
