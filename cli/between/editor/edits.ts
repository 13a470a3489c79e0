import { isDeepStrictEqual } from "node:util";
import { type RowData, withoutUndefined } from "../../../platform/contract/values.ts";
import { isObject } from "../../../platform/contract/wire.ts";
import { quote } from "../../../platform/messages/text.ts";
import { keyText } from "../../../provider/seedRows/digests.ts";
import { readBlocks, SourceError } from "../../../provider/seedRows/source/read.ts";
import { formatOf, isHidden } from "../../../provider/seedRows/source/source.ts";
import { CsvText, withLines } from "./csvText.ts";
import {
  type ColumnFileEdit,
  decode,
  EditRefusal,
  type EditStep,
  encode,
  nextLine,
  positionAt,
  type RowFileEdit,
  splice,
  type Splice,
  type ValueFileEdit,
} from "./text.ts";
import { addMembers, dropMembers, type Planned, runSteps, setMember, type Spot, type TreeStep } from "./treeEdits.ts";
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
 * mean what was asked: otherwise all edits of the file are refused.
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
        after = await editRows(after, each, refuse);
      const values = own.filter((edit) => edit.kind === "value");
      if (values.length > 0) after = editValues(after, values, refuse, formatOf(file) === ".json");
      refused.push(...told);
      if (!after.equals(before ?? Buffer.alloc(0))) files.push({ file, before, after });
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

/** Edits of the rows of a file, by the index of each. What is refused goes out. */
interface Intents {
  changed: Map<number, Intent>;
  removed: Map<number, Intent>;
  added: Set<Intent>;
}

/** Makes edits of one seed's rows in the bytes of its file. Throws an EditRefusal or a SourceError where it is not edited at all. */
async function editRows(bytes: Buffer, edits: readonly RowFileEdit[], refuse: Refuse): Promise<Buffer> {
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
  const attempt = <Made>({ edit }: Intent, drop: () => void, make: () => Made[]): Made[] => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof EditRefusal)) throw error;
      refuse(edit, error, text);
      drop();
      return [];
    }
  };
  const changes = [...changed].flatMap(([index, intent]) =>
    attempt(
      intent,
      () => changed.delete(index),
      () => Object.entries(intent.values).map(([label, value]) => csv.change(index, label, value)),
    ),
  );
  const lines = [...added].flatMap((intent) =>
    attempt(
      intent,
      () => added.delete(intent),
      () => [csv.line(intent.values)],
    ),
  );
  return withLines(splice(text, [...changes, ...csv.remove(removed.keys())]), lines);
}

/** Steps that change the entries of rows: what goes is taken out when the rest is there. */
function rowSteps(
  changed: Intents["changed"],
  refuse: Refuse,
  spotOf: (tree: TextTree, index: number) => Spot,
): TreeStep[] {
  const stepsOf = (isGone: boolean): TreeStep[] =>
    [...changed].flatMap(([index, { edit, values }]) => {
      const entries = Object.entries(values).filter(([, value]) => (value === undefined) === isGone);
      const plan = (tree: TextTree): Planned => {
        const spot = spotOf(tree, index);
        const { parent } = spot;
        if (parent.locked !== undefined) throw new EditRefusal(parent.locked, parent.start);
        const memberOf = (label: string) => parent.members.find(({ name }) => name === label);
        if (isGone)
          return dropMembers(
            tree,
            spot,
            entries.flatMap(([label]) => memberOf(label) ?? []),
          );
        const added = entries.filter(([label]) => !memberOf(label));
        const set = entries.flatMap(([label, value]) => {
          const member = memberOf(label);
          return member ? setMember(tree, parent, member, value).splices : [];
        });
        return { splices: [...set, ...(added.length > 0 ? addMembers(tree, spot, added).splices : [])], part: parent };
      };
      const refuseRow = (refusal: EditRefusal, now: string): void => {
        changed.delete(index);
        refuse(edit, refusal, now);
      };
      return entries.length > 0 ? [{ plan, refuse: refuseRow }] : [];
    });
  return [...stepsOf(false), ...stepsOf(true)];
}

