import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { summarize } from "./declaration.ts";
import type { Seed } from "./inputs.ts";
import { RowRefusals } from "./write.ts";

const linked = { table: "countries", key: "Code" };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "microapps-mistakes-"));
});
afterAll(() => rm(folder, { recursive: true }));

const fields = {
  Code: "text",
  Name: "text",
  People: "number",
  Since: "date",
  Discontinued: "checkbox",
  Place: "location",
  Country: "linked",
} as const;

/** Messages about a source, a line each; "" when nothing is wrong. */
async function said(content: string | object[], more: Partial<Seed> = {}, name = "products.csv") {
  const source = typeof content === "string" ? { source: name } : { rows: content as Record<string, unknown>[] };
  if (typeof content === "string") await writeFile(join(folder, name), content);
  return summarize({ table: "products", key: ["Code"], ...source, ...more }, folder).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
}

const many = (row: (index: number) => string): string => Array.from({ length: 20 }, (_, index) => row(index)).join("");

test.each<[string, string | object[], Partial<Seed>, string]>([
  [
    "a checkbox of twenty rows",
    `Code,Discontinued\n${many((index) => `P${index},true\n`)}`,
    { fields },
    'products.csv:2 "P0" and 19 more: Discontinued is a checkbox: write ["true"], with types: {Discontinued: checkbox}',
  ],
  [
    "a checkbox that is read as JSON",
    'Code,Discontinued\nP0,true\nP1,"[""true""]"\n',
    { fields, types: { Discontinued: "json" } },
    'products.csv:2 "P0": Discontinued is a checkbox: write ["true"]',
  ],
  [
    "a number without types",
    "Code,People\nP0,12\n",
    { fields },
    'products.csv:2 "P0": People is a number: write it without quotes, as 12, with types: {People: number}',
  ],
  [
    "a text with types",
    "Code,Name\nP0,12\n",
    { fields, types: { Name: "number" } },
    'products.csv:2 "P0": Name is text: write it in quotes, as "12"; leave it out of types',
  ],
  [
    "dates",
    "Code,Since\nP0,21.11.2026\nP1,2026-11-21\nP2,2026-11-21T08:00:00Z\nP3,\nP4,tomorrow\n",
    { fields },
    'products.csv:2 "P0" and 1 more: Since is a date: write 2026-11-21 or 2026-11-21T08:00:00Z',
  ],
  [
    "labels that the table lacks, once each",
    "Code,Nmae,Colour\nP0,x,red\nP1,y,blue\n",
    { fields },
    'products.csv:2: table products has no field "Nmae" under platform; did you mean "Name"?\n' +
      'products.csv:2: table products has no field "Colour" under platform; it has Code, Name, People, Since, Discontinued, Place, Country',
  ],
  [
    "rows of the program",
    [
      { Code: "P0", People: "12" },
      { Code: "P1", People: 12 },
      { Code: "P2", People: "1" },
    ],
    { fields },
    'rows[0] "P0" and 1 more: People is a number: write it without quotes, as 12',
  ],
  [
    "secret rows, without their keys",
    [{ Code: "hush", Name: 7 }],
    { fields, sensitive: true },
    'rows[0]: Name is text: write it in quotes, as "12"',
  ],
  [
    "keys of other rows, which are no values",
    [{ Code: "P0", Country: "PT", Region: "N" }],
    { fields, references: { Country: linked }, parent: { ...linked, by: "Region" } },
    "",
  ],
  [
    "a link without references",
    [{ Code: "P0", Country: "PT" }],
    { fields },
    'rows[0] "P0": Country is a link to another table: name it in references, and write the key of the row that is meant',
  ],
  [
    "a label that every object has",
    [{ Code: "P0", constructor: "x" }],
    { fields },
    'rows[0]: table products has no field "constructor" under platform; it has Code, Name, People, Since, Discontinued, Place, Country',
  ],
  [
    "values that fit",
    [{ Code: "P0", People: 1, Since: "2026-01", Discontinued: [], Place: { address: {} }, Name: null }],
    { fields },
    "",
  ],
  [
    "cells by types alone",
    'Code,People,Since,Discontinued\nP0,many,21.11.2026,true\nP1,few,2026-02-30,"[""true""]"\nP2,1,2026-11-21,\n',
    { types: { People: "number", Since: "date", Discontinued: "checkbox" } },
    'products.csv:2 "P0" and 1 more: People is a number, not "many": write it as 12 or -1.5\n' +
      'products.csv:2 "P0" and 1 more: Since is a date, not "21.11.2026": write 2026-11-21 or 2026-11-21T08:00:00Z\n' +
      'products.csv:2 "P0": Discontinued is a checkbox, not "true": write ["true"]',
  ],
  [
    "a label of types that is not there",
    "Code\nP0\n",
    { types: { Poeple: "number" } },
    'products.csv:1: there is no label "Poeple", which types names: the labels there are "Code" (case and spaces count)',
  ],
  [
    "rows that have too many cells",
    `Code,Name\n${many((index) => `P${index},a,b\n`)}`,
    {},
    'products.csv:2 and 19 more: the row has another number of cells than the first line, 3 and 2: quote cells that hold what separates them (the last one in both is "Name")',
  ],
])("%s", async (_, content, more, expected) => {
  expect(await said(content, more)).toBe(expected);
});

