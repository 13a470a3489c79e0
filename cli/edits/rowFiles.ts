import { isDeepStrictEqual } from "node:util";
import type { RowData } from "../../provider/contract/values.ts";
import { quote } from "../../provider/messages/text.ts";
import { keyText } from "../../provider/reconcile/digests.ts";
import { formatOf } from "../../provider/sources/formats.ts";
import { readBlocks } from "../../provider/sources/read.ts";
import { isHidden, type SourceRow } from "../../provider/sources/source.ts";
import { CsvText } from "./csvText.ts";
import { parseJsonTree } from "./jsonTree.ts";
import type { RowFileEdit } from "./kinds.ts";
import { runSteps, type Round, type TreeStep } from "./rounds.ts";
import { EditRefusal, lineEndOf, nextLine, splice, type Splice } from "./splices.ts";
import { decode, encode } from "./texts.ts";
import type { TextTree } from "./textTree.ts";
import type { RefuseEdit } from "./valueFiles.ts";
import { parseYamlTree } from "./yamlTree.ts";

/** Everything that is done to one row, or a new one. */
interface Intent {
  edit: RowFileEdit;
  values: RowData;
}

/** Edits of the rows of a file, by the index of each. */
interface Intents {
  changed: Map<number, Intent>;
  removed: Map<number, Intent>;
  added: Intent[];
}

type RefuseRow = RefuseEdit<RowFileEdit>;

/** Makes edits of rows in the bytes of a seed's file. Throws an EditRefusal or a SourceError where it is not edited at all. */
export async function editRows(bytes: Buffer, edits: readonly RowFileEdit[], refuse: RefuseRow): Promise<Buffer> {
  let now = bytes;
  // Seeds that share a file may have other keys and types.
  for (const own of Map.groupBy(edits, ({ source: { key, types } }) => JSON.stringify([key, types])).values()) {
    const [first] = own;
    if (first) now = await editOfSource(now, own, refuse, first.source);
  }
  return now;
}

async function editOfSource(
  bytes: Buffer,
  edits: readonly RowFileEdit[],
  refuse: RefuseRow,
  source: RowFileEdit["source"],
): Promise<Buffer> {
  const asked = await intentsOf(edits, readBlocks(source, bytes), (edit, reason) =>
    refuse(edit, new EditRefusal(reason)),
  );
  const format = formatOf(source.source);
  const { text, mark } = decode(bytes, format === ".csv");
  const refused = new Set<RowFileEdit>();
  const refuseOne: RefuseRow = (edit, refusal, now) => {
    refused.add(edit);
    refuse(edit, refusal, now);
  };
  const { text: after, labels = [] } =
    format === ".csv"
      ? editCsv(text, asked, source.types, refuseOne)
      : format === ".ndjson" || format === ".jsonl"
        ? { text: editLines(text, asked, refuseOne) }
        : { text: editTree(text, asked, format === ".json" ? parseJsonTree : parseYamlTree, refuseOne) };
  const result = encode(after, mark);
  const meant = meantRows(readBlocks(source, bytes), asked, refused, labels);
  if (!(await isSame(readBlocks(source, result), meant)))
    throw new EditRefusal("would mean something else than is asked for, once it is written: edit it by hand");
  return result;
}

/** True if rows are those that are meant, in their order. */
async function isSame(rows: AsyncIterable<SourceRow[]>, meant: AsyncGenerator<RowData[]>): Promise<boolean> {
  let [waiting, at]: [RowData[], number] = [[], 0];
  const hasMore = async (): Promise<boolean> => {
    while (at === waiting.length) {
      const next = await meant.next();
      if (next.done) return false;
      [waiting, at] = [next.value, 0];
    }
    return true;
  };
  for await (const block of rows)
    for (const { values } of block)
      if ((at === waiting.length && !(await hasMore())) || !isDeepStrictEqual(values, waiting[at++])) return false;
  return !(await hasMore());
}

const keyIn = (row: RowData, key: readonly string[]): string => JSON.stringify(key.map((label) => keyText(row[label])));

