import { dirname, relative, resolve, isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { lostKey } from "../../platform/contract/wire.ts";
import { sentences, firstLines, maxReported } from "../../platform/messages/text.ts";
import { profile, type Profile } from "../../platform/profile/profile.ts";
import { maxMegabytesOfLayer, textOrReason, absent } from "../files/files.ts";
import { keyText } from "../seedRows/digests.ts";
import {
  describePlace,
  type Entry,
  type Mapping,
  parse,
  type Place,
  type Problem,
  type Sequence,
  toPlainValue,
  type Value,
  find,
  keyPlace,
} from "./document.ts";

/** Where something stands in a file, key by key. */
export type KeyPath = readonly PropertyKey[];

/** Knowledge about a kind of file that the merge of its layers needs. */
export interface Grammar {
  /** The singular name of a map's entries if `null` removes one. */
  named: (map: KeyPath) => string | undefined;
  /** True when a key of a map with fixed keys holds a list: then `key+` and `key-` work on it. */
  hasList: (map: KeyPath, key: string) => boolean;
  /** True when `rows+`, `rows~` and `rows-` may edit the rows of a map. */
  hasRows: (map: KeyPath) => boolean;
  /** True for a list that is gathered from all layers instead of being replaced. */
  gathers: (list: KeyPath) => boolean;
}

/** The grammar of a schema whose layers name no things and gather nothing. */
export const makePlainGrammar = (schema: z.ZodType): Grammar => ({
  named: () => undefined,
  hasList: (map, key) => hasList(schema, map, key),
  hasRows: () => false,
  gathers: () => false,
});

/** True when a value at a path may be a map with this key, which holds a list. */
export const hasList = (schema: z.core.$ZodType, map: KeyPath, key: string): boolean =>
  formsAt(schema, map).some(
    (form) =>
      form instanceof z.ZodObject &&
      formsAt(form, []).length > 0 &&
      Object.hasOwn(form.shape, key) &&
      formsAt(form, [key]).some((value) => value instanceof z.ZodArray),
  );

/** The schemas that a value at a path may have. */
export function formsAt(schema: z.core.$ZodType, path: KeyPath): z.core.$ZodType[] {
  const [step, ...rest] = path;
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodPrefault
  ) {
    return formsAt(schema.unwrap(), path);
  }
  if (schema instanceof z.ZodPipe) {
    // The schema stands behind a preprocessing step, and before a transformation.
    const inner = schema.in instanceof z.ZodTransform ? [schema.out] : [schema.in, schema.out];
    return inner.flatMap((one) => formsAt(one, path));
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => formsAt(option, path));
  if (step === undefined) return [schema];
  if (schema instanceof z.ZodRecord) return formsAt(schema.valueType, rest);
  if (schema instanceof z.ZodArray) return formsAt(schema.element, rest);
  const inner = schema instanceof z.ZodObject ? (schema.shape as z.core.$ZodShape)[String(step)] : undefined;
  return inner ? formsAt(inner, rest) : [];
}

/** A file as people and the state know it: relative to the program's folder, with forward slashes. */
export const toShownPath = (path: string, folder: string): string =>
  relative(folder, path).replaceAll("\\", "/") || ".";

/** Contents of files that extend each other, the lowest one first. */
export interface Layers {
  trees: readonly Value[];
  grammar: Grammar;
  /** Paths of the files that were asked for. */
  files: readonly string[];
}

/** Where files come from, and what may stand in them. */
interface Origin {
  /** The program's: files may come from its repository. */
  folder: string;
  /** Names a file for people (default: its path relative to the folder). */
  nameOf?: (path: string) => string;
  grammar: Grammar;
  /** Text of the file itself, where it was read already. */
  text?: string;
}

/** Reads a file with everything that it extends. What is wrong goes to `report`. */
export function loadLayers(path: string, origin: Origin, report: (problem: Problem) => void): Layers {
  const { grammar, text } = origin;
  const loader = new Loader(origin, report);
  return { trees: loader.load(path, [], text).toReversed(), grammar, files: loader.files };
}

/** The layers as one value. */
export interface Merged {
  /** Undefined where there is no layer. */
  value: Value | undefined;
  /** Where entries were taken out that are not there any more, by their path as JSON. */
  taken: ReadonlyMap<string, Place>;
}

