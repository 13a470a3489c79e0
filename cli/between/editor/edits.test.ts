import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { isMap, isNode, isScalar, isSeq, parse, parseDocument } from "yaml";
import type { RowData } from "../../../platform/contract/values.ts";
import { readBlocks } from "../../../provider/seedRows/source/read.ts";
import { planEdits, type FileEdit } from "./edits.ts";
import { drawnDocument, drawnEdit, valueAt } from "./testing/drawnDocuments.ts";
import { drawnEdits, drawnFile, textOfFile, type DrawnFile } from "./testing/drawnFiles.ts";
import type { EditStep, RowFileEdit, ValueFileEdit } from "./text.ts";

const numRuns = process.env["TEST_LONG"] ? 10_000 : 100;
const limitMs = 60_000 + numRuns * 100;

const sourceOf = (source: string): RowFileEdit["source"] => ({ source, key: ["code"], types: { area: "number" } });

/** The rows after edits, and which of them were touched; edits that meet nothing are left out. */
function modelOf({ rows }: DrawnFile, edits: readonly Omit<RowFileEdit, "kind" | "source">[]) {
  const now = new Map<unknown, { values: RowData; text: string | undefined }>(
    rows.map(({ values, text }) => [values["code"], { values, text: text }]),
  );
  let met = 0;
  const wasThere = new Set<unknown>();
  for (const edit of edits) {
    const { code } = edit.row;
    const found = now.get(code);
    if (edit.do === "add" ? found !== undefined || wasThere.has(code) : !found) continue;
    // An edit is of a row that the file had.
    if (edit.do !== "add" && !rows.some(({ values }) => values["code"] === code)) continue;
    met++;
    if (edit.do === "remove") now.delete(code);
    else now.set(code, { values: { ...found?.values, ...edit.row, ...edit.values }, text: undefined });
    if (edit.do === "add") wasThere.add(code);
  }
  return { rows: [...now.values()], met };
}

const empty = { code: null, name: null, note: null, area: null };

test(
  "edits of rows mean what was asked, and leave all other bytes as they are",
  async () => {
    let [made, asked] = [0, 0];
    await fc.assert(
      fc.asyncProperty(drawnFile, drawnEdits, async (file, edits) => {
        const before = Buffer.from(textOfFile(file));
        const source = { ...sourceOf(file.name), delimiter: file.delimiter };
        const plan = (all: typeof edits) =>
          planEdits(
            all.map((edit): FileEdit => ({ kind: "row", source, ...edit })),
            () => before,
          );
        let [left, planned] = [edits, await plan(edits)];
        while (planned.refused.length > 0) {
          expect(planned.files).toEqual([]); // as one step
          const bad = planned.refused.flatMap(({ edit }) => (edit.kind === "row" ? edit.row : []));
          left = left.filter(({ row }) => !bad.includes(row));
          planned = await plan(left);
        }
        const { files } = planned;
        const { rows } = modelOf(file, left);
        const after = files[0]?.after ?? before;
        const read: RowData[] = [];
        for await (const block of readBlocks(source, after)) read.push(...block.map(({ values }) => values));
        const isCsv = file.name.endsWith(".csv");
        const meant = rows.map(({ values }): RowData => (isCsv ? { ...empty, ...values } : values));
        expect(byCode(read)).toEqual(byCode(meant));
        // The text of each row that nobody touched stands there, in the old order.
        let at = 0;
        for (const { text } of rows) {
          if (text === undefined) continue;
          const found = after.indexOf(Buffer.from(text), at);
          expect(found).toBeGreaterThanOrEqual(at);
          at = found + Buffer.byteLength(text);
        }
        expect(after.subarray(0, 3).equals(Buffer.from("\uFEFF"))).toBe(
          before.subarray(0, 3).equals(Buffer.from("\uFEFF")),
        );
        made += left.length;
        asked += modelOf(file, edits).met;
      }),
      { numRuns },
    );
    expect(made).toBeGreaterThan(asked * 0.95); // what can be done is hardly ever refused
  },
  limitMs,
);

test(
  "edits of values mean what was asked, and touch the lines of what changed alone",
  async () => {
    let [made, asked] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (draw) => {
        const text = draw(() => drawnDocument);
        const root = parse(text) as unknown;
        const edit = draw(() => drawnEdit(root));
        const { files, refused } = await planEdits([edit], () => Buffer.from(text));
        const isSimple = !/[&*][ac]\d|#/.test(text);
        if (isSimple) asked++;
        if (refused.length > 0) {
          expect(files).toEqual([]);
          return;
        }
        if (isSimple) made++;
        const after = files[0]?.after.toString() ?? text;
        const way = edit.prune === true ? prunedPath(root, edit.path) : edit.path;
        const meant = edited(root, way, edit);
        expect(parse(after)).toEqual(meant);
        expect(linesLeft(text, after)).toBeGreaterThanOrEqual(linesOutside(text, way, edit));
      }),
      { numRuns },
    );
    expect(made).toBeGreaterThan(asked * 0.9);
  },
  limitMs,
);

