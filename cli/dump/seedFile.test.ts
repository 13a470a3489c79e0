import { beforeEach, expect, test } from "@jest/globals";
import fc from "fast-check";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RowData } from "../../platform/contract/values.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { linesOf } from "./seeds.ts";
import { Columns, isNothing } from "./tables.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

const labels = ["Code", 'a "label", here', "Text", "Number", "Flag", "Anything", "Link"];
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Array.from("\",;\n\r\t '#\uFEFF01"), "<<<<<<< ", "\n>>>>>>> "),
    fc.string({ minLength: 1 }),
  ),
});
// A label "__proto__" is refused when it is read.
const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__"'));
const link = fc.record({ crossAppRowID: fc.string({ minLength: 1 }) });
const row = fc.record(
  {
    Code: fc.uuid(), // a row has a key
    'a "label", here': fc.option(text),
    Text: text,
    Number: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0), // JSON has no -0
    Flag: fc.boolean(),
    Anything: fc.oneof(text, fc.integer(), fc.boolean(), fc.array(json), link),
    Link: link,
  },
  { requiredKeys: ["Code"] },
);

const withoutNothing = (values: RowData): RowData =>
  // As it went through JSON, which knows no -0 inside of lists either.
  JSON.parse(
    JSON.stringify(Object.fromEntries(Object.entries(values).filter(([, value]) => !isNothing(value)))),
  ) as RowData;

test.each(["rows.csv", "rows.ndjson"])("a seed reads back from %s what was written, value and type", async (file) => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const columns = new Columns();
      for (const values of rows) columns.observe(values);
      const present = labels.filter((label) => columns.labels.includes(label));
      const types = Object.fromEntries(present.map((label) => [label, columns.typeOf(label)] as const));
      const { head, line } = linesOf(file, present, types);
      await writeFile(join(folder, file), head + rows.map(line).join(""));
      const back: RowData[] = [];
      for await (const block of read({ source: file, types: file.endsWith(".csv") ? types : {} }, folder))
        back.push(...block.map(({ values }) => values));
      expect(back.map(withoutNothing)).toEqual(rows.map(withoutNothing));
    }),
  );
});
