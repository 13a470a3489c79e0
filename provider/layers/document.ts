import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from "yaml";
import { ofSettings, parseBounded } from "../../machine/bounded.ts";
import { BoundError, tooDeep } from "../../machine/bounds.ts";
import { conflict, findConflict } from "../files/files.ts";

/** Where something stands; line and column count from 1, and are 0 in what a program gives in place of a file. */
export interface Place {
  /** The file as people know it: relative to the program's folder, with forward slashes; or the path in a program. */
  file: string;
  line: number;
  column: number;
}

/** A place as messages name it. */
export const describePlace = ({ file, line, column }: Place): string =>
  line === 0 ? file : `${file}:${line}:${column}`;

/** Something wrong at one place: what it is, and what to do. */
export interface Problem {
  at: Place;
  message: string;
}

/** A value of a YAML file that knows where it stands. */
export type Value = Mapping | Sequence | Scalar;

export interface Mapping {
  kind: "map";
  at: Place;
  entries: ReadonlyMap<string, Entry>;
}

export interface Entry {
  /** Where the key stands. */
  at: Place;
  value: Value;
}

export interface Sequence {
  kind: "list";
  at: Place;
  items: readonly Value[];
}

export interface Scalar {
  kind: "scalar";
  at: Place;
  value: unknown;
  /** As it stands in the file. */
  written?: string | undefined;
}

/** Reads the text of a YAML file; what is wrong with it goes to `report`, then there is no value. */
export function parse(text: string, file: string, report: (problem: Problem) => void): Value | undefined {
  const counter = new LineCounter();
  const at = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parsed(text, counter);
  if (document instanceof BoundError) {
    report({ at: at(document.offset), message: document.message });
    return undefined;
  }
  const [error] = document.errors;
  if (error) {
    const line = findConflict(text);
    if (line !== undefined) {
      report({ at: { file, line: line + 1, column: 1 }, message: conflict });
      return undefined;
    }
    // Only the first mistake is reported: the parser's later ones mostly follow from it.
    report({ at: at(error.pos[0]), message: `is not valid YAML: ${firstLine(error.message)}; correct it` });
    return undefined;
  }
  const wrong: Problem[] = [];
  const value = new Reader(document, at, (problem) => wrong.push(problem)).read(document.contents);
  for (const problem of wrong) report(problem);
  return wrong.length > 0 ? undefined : value;
}

/** The document of a text, or why it is not read. */
function parsed(text: string, lineCounter: LineCounter): Document.Parsed | BoundError {
  try {
    return parseBounded(text, { lineCounter });
  } catch (error) {
    if (error instanceof BoundError) return error;
    throw error;
  }
}

const firstLine = (message: string): string => (message.split("\n")[0] ?? "").replace(/[.:]$/, "");

/** A key as text; the keys of YAML may be anything. */
function textOf(key: unknown): string | undefined {
  if (typeof key === "string") return key;
  return typeof key === "number" || typeof key === "boolean" ? String(key) : undefined;
}

// Aliases of aliases multiply: a small file must not become a large value.
const { values: mostNodes, levels: mostLevels } = ofSettings;
const twice = "Map keys must be unique";
const deep = tooDeep(ofSettings);

class Reader {
  readonly #document: Document.Parsed;
  readonly #at: (offset: number) => Place;
  readonly #report: (problem: Problem) => void;
  readonly #open = new Set<unknown>();
  #nodes = 0;
  #level = 0;

  constructor(document: Document.Parsed, at: (offset: number) => Place, report: (problem: Problem) => void) {
    this.#document = document;
    this.#at = at;
    this.#report = report;
  }

