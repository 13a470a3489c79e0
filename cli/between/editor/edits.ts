import { isDeepStrictEqual } from "node:util";
import { type RowData, withoutUndefined } from "../../../platform/contract/values.ts";
import { entryIn, isObject, jsonIn } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { keyText } from "../../../provider/seedRows/digests.ts";
import {
  cellOf,
  csvRecords,
  inQuotes,
  labelOf,
  readCell,
  separationOf,
} from "../../../provider/seedRows/source/csv.ts";
import { readBlocks, SourceError } from "../../../provider/seedRows/source/read.ts";
import { type CellType, formatOf, isHidden, type Source } from "../../../provider/seedRows/source/source.ts";
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
  valueEdit,
  type ValueFileEdit,
} from "./text.ts";
import {
  addMembers,
  dropMembers,
  parseJsonTree,
  parseYamlTree,
  type Planned,
  runSteps,
  setMember,
  type Spot,
  type TextMember,
  type TextNode,
  type TextTree,
  type TreeStep,
} from "./trees.ts";

/*
 * The editor of files: changes values at their place, and leaves all other bytes as they are.
 *
 *   const { files, refused } = await planEdits(edits, (file) => readToEdit(folder, file));   // nothing is written
 *   await writeFiles(folder, files);                                        // writing.ts: all beside first, then renamed
 *
 * There are three kinds of edits. A `column` edit adds or renames a column of a CSV, before all others. A `row` edit changes,
 * removes or adds a row of a seed's file (CSV, JSON, NDJSON, YAML), found by its natural key. A `value` edit sets, removes or
 * appends a value of a YAML or JSON file, found by a path of keys; an item of a list is found by what it holds. What is not
 * where the edit expects it, is repeated by an alias, can't be written in the file's format, or would change anything else is
 * refused with its place and the reason, and its file is left as it is. After all edits a file is read again, by the reader
 * that a seed or an Environment has, and must mean what was asked: otherwise all of them are refused.
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
interface RefusedEdit {
  edit: FileEdit;
  /** `file:line:column`, or the file. */
  place: string;
  reason: string;
}

interface EditedFiles {
  files: EditedFile[];
  refused: RefusedEdit[];
}

export const fileOf = (edit: FileEdit): string => (edit.kind === "row" ? edit.source.source : edit.file);

/**
 * Makes edits in bytes that `read` gives; it gives undefined where there is no file, which is then made (YAML alone).
 * Writes nothing. The files are in the order of their first edits; one of which an edit is refused, or that stays as it was, is left out.
 */
export async function planEdits(
  edits: readonly FileEdit[],
  read: (file: string) => Buffer | undefined | Promise<Buffer | undefined>,
): Promise<EditedFiles> {
  const files: EditedFile[] = [];
  const refused: RefusedEdit[] = [];
  for (const [file, own] of Map.groupBy(edits, fileOf)) {
    const told: RefusedEdit[] = [];
    const refuse: Refuse = (edit, { message, offset }, text = "") => {
      const { line, column } = positionAt(text, offset ?? 0);
      told.push({ edit, place: offset === undefined ? file : `${file}:${line}:${column}`, reason: message });
    };
    try {
      const before = await read(file);
      let after = before ?? Buffer.alloc(0);
      const columns = own.filter((edit) => edit.kind === "column");
      if (columns.length > 0) after = await editColumns(after, columns);
      const rows = own.filter((edit) => edit.kind === "row");
      // Seeds that share a file may have other keys and types.
      for (const each of Map.groupBy(rows, ({ source: { key, types, delimiter } }) =>
        JSON.stringify([key, types, delimiter]),
      ).values())
        after = await editRows(after, each, refuse, told);
      const values = own.filter((edit) => edit.kind === "value");
      if (values.length > 0) after = editValues(after, values, formatOf(file) === ".json", refuse, told);
      refused.push(...told);
      if (told.length === 0 && !after.equals(before ?? Buffer.alloc(0))) files.push({ file, before, after });
    } catch (error) {
      if (!(error instanceof EditRefusal || error instanceof SourceError)) throw error;
      refused.push(...own.map((edit) => ({ edit, place: file, reason: error.message })));
    }
  }
  return { files, refused };
}

type Refuse = (edit: FileEdit, refusal: EditRefusal, text?: string) => void;

