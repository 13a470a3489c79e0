import { describe, expect, test } from "@jest/globals";
import ts from "typescript";
import { TableInference } from "./inference.ts";
import { nameType, toRowSchema, toTableSchema, toTypeScript } from "./outputs.ts";
import { summarize } from "./outputs.ts";

const learn = (rows: readonly Record<string, unknown>[], key: string[] = []) => {
  const inference = new TableInference("countries", key);
  for (const row of rows) inference.observe(row);
  return inference.model();
};
const country = (at: number, more: object = {}) => ({
  Code: `C${at}`,
  Name: `Country ${at}`,
  People: at,
  Since: "2020-02-29",
  Kind: at % 2 === 0 ? "island" : "mainland",
  Tags: ["a"],
  Currency: { crossAppRowID: "r1", value: { label: "Code", value: "EUR" } },
  ...more,
});

describe("what a table has is learnt from its rows", () => {
  test("two of 1,000 rows that have text in a number column are counted, and the column is one of numbers", () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => country(at, at === 7 || at === 9 ? { People: "many" } : {}));
    const model = learn(rows);
    expect(model.key).toEqual(["Code"]);
    expect(model.fields.find(({ label }) => label === "People")).toMatchObject({
      ...{ kind: "number", sure: "most", filled: 1_000, isWhole: true },
      exceptions: [{ kind: "text", count: 2 }],
    });
    expect(summarize(model).split("\n")).toEqual([
      "table countries: 1000 rows, 7 labels, natural key Code",
      "  Code      text, in every row, each value once",
      "  Name      text, in every row, each value once",
      "  People    a number, in every row",
      "              2 of 1000: text",
      "  Since     a date, in every row",
      '  Kind      text, in every row, one of "island", "mainland"',
      "  Tags      a list of texts, in every row",
      '  Currency  a link, in every row, by "Code"',
    ]);
  });

  test("a label of several kinds is none of them, days among texts are texts, and an empty label is not guessed", () => {
    const rows = Array.from({ length: 100 }, (_, at) => ({
      Code: `C${at}`,
      Mixed: at % 3 === 0 ? at : "text",
      Note: at % 2 === 0 ? "2026-02-28" : "soon",
      Never: "",
      Day: at === 0 ? "2026-02-30" : "2026-02-28",
    }));
    const { fields } = learn(rows);
    expect(fields.map(({ label, kind, sure }) => [label, kind, sure])).toEqual([
      ["Code", "text", "all"],
      ["Mixed", "any", "mixed"],
      ["Note", "text", "all"],
      ["Never", "any", "none"],
      ["Day", "date", "most"],
    ]);
    expect(fields.find(({ label }) => label === "Day")?.exceptions).toEqual([{ kind: "text", count: 1 }]);
  });
});

describe("one model has three outputs", () => {
  const model = learn([
    ...Array.from({ length: 60 }, (_, at) => country(at)),
    { Code: "X", Name: "No people", Kind: "island" },
  ]);

  test("Table Schema", () => {
    expect(toTableSchema(model)).toEqual({
      fields: [
        { name: "Code", type: "string", constraints: { required: true, unique: true } },
        { name: "Name", type: "string", constraints: { required: true } },
        { name: "People", type: "integer" },
        { name: "Since", type: "date" },
        { name: "Kind", type: "string", constraints: { required: true } },
        { name: "Tags", type: "array" },
        { name: "Currency", type: "string" },
      ],
      primaryKey: ["Code"],
      missingValues: [""],
    });
  });

  test("JSON Schema of rows", () => {
    expect(toRowSchema(model)).toMatchObject({
      type: "array",
      items: {
        required: ["Code"],
        additionalProperties: false,
        properties: {
          Kind: { anyOf: [{ enum: ["island", "mainland"] }, { type: "string" }, { type: "null" }] },
          People: { type: ["integer", "null"] },
          Since: { format: "date" },
        },
      },
    });
  });

  test("TypeScript, which compiles whatever labels are", () => {
    const odd = learn([{ Code: "A", "Wo*/rd 1": 1, "": true, class: "x" }]);
    for (const one of [model, odd]) {
      const text = toTypeScript(one);
      const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true });
      expect(diagnostics.map(({ messageText }) => messageText)).toEqual([]);
    }
    expect(toTypeScript(model, "Country")).toContain("export interface Country {\n  Code: string;");
    expect(toTypeScript(model)).toContain("  People?: number | null;");
    expect(["customer-orders", "7up", "", "été"].map(nameType)).toEqual([
      "CustomerOrdersRow",
      "Table7upRow",
      "TableRow",
      "TRow",
    ]);
  });
});