test.each<[string, string, string]>([
  ["rows.yaml", "- Code: 007\n", 'rows.yaml:1: Code: YAML reads 007 as the number 7: quote it ("007"), or write 7'],
  [
    "rows.yaml",
    "- Code: x\n- Code: 1e3\n",
    'rows.yaml:2: Code: YAML reads 1e3 as the number 1000: quote it ("1e3"), or write 1000',
  ],
  [
    "rows.yaml",
    "- &a { Code: x }\n- { <<: { Code: 0o7 } }\n",
    'rows.yaml:2: Code: YAML reads 0o7 as the number 7: quote it ("0o7"), or write 7',
  ],
  [
    "rows.yaml",
    "- { Code: x, Country: 0x1F }\n",
    'rows.yaml:1: Country: YAML reads 0x1F as the number 31: quote it ("0x1F"), or write 31',
  ],
  ["rows.yaml", '- { Code: 7, Country: "007", Size: 1.5, Nested: { Codes: [007] } }\n', ""],
  ["rows.yaml", "", "rows.yaml: has no rows; to remove the seed's rows, remove the seed itself"],
  ["rows.yaml", "# none\n---\n", "rows.yaml: has no rows; to remove the seed's rows, remove the seed itself"],
  ["rows.json", "\n", "rows.json: has no rows; to remove the seed's rows, remove the seed itself"],
  ["rows.json", "[]", "rows.json: has no rows; to remove the seed's rows, remove the seed itself"],
  ["rows.ndjson", "", "rows.ndjson: has no rows; to remove the seed's rows, remove the seed itself"],
  ["rows.csv", "", "rows.csv: has no rows; to remove the seed's rows, remove the seed itself"],
  [
    "rows.ndjson",
    '{"Code": "A",}\n{"Code": "B",}\n',
    "rows.ndjson:1:14 and 1 more: is not valid JSON: a label in double quotes is missing here, or the comma before it is one too many",
  ],
])("%s that holds %j", async (name, content, expected) => {
  const more = content.includes("Country") ? { references: { Country: linked } } : {};
  expect(await said(content, more, name)).toBe(expected);
});

test("what a secret source says wrong is not quoted", async () => {
  const sensitive = { sensitive: true };
  expect(await said('- Code: "hush" hush\n', sensitive, "secret.yaml")).toBe(
    "secret.yaml:1: is not valid YAML: correct it",
  );
  expect(await said("- Code: 007\n", sensitive, "secret.yaml")).toBe(
    "secret.yaml:1: Code: YAML reads this as another number than is written: quote it",
  );
  expect(await said("Code,N\nhush,hush\n", { ...sensitive, types: { N: "date" } }, "secret.csv")).toBe(
    "secret.csv:2: N is a date: write 2026-11-21 or 2026-11-21T08:00:00Z",
  );
});

