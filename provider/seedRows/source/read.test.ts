import { describe, expect, test } from "@jest/globals";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { casesIn } from "../../../testing/harness/cases.ts";
import { isLong } from "../../../testing/harness/drawn.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { summarize } from "../declaration.ts";
import { read, readBlocks } from "./read.ts";
import { unread, type CellType, type SourceRow } from "./source.ts";

const folder = temporaryFolder();

async function rowsOf(
  name: string,
  content: string | Buffer,
  types?: Readonly<Record<string, CellType>>,
  key?: readonly string[],
): Promise<SourceRow[]> {
  await writeFile(join(folder, name), content);
  const rows: SourceRow[] = [];
  for await (const block of read({ source: name, types, key }, folder)) rows.push(...block);
  return rows;
}

const values = async (...given: Parameters<typeof rowsOf>) => (await rowsOf(...given)).map((row) => row.values);

describe("a CSV", () => {
  test.each([
    ["CRLF, and no end of the last line", "A,B\r\n1,2\r\n3,4", [["1", "2"], ["3", "4"]]], // prettier-ignore
    ["a byte order mark and empty lines", "\uFEFFA,B\n\n1,2\r\n\r\n3,4\n", [["1", "2"], ["3", "4"]]], // prettier-ignore
    ["commas, marks and line breaks in quoted cells", 'A,B\n"1,""x""","2\r\n3"\n4,""\n', [['1,"x"', "2\r\n3"], ["4", null]]], // prettier-ignore
    ["spaces, numbers and dates, which are text as they stand", "A,B\n 007,1e3\n2026-01-02,1.50\n", [[" 007", "1e3"], ["2026-01-02", "1.50"]]], // prettier-ignore
    ["empty cells, which are no value", 'A,B\n,x\nx,""\n', [[null, "x"], ["x", null]]], // prettier-ignore
  ])("with %s", async (_name, text, expected) => {
    expect(await values("rows.csv", text)).toEqual(expected.map(([A, B]) => ({ A, B })));
  });

  test("with types", async () => {
    const types = { A: "number", B: "boolean", C: "json" } as const;
    expect(await values("rows.csv", 'A,B,C\n-1.50,true,"[1,2]"\n,,\n', types)).toEqual([
      { A: -1.5, B: true, C: [1, 2] },
      { A: null, B: null, C: null },
    ]);
    for (const cell of ["+9007199254740993,,", "12345678901234567.89,,", ',,"[{""id"": 9007199254740993}]"']) {
      const lossy = rowsOf("rows.csv", `A,B,C\n${cell}\n`, types);
      await expect(lossy).rejects.toThrow(/^rows.csv:2: [AC] has more digits than a number keeps: make it a text$/);
    }
  });

  test.each(["0x1F", "0b11", "0o7", "Infinity", "1,5"])("a number that is written %s is none", async (cell) => {
    const lossy = rowsOf("rows.csv", `A,B\n"${cell}",1\n`, { A: "number" });
    await expect(lossy).rejects.toThrow("rows.csv:2: A is a number");
  });

  test("tells of __proto__, under which values would vanish, in its place", async () => {
    const refused = (name: string, text: string, types?: Readonly<Record<string, CellType>>) =>
      rowsOf(name, text, types).then(
        () => "",
        (error: unknown) => String(error),
      );
    const said = (place: string) => `SourceError: ${place}"__proto__" can't be a label; rename it`;
    expect(await refused("rows.csv", "A,__proto__\n1,2\n")).toBe(said("rows.csv:1: "));
    expect(await refused("rows.csv", 'A,B\n1,2\n1,"{""__proto__"": 1}"\n', { B: "json" })).toBe(
      said("rows.csv:3: B: "),
    );
    for (const label of ["__proto__", "\\u005f_proto__"]) {
      expect(await refused("rows.ndjson", `{"A":1}\n{"${label}":1,"A":1}\n`)).toBe(said("rows.ndjson:2:2: "));
      expect(await refused("rows.ndjson", `{"A":[{"${label}":{}}]}\n`)).toBe(said("rows.ndjson:1:8: "));
      expect(await refused("rows.json", `[{"A":1},\n{"A":{"${label}":1}}]`)).toBe(said("rows.json:2:7: "));
      expect(await refused("rows.yaml", `- A: 1\n- A: 1\n  "${label}": { a: 1 }\n`)).toBe(said("rows.yaml:3: "));
    }
    expect(await refused("rows.yaml", "- A:\n    - B: { __proto__: 1 }\n")).toBe(said("rows.yaml:2: "));
    expect(await values("rows.ndjson", '{"A":"__proto__","constructor":1}\n')).toEqual([
      { A: "__proto__", constructor: 1 },
    ]);
  });

  test.each([
    ['A;B\n1;x,y\n2;"a;b"\n', 2],
    ["A\tB\r\n1\tx,y\r\n2\ta;b\r\n", 2],
    ['sep=;\r\nA;B\r\n1;x,y\r\n2;"a;b"', 3],
    ['"sep=|"\nA|B\n1|x,y\n2|a;b\n', 3],
    ['A;"B"\n1;x,y\n2;"a;b"\n', 2],
  ])("takes what its first line has in place of commas: %j", async (text, line) => {
    const rows = await rowsOf("rows.csv", text);
    expect(rows.map(({ values }) => Object.values(values))).toEqual([
      ["1", "x,y"],
      ["2", "a;b"],
    ]);
    expect(rows[0]?.line).toBe(line);
  });

  test("takes what the declaration says, whatever its first line has", async () => {
    const found: unknown[] = [];
    for (const text of ["A;B, long\n1;x,y\n", "sep=,\nA;B, long\n1;x,y\n"])
      for await (const block of readBlocks({ source: "rows.csv", delimiter: ";" }, Buffer.from(text)))
        found.push(...block.map(({ values }) => values));
    expect(found).toEqual(Array(2).fill({ A: "1", "B, long": "x,y" }));
  });

  test("tells the line on which each row begins", async () => {
    expect((await rowsOf("rows.csv", 'A\n"1\n2"\n\n3\n"4\r\n5"\n6')).map(({ line }) => line)).toEqual([2, 5, 6, 8]);
  });

  test.each([
    ["A,B\n1\n", "rows.csv:2: the row has another number of cells than the first line, 1 and 2: add the missing ones"],
    ["A,B\n1,2,3\n", 'quote cells that hold what separates them (the last one in both is "B")'],
    ['A,B\n1,2\n3,"4\n5,6\n', "rows.csv:3: a quotation mark is opened here and never closed"],
    ['A,B\n1,2"\n', "rows.csv:2: quote the whole cell, and double the quotation marks in it"],
    ['A,B\n1,"2"x\n', "rows.csv:2: text follows a closing quotation mark"],
    ["A,B\r1,2\r", "rows.csv:1: a line ends in CR alone"],
    ["A\n1\r2\n", "rows.csv:2: a line ends in CR alone"],
    ['A,B\n"1",2\r3,4\n', "rows.csv:2: a line ends in CR alone"],
    ["A,A\n1,2\n", 'rows.csv:1: the label "A" appears twice'],
    ["\n\nA,A\n1,2\n", 'rows.csv:3: the label "A" appears twice'],
    ["A, \n1,2\n", "rows.csv:1: column 2 has no label"],
    [Buffer.from("A\nZoë\nJosé\n", "latin1"), "rows.csv:2: is not valid UTF-8"],
    ["A\n1\n2\0\n", "rows.csv:3: holds a NUL character"],
    [Buffer.from("A\n1\n", "utf16le"), "rows.csv:1: holds a NUL character"],
  ])("that is wrong is told by line: %j", async (content, message) => {
    await expect(rowsOf("rows.csv", content)).rejects.toThrow(message);
  });

  test.each([
    ["Code|Name\nA|x\n", 'if "|" separates the cells, set delimiter: "|"'],
    ["Code;Name, long\nA;x\n", 'if ";" separates the cells, set delimiter: ";"'],
    ["code, Code\nA,x\n", 'the labels there are "code", " Code" (case and spaces count)'],
  ])("whose first line lacks the key is told so, once: %j", async (content, message) => {
    await expect(rowsOf("rows.csv", content, undefined, ["Code"])).rejects.toThrow(
      `rows.csv:1: there is no label "Code", which key names: ${message}`,
    );
  });

  test("is read as the usual parser reads it, wherever the blocks of the file end", async () => {
    const cell = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("", "x", " ", "ä,", '"', "\n", "\r\n", "a\nb", "0,5", "€") },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 70_000 }).map((length) => "y".repeat(length)) },
    );
    const records = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 20 });
    const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    await fc.assert(
      fc.asyncProperty(records, fc.constantFrom("\n", "\r\n"), async (rows, end) => {
        const text = [["A", "B"], ...rows].map((cells) => cells.map(quote).join(",")).join(end);
        const expected: Record<string, string>[] = parse(text, { columns: true, skip_empty_lines: true });
        expect(await values("rows.csv", text)).toEqual(expected.map(({ A, B }) => ({ A: A || null, B: B || null })));
        await expectSame("rows.csv");
      }),
      { numRuns: isLong ? 100 : 20 },
    );
  });
});

