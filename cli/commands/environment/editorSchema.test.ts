import { beforeAll, expect, test } from "@jest/globals";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { writeEditorSchema } from "./editorSchema.ts";

let folder: string;
const put = (file: string, content: string): void => writeFileSync(join(folder, file), content);
beforeAll(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder, "schemas"));
  put(
    "dev.yaml",
    `seeds:
  lands: { table: t1, key: Code, rows: [{ Code: AT }] }
  towns:
    table: towns
    key: Name
    parent: { seed: lands, by: Land }
    rows: [{ Name: Graz, Land: AT }]
  others: { table: "o/1", key: A, rows: [{ A: b }] }
platform: { tables: { lands: { id: t1, fields: { Code: text, Size: number, Photo: file } } } }
`,
  );
  put(
    "schemas/towns.rows.schema.json",
    '{ "items": { "type": "object", "required": ["Name"], "properties": { "Name": { "type": "string" }, "Kind": { "anyOf": [{ "enum": ["big"] }, { "type": "string" }] } } } }',
  );
});

test("rows of each seed have the labels of its table, as table schema wrote them or as platform has them", () => {
  const told = writeEditorSchema("dev.yaml", folder, "schemas/dev.schema.json");
  expect(told).toBe(
    'wrote schemas/dev.schema.json, with the rows of 2 seeds: "lands", "towns"\n' +
      'seed others: its rows are not known: run "microapps table schema o/1 --out schemas"\n' +
      "an editor completes dev.yaml, and what it extends, below the line\n" +
      "# yaml-language-server: $schema=schemas/dev.schema.json\n",
  );
  const configured = expect.objectContaining({ required: ["config"] });
  const row = (properties: object, key: string) => ({
    type: "array",
    items: { type: "object", additionalProperties: false, required: [key], properties },
  });
  const lands = row(
    {
      Code: { anyOf: [{ type: ["string", "null"] }, configured] },
      Size: { anyOf: [{ type: ["number", "null"] }, configured] },
    },
    "Code",
  );
  const towns = row(
    {
      Land: { anyOf: [{}, configured] },
      Name: { anyOf: [{ type: "string" }, configured] },
      Kind: { anyOf: [{ enum: ["big"] }, { type: "string" }, configured] },
    },
    "Name",
  );
  const of = (rows: object) => ({ properties: { rows, "rows+": rows, "rows~": rows } });
  expect(JSON.parse(readFileSync(join(folder, "schemas/dev.schema.json"), "utf8"))).toMatchObject({
    allOf: [
      { $ref: expect.stringMatching(/node_modules\/pulumi-microapps\/sdk\/environment\/environment\.schema\.json$/) },
      { properties: { seeds: { properties: { lands: of(lands), towns: of(towns) } } } },
    ],
  });
});

test("a file that is no Environment, and a schema of rows that is none, are named", () => {
  put("list.yaml", "- a\n");
  expect(() => writeEditorSchema("list.yaml", folder, "x.json")).toThrow("environment list.yaml has a problem");
  expect(() => writeEditorSchema("dev.yaml", folder, "nowhere/x.json")).toThrow("nowhere/x.json can't be written");
  put("schemas/towns.rows.schema.json", "[]");
  expect(() => writeEditorSchema("dev.yaml", folder, "x.json")).toThrow(
    'schemas/towns.rows.schema.json has no schema of rows: write it again by "microapps table schema"',
  );
});
