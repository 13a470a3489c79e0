import { formerKeys } from "../../../provider/environment/declaration.ts";
import { holdsConfigured, leadsTo, namedMaps } from "../../../provider/environment/schema.ts";
import { toPlainValue, type Value, describePlace } from "../../../provider/layers/document.ts";
import type { Cells } from "../../../provider/seedRows/digests.ts";
import { isRounded, rounded } from "../../../provider/seedRows/source/source.ts";
import { stable } from "../../report/changeSet.ts";
import { DataRefusal } from "../../report/environments.ts";
import { type Decide, mergeRecords, type RecordMerge, type Records } from "../merge.ts";

/** Parts of an Environment file that are promoted; the others are about the environment itself. */
const promoted = ["organizations", "seeds", "apps", "notifications"];

/** Maps whose entries are records of their own; those of `references` are a part of their seed. */
const recordMaps = namedMaps.filter(({ kind }) => kind !== "reference").map(({ steps }) => steps);

/** Labels of a seed that hold rows: these are merged by their own key, wherever they stand. */
const rowLabels = ["source", "rows", "rows+", "rows~", "rows-"];

/** One thing with settings: where it stands in the file, and its settings as they are written. */
export interface SettingRecord {
  path: readonly string[];
  cells: Cells;
  /** Settings that the configuration has: nobody promotes them. */
  configured: readonly string[];
}

/** A path as the key of a record. */
export const pathText = (path: readonly string[]): string => JSON.stringify(path);
export const pathIn = (text: string): string[] => JSON.parse(text) as string[];

/** Everything in an Environment file besides rows, thing by thing; those above come first. */
export function settingsIn(root: Value): Map<string, SettingRecord> {
  const found = new Map<string, SettingRecord>();
  if (root.kind !== "map") return found;
  for (const name of promoted) {
    const entry = root.entries.get(name);
    if (entry) takeMap(entry.value, [name], found);
  }
  return found;
}

const isRecordMap = (path: readonly string[]): boolean => recordMaps.some((steps) => leadsTo(path, steps));

function takeMap(map: Value, path: readonly string[], found: Map<string, SettingRecord>): void {
  if (map.kind !== "map") return;
  for (const [name, { value }] of map.entries) takeRecord(value, [...path, name], found);
}

function takeRecord(value: Value, path: readonly string[], found: Map<string, SettingRecord>): void {
  const record: SettingRecord & { cells: Record<string, unknown>; configured: string[] } = {
    path,
    cells: {},
    configured: [],
  };
  found.set(pathText(path), record);
  // A member may be a role alone.
  const entries: [string, Value][] =
    value.kind === "map" && !isReference(value)
      ? [...value.entries].map(([name, entry]) => [name, entry.value])
      : [["role", value]];
  for (const [name, held] of entries) {
    const below = [...path, name];
    if (isRecordMap(below)) takeMap(held, below, found);
    else if (name === "roster" && path.length === 4) takeRecord(held, below, found);
    else if (path[0] === "seeds" && rowLabels.includes(name)) continue;
    else if (holdsConfigured(held)) record.configured.push(name);
    else record.cells[name] = exactValue(held);
  }
}

const isReference = (value: Value): boolean =>
  holdsConfigured(value) && value.kind === "map" && value.entries.has("config");

/** The path that things have now which stood at another one, by `formerly`: the former first. */
export function renamesIn(
  settings: ReadonlyMap<string, SettingRecord>,
): [former: readonly string[], now: readonly string[]][] {
  return [...settings.values()].flatMap(({ path, cells }) =>
    formerKeys(cells["formerly"] as string | string[] | undefined).map((former): [string[], readonly string[]] => [
      [...path.slice(0, -1), former],
      path,
    ]),
  );
}

export const isBelow = (path: readonly string[], above: readonly string[]): boolean =>
  above.length <= path.length && above.every((step, at) => step === path[at]);

/** The maps on the way that nobody names. */
const wayLabels = new Set(["organizations", "teams", "members", "seeds", "files", "apps", "notifications"]);

/** A thing as people name it: `countries`, `acme/crew/eve@example.com`. */
export const nameOfPath = (path: readonly string[]): string =>
  path
    .filter((step, at) => !(at % 2 === 0 && wayLabels.has(step)) && !(step === "members" && path[at - 1] === "roster"))
    .join("/");

/** A value, whose numbers are as they are written. Throws a DataRefusal. */
function exactValue(value: Value): unknown {
  assertExact(value);
  return toPlainValue(value);
}

function assertExact(value: Value): void {
  if (value.kind === "list") value.items.forEach(assertExact);
  else if (value.kind === "map") for (const entry of value.entries.values()) assertExact(entry.value);
  else if (typeof value.value === "number" && isRounded(value.written ?? "", value.value))
    throw new DataRefusal(`${describePlace(value.at)}: a number ${rounded}`);
}

/** The merge of everything besides rows. */
export interface SettingsMerge extends RecordMerge {
  notes: string[];
  /** The path that a thing has now, by that of the base. */
  pathNow: (path: readonly string[]) => readonly string[];
}

interface Roots {
  base: Value | undefined;
  from: Value;
  to: Value;
}

