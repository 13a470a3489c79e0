import fc from "fast-check";
import { stringify } from "yaml";
import type { RowData } from "../../../../platform/contract/values.ts";
import type { RowFileEdit } from "../text.ts";

/** A seed's file as somebody wrote it: the text of each row stands alone, so that a test knows which bytes are whose. */
export interface DrawnFile {
  name: string;
  delimiter?: "|";
  head: string;
  rows: { values: RowData; text: string }[];
  /** Between two rows. */
  separator: string;
  tail: string;
}

export const textOfFile = ({ head, rows, separator, tail }: DrawnFile): string =>
  head + rows.map(({ text }) => text).join(separator) + tail;

const lineEnds = fc.constantFrom("\n", "\r\n");
const words = fc.constantFrom(
  "Germany",
  "a, b",
  'say "hi"',
  " padded ",
  "two\nlines",
  "with: colon",
  "# no comment",
  "007",
  "true",
  "null",
  "- dash",
  "'single'",
  "ünï→",
  "{x}",
  "[y]",
  "*star",
  "&and",
  "tab\there",
  "a\\b",
  "three\nlines\nhere\n",
  "~",
  "1e3",
  "<<",
  "%",
);
const label = fc.constantFrom("name", "note", "area");
const valuesOf = (isCsv: boolean): fc.Arbitrary<RowData> =>
  fc.record({
    name: words,
    note: isCsv
      ? fc.option(words)
      : fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null), fc.constant(["x", 1])),
    area: isCsv ? fc.option(fc.integer({ min: -9, max: 9_999 })) : fc.integer(),
  });

/** Rows with keys of their own. */
const keyed = (isCsv: boolean, min = 0): fc.Arbitrary<RowData[]> =>
  fc
    .array(valuesOf(isCsv), { minLength: min, maxLength: 6 })
    .map((rows) => rows.map((row, index) => ({ code: `K${index}`, ...row })));

const csvCell = (value: unknown, quotes: boolean): string => {
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
  return quotes || /[",;|\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const mark = fc.constantFrom("", "\uFEFF");

/** What separates cells, and who says so: nobody, the first line or the seed. */
const separators = fc.constantFrom(
  ...([
    ["", ","],
    ["", ";"],
    ["", "\t"],
    ["sep=;", ";"],
    ["sep=,", ","],
    ["", "|", "|"],
  ] as const),
);

const drawnCsv: fc.Arbitrary<DrawnFile> = fc
  .tuple(keyed(true), lineEnds, fc.boolean(), fc.infiniteStream<boolean>(fc.boolean()), mark, separators)
  .map(([rows, end, isOpen, quotes, begin, [said, separator, delimiter]]) => ({
    name: "seed.csv",
    ...(delimiter && { delimiter }),
    head: `${begin}${said && said + end}${["code", "name", "note", "area"].join(separator)}${rows.length > 0 ? end : ""}`,
    rows: rows.map((values) => {
      const cells = Object.values(values).map((value) => csvCell(value, quotes.next().value as boolean));
      return { values, text: cells.join(separator) };
    }),
    separator: end,
    tail: isOpen ? "" : end,
  }));

const drawnJson: fc.Arbitrary<DrawnFile> = fc
  .tuple(keyed(false), fc.constantFrom("", "  ", "\t"), lineEnds, mark)
  .map(([rows, indent, end, begin]) => {
    const broken = indent === "" ? "" : end;
    return {
      name: "seed.json",
      head: `${begin}[${broken}`,
      rows: rows.map((values) => ({
        values,
        text: indent + JSON.stringify(values, null, indent).replaceAll("\n", `${end}${indent}`),
      })),
      separator: `,${broken}`,
      tail: `${rows.length > 0 ? broken : ""}]${broken}`,
    };
  });

const drawnLines: fc.Arbitrary<DrawnFile> = fc
  .tuple(keyed(false), lineEnds, fc.boolean(), fc.constantFrom("", " "))
  .map(([rows, end, isOpen, gap]) => ({
    name: "seed.ndjson",
    head: "",
    rows: rows.map((values) => ({ values, text: JSON.stringify(values).replaceAll('":', `":${gap}`) })),
    separator: end,
    tail: isOpen || rows.length === 0 ? "" : end,
  }));

const drawnYaml: fc.Arbitrary<DrawnFile> = fc
  .tuple(
    keyed(false, 1),
    fc.infiniteStream(fc.constantFrom("block", "flow", "double", "comment", "single")),
    lineEnds,
    fc.boolean(),
    mark,
  )
  .map(([rows, styles, end, isOpen, begin]) => ({
    name: "seed.yaml",
    head: `${begin}# rows${end}`,
    rows: rows.map((values) => ({
      values,
      text: yamlRow(values, styles.next().value as string).replaceAll("\n", end),
    })),
    separator: end,
    tail: isOpen ? "" : `${end}# the end${end}`,
  }));

function yamlRow(values: RowData, style: string): string {
  if (style === "flow") return `- ${JSON.stringify(values).replaceAll('":', '": ')}`;
  const defaultStringType = style === "double" ? "QUOTE_DOUBLE" : style === "single" ? "QUOTE_SINGLE" : "PLAIN";
  const text = stringify([values], { lineWidth: 0, defaultStringType }).trimEnd();
  return style === "comment" ? `# of ${String(values["code"])}\n${text.replace("\n", " # key\n")}` : text;
}

export const drawnFile = fc.oneof(drawnCsv, drawnJson, drawnLines, drawnYaml);

type Drawn = Pick<RowFileEdit, "do" | "row"> & { values?: RowData };

/** Edits of the rows K0 to K8, of which a file has the first ones: some meet nothing. */
export const drawnEdits: fc.Arbitrary<Drawn[]> = fc.array(
  fc.oneof(
    fc.tuple(fc.nat(6), label, words, fc.integer({ min: -9, max: 9_999 })).map(([at, name, word, number]) => ({
      do: "change" as const,
      row: { code: `K${at}` },
      values: { [name]: name === "area" ? number : word },
    })),
    fc.nat(6).map((at) => ({ do: "remove" as const, row: { code: `K${at}` } })),
    fc
      .tuple(fc.nat(8), valuesOf(true))
      .map(([at, values]) => ({ do: "add" as const, row: { code: `K${at}`, ...values } })),
  ),
  { minLength: 1, maxLength: 5 },
);
