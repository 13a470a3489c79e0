import { dirname, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { nearest } from "../../machine/spelling.ts";
import { maxMegabytesOfLayer, textOrReason } from "../files/files.ts";
import { keyText } from "../seedRows/digests.ts";
import {
  describePlace,
  type Entry,
  type Mapping,
  parse,
  type Place,
  type Problem,
  type Scalar,
  type Sequence,
  toPlainValue,
  type Value,
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
  trees: readonly Tree[];
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

/** Merges all layers, or the lowest ones of them. */
export function mergeLayers(
  { trees, grammar }: Pick<Layers, "trees" | "grammar">,
  report: (problem: Problem) => void,
  count?: number,
): Merged {
  const [lowest, ...others] = trees.slice(0, count);
  if (!lowest) return { value: undefined, taken: new Map() };
  return resolveVerbs(
    others.reduce((below, above) => mergeTrees(below, above, grammar), lowest),
    grammar,
    report,
  );
}

class Loader {
  readonly files: string[] = [];
  readonly #folder: string;
  readonly #nameOf: (path: string) => string;
  readonly #grammar: Grammar;
  readonly #report: (problem: Problem) => void;

  constructor({ folder, nameOf, grammar }: Origin, report: (problem: Problem) => void) {
    this.#folder = folder;
    this.#nameOf = nameOf ?? ((path) => toShownPath(path, folder));
    this.#grammar = grammar;
    this.#report = report;
  }

  /** The file's tree, and after it those of the files below. */
  load(path: string, chain: readonly Link[], known?: string): Tree[] {
    const file = this.#nameOf(path);
    const text = known ?? this.#read(path, file, chain.at(-1)?.at);
    const value = text === undefined ? undefined : parse(text, file, this.#report);
    if (!value) return [];
    if (value.kind !== "map") return [value];
    const base = value.entries.get("extends");
    if (!base) return [layer(value, this.#grammar)];
    const own: Mapping = { ...value, entries: new Map([...value.entries].filter(([key]) => key !== "extends")) };
    return [layer(own, this.#grammar), ...this.#below(path, base.value, chain)];
  }

  #below(path: string, target: Value, chain: readonly Link[]): Tree[] {
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

/** A file, or files merged, before its verbs have met what they work on. */
export type Tree = Branch | Sequence | Scalar | Edits;

interface Branch {
  kind: "map";
  at: Place;
  entries: ReadonlyMap<string, { at: Place; value: Tree }>;
}

/** Edits of one entry by the layers, the lowest first. */
interface Edits {
  kind: "edits";
  at: Place;
  steps: readonly Step[];
}

type Step = { do: "set"; at: Place; value: Exclude<Tree, Edits> } | { do: "take"; at: Place } | ListEdit | RowEdit;

/** Key under which the edits of rows stand until the key of the seed is known; no file has it, since it holds a NUL. */
const rowsKey = "\0rows";

/** A layer with its verbs in the place of the keys that they are about. */
export function layer(value: Value, grammar: Grammar, path: KeyPath = []): Tree {
  if (value.kind !== "map") return value;
  const entries = new Map<string, { at: Place; value: Tree }>();
  const add = (key: string, at: Place, tree: Tree): void => {
    const before = entries.get(key);
    entries.set(key, { at, value: before ? chained(before.value, tree) : tree });
  };
  // Verbs apply to the other entries of their map, so they run after all of them, wherever they stand.
  const verbs: (() => void)[] = [];
  const isNamed = grammar.named(path) !== undefined;
  const hasRows = grammar.hasRows(path);
  for (const [key, { at, value: held }] of value.entries) {
    const name = key.slice(0, -1);
    const verb = key.at(-1);
    const step = (on: string, one: Step): void =>
      void verbs.push(() => add(on, at, { kind: "edits", at, steps: [one] }));
    if (isNamed && isNull(held)) add(key, at, { kind: "edits", at, steps: [{ do: "take", at }] });
    else if (hasRows && rowVerbs.includes(key)) step(rowsKey, { do: "rows", at, verb: key, value: held });
    else if ((verb === "+" || verb === "-") && grammar.hasList(path, name)) {
      step(name, { do: verb === "+" ? "add" : "drop", at, value: held });
    } else add(key, at, layer(held, grammar, [...path, key]));
  }
  for (const verb of verbs) verb();
  return { ...value, entries };
}

/** An entry without a value is a mistake; whoever means null writes it. */
const isNull = (value: Value): boolean => value.kind === "scalar" && value.value === null && Boolean(value.written);

const stepsOf = (tree: Tree): readonly Step[] =>
  tree.kind === "edits" ? tree.steps : [{ do: "set", at: tree.at, value: tree }];

const chained = (below: Tree, above: Tree): Edits => ({
  kind: "edits",
  at: above.at,
  steps: [...stepsOf(below), ...stepsOf(above)],
});

/**
 * Maps are merged by key, at every depth; some lists are gathered; anything else is replaced whole. Verbs wait for what
 * they work on, so layers may be merged in any grouping.
 */
export function mergeTrees(below: Tree, above: Tree, grammar: Grammar, path: KeyPath = []): Tree {
  if (below.kind === "edits" || above.kind === "edits") return chained(below, above);
  if (grammar.gathers(path)) return both(below, above);
  if (above.kind !== "map") return above;
  if (below.kind !== "map") return chained(below, above);
  const entries = new Map(below.entries);
  for (const [key, entry] of above.entries) {
    const under = below.entries.get(key);
    if (under) entries.set(key, { at: entry.at, value: mergeTrees(under.value, entry.value, grammar, [...path, key]) });
    else entries.set(key, entry);
  }
  return { kind: "map", at: above.at, entries };
}

/** The items of two lists, of which one may be written as a single value. The check reports anything else. */
function both(below: Exclude<Tree, Edits>, above: Exclude<Tree, Edits>): Sequence {
  const items = [below, above].map((value) => (value.kind === "list" ? value.items : [value as Value]));
  return { kind: "list", at: above.at, items: items.flat() };
}

/** Merges the layers into one value. */
export interface Merged {
  /** Undefined when everything was taken out. */
  value: Value | undefined;
  /** Where entries were taken out that are not there any more, by their path as JSON. */
  taken: ReadonlyMap<string, Place>;
}

/** Lets the verbs of a tree work. Those that meet nothing to work on are reported. */
export function resolveVerbs(tree: Tree, grammar: Grammar, report: (problem: Problem) => void): Merged {
  const taken = new Map<string, Place>();
  const value = new Resolver(grammar, report, taken).resolve(tree, []);
  return { value, taken };
}

class Resolver {
  readonly #grammar: Grammar;
  readonly #report: (problem: Problem) => void;
  readonly #taken: Map<string, Place>;

  constructor(grammar: Grammar, report: (problem: Problem) => void, taken: Map<string, Place>) {
    this.#grammar = grammar;
    this.#report = report;
    this.#taken = taken;
  }

  /** @param beside keys that stand beside this one, and where */
  resolve(tree: Tree, path: KeyPath, beside: ReadonlyMap<string, { at: Place }> = new Map()): Value | undefined {
    if (tree.kind === "edits") return this.#edited(tree, path, beside);
    if (tree.kind !== "map") return tree;
    const entries = new Map<string, { at: Place; value: Value }>();
    let edits: readonly RowEdit[] = [];
    for (const [key, { at, value }] of tree.entries) {
      if (key === rowsKey) edits = stepsOf(value).filter((step) => step.do === "rows");
      else {
        const held = this.resolve(value, [...path, key], tree.entries);
        if (held) entries.set(key, { at, value: held });
      }
    }
    if (edits.length > 0) {
      const key = entries.get("key")?.value;
      for (const [verb, entry] of combineRowEdits(edits, key && toPlainValue(key), this.#report))
        entries.set(verb, entry);
    }
    return { kind: "map", at: tree.at, entries };
  }

  #edited({ steps }: Edits, path: KeyPath, beside: ReadonlyMap<string, { at: Place }>): Value | undefined {
    let now: Exclude<Tree, Edits> | undefined;
    let takenAt: Place | undefined;
    for (const step of steps) {
      switch (step.do) {
        case "set": {
          const value = now ? mergeTrees(now, step.value, this.#grammar, path) : step.value;
          now = value.kind === "edits" ? step.value : value;
          break;
        }
        case "take": {
          const kind = this.#grammar.named(path.slice(0, -1)) ?? "entry";
          const others = [...beside].filter(([key]) => key !== path.at(-1));
          const problem = takeOut(kind, String(path.at(-1)), step.at, { isThere: now !== undefined, takenAt, others });
          if (problem) this.#report(problem);
          now = undefined;
          takenAt = step.at;
          break;
        }
        case "add":
        case "drop":
          now = editList(now as Value | undefined, step, String(path.at(-1)), this.#report); // a list holds no verbs
          break;
        case "rows":
          break;
      }
    }
    if (!now) {
      if (takenAt) this.#taken.set(JSON.stringify(path), takenAt);
      return undefined;
    }
    return this.resolve(now, path, beside);
  }
}

/** Items that a layer adds to a list, or takes out of it. */
interface ListEdit {
  do: "add" | "drop";
  at: Place;
  value: Value;
}

interface Surroundings {
  isThere: boolean;
  /** Where it was taken out before. */
  takenAt: Place | undefined;
  /** Its neighbours in the map or list. */
  others: readonly (readonly [key: string, entry: { at: Place }])[];
}

/** Describes why an entry can't be removed; nothing when it is there. */
function takeOut(
  kind: string,
  key: string,
  at: Place,
  { isThere, takenAt, others }: Surroundings,
): Problem | undefined {
  if (isThere) return undefined;
  if (takenAt) {
    return {
      at,
      message: `${kind} "${key}" is taken out at ${describePlace(takenAt)} already; keep one of the two lines`,
    };
  }
  const below = others.filter(([, entry]) => entry.at.file !== at.file);
  const near = nearest(
    key,
    below.map(([other]) => other),
  );
  const meant = below.find(([other]) => other === near) ?? below[0];
  const advice = near === undefined ? "remove the line" : `did you mean "${near}"?`;
  const there = meant ? ` (${near === undefined ? `"${meant[0]}" is ` : ""}at ${describePlace(meant[1].at)})` : "";
  return {
    at,
    message: `${kind} "${key}" can't be taken out: no file that this one extends has it; ${advice}${there}`,
  };
}

/** A value in few words. */
function named(value: Value): string {
  const text = JSON.stringify(toPlainValue(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The list once items were added or taken out; what can't be done is reported. */
function editList(below: Value | undefined, edit: ListEdit, name: string, report: (problem: Problem) => void): Value {
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
  do: "rows";
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
 * Combines the row edits of all layers, as one layer would write them. An upper layer's removals and changes of rows
 * that a lower one added are settled here; the source is not known.
 * @param declared the seed's `key`
 */
function combineRowEdits(
  edits: readonly RowEdit[],
  declared: unknown,
  report: (problem: Problem) => void,
): Map<string, Entry> {
  const labels = labelsOf(declared);
  const lists = new Map<string, { at: Place; items: Item[] }>();
  const listOf = (verb: string, at: Place): Item[] => {
    const list = lists.get(verb) ?? { at, items: [] };
    lists.set(verb, { ...list, at });
    return list.items;
  };
  const find = (verb: string, key: string | undefined): { items: Item[]; index: number; item: Item } | undefined => {
    const items = lists.get(verb)?.items ?? [];
    const index = key === undefined ? -1 : items.findIndex((item) => item.key === key);
    const item = items[index];
    return item && { items, index, item };
  };
  for (const { verb, at, value } of inOrder(edits)) {
    if (value.kind !== "list") {
      report({ at: value.at, message: `${verb} must be a list; put it in brackets` });
      continue;
    }
    const own = listOf(verb, at);
    for (const item of value.items)
      edit(verb, { value: item, key: keyIn(verb, item, labels), list: value }, own, find, report);
  }
  // A list that other layers have emptied has no effect.
  return new Map(
    [...lists].flatMap(([verb, { at, items }]): [string, Entry][] =>
      items.length === 0 ? [] : [[verb, { at, value: { kind: "list", at, items: items.map(({ value }) => value) } }]],
    ),
  );
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
    if (removed && !added) twice("taken out", removed.item);
    else if (before?.item.list === item.list) twice("changed", before.item);
    else if (before) before.items[before.index] = { ...item, value: over(before.item.value, value) };
    else own.push(item);
  } else {
    if (removed && !added) twice("taken out", removed.item);
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

/** Layer by layer, as they came: a layer ends where a verb comes again or the file changes. */
function inOrder(edits: readonly RowEdit[]): RowEdit[] {
  const layers: RowEdit[][] = [];
  for (const edit of edits) {
    const last = layers.at(-1);
    const isSame = last?.[0]?.at.file === edit.at.file && last.every(({ verb }) => verb !== edit.verb);
    if (isSame) last.push(edit);
    else layers.push([edit]);
  }
  return layers.flatMap((layer) => layer.toSorted((a, b) => order(a.verb) - order(b.verb)));
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