/** Holds every third row of a file, read without the others, against those of all. */
async function expectSame(name: string): Promise<void> {
  const rowsTaken = async (takes?: (at: number) => boolean): Promise<SourceRow[]> => {
    const rows: SourceRow[] = [];
    for await (const block of read({ source: name }, folder, undefined, takes)) rows.push(...block);
    return rows;
  };
  for (const rest of [0, 1, 2]) {
    const isTaken = (at: number): boolean => at % 3 === rest;
    const all = await rowsTaken();
    expect(await rowsTaken(isTaken)).toEqual(all.map((row, at) => (isTaken(at) ? row : unread)));
  }
}

describe("other formats", () => {
  const expected = [
    { line: 2, values: { A: 1 } },
    { line: 4, values: { A: "ä" } },
  ];
  test.each([
    ["rows.json", '[\n{"A": 1},\n\n{"A": "ä"}]'],
    ["rows.yaml", "# rows\n- A: 1\n\n- A: ä\n"],
  ])("%s", async (name, text) => {
    expect(await rowsOf(name, text)).toEqual(expected);
  });
  test("rows.ndjson", async () => {
    expect(await rowsOf("rows.ndjson", '\uFEFF\n{"A": 1}\r\n\n{"A": "ä"}')).toEqual(expected);
    await expectSame("rows.ndjson");
    const lines = Array.from({ length: 10_000 }, (_, at) => `{"A": ${at}, "B": "${"x".repeat(at % 50)}"}\n`);
    expect(await rowsOf("more.ndjson", lines.join(""))).toHaveLength(10_000);
    await expectSame("more.ndjson");
  });

  test.each<[name: string, content: string | Buffer, message: string]>([
    ...(casesIn("provider/seedRows/testdata/formats.yaml") as [string, string, string][]),
    ["rows.json", "[".repeat(100_000), "rows.json:1:1: is nested too deeply: make it flatter"],
    ["rows.ndjson", Buffer.from('{"A": 1}\n{"A": "é"}', "latin1"), "rows.ndjson:2: is not valid UTF-8"],
  ])("%s that is wrong is told by line: %j", async (name, content, message) => {
    await expect(rowsOf(name, content)).rejects.toThrow(message);
  });
});

