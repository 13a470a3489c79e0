import { isDeepStrictEqual } from "node:util";
import type { RowData } from "../../../platform/contract/values.ts";
import { isObject } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { keyText } from "../../../provider/reconcile/digests.ts";
import { readBlocks, SourceError } from "../../../provider/seedRows/source/read.ts";
import { formatOf, isHidden, type SourceRow } from "../../../provider/seedRows/source/source.ts";
import { CsvText } from "./csvText.ts";
import {
  type ColumnFileEdit,
  decode,
  EditRefusal,
  type EditStep,
  encode,
  lineEndOf,
  nextLine,
  positionAt,
  type RowFileEdit,
  splice,
  type Splice,
  type ValueFileEdit,
} from "./text.ts";
import { type Round, runSteps, type Spot, type TreeStep } from "./treeEdits.ts";
import { parseJsonTree, parseYamlTree, type TextMember, type TextNode, type TextTree } from "./trees.ts";

/*
 * The editor of files: changes values at their place, and leaves all other bytes as they are.
 *
 *   const { files, refused } = await planEdits(edits, (file) => readToEdit(folder, file));   // nothing is written
 *   await writeFiles(folder, files);                                        // writing.ts: all beside first, then renamed
 *
 * There are three kinds of edits. A `column` edit adds or renames a column of a CSV, before all others. A `row` edit changes, removes or adds a row of a seed's file (CSV, JSON, NDJSON, YAML),
 * found by its natural key. A `value` edit sets, removes or appends a value of a YAML or JSON file, found by a path of
 * keys; an item of a list is found by what it holds. What is not where the edit expects it, is repeated by an alias, can't be
 * written in the file's format, or would change anything else is refused with its place and the reason. Edits that are not
 * refused are made. After all of them the file is read again, by the reader that a seed or an Environment has, and must
 * mean what was asked: otherwise those edits are refused whose values it can't hold.
 *
 * An edit knows nothing of secrets and layers: cli/between/placing.ts decides which file and which verb it is.
 */

export type FileEdit = ValueFileEdit | RowFileEdit | ColumnFileEdit;

/** A file with its edits made. */
export interface EditedFile {
  file: string;
  /** Undefined where the file is new. */
  before: Buffer | undefined;
  after: Buffer;
}

/** An edit that is not made. */
export interface RefusedEdit {
  edit: FileEdit;
  /** `file:line:column`, or the file. */
  place: string;
  reason: string;
}

export interface EditedFiles {
  files: EditedFile[];
  refused: RefusedEdit[];
}

export const fileOf = (edit: FileEdit): string => (edit.kind === "row" ? edit.source.source : edit.file);

/**
 * Makes edits in bytes that `read` gives; it gives undefined where there is no file, which is then made (YAML alone).
 * Writes nothing. The files are in the order of their first edits; one that stays as it was is left out.
 */
export async function planEdits(
  edits: readonly FileEdit[],
  read: (file: string) => Buffer | undefined | Promise<Buffer | undefined>,
): Promise<EditedFiles> {
  const files: EditedFile[] = [];
  const refused: RefusedEdit[] = [];
  for (const [file, own] of Map.groupBy(edits, fileOf)) {
    let told: RefusedEdit[] = [];
    const make = async (before: Buffer | undefined, asked: readonly FileEdit[]): Promise<Buffer> => {
      told = [];
      const refuse = (edit: FileEdit, { message, offset }: EditRefusal, text = ""): void => {
        const { line, column } = positionAt(text, offset ?? 0);
        told.push({ edit, place: offset === undefined ? file : `${file}:${line}:${column}`, reason: message });
      };
      const rows = asked.filter((edit) => edit.kind === "row");
      const values = asked.filter((edit) => edit.kind === "value");
      const columns = asked.filter((edit) => edit.kind === "column");
      let after = before ?? Buffer.alloc(0);
      if (columns.length > 0) after = editColumns(after, columns);
      if (rows.length > 0) after = await editRows(after, rows, refuse);
      return values.length > 0 ? editValues(after, values, refuse, formatOf(file) === ".json") : after;
    };
    const refuseAll = (edits: readonly FileEdit[], reason: string): void =>
      void refused.push(...edits.map((edit) => ({ edit, place: file, reason })));
    try {
      const before = await read(file);
      let after: Buffer | undefined;
      const lost = await findLost(own, async (asked) => (after = await make(before, asked)));
      if (lost.length > 0) {
        refuseAll(lost, new LostError().message);
        after = await make(
          before,
          own.filter((edit) => !lost.includes(edit)),
        );
      }
      refused.push(...told);
      if (after && (!before || !after.equals(before))) files.push({ file, before, after });
    } catch (error) {
      if (!(error instanceof EditRefusal || error instanceof SourceError)) throw error;
      refuseAll(own, error.message);
    }
  }
  return { files, refused };
}