test.each(["before", "after"])("what goes with all above it may get another entry %s that", async (order) => {
  const places = ["seeds", "places"];
  const edits: FileEdit[] = [
    {
      ...{ kind: "value", do: "remove", file: "a.yaml", prune: true },
      path: [...places, "rows~", { where: { Code: "DE" } }],
    },
    { kind: "value", do: "append", file: "a.yaml", path: [...places, "rows-"], value: "DE" },
  ];
  const { files, refused } = await planEdits(order === "after" ? edits : edits.toReversed(), () =>
    Buffer.from("extends: base.yaml\nseeds:\n  places:\n    rows~:\n      - { Code: DE, Name: a }\n"),
  );
  expect(refused).toEqual([]);
  expect(files[0]?.after.toString()).toBe("extends: base.yaml\nseeds:\n  places:\n    rows-:\n      - DE\n");
});

test("a text of several lines stays on its line between brackets", async () => {
  const text = "list:\n  - { a: one } # first\nwide: { a: one }\n";
  const long = `${"long ".repeat(30)}of\n${"lines ".repeat(30)}end`;
  const { files, refused } = await planEdits(
    [
      { kind: "value", do: "append", file: "a.yaml", path: ["list"], value: { a: "two\nlines" } },
      { kind: "value", do: "append", file: "a.yaml", path: ["list"], value: { a: long } },
      { kind: "value", do: "set", file: "a.yaml", path: ["wide", "b"], value: "\ttwo\r\nlines" },
      { kind: "value", do: "set", file: "a.yaml", path: ["wide", "a"], value: long },
    ],
    () => Buffer.from(text),
  );
  expect(refused).toEqual([]);
  expect(files[0]?.after.toString()).toBe(
    [
      "list:\n  - { a: one } # first\n",
      '  - { a: "two\\nlines" }\n',
      `  - { a: ${JSON.stringify(long)} }\n`,
      `wide: { a: ${JSON.stringify(long)}, b: "\\ttwo\\r\\nlines" }\n`,
    ].join(""),
  );
});

/** Lines at the beginning and at the end of a text that another one has as well. */
function linesLeft(before: string, after: string): number {
  const [was, is] = [before.split("\n"), after.split("\n")];
  const most = Math.min(was.length, is.length);
  let [head, tail] = [0, 0];
  while (head < most && was[head] === is[head]) head++;
  while (tail < most - head && was.at(-1 - tail) === is.at(-1 - tail)) tail++;
  return head + tail;
}

/** Lines of a text that an edit has nothing to do with: all but those of the value, and the one that it stands on. */
function linesOutside(text: string, path: readonly EditStep[], { do: what }: ValueFileEdit): number {
  const document = parseDocument(text);
  const whole = text.split("\n").length;
  const lineOf = (offset: number): number => text.slice(0, offset).split("\n").length;
  let node: unknown = document.contents;
  let from = 0;
  for (const step of path) {
    const holder: unknown = node;
    // A collection that loses its only entry is written as {} or [].
    const isAlone =
      what === "remove" && step === path.at(-1) && (isMap(holder) || isSeq(holder)) && holder.items.length === 1;
    if (isAlone && holder.flow) {
      from = holder.range?.[0] ?? 0;
      node = holder;
      break;
    }
    if (typeof step === "string" && isMap(holder)) {
      const pair = holder.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (!pair) return whole - lineOf((holder.range?.[1] ?? 0) - 1) + lineOf(holder.range?.[0] ?? 0) - 2;
      from = isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
      node = pair.value;
    } else if (isSeq(holder)) {
      node = holder.items[(step as { at: number }).at];
      from = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    }
  }
  const end = isNode(node) ? (node.range?.[1] ?? from) : from;
  // One line more where an item goes with its comma, or the first or last one takes a line end along.
  return whole - (lineOf(Math.max(from, end - 1)) - lineOf(from) + 1) - (what === "set" ? 1 : 2);
}

function prunedPath(root: unknown, path: readonly EditStep[]): readonly EditStep[] {
  const above = path.slice(0, -1);
  const held = valueAt(root, above);
  const isAlone = Object.keys(held as object).length === 1;
  return above.length > 0 && isAlone ? prunedPath(root, above) : path;
}

/** The value of a document after an edit, done by hand. */
function edited(root: unknown, path: readonly EditStep[], edit: ValueFileEdit): unknown {
  const copy = JSON.parse(JSON.stringify(root)) as unknown;
  const holder = valueAt(copy, path.slice(0, -1)) as Record<string, unknown> | unknown[];
  const step = path.at(-1) ?? "";
  const at = typeof step === "string" ? step : (step as { at: number }).at;
  const slots = holder as Record<string | number, unknown>;
  if (edit.do === "append") (slots[at] as unknown[]).push(edit.value);
  else if (edit.do === "set") slots[at] = edit.value;
  else if (Array.isArray(holder)) holder.splice(Number(at), 1);
  else Reflect.deleteProperty(holder, at);
  return copy;
}

const byCode = (rows: readonly RowData[]): RowData[] =>
  rows.toSorted((one, other) => (String(one["code"]) < String(other["code"]) ? -1 : 1));