const lost = (): EditRefusal =>
  new EditRefusal("would mean something else than is asked for, once it is written: edit it by hand");

/** Renames columns, and adds those that are missing. Throws an EditRefusal. */
async function editColumns(bytes: Buffer, edits: readonly ColumnFileEdit[]): Promise<Buffer> {
  const { text, mark } = decode(bytes, true);
  const csv = await CsvText.of(text, edits[0]);
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
  added: Set<Intent>;
}

/** Makes edits of one seed's rows in the bytes of its file. Throws an EditRefusal or a SourceError where it is not edited at all. */
async function editRows(
  bytes: Buffer,
  edits: readonly RowFileEdit[],
  refuse: Refuse,
  told: readonly RefusedEdit[],
): Promise<Buffer> {
  const [first] = edits;
  if (!first) return bytes;
  const { source } = first;
  const intents = await intentsOf(edits, rowsIn(source, bytes), refuse);
  const format = formatOf(source.source);
  const { text, mark } = decode(bytes, format === ".csv");
  const csv = format === ".csv" ? await CsvText.of(text, source, intents.changed) : undefined;
  const after = csv
    ? editCsv(text, csv, intents, refuse)
    : format === ".ndjson" || format === ".jsonl"
      ? editLines(text, intents, refuse)
      : editTree(text, intents, format === ".json" ? parseJsonTree : parseYamlTree, refuse);
  const result = encode(after, mark);
  if (told.length > 0) return result;
  const empty = Object.fromEntries((csv?.labels ?? []).map((label) => [label, null]));
  const read = rowsIn(source, result);
  try {
    for await (const meant of meantRows(rowsIn(source, bytes), intents, empty))
      if (!isDeepStrictEqual((await read.next()).value, meant)) throw lost();
    if ((await read.next()).done !== true) throw lost();
  } catch (error) {
    throw error instanceof SourceError ? lost() : error;
  }
  return result;
}

async function* rowsIn(source: RowFileEdit["source"], bytes: Buffer): AsyncGenerator<RowData, undefined> {
  for await (const block of readBlocks(source, bytes)) for (const { values } of block) yield values;
  return undefined;
}

/** The rows that the file is to have. */
async function* meantRows(
  rows: AsyncIterable<RowData>,
  { changed, removed, added }: Intents,
  empty: RowData,
): AsyncGenerator<RowData> {
  const whole = (values: RowData): RowData => ({ ...empty, ...withoutUndefined(values) });
  let at = -1;
  for await (const values of rows) {
    at++;
    const change = changed.get(at);
    if (!removed.has(at)) yield change ? whole({ ...values, ...change.values }) : values;
  }
  for (const { values } of added) yield whole(values);
}

const keyIn = (row: RowData, key: readonly string[]): string => JSON.stringify(key.map((label) => keyText(row[label])));

/** Finds the row of each edit. */
async function intentsOf(
  edits: readonly RowFileEdit[],
  rows: AsyncIterable<RowData>,
  refuse: Refuse,
): Promise<Intents> {
  const key = edits[0]?.source.key ?? [];
  const wanted = new Set(edits.map(({ row }) => keyIn(row, key)));
  const places = new Map<string, number[]>();
  let place = 0;
  for await (const values of rows) {
    const name = keyIn(values, key);
    if (wanted.has(name)) places.set(name, [...(places.get(name) ?? []), place]);
    place++;
  }
  const intents: Intents = { changed: new Map(), removed: new Map(), added: new Set() };
  const added = new Set<string>();
  for (const edit of edits) {
    const { row, source } = edit;
    const name = keyIn(row, key);
    const shown = key.some((label) => isHidden(source, label))
      ? ""
      : ` ${quote(key.map((label) => keyText(row[label]) ?? "").join(", "))}`;
    const [index, second] = places.get(name) ?? [];
    const isThere = index !== undefined && !intents.removed.has(index);
    if (second !== undefined) refuse(edit, new EditRefusal(`has the row${shown} twice: remove one`));
    else if (edit.do === "add") {
      if (isThere || added.has(name)) refuse(edit, new EditRefusal(`has the row${shown} already`));
      else intents.added.add({ edit, values: row });
      added.add(name);
    } else if (index === undefined || !isThere) refuse(edit, new EditRefusal(`has no row${shown}`));
    else if (edit.do === "remove") {
      intents.changed.delete(index);
      intents.removed.set(index, { edit, values: {} });
    } else intents.changed.set(index, { edit, values: { ...intents.changed.get(index)?.values, ...edit.values } });
  }
  return intents;
}