/** Edits whose values the file can't hold. */
class LostError extends EditRefusal {
  constructor() {
    super("would mean something else than is asked for, once it is written: edit it by hand");
  }
}

/** The edits whose values the file can't hold; the others can be made. */
async function findLost(
  edits: readonly FileEdit[],
  make: (edits: readonly FileEdit[]) => Promise<unknown>,
): Promise<readonly FileEdit[]> {
  try {
    await make(edits);
    return [];
  } catch (error) {
    if (!(error instanceof LostError)) throw error;
  }
  if (edits.length === 1) return edits;
  const middle = Math.ceil(edits.length / 2);
  const found = [...(await findLost(edits.slice(0, middle), make)), ...(await findLost(edits.slice(middle), make))];
  return found.length > 0 ? found : edits;
}

/** Renames columns, and adds those that are missing. Throws an EditRefusal. */
function editColumns(bytes: Buffer, edits: readonly ColumnFileEdit[]): Buffer {
  const { text, mark } = decode(bytes, true);
  const csv = new CsvText(text);
  const names = new Map(edits.flatMap(({ label, now }) => (now === undefined ? [] : [[label, now] as const])));
  const strange = [...names.keys()].find((label) => !csv.labels.includes(label));
  if (strange !== undefined) throw new EditRefusal(`has no column ${quote(strange)}`);
  const labels = csv.labels.map((label) => names.get(label) ?? label);
  const added = edits.flatMap(({ label, now }) => (now === undefined && !labels.includes(label) ? label : []));
  return encode(csv.withColumns([...new Set(added)], names), mark);
}

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
  if (!(await isSame(readBlocks(source, result), meant))) throw new LostError();
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
  try {
    for await (const block of rows)
      for (const { values } of block)
        if ((at === waiting.length && !(await hasMore())) || !isDeepStrictEqual(values, waiting[at++])) return false;
  } catch (error) {
    if (error instanceof SourceError) return false;
    throw error;
  }
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

export type RefuseEdit<Edit> = (edit: Edit, refusal: EditRefusal, text?: string) => void;

/** Makes edits of values in the bytes of a file. Throws an EditRefusal where the file is not edited at all. */
export function editValues(
  bytes: Buffer,
  edits: readonly ValueFileEdit[],
  refuse: RefuseEdit<ValueFileEdit>,
  isJson: boolean,
): Buffer {
  const parse = isJson ? parseJsonTree : parseYamlTree;
  const { text, mark } = decode(bytes);
  const before = parse(text).root.plain();
  const refused = new Set<ValueFileEdit>();
  const steps = edits.map((edit) => ({
    run: (round: Round) => planValue(round, edit),
    refuse: (refusal: EditRefusal, now: string) => {
      refused.add(edit);
      refuse(edit, refusal, now);
    },
  }));
  const after = runSteps(text, parse, steps);
  const meant = edits.filter((edit) => !refused.has(edit)).reduce(model, before);
  if (!isDeepStrictEqual(valueOf(after, parse), meant ?? null)) throw new LostError();
  return encode(after, mark);
}

/** The value of an edited text; undefined where it has none any more. */
function valueOf(text: string, parse: (text: string) => TextTree): unknown {
  try {
    return parse(text).root.plain() ?? null;
  } catch {
    return undefined;
  }
}

interface Way extends Spot {
  /** The member at the last step; undefined where there is none. */
  member: TextMember | undefined;
  /** Steps that lead on from the parent: more than one where maps are missing. */
  rest: readonly EditStep[];
}

/** Goes as far as the tree has the path. */
function walk({ root }: TextTree, path: readonly EditStep[]): Way {
  let parent: TextNode = root;
  let holder: Spot["holder"];
  for (const [index, step] of path.entries()) {
    if (parent.locked !== undefined) throw new EditRefusal(parent.locked, parent.start);
    const member = memberAt(parent, step);
    if (!member || index === path.length - 1) return { parent, holder, member, rest: path.slice(index) };
    holder = { parent, member };
    parent = member.node;
  }
  throw new EditRefusal("has no place of its own");
}

