import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Cells } from "../../provider/reconcile/merging/records.ts";
import { mergeRecords, withTaken } from "../../provider/reconcile/merging/threeWay.ts";
import { mergeTexts, type MergedText, type ThreeTexts } from "./mergeTexts.ts";

const marks = { size: 7, ours: "ours", theirs: "theirs" };
const merged = (file: string, texts: ThreeTexts, key?: readonly string[]): MergedText =>
  mergeTexts(file, texts, key, marks);

/** The outcome, which has no conflict. */
function clean(file: string, base: string, ours: string, theirs: string): string {
  const { text, conflicts } = merged(file, { base, ours, theirs });
  expect(conflicts).toBe(0);
  return text;
}

describe("a CSV", () => {
  const base = "Code,Name,Area\nDE,Germany,357\nFR,France,643\nIT,Italy,301\n";

  test("merges other rows, other cells of one row, and rows that both add at the end", () => {
    const ours = base.replace("Germany", "Deutschland").replace("643", "644") + "ES,Spain,505\n";
    const theirs = base.replace("357", "358").replace("IT,Italy,301\n", "") + "PT,Portugal,92\n";
    expect(clean("a.csv", base, ours, theirs)).toBe(
      "Code,Name,Area\nDE,Deutschland,358\nFR,France,644\nPT,Portugal,92\nES,Spain,505\n",
    );
  });

  test("takes columns that both add, and keeps line ends, the mark, quoting and the order of columns of ours", () => {
    const ours =
      '\uFEFFName,Code,"Area",Zone\r\n"Germany",DE,"357",CET\r\n"France",FR,"643",\r\n"Italy",IT,"301",CET\r\n';
    const theirs = base
      .replace("Area", "Area,Iso")
      .replace("357", "358,DEU")
      .replace("643", "643,FRA")
      .replace("301", '301,"I,T"\nES,Spain,505,');
    expect(clean("a.csv", base, ours, theirs)).toBe(
      '\uFEFFName,Code,"Area",Zone,Iso\r\n"Germany",DE,"358",CET,DEU\r\n"France",FR,"643",,FRA\r\n"Italy",IT,"301",CET,"I,T"\r\n"Spain",ES,"505",,\r\n',
    );
  });

  test("takes a column out that the other side took out, unless a row of ours needs it", () => {
    const theirs = "Code,Name\nDE,Germany\nFR,France\nIT,Italy\n";
    expect(clean("a.csv", base, base, theirs)).toBe(theirs);
    expect(clean("a.csv", base, base.replace("IT,Italy,301", "IT,Italy,301\nES,Spain,505"), theirs)).toBe(
      "Code,Name,Area\nDE,Germany,\nFR,France,\nIT,Italy,\nES,Spain,505\n",
    );
  });

  test("shows a conflict as two whole rows: cells that merge are merged in both", () => {
    const ours = base.replace("DE,Germany,357", "DE,Deutschland,358");
    const theirs = base.replace("DE,Germany,357", "DE,Germany,359").replace("FR,France,643\n", "");
    expect(merged("a.csv", { base, ours, theirs })).toEqual({
      conflicts: 1,
      text: "Code,Name,Area\n<<<<<<< ours\nDE,Deutschland,358\n=======\nDE,Deutschland,359\n>>>>>>> theirs\nIT,Italy,301\n",
    });
  });

  test("shows a row that one side removed and the other changed, in its place", () => {
    const changed = base.replace("643", "644");
    const removed = base.replace("FR,France,643\n", "");
    expect(merged("a.csv", { base, ours: removed, theirs: changed }).text).toBe(
      "Code,Name,Area\nDE,Germany,357\n<<<<<<< ours\n=======\nFR,France,644\n>>>>>>> theirs\nIT,Italy,301\n",
    );
    expect(merged("a.csv", { base, ours: changed, theirs: removed }).text).toBe(
      "Code,Name,Area\nDE,Germany,357\n<<<<<<< ours\nFR,France,644\n=======\n>>>>>>> theirs\nIT,Italy,301\n",
    );
  });

  test.each([
    ["two rows with one Code", base + "DE,Twice,1\n"],
    ["a row without Code", base + ",Nothing,1\n"],
    ["another number of cells", base + "ES,Spain\n"],
    ["a quotation mark", base + 'ES,Sp"ain,1\n'],
    ['no column "Code"', base.replace("Code", "Iso")],
  ])("with %s is left to a merge by lines", (reason, theirs) => {
    expect(() => merged("a.csv", { base, ours: base, theirs }, ["Code"])).toThrow(reason);
  });

  test("without a row, or without its last line end, stays so", () => {
    expect(clean("a.csv", "", "Code,Name", "Code,Name\nDE,Germany")).toBe("Code,Name\nDE,Germany\n");
    expect(clean("a.csv", "A\n1", "A\n1\n\n2", "A\n1\n3")).toBe("A\n1\n3\n\n2");
    expect(clean("a.csv", base, "Code,Name,Area", base)).toBe("Code,Name,Area");
  });
});