test("a YAML may share values by anchors and merge keys", async () => {
  const text = "- &a {A: 1, B: [2]}\n- {<<: *a, A: 3}\n- *a\n";
  expect(await values("rows.yaml", text)).toEqual([
    { A: 1, B: [2] },
    { A: 3, B: [2] },
    { A: 1, B: [2] },
  ]);
});

test("what is wrong with secret rows is told without their values", async () => {
  await writeFile(join(folder, "secret.csv"), "Code,N\nhush-1,many\nhush-1,2\nhush-2,1\nhush-2,1\n");
  const declared = { table: "t", key: ["Code"], source: "secret.csv", sensitive: true };
  const message = await summarize({ ...declared, types: { N: "number" } }, folder).then(
    () => "nothing is wrong",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );
  expect(message.split("\n")).toEqual([
    "secret.csv:2: N is a number: write it as 12 or -1.5",
    "secret.csv:5: the natural key is at line 4 already: remove one of the two, or name more labels in key",
  ]);
});

test.each([
  [
    "twice.csv",
    "Code,HUSH,HUSH\n1,2,3\n",
    "twice.csv:1: the label of column 2 appears twice: rename one of the two columns",
  ],
  [
    "key.csv",
    "HUSH,Hush\n1,2\n",
    'key.csv:1: there is no label "Code", which key names: correct key or the first line',
  ],
  ["anchor.yaml", "- Code: *HUSH\n", "anchor.yaml:1: there is no anchor of this name before this"],
  ["tag.yaml", '- Code: "HUSH\\q"\n', "tag.yaml:1: is not valid YAML: correct it"],
  ["number.yaml", "- Code: 007\n", "number.yaml:1: Code: YAML reads this as another number than is written: quote it"],
  [
    "end.json",
    '[{"Code": "HUSH"}, HUSH]\n',
    "end.json:1:20: is not valid JSON: this is not a value: put text into double quotes",
  ],
])("%s, whose rows are secret, is told to be wrong without what stands in it", async (source, text, said) => {
  await writeFile(join(folder, source), text);
  await expect(summarize({ table: "t", key: ["Code"], source, sensitive: true }, folder)).rejects.toThrow(
    new Error(said),
  );
});

test("of 200,000 rows those that are wrong are named, all at once", async () => {
  function* lines(): Generator<string> {
    yield "Code,People\n";
    for (let row = 0; row < 200_000; row += 1_000) {
      let text = "";
      for (let index = row; index < row + 1_000; index++) {
        if (index === 123_456) text += `K${index},many\n`;
        else if (index === 150_000) text += `K${index},1,2\n`;
        else if (index === 199_998) text += `K77,${index}\n`;
        else text += `K${index},${index}\n`;
      }
      yield text;
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(join(folder, "large.csv")));
  const declared = { table: "t", key: ["Code"], source: "large.csv" };
  await expect(summarize({ ...declared, types: { People: "number" } }, folder)).rejects.toThrow(
    [
      'large.csv:123458 "K123456": People is a number, not "many": write it as 12 or -1.5',
      'large.csv:150002: the row has another number of cells than the first line, 3 and 2: quote cells that hold what separates them (the last one in both is "People")',
      'large.csv:200000: the natural key "K77" is at line 79 already: remove one of the two, or name more labels in key',
    ].join("\n"),
  );
});

test("YAML with thousands of keys is read, and a key that stands twice is told by line", async () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `L${index}: 1`).join(", ");
  expect(await rowsOf("wide.yaml", `- { ${keys} }\n`)).toHaveLength(1);
  await expect(rowsOf("twice.yaml", "- Code: A\n- Code: B\n  Code: C\n")).rejects.toThrow(
    'twice.yaml:3: the label "Code" occurs twice in one row: remove one',
  );
});