function editCsv(text: string, csv: CsvText, { changed, removed, added }: Intents, refuse: Refuse): string {
  const attempt = <Made>({ edit }: Intent, make: () => Made[]): Made[] => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof EditRefusal)) throw error;
      refuse(edit, error, text);
      return [];
    }
  };
  const changes = [...changed].flatMap(([index, intent]) =>
    attempt(intent, () => Object.entries(intent.values).map(([label, value]) => csv.change(index, label, value))),
  );
  const lines = [...added].flatMap((intent) => attempt(intent, () => [csv.line(intent.values)]));
  return withLines(splice(text, [...changes, ...csv.remove(removed.keys())]), lines);
}

type Parse = (text: string) => TextTree;

/** Makes edits of rows as edits of the values of a list: what goes is taken out when the rest is there. */
function editTree(text: string, { changed, removed, added }: Intents, parse: Parse, refuse: Refuse): string {
  const owners = new Map<ValueFileEdit, RowFileEdit>();
  const add = ({ edit }: Intent, verb: ValueFileEdit["do"], path: readonly EditStep[], value?: unknown): void =>
    void owners.set(valueEdit(verb, fileOf(edit), path, value), edit);
  for (const isGone of [false, true])
    for (const [at, intent] of changed)
      for (const [label, value] of Object.entries(intent.values))
        if ((value === undefined) === isGone) add(intent, isGone ? "remove" : "set", [{ at }, label], value);
  for (const intent of added) add(intent, "append", [], withoutUndefined(intent.values));
  for (const [at, intent] of removed) add(intent, "remove", [{ at }]);
  return editText(text, [...owners.keys()], parse, (edit, ...why) => refuse(owners.get(edit) ?? edit, ...why));
}

/** A JSON object as a list of this one. */
function parseLine(text: string): TextTree {
  const tree = parseJsonTree(text);
  const { root } = tree;
  const members = [{ start: root.start, after: root.start, node: root }];
  return { ...tree, root: { ...root, kind: "list", members, plain: () => [root.plain()] } };
}

/** Edits a file with one JSON object on each line. */
function editLines(text: string, { changed, removed, added }: Intents, refuse: Refuse): string {
  const lines: { start: number; end: number; next: number }[] = [];
  for (let at = 0; at < text.length;) {
    const next = nextLine(text, at);
    const words = text.slice(at, next);
    if (words.trim() !== "") lines.push({ start: at, end: at + words.trimEnd().length, next });
    at = next;
  }
  const splices = [...changed].flatMap(([index, intent]): Splice[] => {
    const { start, end } = lines[index] ?? { start: 0, end: 0 };
    const own = { changed: new Map([[0, intent]]), removed: new Map<number, Intent>(), added: new Set<Intent>() };
    return [{ start, end, text: editTree(text.slice(start, end), own, parseLine, refuse) }];
  });
  for (const index of removed.keys()) {
    const { start, next } = lines[index] ?? { start: 0, next: 0 };
    splices.push({ start, end: next, text: "" });
  }
  const rest = splice(text, splices);
  const kept = text.endsWith("\n") || removed.size === 0 ? rest : rest.replace(/\r?\n$/, "");
  const [first] = lines;
  const like = first ? parseJsonTree(text.slice(first.start, first.end)) : undefined;
  const written = [...added].map(({ values }) => {
    const known = withoutUndefined(values);
    return like ? like.writeInline(undefined, known) : JSON.stringify(known);
  });
  return withLines(kept, written);
}

/** Makes edits of values in the bytes of a file. Throws an EditRefusal where the file is not edited at all. */
function editValues(
  bytes: Buffer,
  edits: readonly ValueFileEdit[],
  isJson: boolean,
  refuse: Refuse,
  told: readonly RefusedEdit[],
): Buffer {
  const parse = isJson ? parseJsonTree : parseYamlTree;
  const { text, mark } = decode(bytes);
  const after = editText(text, edits, parse, refuse);
  if (told.length > 0) return bytes;
  const meant: Record<string, unknown> = { root: parse(text).root.plain() };
  for (const edit of edits) apply(meant, edit);
  if (!isDeepStrictEqual(valueOf(after, parse), meant["root"] ?? null)) throw lost();
  return encode(after, mark);
}