interface Terms {
  /** A file that both extend, at the base and now: what `from` has of what is new there begins with that. */
  shared: Record<"base" | "now", Value | undefined>;
  names: { from: string; to: string };
  decide: Decide;
}

/** Merges the settings of things. Throws a DataRefusal where one side alone has renamed a thing. */
export function mergeSettings({ base, from, to }: Roots, { names, decide, shared }: Terms): SettingsMerge {
  const [before, source, target] = [base, from, to].map((root) => (root ? settingsIn(root) : new Map()));
  const sides = { base: before ?? new Map(), from: source ?? new Map(), to: target ?? new Map() };
  const pathNow = renaming(sides, names);
  const rebased = new Map(
    [...sides.base.values()].map((record: SettingRecord) => {
      const path = pathNow(record.path);
      return [pathText(path), { ...record, path }] as const;
    }),
  );
  const earlier = shared.base && settingsIn(shared.base);
  for (const [key, record] of shared.now ? settingsIn(shared.now) : [])
    if (!rebased.has(key) && !earlier?.has(key) && sides.from.has(key)) rebased.set(key, record);
  const notes: string[] = [];
  const hidden = configuredLabels([rebased, sides.from, sides.to]);
  const cellsOf = (records: ReadonlyMap<string, SettingRecord>): Records =>
    new Map([...records].map(([key, { cells }]) => [key, without(cells, hidden.get(key))]));
  for (const [key, labels] of hidden) notes.push(...configuredNotes(key, labels, sides, names));
  const merge = mergeRecords(
    { base: cellsOf(rebased), from: cellsOf(sides.from), to: cellsOf(sides.to) },
    { decide, isSame: (_, one, other) => stable(one) === stable(other) },
  );
  const taken = merge.taken.filter((change) => {
    const group = change.do === "remove" ? emptiedGroup(pathIn(change.key), sides.from) : undefined;
    if (group === undefined) return true;
    notes.push(
      `${names.from} has none of ${group} any more: nothing of it is removed; remove it in ${names.to} yourself`,
    );
    return false;
  });
  return { ...merge, taken, notes: [...new Set(notes)], pathNow };
}

type SettingSides = Record<"base" | "from" | "to", ReadonlyMap<string, SettingRecord>>;

/** Follows `formerly`: a thing that both sides call otherwise by now is the same as that of the base. */
function renaming({ base, from, to }: SettingSides, names: Terms["names"]): SettingsMerge["pathNow"] {
  const renames: [readonly string[], readonly string[]][] = [];
  const sides = [
    { here: from, there: to, name: names.from, other: names.to },
    { here: to, there: from, name: names.to, other: names.from },
  ];
  for (const { here, there, name, other } of sides) {
    for (const [former, now] of renamesIn(here)) {
      if (!base.has(pathText(former)) || here.has(pathText(former))) continue;
      if (there.has(pathText(former)) && !there.has(pathText(now))) {
        const step = `rename it in ${other} as well (${former.at(-1) ?? ""} → ${now.at(-1) ?? ""}, with formerly)`;
        throw new DataRefusal(`${name} calls ${nameOfPath(former)} ${nameOfPath(now)} now: ${step}, then promote`);
      }
      renames.push([former, now]);
    }
  }
  return (path) =>
    renames.reduce<readonly string[]>(
      (found, [former, now]) => (isBelow(found, former) ? [...now, ...found.slice(former.length)] : found),
      path,
    );
}

/** Labels that some side has from the configuration, by record. */
function configuredLabels(sides: readonly ReadonlyMap<string, SettingRecord>[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const side of sides)
    for (const [key, { configured }] of side)
      if (configured.length > 0) found.set(key, new Set([...(found.get(key) ?? []), ...configured]));
  return found;
}

function configuredNotes(
  key: string,
  labels: ReadonlySet<string>,
  { base, from, to }: SettingSides,
  names: Terms["names"],
): string[] {
  const formOf = (side: ReadonlyMap<string, SettingRecord>, label: string): string => {
    const record = side.get(key);
    return record?.configured.includes(label) ? "config" : stable(record?.cells[label]);
  };
  return [...labels].flatMap((label) => {
    const [was, is, there] = [base, from, to].map((side) => formOf(side, label));
    if (was === is || is === there) return [];
    return `${label} of ${nameOfPath(pathIn(key))} comes from the configuration on one side: it is left as ${names.to} has it`;
  });
}

const without = (cells: Cells, labels: ReadonlySet<string> | undefined): Cells =>
  labels ? Object.fromEntries(Object.entries(cells).filter(([label]) => !labels.has(label))) : cells;

/** The map that a removal would leave empty in `from`, while what it is below is still there: that may be a mistake. */
function emptiedGroup(path: readonly string[], from: ReadonlyMap<string, SettingRecord>): string | undefined {
  const group = path.slice(0, -1);
  const above = path.at(-1) === "roster" ? path : group.slice(0, -1);
  if (path.at(-1) === "roster" || (above.length > 0 && !from.has(pathText(above)))) return undefined;
  const isThere = [...from.values()].some((record) => record.path.length > group.length && isBelow(record.path, group));
  return isThere ? undefined : [nameOfPath(above), group.at(-1)].filter(Boolean).join("/");
}