describe("JSON and NDJSON", () => {
  test("merge by key, and keep the layout of ours", () => {
    const base = '[\n    { "code": "DE", "area": 357, "tags": ["eu"] },\n    { "code": "FR" }\n]\n';
    const ours = base.replace("357", "358");
    const theirs = '[{"code":"DE","area":357},{"code":"FR","area":643},{"code":"IT","area":301}]';
    expect(clean("a.json", base, ours, theirs)).toBe(
      '[\n    { "code": "DE", "area": 358 },\n    { "code": "FR", "area": 643 },\n    {"code":"IT","area":301}\n]\n',
    );
  });

  test("show a conflict in which either side is a valid row", () => {
    const text = (area: number): string => `[\n  {"code":"DE","area":${area}},\n  {"code":"FR"}\n]\n`;
    const { text: found } = merged("a.json", { base: text(1), ours: text(2), theirs: text(3) });
    expect(found).toBe(
      '[\n<<<<<<< ours\n  {"code":"DE","area":2},\n=======\n  {"code":"DE","area":3},\n>>>>>>> theirs\n  {"code":"FR"}\n]\n',
    );
    expect(JSON.parse(found.replace(/<{7}.*\n|={7}\n.*\n>{7}.*\n/g, ""))).toEqual(JSON.parse(text(2)));
  });

  test("of one object a line merge line by line", () => {
    const base = '{"code":"DE","area":357}\r\n{"code":"FR"}\r\n';
    const theirs = '{"code":"DE","area":358}\n{"code":"IT"}\n{"code":"FR"}\n';
    expect(clean("a.ndjson", base, base.replace('"FR"', '"FR","area":643'), theirs)).toBe(
      '{"code":"DE","area":358}\r\n{"code":"IT"}\r\n{"code":"FR","area":643}\r\n',
    );
    expect(merged("a.ndjson", { base, ours: base.replace("357", "1"), theirs: base.replace("357", "2") }).text).toBe(
      '<<<<<<< ours\r\n{"code":"DE","area":1}\r\n=======\r\n{"code":"DE","area":2}\r\n>>>>>>> theirs\r\n{"code":"FR"}\r\n',
    );
  });

  test.each(["{}", "[1]", "[", '{"a":{"b":1}}'])("what is no list of rows is left to a merge by lines: %s", (text) => {
    expect(() => merged("a.json", { base: "[]", ours: "[]", theirs: text })).toThrow(
      /is (no list of rows|not valid JSON)/,
    );
  });
});

describe("for any rows", () => {
  const cell = fc.constantFrom("", "a", "b,c", 'd"e', "f\ng", " h");
  const table = fc
    .tuple(
      fc.uniqueArray(fc.constantFrom("1", "2", "3", "4", "5"), { minLength: 1 }),
      fc.shuffledSubarray(["x", "y", "z"]),
    )
    .chain(([keys, labels]) =>
      fc.record({
        labels: fc.constant(labels),
        rows: fc.tuple(...keys.map((key) => fc.tuple(...labels.map(() => cell)).map((cells) => [key, ...cells]))),
        end: fc.constantFrom("\n", "\r\n"),
      }),
    );
  type Table = typeof table extends fc.Arbitrary<infer Drawn> ? Drawn : never;
  const quoted = (text: string): string => (/[",\n]|^\s/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csvOf = ({ labels, rows, end }: Table): string =>
    [["key", ...labels], ...rows].map((cells) => cells.map(quoted).join(",") + end).join("");
  const recordsOf = ({ labels, rows }: Table): Map<string, Cells> =>
    new Map(
      rows.map(([key = "", ...cells]) => [
        key,
        Object.fromEntries([["key", key], ...labels.map((label, index) => [label, cells[index] ?? ""])]) as Cells,
      ]),
    );
  const content = (all: ReadonlyMap<string, Cells>): unknown =>
    [...all]
      .map(([key, cells]) => [
        key,
        Object.entries(cells)
          .filter(([, value]) => value && value !== "")
          .sort(),
      ])
      .sort();

  test("a CSV means what the merge of its rows means, and a side that changed nothing keeps the other's bytes", () => {
    fc.assert(
      fc.property(table, table, table, (base, ours, theirs) => {
        const sides = { base: recordsOf(base), from: recordsOf(theirs), to: recordsOf(ours) };
        const expected = mergeRecords(sides, { decide: () => undefined });
        const texts = { base: csvOf(base), ours: csvOf(ours), theirs: csvOf(theirs) };
        const { text, conflicts } = merged("rows.csv", texts);
        expect(conflicts).toBe(new Set(expected.conflicts.map(({ key }) => key)).size);
        if (conflicts === 0) {
          const again = merged("rows.csv", { base: text, ours: text, theirs: text });
          expect(again.text).toBe(text);
          const read = merged("rows.csv", { base: "", ours: "key\n", theirs: text });
          expect(content(rowsIn(read.text))).toEqual(content(withTaken(sides.to, expected.taken)));
        }
        expect(merged("rows.csv", { ...texts, theirs: texts.base }).text).toBe(texts.ours);
      }),
    );
  });

  function rowsIn(text: string): Map<string, Cells> {
    const cells = [...text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n)/g)];
    const lines: string[][] = [[]];
    for (const [, written = "", end] of cells) {
      lines.at(-1)?.push(written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written);
      if (end !== ",") lines.push([]);
    }
    const [labels = [], ...rows] = lines.slice(0, -1);
    return new Map(rows.map((row) => [row[0] ?? "", Object.fromEntries(labels.map((label, at) => [label, row[at]]))]));
  }
});