function memberAt(parent: TextNode, step: EditStep): TextMember | undefined {
  const { members, kind, start } = parent;
  const isNothing = kind === "scalar" && parent.plain() === null;
  if (typeof step === "string") {
    if (kind !== "map" && !isNothing) throw new EditRefusal(`is no map, so it has no ${quote(step)}`, start);
    return members.find(({ name }) => name === step);
  }
  if (kind !== "list" && !isNothing) throw new EditRefusal("is no list", start);
  const meant = members.filter(({ node }) => isItem(node.plain(), step));
  if (meant.length > 1) throw new EditRefusal("stands there twice: remove one", meant[1]?.start);
  return meant[0];
}

function isItem(item: unknown, step: Exclude<EditStep, string>): boolean {
  if ("is" in step) return isDeepStrictEqual(item, step.is);
  return (
    isObject(item) && Object.entries(step.where).every(([label, value]) => keyText(item[label]) === keyText(value))
  );
}

function planValue(round: Round, edit: ValueFileEdit): void {
  const { tree } = round;
  if (edit.do === "remove") {
    let way = walk(tree, edit.path);
    if (!way.member || way.rest.length > 1) throw new EditRefusal("has not what is to be removed", way.parent.start);
    for (
      let up = edit.path.slice(0, -1);
      edit.prune && up.length > 0 && way.parent.members.length === 1;
      up = up.slice(0, -1)
    )
      way = walk(tree, up);
    if (way.member) round.drop(way, way.member);
    return;
  }
  if (edit.do === "append") {
    const way = walk(tree, edit.path);
    const { member } = way;
    if (!member) put(round, way, [edit.value]);
    else if (member.node.kind === "list")
      round.add({ parent: member.node, holder: { parent: way.parent, member } }, undefined, edit.value);
    else if (member.node.plain() === null) round.set(way.parent, member, [edit.value]);
    else throw new EditRefusal("is no list", member.node.start);
    return;
  }
  put(round, walk(tree, edit.path), edit.value);
}

/** Sets a value, and makes the maps that are missing above it. */
function put(round: Round, { parent, holder, member, rest }: Way, value: unknown): void {
  if (member) {
    round.set(parent, member, value);
    return;
  }
  const names = rest.map((step) => {
    if (typeof step !== "string") throw new EditRefusal("has no such item", parent.start);
    return step;
  });
  const [name = "", ...more] = names;
  const held = more.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  if (parent.kind === "scalar" && holder) round.set(holder.parent, holder.member, { [name]: held });
  else round.add({ parent, holder }, name, held);
}

/** The value of a whole file after an edit, without its text: what the text is held against. */
function model(root: unknown, edit: ValueFileEdit): unknown {
  const { path, value } = edit;
  if (edit.do === "remove") return modelRemoval(root, path, edit.prune === true).value;
  if (path.length === 0) return edit.do === "append" ? [...((root as unknown[] | null) ?? []), value] : value;
  const [step = "", ...rest] = path;
  const below = { ...edit, path: rest };
  if (typeof step === "string") {
    const map = (root ?? {}) as Record<string, unknown>;
    return { ...map, [step]: model(Object.hasOwn(map, step) ? map[step] : null, below) };
  }
  return (root as unknown[]).map((item) => (isItem(item, step) ? model(item, below) : item));
}

function modelRemoval(
  root: unknown,
  [step, ...rest]: readonly EditStep[],
  prune: boolean,
): { value: unknown; isGone: boolean } {
  if (step === undefined) return { value: undefined, isGone: true };
  const entries: [key: string | number, item: unknown][] = Array.isArray(root)
    ? (root as unknown[]).map((item, index) => [index, item])
    : Object.entries(root as object);
  const left = entries.flatMap(([key, item]): typeof entries => {
    if (typeof step === "string" ? key !== step : !isItem(item, step)) return [[key, item]];
    const { value, isGone } = modelRemoval(item, rest, prune);
    return isGone ? [] : [[key, value]];
  });
  const value = Array.isArray(root) ? left.map(([, item]) => item) : Object.fromEntries(left);
  return { value, isGone: prune && left.length === 0 };
}