function editTree(
  text: string,
  { changed, removed, added }: Intents,
  parse: (text: string) => TextTree,
  refuse: Refuse,
): string {
  const memberAt = ({ root }: TextTree, index: number): TextMember => {
    const member = root.members[index];
    if (!member) throw new EditRefusal("has fewer rows than were read", root.start);
    return member;
  };
  const changes = rowSteps(changed, refuse, (tree, index) => {
    const member = memberAt(tree, index);
    return { parent: member.node, holder: { parent: tree.root, member } };
  });
  const wholeStep = (intents: Iterable<Intent>, plan: TreeStep["plan"], drop: () => void): TreeStep[] => {
    const all = [...intents];
    if (all.length === 0) return [];
    const refuseAll = (refusal: EditRefusal, now: string): void => {
      for (const { edit } of all) refuse(edit, refusal, now);
      drop();
    };
    return [{ plan, refuse: refuseAll }];
  };
  const rows = [...added].map(({ values }) => [undefined, withoutUndefined(values)] as const);
  const additions = wholeStep(
    added,
    (tree) => addMembers(tree, { parent: tree.root, holder: undefined }, rows),
    () => added.clear(),
  );
  const removals = wholeStep(
    removed.values(),
    (tree) => {
      const members = [...removed.keys()].map((index) => memberAt(tree, index));
      return dropMembers(tree, { parent: tree.root, holder: undefined }, members);
    },
    () => removed.clear(),
  );
  return runSteps(text, parse, [...changes, ...additions, ...removals]);
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
    const own = new Map([[index, intent]]);
    const steps = rowSteps(own, refuse, ({ root }) => ({ parent: root, holder: undefined }));
    const after = runSteps(text.slice(start, end), parseJsonTree, steps);
    if (own.size === 0) changed.delete(index);
    return [{ start, end, text: after }];
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
function editValues(bytes: Buffer, edits: readonly ValueFileEdit[], refuse: Refuse, isJson: boolean): Buffer {
  const parse = isJson ? parseJsonTree : parseYamlTree;
  const { text, mark } = decode(bytes);
  const refused = new Set<ValueFileEdit>();
  // What comes into one list at a time is one step.
  const groups = edits.reduce<ValueFileEdit[][]>((all, edit) => {
    const last = all.at(-1);
    const isMore = edit.do === "append" && last?.[0]?.do === "append" && isDeepStrictEqual(last[0].path, edit.path);
    if (last && isMore) last.push(edit);
    else all.push([edit]);
    return all;
  }, []);
  const steps = groups.map((group): TreeStep => ({
    plan: (tree) => planValues(tree, group),
    refuse: (refusal, now) => {
      for (const edit of group) {
        refused.add(edit);
        refuse(edit, refusal, now);
      }
    },
  }));
  const after = runSteps(text, parse, steps);
  const meant: Record<string, unknown> = { root: parse(text).root.plain() };
  for (const edit of edits) if (!refused.has(edit)) apply(meant, edit);
  if (!isDeepStrictEqual(valueOf(after, parse), meant["root"] ?? null)) throw lost();
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
    if (kind !== "map" && !isNothing) throw new EditRefusal(`is not a map, so it has no ${quote(step)}`, start);
    return members.find(({ name }) => name === step);
  }
  if (kind !== "list" && !isNothing) throw new EditRefusal("is not a list", start);
  const meant = members.filter(({ node }) => isItem(node.plain(), step));
  if (meant.length > 1) throw new EditRefusal("appears twice: remove one", meant[1]?.start);
  return meant[0];
}

function isItem(item: unknown, step: Exclude<EditStep, string>): boolean {
  if ("is" in step) return isDeepStrictEqual(item, step.is);
  return (
    isObject(item) && Object.entries(step.where).every(([label, value]) => keyText(item[label]) === keyText(value))
  );
}

/** Plans an edit, or several that add to one list. */
function planValues(tree: TextTree, edits: readonly ValueFileEdit[]): Planned {
  const [edit] = edits;
  if (!edit) throw new Error("a step has an edit");
  const { path, value } = edit;
  const way = walk(tree, path);
  if (edit.do === "remove") {
    let found = way;
    if (!found.member || found.rest.length > 1)
      throw new EditRefusal("has not what is to be removed", way.parent.start);
    for (
      let up = path.slice(0, -1);
      edit.prune && up.length > 0 && found.parent.members.length === 1;
      up = up.slice(0, -1)
    )
      found = walk(tree, up);
    return dropMembers(tree, found, found.member ? [found.member] : []);
  }
  if (edit.do === "set") return put(tree, way, value);
  const { member } = way;
  const items = edits.map((each) => each.value);
  if (!member || member.node.plain() === null) return put(tree, way, items);
  if (member.node.kind !== "list") throw new EditRefusal("is not a list", member.node.start);
  const spot = { parent: member.node, holder: { parent: way.parent, member } };
  return addMembers(
    tree,
    spot,
    items.map((item) => [undefined, item] as const),
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
    const index = typeof step === "string" ? step : (here as unknown[]).findIndex((item) => isItem(item, step));
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