/** Makes edits of values in a text. What comes into one list at a time, or is done to one row, is one step. */
function editText(
  text: string,
  edits: readonly ValueFileEdit[],
  parse: Parse,
  refuse: (edit: ValueFileEdit, refusal: EditRefusal, now: string) => void,
): string {
  const placeOf = ({ do: verb, path }: ValueFileEdit): readonly EditStep[] =>
    verb === "append" ? path : path.slice(0, -1);
  const groups = edits.reduce<ValueFileEdit[][]>((all, edit) => {
    const last = all.at(-1);
    const isMore = last?.[0]?.do === edit.do && isDeepStrictEqual(placeOf(last[0]), placeOf(edit));
    if (last && isMore && (edit.do === "append" || isOfRow(edit))) last.push(edit);
    else all.push([edit]);
    return all;
  }, []);
  const steps = groups.map((group): TreeStep => ({
    plan: (tree) => planValues(tree, group),
    refuse: (refusal, now) => {
      for (const edit of group) refuse(edit, refusal, now);
    },
  }));
  return runSteps(text, parse, steps);
}

/** True for a row of a list, or a value of it. */
const isOfRow = ({ path: [first, ...more] }: ValueFileEdit): boolean =>
  typeof first === "object" && "at" in first && more.length < 2;

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
    if (kind !== "map" && !isNothing) throw new EditRefusal(`is not a map, so it has no ${quote(step)}`, start);
    return members.find(({ name }) => name === step);
  }
  if (kind !== "list" && !isNothing) throw new EditRefusal("is not a list", start);
  if ("at" in step) return members[step.at];
  const meant = members.filter(({ node }) => isItem(node.plain(), step.where));
  if (meant.length > 1) throw new EditRefusal("appears twice: remove one", meant[1]?.start);
  return meant[0];
}

const isItem = (item: unknown, where: RowData): boolean =>
  isObject(item) && Object.entries(where).every(([label, value]) => keyText(item[label]) === keyText(value));

/** Plans an edit, or several that add to one list or are done to one row. */
function planValues(tree: TextTree, edits: readonly ValueFileEdit[]): Planned {
  const [edit] = edits;
  if (!edit) throw new Error("a step has an edit");
  if (edit.do === "append") return append(tree, edit.path, edits);
  const ways = edits.map((each) => ({ ...walk(tree, each.path), value: each.value }));
  const [way] = ways;
  if (!way) throw new Error("an edit has a place");
  if (edit.do === "remove") return remove(tree, edit, ways);
  if (!isOfRow(edit)) return put(tree, way, edit.value);
  const set = ways.flatMap(({ parent, member, value }) =>
    member ? setMember(tree, parent, member, value).splices : [],
  );
  const added = ways.flatMap(({ member, rest: [label], value }) =>
    member || typeof label !== "string" ? [] : [[label, value] as const],
  );
  return { splices: [...set, ...(added.length > 0 ? addMembers(tree, way, added).splices : [])], part: way.parent };
}

/** Adds items to the list at a path, which is made where it is missing; none leads to the root. */
function append(tree: TextTree, path: readonly EditStep[], edits: readonly ValueFileEdit[]): Planned {
  const items = edits.map(({ value }) => value);
  const way = path.length === 0 ? undefined : walk(tree, path);
  const { member, parent = tree.root } = way ?? {};
  if (way && (!member || member.node.plain() === null)) return put(tree, way, items);
  if (member && member.node.kind !== "list") throw new EditRefusal("is not a list", member.node.start);
  const spot = member ? { parent: member.node, holder: { parent, member } } : { parent, holder: undefined };
  return addMembers(
    tree,
    spot,
    items.map((item) => [undefined, item] as const),
  );
}

