import { expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { casesIn } from "../../testing/harness/cases.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { summarize } from "./declaration.ts";
import type { Seed } from "./inputs.ts";
import { RowRefusals } from "./write.ts";

interface Cases {
  linked: { table: string; key: string };
  rows: [what: string, content: string | object[], more: Partial<Seed>, said: string][];
  files: [name: string, content: string, said: string][];
}
const cases = casesIn("provider/seedRows/testdata/mistakes.yaml") as Cases;
const { linked } = cases;

const folder = temporaryFolder();

/** Messages about a source, a line each; "" when nothing is wrong. */
async function said(content: string | object[], more: Partial<Seed> = {}, name = "products.csv") {
  const source = typeof content === "string" ? { source: name } : { rows: content as Record<string, unknown>[] };
  if (typeof content === "string") await writeFile(join(folder, name), content);
  return summarize({ table: "products", key: ["Code"], ...source, ...more }, folder).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
}

test.each(cases.rows)("%s", async (_, content, more, expected) => {
  expect(await said(content, more)).toBe(expected);
});

test.each(cases.files)("%s that holds %j", async (name, content, expected) => {
  const more = content.includes("Country") ? { references: { Country: linked } } : {};
  expect(await said(content, more, name)).toBe(expected);
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
  ["rows.0: Discontinued must be a list of texts", "Discontinued must be a list of texts", "Discontinued"],
  ["rows[3].Discontinued is no checkbox.", "Discontinued is no checkbox.", "Discontinued"],
  ["rowData.People: expected number", "People: expected number", "People"],
  ["row 4: the colour is not allowed", "the colour is not allowed", ""],
  ["No\u001b[31m way\nat all", "No way at all", ""],
])("what the platform refuses is said once: %j", async (sentence, expected, typed) => {
  await said("Code,Discontinued,Since,People\nP0,,,\nP1,,,\nP2,,,\n");
  const target = { table: "products", key: ["Code"], source: "products.csv" };
  const told = async (sensitive: boolean): Promise<string[]> => {
    const refusals = new RowRefusals({ ...target, sensitive }, ["Code", "N", "Discontinued", "Since", "People"]);
    refusals.add({ index: 2, line: 4 }, sentence);
    refusals.add({ index: 1, line: 3 }, sentence);
    expect(refusals.count).toBe(2);
    return refusals.sentences(folder);
  };
  const advice = `The cells of a CSV are text: if ${typed} is not, declare its type in types.`;
  expect(await told(false)).toEqual([`products.csv:3 "P1" and 1 more: ${expected}`, ...(typed === "" ? [] : [advice])]);
  const [secret = ""] = await told(true);
  expect(secret).toMatch(/^products.csv:3 and 1 more: the platform refused the row$/);
});
