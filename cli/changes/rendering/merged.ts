import {
  orderThings,
  type Change,
  type EnvironmentChanges,
  type Section,
  type Tally,
  type Thing,
} from "../model/changeSet.ts";
import { fileAndLine } from "./text.ts";

/** A value with the environments that have it, and the places where it stands. */
export interface Shared<Value> {
  value: Value;
  environments: string[];
  places: string[];
}

/** One thing as all environments have it: equal changes once, with the environments that they are in. */
export interface MergedThing {
  kind: Thing["kind"];
  name: string;
  environments: string[];
  /** The thing's operation, without its changes; several where environments differ. */
  heads: Shared<Thing>[];
  changes: Shared<Change>[];
  /** Changes that are counted and not listed, in the environment with most of them. */
  omitted: number;
}

/** Equal values once, in the order in which they came first. */
export function group<Value>(
  entries: Iterable<{ environment: string; value: Value; place?: string | undefined }>,
  keyOf: (value: Value) => string = (value) => JSON.stringify(value),
): Shared<Value>[] {
  const all = new Map<string, Shared<Value>>();
  for (const { environment, value, place } of entries) {
    const key = keyOf(value);
    const known = all.get(key) ?? { value, environments: [], places: [] };
    all.set(key, known);
    if (known.environments.at(-1) !== environment) known.environments.push(environment);
    const where = place === undefined ? undefined : fileAndLine(place);
    if (where !== undefined && !known.places.includes(where)) known.places.push(where);
  }
  return [...all.values()];
}

/** Things of several environments as one list: removals first, and things that differ beside each other. */
export function mergeThings(
  environments: readonly EnvironmentChanges[],
  thingsOf: (environment: EnvironmentChanges) => readonly Thing[],
): MergedThing[] {
  const all = environments.flatMap((environment) =>
    thingsOf(environment).map((thing) => ({ environment: environment.name, thing })),
  );
  const groups = Map.groupBy(all, ({ thing: { kind, name } }) => JSON.stringify([kind, name]));
  const merged = [...groups.values()].map((entries) => mergedThing(entries));
  const byHead = new Map(
    merged.flatMap((each) =>
      orderThings(each.heads.map(({ value }) => value))
        .slice(0, 1)
        .map((head) => [head, each]),
    ),
  );
  return orderThings([...byHead.keys()]).flatMap((head) => byHead.get(head) ?? []);
}

function mergedThing(entries: readonly { environment: string; thing: Thing }[]): MergedThing {
  const heads = entries.map(({ environment, thing }) => ({ environment, value: thing, place: thing.place }));
  const changes = entries.flatMap(({ environment, thing }) =>
    thing.changes.map((value) => ({ environment, value, place: value.place })),
  );
  const [first] = entries;
  if (!first) throw new Error("a group has an entry");
  return {
    kind: first.thing.kind,
    name: first.thing.name,
    environments: entries.map(({ environment }) => environment),
    heads: group(heads, headKey),
    // One environment has nothing to compare with: its changes need no key.
    changes: entries.length === 1 ? changes.map(alone) : group(changes, changeKey),
    omitted: Math.max(...entries.map(({ thing }) => thing.omitted)),
  };
}

const alone = ({
  environment,
  value,
  place,
}: {
  environment: string;
  value: Change;
  place: string | undefined;
}): Shared<Change> => ({
  value,
  environments: [environment],
  places: place === undefined ? [] : [fileAndLine(place)],
});

const moved = (tally: Tally | undefined): number[] | undefined => tally && [tally.remove, tally.change, tally.add];

/** A thing without its places and what stays the same in it. */
const headKey = ({ op, formerly, people, rows, changes, omitted, notes, guards, accepted }: Thing): string => {
  const settings = changes.filter(({ kind }) => kind === "setting").length;
  return JSON.stringify([op, formerly, moved(people), moved(rows), settings, omitted, notes, guards, accepted]);
};

const changeKey = ({ kind, op, name, fields, accepted }: Change): string =>
  JSON.stringify([kind, op, name, fields, accepted]);

/**
 * True for a change that adds to its thing's line: settings of a new thing count when a file has them, those of a
 * removed one never.
 */
export const saysMore =
  ({ heads }: MergedThing) =>
  ({ value: { kind, op, place } }: Shared<Change>): boolean =>
    kind !== "setting" ||
    op === "change" ||
    heads.every(({ value: thing }) => thing.op !== "remove" && (thing.op !== "add" || place !== thing.place));

/** Things that are pending and that the change does not account for. */
export function besides({ change, pending }: EnvironmentChanges): Thing[] {
  const known = new Map(change.things.map((thing) => [nameKey(thing), thing]));
  // Incomplete pending changes show nothing beyond the change; a line of their own covers the rest.
  const isOpen = pending?.why !== undefined;
  return (pending?.things ?? []).filter((thing) => {
    const own = known.get(nameKey(thing));
    return own?.op !== thing.op || !isCovered(thing, own, isOpen);
  });
}

function isCovered(thing: Thing, by: Thing, isOpen: boolean): boolean {
  const [counts, known] = [countsOf(thing), countsOf(by)];
  return counts.every((count, at) => count === known[at] || (isOpen && count < (known[at] ?? 0)));
}

const countsOf = ({ people, rows }: Thing): number[] => [
  ...(moved(people) ?? [0, 0, 0]),
  ...(moved(rows) ?? [0, 0, 0]),
];

/** Things of the change that are not pending, where all that is pending is known: they are so already. */
export function findDone({ change, pending }: EnvironmentChanges): Thing[] {
  if (!pending?.compared || pending.why !== undefined) return [];
  const left = new Set(pending.things.map(nameKey));
  return change.things.filter((thing) => !left.has(nameKey(thing)));
}

const nameKey = ({ kind, name }: Thing): string => JSON.stringify([kind, name]);
/** The reason why a section is incomplete; undefined for a complete one. */
export const openPart = (section: Section | undefined): string | undefined =>
  section?.why === undefined ? undefined : `${section.compared ? "not whole" : "not compared"}: ${section.why}`;