/** Finds the row of each edit. */
async function intentsOf(
  edits: readonly RowFileEdit[],
  rows: AsyncIterable<SourceRow[]>,
  refuse: (edit: RowFileEdit, reason: string) => void,
): Promise<Intents> {
  const key = edits[0]?.source.key ?? [];
  const wanted = new Set(edits.map(({ row }) => keyIn(row, key)));
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  let place = 0;
  for await (const block of rows) {
    for (const { values } of block) {
      const name = keyIn(values, key);
      if (places.has(name)) repeated.add(name);
      if (wanted.has(name)) places.set(name, place);
      place++;
    }
  }
  const intents: Intents = { changed: new Map(), removed: new Map(), added: [] };
  const added = new Set<string>();
  for (const edit of edits) {
    const { row, source } = edit;
    const name = keyIn(row, key);
    const shown = key.some((label) => isHidden(source, label))
      ? ""
      : ` ${quote(key.map((label) => keyText(row[label]) ?? "").join(", "))}`;
    const index = places.get(name);
    const isThere = index !== undefined && !intents.removed.has(index);
    if (repeated.has(name)) refuse(edit, `has the row${shown} twice: remove one`);
    else if (edit.do === "add") {
      if (isThere || added.has(name)) refuse(edit, `has the row${shown} already`);
      else intents.added.push({ edit, values: row });
      added.add(name);
    } else if (index === undefined || !isThere) refuse(edit, `has no row${shown}`);
    else if (edit.do === "remove") {
      intents.changed.delete(index);
      intents.removed.set(index, { edit, values: {} });
    } else {
      const before = intents.changed.get(index)?.values;
      intents.changed.set(index, { edit, values: { ...before, ...edit.values } });
    }
  }
  return intents;
}

/** The rows that the file is to have, in blocks. */
async function* meantRows(
  rows: AsyncIterable<SourceRow[]>,
  { changed, removed, added }: Intents,
  refused: ReadonlySet<RowFileEdit>,
  labels: readonly string[],
): AsyncGenerator<RowData[]> {
  const made = (intent: Intent | undefined): Intent | undefined =>
    intent && !refused.has(intent.edit) ? intent : undefined;
  const empty = Object.fromEntries(labels.map((label) => [label, null]));
  const without = (values: RowData): RowData =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  let first = 0;
  for await (const block of rows) {
    const before = first;
    first += block.length;
    yield block.flatMap(({ values }, at) => {
      if (made(removed.get(before + at))) return [];
      const change = made(changed.get(before + at));
      return [change ? { ...empty, ...without({ ...values, ...change.values }) } : values];
    });
  }
  yield added.flatMap((intent) => (made(intent) ? [{ ...empty, ...without(intent.values) }] : []));
}

/** Makes splices of one edit, or refuses it. */
function attempt({ edit }: Intent, text: string, refuse: RefuseRow, make: () => Splice[]): Splice[] {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof EditRefusal)) throw error;
    refuse(edit, error, text);
    return [];
  }
}

/** Edits the text of a CSV; returns its labels as well. */
function editCsv(
  text: string,
  asked: Intents,
  types: RowFileEdit["source"]["types"],
  refuse: RefuseRow,
): { text: string; labels: readonly string[] } {
  const csv = new CsvText(text, types);
  const changes = [...asked.changed].flatMap(([index, intent]) =>
    attempt(intent, text, refuse, () =>
      Object.entries(intent.values).map(([label, value]) => csv.change(index, label, value)),
    ),
  );
  const removals = csv.remove([...asked.removed.keys()]);
  const added = asked.added.filter(
    (intent) => attempt(intent, text, refuse, () => [csv.add([intent.values])]).length > 0,
  );
  const rest = splice(text, [...changes, ...removals]);
  const rows = added.map(({ values }) => values);
  return { text: rows.length === 0 ? rest : splice(rest, [csv.add(rows, rest)]), labels: csv.labels };
}

/** Steps that change the entries of one row: what is added comes before what goes. */
function rowSteps(
  { edit, values }: Intent,
  refuse: RefuseRow,
  spotOf: (tree: TextTree) => { row: TextTree["root"]; holder: Parameters<Round["add"]>[0]["holder"] },
): TreeStep[] {
  const entries = Object.entries(values);
  const parts = [
    entries.filter(([, value]) => value !== undefined),
    entries.filter(([, value]) => value === undefined),
  ];
  return parts.filter((part) => part.length > 0).map((part) => rowStep(part, edit, refuse, spotOf));
}