test("values of secret labels are not quoted, and those of others are", async () => {
  const types = { N: "number", M: "number" } as const;
  const secretLabels = ["N"];
  expect(await said("Code,N,M\nA,hush,x\n", { types, secretLabels })).toBe(
    'products.csv:2 "A": N is a number: write it as 12 or -1.5\nproducts.csv:2 "A": M is a number, not "x": write it as 12 or -1.5',
  );
  const references = { N: linked, M: linked };
  expect(await said("- { Code: A, N: 007, M: x }\n", { references, secretLabels }, "rows.yaml")).toBe(
    "rows.yaml:1: N: YAML reads this as another number than is written: quote it",
  );
  expect(await said('- { Code: A, N: "hush" hush }\n', { secretLabels }, "rows.yaml")).toBe(
    "rows.yaml:1: is not valid YAML: correct it",
  );
  expect(await said([{ Code: "A", Number: 1 }], { secretLabels: ["Numbr", "Nothing"] })).toBe(
    'secretLabels[0]: no row has the label "Numbr"; did you mean "Number"?\n' +
      'secretLabels[1]: no row has the label "Nothing"; they have Code, Number',
  );
});

test.each([
  ["rows.0: N is taken: hush", ["hush"], "the platform refused N"],
  ["rows.0: 7 is taken", ["7"], "the platform refused the row"],
  ["rows.0: N must be a date", [], "the platform refused N"],
  ["rows.0: M is taken: x", ["hush"], "M is taken: x"],
])("what the platform says of a row tells no value of a secret label: %j", async (words, secrets, expected) => {
  await said("Code,N,M\nA,hush,x\n");
  const target = { table: "products", key: ["Code"], source: "products.csv", secretLabels: ["N"] };
  const refusals = new RowRefusals(target, ["Code", "N", "M"]);
  refusals.add({ index: 0, line: 2 }, words, secrets);
  expect(await refusals.sentences(folder)).toEqual([`products.csv:2 "A": ${expected}`]);
});

test("a folder, and what is not there", async () => {
  const at = (source: string) => summarize({ table: "products", key: ["Code"], source }, folder);
  await expect(at(".")).rejects.toThrow(/^\. can't be read: it is a folder; name the file in it$/);
  await expect(at("none.xlsx")).rejects.toThrow(/^none.xlsx can't be read: there is no such file; correct source$/);
});

test.each([
  ["rows.0: Discontinued must be a list of texts", "Discontinued must be a list of texts"],
  ["rows[3].Discontinued is no checkbox.", "Discontinued is no checkbox."],
  ["rowData.People: expected number", "People: expected number"],
  ["row 4: the colour is not allowed", "the colour is not allowed"],
  ["No\u001b[31m way\nat all", "No way at all"],
])("what the platform refuses is said once: %j", async (sentence, expected) => {
  await said("Code,Discontinued,Since,People\nP0,,,\nP1,,,\nP2,,,\n");
  const target = { table: "products", key: ["Code"], source: "products.csv" };
  const told = async (sensitive: boolean): Promise<string[]> => {
    const refusals = new RowRefusals({ ...target, sensitive }, ["Code", "N", "Discontinued", "Since", "People"]);
    refusals.add({ index: 2, line: 4 }, sentence);
    refusals.add({ index: 1, line: 3 }, sentence);
    expect(refusals.count).toBe(2);
    return refusals.sentences(folder);
  };
  expect(await told(false)).toEqual([`products.csv:3 "P1" and 1 more: ${expected}`]);
  const [secret = ""] = await told(true);
  expect(secret).toMatch(/^products.csv:3 and 1 more: the platform refused the row$/);
});