/** Merges all layers, or the lowest ones of them. Verbs that meet nothing to work on are reported. */
export function mergeLayers(
  { trees, grammar }: Pick<Layers, "trees" | "grammar">,
  report: (problem: Problem) => void,
  count?: number,
): Merged {
  const merger = new Merger(grammar, report);
  let value: Value | undefined;
  for (const tree of trees.slice(0, count)) value = merger.merge(value, tree, []);
  return { value, taken: merger.taken };
}

class Loader {
  readonly files: string[] = [];
  readonly #folder: string;
  readonly #nameOf: (path: string) => string;
  readonly #report: (problem: Problem) => void;

  constructor({ folder, nameOf }: Origin, report: (problem: Problem) => void) {
    this.#folder = folder;
    this.#nameOf = nameOf ?? ((path) => toShownPath(path, folder));
    this.#report = report;
  }

  /** The file's tree, and after it those of the files below. */
  load(path: string, chain: readonly Link[], known?: string): Value[] {
    const file = this.#nameOf(path);
    const text = known ?? this.#read(path, file, chain.at(-1)?.at);
    const value = text === undefined ? undefined : parse(text, file, this.#report);
    if (!value) return [];
    if (value.kind !== "map") return [value];
    const base = value.entries.get("extends");
    if (!base) return [value];
    const own: Mapping = { ...value, entries: new Map([...value.entries].filter(([key]) => key !== "extends")) };
    return [own, ...this.#below(path, base.value, chain)];
  }

  #below(path: string, target: Value, chain: readonly Link[]): Value[] {
    if (target.kind !== "scalar" || typeof target.value !== "string" || target.value === "") {
      const message = "extends must be the name of a file, relative to this one; name one file";
      this.#report({ at: target.at, message });
      return [];
    }
    const links = [...chain, { path, at: target.at }];
    const basePath = resolve(dirname(path), target.value);
    const from = links.findIndex((link) => link.path === basePath);
    if (from < 0) return this.load(basePath, links);
    const circle = [...links.slice(from).map((link) => link.path), basePath].map((each) => this.#nameOf(each));
    const message = `the files extend each other in a circle: ${circle.join(" → ")}; break it`;
    this.#report({ at: target.at, message });
    return [];
  }

  #read(path: string, file: string, extending: Place | undefined): string | undefined {
    this.files.push(path);
    const found = textOrReason(this.#folder, path, maxMegabytesOfLayer);
    if ("text" in found) return found.text;
    const message = `can't be read: ${found.reason}`;
    const at = extending ?? { file, line: 1, column: 1 };
    const advice = extending ? `${file} ${message}; correct extends` : `${message}; correct the name of the file`;
    this.#report({ at, message: advice });
    return undefined;
  }
}

/** A file on the way down, and the place of its `extends`. */
interface Link {
  path: string;
  at: Place;
}

/** An entry without a value is a mistake; whoever means null writes it. */
const isNull = (value: Value): boolean => value.kind === "scalar" && value.value === null && Boolean(value.written);

/**
 * Merges a layer into those below it. Maps are merged by key, at every depth; some lists are gathered; anything else is
 * replaced whole.
 */
class Merger {
  readonly taken = new Map<string, Place>();
  readonly #grammar: Grammar;
  readonly #report: (problem: Problem) => void;

  constructor(grammar: Grammar, report: (problem: Problem) => void) {
    this.#grammar = grammar;
    this.#report = report;
  }

  merge(below: Value | undefined, above: Value, path: KeyPath): Value {
    if (below && this.#grammar.gathers(path)) return both(below, above);
    if (below?.kind !== "map" || above.kind !== "map") this.#forget(path);
    if (above.kind !== "map") return above;
    const entries = new Map(below?.kind === "map" ? below.entries : []);
    const kind = this.#grammar.named(path);
    // Verbs apply to the other entries of their map, so they run after all of them, wherever they stand.
    const lists: ListEdit[] = [];
    const rows: RowEdit[] = [];
    for (const [key, { at, value }] of above.entries) {
      const [name, verb, here] = [key.slice(0, -1), key.at(-1), [...path, key]];
      if (kind !== undefined && isNull(value)) {
        const problem = takeOut(kind, key, at, { entries, takenAt: this.taken.get(JSON.stringify(here)) });
        if (problem) this.#report(problem);
        this.#forget(here);
        this.taken.set(JSON.stringify(here), at);
        entries.delete(key);
      } else if (rowVerbs.includes(key) && this.#grammar.hasRows(path)) rows.push({ verb: key, at, value });
      else if ((verb === "+" || verb === "-") && this.#grammar.hasList(path, name))
        lists.push({ name, do: verb === "+" ? "add" : "drop", at, value });
      else {
        this.taken.delete(JSON.stringify(here));
        entries.set(key, { at, value: this.merge(entries.get(key)?.value, value, here) });
      }
    }
    for (const edit of lists)
      entries.set(edit.name, { at: edit.at, value: editList(entries.get(edit.name)?.value, edit, this.#report) });
    if (rows.length > 0) editRows(entries, rows, this.#report);
    return { kind: "map", at: above.at, entries };
  }

  /** What was taken out of a thing is of no interest once it is another one, or gone. */
  #forget(path: KeyPath): void {
    const above = `${JSON.stringify(path).slice(0, -1)},`;
    for (const key of this.taken.keys()) if (key.startsWith(above)) this.taken.delete(key);
  }
}

/** The items of two lists, of which one may be written as a single value. The check reports anything else. */
function both(below: Value, above: Value): Sequence {
  const items = [below, above].map((value) => (value.kind === "list" ? value.items : [value]));
  return { kind: "list", at: above.at, items: items.flat() };
}

/** Items that a layer adds to a list, or takes out of it. */
interface ListEdit {
  name: string;
  do: "add" | "drop";
  at: Place;
  value: Value;
}

/** Describes why an entry can't be removed; nothing when it is there. */
function takeOut(
  kind: string,
  key: string,
  at: Place,
  { entries, takenAt }: { entries: ReadonlyMap<string, Entry>; takenAt: Place | undefined },
): Problem | undefined {
  if (entries.has(key)) return undefined;
  if (takenAt) {
    return {
      at,
      message: `${kind} "${key}" is removed at ${describePlace(takenAt)} already; keep one of the two lines`,
    };
  }
  const below = [...entries].filter(([, entry]) => entry.at.file !== at.file);
  const near = nearest(
    key,
    below.map(([other]) => other),
  );
  const meant = below.find(([other]) => other === near) ?? below[0];
  const advice = near === undefined ? "remove the line" : `did you mean "${near}"?`;
  const there = meant ? ` (${near === undefined ? `"${meant[0]}" is ` : ""}at ${describePlace(meant[1].at)})` : "";
  return {
    at,
    message: `${kind} "${key}" can't be removed: no file that this one extends has it; ${advice}${there}`,
  };
}

/** A value in few words. */
function named(value: Value): string {
  const text = JSON.stringify(toPlainValue(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The list once items were added or taken out; what can't be done is reported. */
function editList(below: Value | undefined, edit: ListEdit, report: (problem: Problem) => void): Value {
  const { name } = edit;
  // A list of one item may be written without its brackets.
  const items = !below ? [] : below.kind === "list" ? [...below.items] : [below];
  const verb = `${name}${edit.do === "add" ? "+" : "-"}`;
  const edits = edit.value.kind === "list" ? edit.value.items : [edit.value];
  if (edit.value.kind !== "list") {
    report({ at: edit.value.at, message: `${verb} must be a list; put it in brackets` });
    return below ?? { kind: "list", at: edit.at, items: [] };
  }
  for (const item of edits) {
    const index = items.findIndex((other) => isDeepStrictEqual(toPlainValue(other), toPlainValue(item)));
    const found = items[index];
    if (edit.do === "add" && found) {
      report({
        at: item.at,
        message: `${verb} adds ${named(item)}, which ${name} has at ${describePlace(found.at)} already; remove one`,
      });
    } else if (edit.do === "add") items.push(item);
    else if (found) items.splice(index, 1);
    else report({ at: item.at, message: missing(verb, name, item, below) });
  }
  const list: Sequence = { kind: "list", at: edit.at, items };
  return list;
}

function missing(verb: string, name: string, item: Value, below: Value | undefined): string {
  const where = below
    ? `which ${name} at ${describePlace(below.at)} has not`
    : `and there is no ${name} below this file`;
  return `${verb} takes ${named(item)} out, ${where}; remove it`;
}

/** Edits rows of a seed whose source another layer names. */
interface RowEdit {
  at: Place;
  verb: string;
  value: Value;
}

/** Rows beside those of the source; fields of rows that it has; natural keys of rows that it has and the seed has not. */
export const rowVerbs: readonly string[] = ["rows+", "rows~", "rows-"];

/** Within one layer rows go first, then others change, then new ones come. */
const order = (verb: string): number => ["rows-", "rows~", "rows+"].indexOf(verb);

interface Item {
  value: Value;
  /** Its natural key as text; undefined when it has none, which the check reports. */
  key: string | undefined;
  /** The list that it stands in. */
  list: Value;
}

/**
 * Edits rows of a seed, as one layer would write what a layer and those below it do: removals and changes of rows that a
 * lower layer adds are settled here; the source is not known.
 */
function editRows(entries: Map<string, Entry>, edits: readonly RowEdit[], report: (problem: Problem) => void): void {
  const key = entries.get("key")?.value;
  const labels = labelsOf(key && toPlainValue(key));
  const itemsOf = (verb: string, list: Sequence): Item[] =>
    list.items.map((value) => ({ value, key: keyIn(verb, value, labels), list }));
  const lists = new Map<string, { at: Place; items: Item[] }>();
  for (const verb of rowVerbs) {
    const { at, value } = entries.get(verb) ?? {};
    if (at && value?.kind === "list") lists.set(verb, { at, items: itemsOf(verb, value) });
  }
  const find = (verb: string, key: string | undefined): { items: Item[]; index: number; item: Item } | undefined => {
    const items = lists.get(verb)?.items ?? [];
    const index = key === undefined ? -1 : items.findIndex((item) => item.key === key);
    const item = items[index];
    return item && { items, index, item };
  };
  for (const { verb, at, value } of edits.toSorted((a, b) => order(a.verb) - order(b.verb))) {
    if (value.kind !== "list") {
      report({ at: value.at, message: `${verb} must be a list; put it in brackets` });
      continue;
    }
    const { items } = lists.get(verb) ?? { items: [] };
    lists.set(verb, { at, items });
    for (const item of itemsOf(verb, value)) edit(verb, item, items, find, report);
  }
  for (const [verb, { at, items }] of lists) {
    // A list that is empty by now has no effect.
    if (items.length === 0) entries.delete(verb);
    else entries.set(verb, { at, value: { kind: "list", at, items: items.map(({ value }) => value) } });
  }
}

function edit(
  verb: string,
  item: Item,
  own: Item[],
  find: (verb: string, key: string | undefined) => { items: Item[]; index: number; item: Item } | undefined,
  report: (problem: Problem) => void,
): void {
  const { value, key } = item;
  const twice = (what: string, { value: { at } }: Item): void =>
    report({
      at: value.at,
      message: `row ${key ?? ""} is ${what} at ${describePlace(at)} already; keep one of the two`,
    });
  const [added, changed, removed] = rowVerbs.map((each) => find(each, key));
  if (verb === "rows+") {
    if (added) twice("added", added.item);
    else if (changed) twice("changed, so it is there,", changed.item);
    else own.push(item);
  } else if (verb === "rows~") {
    const before = added ?? changed;
    if (removed && !added) twice("removed", removed.item);
    else if (before?.item.list === item.list) twice("changed", before.item);
    else if (before) before.items[before.index] = { ...item, value: over(before.item.value, value) };
    else own.push(item);
  } else {
    if (removed && !added) twice("removed", removed.item);
    else if (added) added.items.splice(added.index, 1);
    else {
      changed?.items.splice(changed.index, 1);
      own.push(item);
    }
  }
}

/** The fields of a row with those of another one over them. */
function over(below: Value, above: Value): Value {
  if (below.kind !== "map" || above.kind !== "map") return above;
  return { kind: "map", at: above.at, entries: new Map([...below.entries, ...above.entries]) };
}

const labelsOf = (key: unknown): string[] =>
  (Array.isArray(key) ? key : [key]).filter((label) => typeof label === "string");

/** The natural key of a row, or what stands for one, as text. */
function keyIn(verb: string, value: Value, labels: readonly string[]): string | undefined {
  const text = toPlainValue(value);
  const parts =
    verb === "rows-"
      ? Array.isArray(text)
        ? (text as unknown[])
        : [text]
      : labels.map((label) => (text as Record<string, unknown> | null)?.[label]);
  const texts = parts.map((part) => keyText(part));
  if (texts.length === 0 || texts.length !== labels.length || texts.includes(undefined)) return undefined;
  return texts.length === 1 ? texts[0] : JSON.stringify(texts);
}

// Files whose whole content one schema describes: each mistake is named with its place.

/** A wrong file. `message` has one line for each mistake, with file, line and column where they are known. */
export class FileError extends Error {
  constructor(mistakes: string[]) {
    super(firstLines(mistakes).join("\n"));
    this.name = "FileError";
  }
}

/** Where the value at a path stands, for people. */
type PlaceOf = (path: PropertyKey[]) => string;

/** The text of a file; throws a FileError that names it as `what`. */
export function textOf(file: string, what: string, directory: string): string {
  const found = textOrReason(directory, resolve(file), maxMegabytesOfLayer);
  if ("text" in found) return found.text;
  const advice = found.reason === absent ? "; correct its path" : "";
  throw new FileError([`the ${what} ${file} can't be read: ${found.reason}${advice}`]);
}

/** Parses YAML with the files that it extends; `name` is the file's path. Throws a FileError. */
export function parseLayers(
  text: string,
  name: string,
  directory: string,
  grammar: Grammar,
): { value: Value | undefined; content: unknown; at: PlaceOf } {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const nameOf = (path: string): string => (isAbsolute(name) ? path : relative("", path));
  const layers = loadLayers(resolve(name), { folder: directory, nameOf, grammar, text }, report);
  const { value } = mergeLayers(layers, report);
  if (problems.length > 0) throw new FileError(problems.map(({ at, message }) => `${describePlace(at)}: ${message}`));
  const at: PlaceOf =
    value && value.kind !== "scalar" ? (path) => describePlace(nearestPlace(value, path)) : () => `${name}:1:1`;
  return { value, content: (value && toPlainValue(value)) ?? {}, at };
}

/** Where the value at a path begins, or that of the nearest thing around it. */
const nearestPlace = (root: Value, path: readonly PropertyKey[]): Place =>
  path.length === 0 ? keyPlace(root, path) : (find(root, path)?.value.at ?? nearestPlace(root, path.slice(0, -1)));

/** The content by its schema, which lies at a path of the file. Throws a FileError. */
export function checkContent<Content>(
  schema: z.ZodType<Content>,
  content: unknown,
  place: PlaceOf,
  above: PropertyKey[] = [],
): Content {
  const lost = lostKey(content);
  if (lost) throw new FileError([`${place(lost)}: ${lost.join(".")}: a key can't have this name`]);
  const result = schema.safeParse(content, sentences);
  if (result.success) return result.data;
  throw new FileError(
    result.error.issues
      .flatMap((issue) => mistakes(issue, schema))
      .map(({ path, what }, index) => {
        if (index >= maxReported) return what; // it is only counted, and a place takes its time to find
        const whole = [...above, ...path];
        const name = whole.map(String).join(".");
        return `${place(whole)}: ${name === "" ? what : `${name}: ${what}`}`;
      }),
  );
}

/** Findings of a schema: each unknown key by itself, with a suggestion. */
function mistakes(issue: z.core.$ZodIssue, schema?: z.ZodType): { path: PropertyKey[]; what: string }[] {
  if (issue.code === "unrecognized_keys") {
    const forms = schema ? formsAt(schema, issue.path) : [];
    const known = forms.flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : []));
    return issue.keys.map((key, at) => {
      const gone = issue.path.at(-1) === "habits" ? answerRemoved("habits", key) : undefined;
      if (gone !== undefined) return { path: [...issue.path, key], what: gone };
      const near = at < maxReported ? nearest(key, known) : undefined;
      const meant = near === undefined ? "" : `; did you mean "${near}"?`;
      return { path: [...issue.path, key], what: `is not known here${meant}` };
    });
  }
  if (issue.code === "invalid_key") return [{ path: issue.path, what: issue.issues[0]?.message ?? issue.message }];
  return [{ path: issue.path, what: issue.message }];
}

/**
 * Reads `platform-profile.yaml`; undefined for none. `directory` is the folder of the program that names the file, which
 * must lie in that program's repository; without it any file will do. Throws a FileError.
 */
export function readProfile(name: string | undefined, directory?: string): Profile | undefined {
  if (name === undefined) return undefined;
  const file = resolve(directory ?? "", name);
  const from = directory ?? dirname(file);
  const { content, at } = parseLayers(textOf(file, "profile", from), file, from, makePlainGrammar(profile));
  return checkContent(profile, content, at);
}