/** Takes out what stands at the ends of ways into one collection; with `prune` also what holds nothing then. */
function remove(tree: TextTree, edit: ValueFileEdit, ways: readonly Way[]): Planned {
  const { path, prune } = edit;
  const [first, ...more] = ways;
  if (!first) throw new Error("an edit has a place");
  let found = first;
  const isThere = ({ member, rest }: Way): boolean => member !== undefined && rest.length === 1;
  // A row may lack what is to go of it.
  if (!isThere(first) && !isOfRow(edit)) throw new EditRefusal("has not what is to be removed", first.parent.start);
  for (let up = path.slice(0, -1); prune && up.length > 0 && found.parent.members.length === 1; up = up.slice(0, -1))
    found = walk(tree, up);
  return dropMembers(
    tree,
    found,
    [found, ...more].flatMap(({ member }) => member ?? []),
  );
}

/** Sets a value, and makes the maps that are missing above it. */
function put(tree: TextTree, { parent, holder, member, rest }: Way, value: unknown): Planned {
  if (member) return setMember(tree, parent, member, value);
  const [name = "", ...more] = rest.map((step) => {
    if (typeof step !== "string") throw new EditRefusal("has no such item", parent.start);
    return step;
  });
  const held = more.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  if (parent.kind === "scalar" && holder) return setMember(tree, holder.parent, holder.member, { [name]: held });
  return addMembers(tree, { parent, holder }, [[name, held]]);
}

/** Makes an edit in the value of a file, without its text: what the text is held against. */
function apply(meant: Record<string | number, unknown>, { path, do: verb, value, prune }: ValueFileEdit): void {
  const root = { above: meant, at: "root" as string | number };
  const slots = [root];
  for (const step of path) {
    const { above, at } = slots.at(-1) ?? root;
    const here = (above[at] ??= {}) as Record<string, unknown> | unknown[]; // as the text has it there
    const index =
      typeof step === "string"
        ? step
        : "at" in step
          ? step.at
          : (here as unknown[]).findIndex((item) => isItem(item, step.where));
    slots.push({ above: here as Record<string | number, unknown>, at: index });
  }
  for (const { above, at } of slots.slice(1).reverse()) {
    if (verb === "set") above[at] = value;
    else if (verb === "append") above[at] = [...((above[at] as unknown[] | null | undefined) ?? []), value];
    else if (Array.isArray(above)) above.splice(Number(at), 1);
    else Reflect.deleteProperty(above, at);
    if (verb !== "remove" || !prune || Object.keys(above).length > 0) return;
  }
}

/** Where a record stands: to the end of its last cell, and to the end of its line. */
interface RecordSpan {
  start: number;
  end: number;
  next: number;
}

/** The text of a CSV, and where each record of it stands. */
class CsvText {
  readonly #text: string;
  readonly #types: Readonly<Record<string, CellType>>;
  readonly #separator: string;
  readonly #records: RecordSpan[] = [];
  /** Cells of the first line and of the rows that are changed, as they are read. */
  readonly #cells = new Map<number, readonly string[]>();

  private constructor(text: string, { types = {}, delimiter }: Pick<Source, "types" | "delimiter">) {
    this.#text = text;
    this.#types = types;
    this.#separator = separationOf(text, delimiter).separator;
  }

  /** @param changed indices of the rows whose cells are to be changed */
  static async of(
    text: string,
    source: Pick<Source, "types" | "delimiter"> = {},
    changed: ReadonlyMap<number, unknown> = new Map(),
  ): Promise<CsvText> {
    const csv = new CsvText(text, source);
    let [line, start] = [1, 0];
    for await (const records of csvRecords([{ first: 1, text }], source)) {
      for (const record of records) {
        if ("wrong" in record) throw new EditRefusal(record.wrong, start);
        for (; line < record.line; line++) start = text.indexOf("\n", start) + 1;
        const { length } = csv.#records;
        if (length === 0 || changed.has(length - 1)) csv.#cells.set(length, record.cells);
        const end = csv.#placesOf(record.cells, start).at(-1)?.end ?? start;
        csv.#records.push({ start, end, next: text.indexOf("\n", end) + 1 || text.length });
      }
    }
    return csv;
  }

  /** Cells stand as they are read, or in quotation marks. */
  #placesOf(cells: readonly string[], start: number): { start: number; end: number }[] {
    let at = start;
    return cells.map((cell) => {
      const from = at;
      const end = from + (this.#text[from] === '"' ? inQuotes(cell) : cell).length;
      at = end + this.#separator.length;
      return { start: from, end };
    });
  }

