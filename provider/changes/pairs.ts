import { formerKeys, type Formerly } from "../environment/formerKeys.ts";
import { orderedChanges, type Change, type Thing } from "./model/changeSet.ts";
import { fieldsOf } from "./model/values.ts";
import type { Declared } from "./source.ts";

/** Two declarations, the earlier one first. */
export interface Both {
  base: Declared;
  head: Declared;
}

/** Entries of the same thing on both sides: one that has another key now stands beside its former one. */
export interface Pair<Entry> {
  name: string;
  formerly?: string;
  before?: Entry;
  after?: Entry;
  /** The keys under which it stands in either file. */
  keys: { base: string; head: string };
}

/** Matches the entries of two maps by key or former key. */
export function paired<Entry extends { formerly?: Formerly }>(
  before: Readonly<Record<string, Entry>>,
  after: Readonly<Record<string, Entry>>,
): Pair<Entry>[] {
  const taken = new Set<string>();
  const pairs = Object.entries(after).map(([name, entry]): Pair<Entry> => {
    const former = [name, ...formerKeys(entry.formerly)].find((key) => Object.hasOwn(before, key) && !taken.has(key));
    if (former === undefined) return { name, after: entry, keys: { base: name, head: name } };
    taken.add(former);
    const was = before[former];
    return {
      name,
      ...(former === name ? {} : { formerly: former }),
      ...(was === undefined ? {} : { before: was }),
      after: entry,
      keys: { base: former, head: name },
    };
  });
  const removed = Object.entries(before).filter(([key]) => !taken.has(key));
  return [
    ...removed.map(([name, entry]): Pair<Entry> => ({ name, before: entry, keys: { base: name, head: name } })),
    ...pairs,
  ];
}

/** How a thing of its own changes; undefined when it does not. */
export function thingOf(kind: Thing["kind"], pair: Pair<unknown>, place: string, changes: Change[]): Thing | undefined {
  const { name, formerly, before, after } = pair;
  const op = after === undefined ? "remove" : before === undefined ? "add" : "change";
  if (op === "change" && changes.length === 0 && formerly === undefined) return undefined;
  return {
    kind,
    name,
    op,
    ...(formerly === undefined ? {} : { formerly }),
    ...(place === "" ? {} : { place }),
    changes: orderedChanges(changes),
    omitted: 0,
    notes: formerly === undefined ? [] : [`the key was ${formerly}; it stays the same thing`],
    guards: [],
  };
}

/** Changes of settings, each at its place. */
export function settingsOf(
  before: object,
  after: object,
  omit: readonly string[],
  place: (name: string, isBase: boolean) => string,
): Change[] {
  const left = (settings: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => !omit.includes(name)));
  return fieldsOf(left(before), left(after)).map((field) => {
    const op = field.after === undefined ? "remove" : field.before === undefined ? "add" : "change";
    return { kind: "setting", op, name: field.name, fields: [field], place: place(field.name, op === "remove") };
  });
}
