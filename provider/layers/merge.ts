import { toPlainValue, type Place, type Problem, type Scalar, type Sequence, type Value } from "./document.ts";
import type { Grammar, KeyPath } from "./grammar.ts";
import { combineRowEdits, rowVerbs, type RowEdit } from "./rowEdits.ts";
import { editList, takeOut, type ListEdit } from "./verbs.ts";

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