  read(node: unknown): Value {
    const at = this.#place(node);
    const nothing: Scalar = { kind: "scalar", at, value: null };
    if (++this.#nodes === mostNodes) {
      const many = `has more than ${mostNodes} values, those that aliases repeat included; keep rows in files`;
      this.#report({ at, message: many });
    }
    if (this.#level === mostLevels) this.#report({ at, message: deep });
    if (this.#nodes >= mostNodes || this.#level >= mostLevels) return nothing;
    this.#level++;
    try {
      return this.#value(node, at);
    } finally {
      this.#level--;
    }
  }

  #value(node: unknown, at: Place): Value {
    const nothing: Scalar = { kind: "scalar", at, value: null };
    if (isAlias(node)) return this.#alias(node.source, node.resolve(this.#document), at);
    if (isSeq(node)) return { kind: "list", at, items: node.items.map((item) => this.read(item)) };
    if (isMap(node)) {
      const entries = new Map<string, Entry>();
      for (const { key, value } of node.items) {
        const place = this.#place(key);
        const name = isScalar(key) ? textOf(key.value) : undefined;
        const other = isScalar(key) ? explainMisnamed(key.source, key.value) : undefined;
        if (other !== undefined) this.#report({ at: place, message: `a key: ${other}` });
        else if (name === undefined) this.#report({ at: place, message: "a key must be text; name it in one word" });
        else if (name === "__proto__")
          this.#report({ at: place, message: "a key can't have this name; name it otherwise" });
        else if (name === "<<") this.#report({ at: place, message: "merge keys are not read; use extends" });
        else if (entries.has(name)) this.#report({ at: place, message: `is not valid YAML: ${twice}; correct it` });
        else entries.set(name, { at: place, value: value === null ? { ...nothing, at: place } : this.read(value) });
      }
      return { kind: "map", at, entries };
    }
    return isScalar(node) ? { kind: "scalar", at, value: node.value, written: node.source } : nothing;
  }

  #alias(name: string, target: unknown, at: Place): Value {
    if (target === undefined || this.#open.has(target)) {
      const message = target === undefined ? `there is no anchor "${name}"` : `the anchor "${name}" holds itself`;
      this.#report({ at, message: `${message}; write the value out` });
      return { kind: "scalar", at, value: null };
    }
    this.#open.add(target);
    const value = this.read(target);
    this.#open.delete(target);
    return value;
  }

  #place(node: unknown): Place {
    return this.#at((node as Node | null)?.range?.[0] ?? 0); // any node of the document
  }
}

/** The value without its places. */
export function toPlainValue(value: Value): unknown {
  switch (value.kind) {
    case "scalar":
      return value.value;
    case "list":
      return value.items.map(toPlainValue);
    case "map":
      // fromEntries makes own properties of all keys, also of __proto__.
      return Object.fromEntries([...value.entries].map(([key, entry]) => [key, toPlainValue(entry.value)]));
  }
}

/** The value at a path: the key's entry, or the item of a list; undefined when there is nothing. */
export function find(root: Value, path: readonly PropertyKey[]): Entry | undefined {
  let found: Entry = { at: root.at, value: root };
  for (const step of path) {
    const { value } = found;
    if (value.kind === "map") {
      const entry = value.entries.get(String(step));
      if (!entry) return undefined;
      found = entry;
    } else {
      const item = value.kind === "list" ? value.items[Number(step)] : undefined;
      if (!item) return undefined;
      found = { at: item.at, value: item };
    }
  }
  return found;
}

/** Where the key at a path stands, or the nearest thing around it that exists. */
export function keyPlace(root: Value, path: readonly PropertyKey[]): Place {
  return find(root, path)?.at ?? keyPlace(root, path.slice(0, -1));
}

/** Where the value at a path stands, or the key of the nearest thing around it that exists. */
export function valuePlace(root: Value, path: readonly PropertyKey[]): Place {
  return find(root, path)?.value.at ?? keyPlace(root, path);
}

/** The tree without the entry at a path, or what stands there in its place. */
export function without(tree: Value, [step, ...rest]: readonly PropertyKey[]): Value {
  if (tree.kind !== "map" || step === undefined) return tree;
  const entries = new Map(tree.entries);
  const entry = entries.get(String(step));
  if (!entry) return tree;
  if (rest.length === 0) entries.delete(String(step));
  else if (entry.value.kind === "map") entries.set(String(step), { ...entry, value: without(entry.value, rest) });
  else entries.delete(String(step));
  return { ...tree, entries };
}

/**
 * Describes the problem of a YAML number whose value is spelled differently in the file, such as `007`; undefined
 * without one.
 * @param written spelling in the file
 */
export function explainMisnamed(written: string | undefined, value: unknown, sensitive = false): string | undefined {
  if (typeof value !== "number" || written === undefined || written === String(value)) return undefined;
  if (sensitive) return "YAML reads this as another number than is written: quote it";
  return `YAML reads ${written} as the number ${value}: quote it ("${written}"), or write ${value}`;
}