  get labels(): readonly string[] {
    return this.#cells.get(0) ?? [];
  }

  /** Writes a value into the cell of a row. */
  change(index: number, label: string, value: unknown): Splice {
    const { start } = this.#records[index + 1] ?? { start: this.#text.length };
    const place = this.#placesOf(this.#cells.get(index + 1) ?? [], start)[this.labels.indexOf(label)];
    if (!place) throw new EditRefusal(this.#noColumn(label), start);
    const written = this.#written(label, value, place.start);
    // An empty line would be no row.
    const isQuoted = this.#text[place.start] === '"' || (this.labels.length === 1 && written === "");
    return { ...place, text: isQuoted ? inQuotes(written) : cellOf(written, this.#separator) };
  }

  /** Takes rows out, each with its line end. */
  remove(indices: Iterable<number>): Splice[] {
    const removed = new Set(indices);
    const last = this.#records.length - 1;
    let kept = last;
    while (kept > 0 && removed.has(kept - 1)) kept--;
    const splices = [...removed].flatMap((index) => {
      const record = this.#records[index + 1];
      return record && index < kept ? [{ start: record.start, end: record.next, text: "" }] : [];
    });
    const [before, first, end] = [this.#records[kept], this.#records[kept + 1], this.#records[last]];
    if (!before || !first || !end) return splices;
    // The last row keeps the end of the file: with a line end, or without one.
    return [...splices, { start: end.next === end.end ? before.end : first.start, end: end.next, text: "" }];
  }

  /** A row as a line. */
  line(row: RowData): string {
    const at = this.#text.length;
    const strange = Object.keys(row).find(
      (label) => !this.labels.includes(label) && (entryIn(row, label) ?? null) !== null,
    );
    if (strange !== undefined) throw new EditRefusal(this.#noColumn(strange), at);
    const cells = this.labels.map((label) => cellOf(this.#written(label, entryIn(row, label), at), this.#separator));
    return cells.length === 1 && cells[0] === "" ? '""' : cells.join(this.#separator);
  }

  /** The text with other names of its columns, and with more behind them, whose cells are empty. */
  withColumns(added: readonly string[], names: ReadonlyMap<string, string>): string {
    const [head] = this.#records;
    const places = this.#placesOf(this.labels, head?.start ?? 0);
    const renamed = places.flatMap((place, at): Splice[] => {
      const now = names.get(this.labels[at] ?? "");
      return now === undefined ? [] : [{ ...place, text: labelOf(now) }];
    });
    const more = this.#records.map(({ end }, at): Splice => {
      const cells = added.map((label) => this.#separator + (at === 0 ? labelOf(label) : ""));
      return { start: end, end, text: cells.join("") };
    });
    return splice(this.#text, [...renamed, ...more]);
  }

  #noColumn(label: string): string {
    return `the file has no column ${quote(label)}: add it to the first line`;
  }

  /** A value as the text of a cell, without quotation marks. */
  #written(label: string, value: unknown, at: number): string {
    if (value === null || value === undefined) return "";
    const type = entryIn(this.#types, label) ?? "text";
    const isJson = type === "json" || type === "checkbox";
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    const text = isJson ? JSON.stringify(value) : isPlain ? String(value) : undefined;
    const read = text === undefined || text === "" ? undefined : readCell(text, type);
    const isSame = isJson ? JSON.stringify(jsonIn(text ?? "")) === text : Object.is(read, value);
    if (text === undefined || read === undefined || !isSame)
      throw new EditRefusal(`${label} is read as ${type} (types), and can't hold this value as it is`, at);
    if (text.includes("\0") || !text.isWellFormed())
      throw new EditRefusal(`${label} would hold a character that no CSV can: keep these rows in NDJSON`, at);
    return text;
  }
}

/** Adds lines at the end of a text, which keeps its last line end, or has none. */
function withLines(text: string, lines: readonly string[]): string {
  const lineEnd = lineEndOf(text);
  const isOpen = text !== "" && !text.endsWith("\n");
  if (lines.length === 0) return text;
  return isOpen ? [text, ...lines].join(lineEnd) : text + lines.map((line) => line + lineEnd).join("");
}