const rowStep = (
  entries: readonly [label: string, value: unknown][],
  edit: RowFileEdit,
  refuse: RefuseRow,
  spotOf: (tree: TextTree) => { row: TextTree["root"]; holder: Parameters<Round["add"]>[0]["holder"] },
): TreeStep => ({
  run: (round) => {
    const { row, holder } = spotOf(round.tree);
    for (const [label, value] of entries) {
      const member = row.members.find(({ name }) => name === label);
      if (row.locked !== undefined) throw new EditRefusal(row.locked, row.start);
      if (member && value === undefined) round.drop({ parent: row, holder }, member);
      else if (member) round.set(row, member, value);
      else if (value !== undefined) round.add({ parent: row, holder }, label, value);
    }
  },
  refuse: (refusal, now) => refuse(edit, refusal, now),
});

function editTree(text: string, asked: Intents, parse: (text: string) => TextTree, refuse: RefuseRow): string {
  const memberAt = ({ root }: TextTree, index: number) => {
    const member = root.members[index];
    if (!member) throw new EditRefusal("has fewer rows than were read", root.start);
    return member;
  };
  const changes = [...asked.changed].flatMap(([index, intent]) =>
    rowSteps(intent, refuse, (tree) => {
      const member = memberAt(tree, index);
      return { row: member.node, holder: { parent: tree.root, member } };
    }),
  );
  const additions = asked.added.map(({ edit, values }): TreeStep => ({
    run: (round) => {
      round.add({ parent: round.tree.root, holder: undefined }, undefined, values);
    },
    refuse: (refusal, now) => refuse(edit, refusal, now),
  }));
  // The last ones first: the others keep their places.
  const removals = [...asked.removed]
    .toSorted(([one], [other]) => other - one)
    .map(([index, { edit }]): TreeStep => ({
      run: (round) => {
        round.drop({ parent: round.tree.root, holder: undefined }, memberAt(round.tree, index));
      },
      refuse: (refusal, now) => refuse(edit, refusal, now),
    }));
  return runSteps(text, parse, [...changes, ...additions, ...removals]);
}

/** Edits a file with one JSON object on each line. */
function editLines(text: string, asked: Intents, refuse: RefuseRow): string {
  const lines: { start: number; end: number; next: number }[] = [];
  for (let at = 0; at < text.length;) {
    const next = nextLine(text, at);
    const words = text.slice(at, next);
    if (words.trim() !== "") lines.push({ start: at, end: at + words.trimEnd().length, next });
    at = next;
  }
  const changes = [...asked.changed].flatMap(([index, intent]): Splice[] => {
    const line = lines[index];
    if (!line) return [];
    const steps = rowSteps(intent, refuse, ({ root }) => ({ row: root, holder: undefined }));
    return [
      { start: line.start, end: line.end, text: runSteps(text.slice(line.start, line.end), parseJsonTree, steps) },
    ];
  });
  const removals = [...asked.removed.keys()].flatMap((index): Splice[] => {
    const line = lines[index];
    return line ? [{ start: line.start, end: line.next, text: "" }] : [];
  });
  const rest = splice(text, [...changes, ...removals]);
  const wasOpen = text !== "" && !text.endsWith("\n");
  const kept = wasOpen && rest.endsWith("\n") && removals.length > 0 ? rest.replace(/\r?\n$/, "") : rest;
  if (asked.added.length === 0) return kept;
  const [first] = lines;
  const like = first ? parseJsonTree(text.slice(first.start, first.end)) : undefined;
  const written = asked.added.map(({ values }) => {
    const known = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    return like ? like.writeInline(undefined, known, undefined) : JSON.stringify(known);
  });
  const lineEnd = lineEndOf(text);
  const isOpen = kept !== "" && !kept.endsWith("\n");
  return isOpen ? [kept, ...written].join(lineEnd) : kept + written.map((line) => line + lineEnd).join("");
}
