import { holdsConfigured } from "../../provider/environment/configured.ts";
import { formerKeys } from "../../provider/environment/formerKeys.ts";
import { leadsTo, namedMaps } from "../../provider/environment/jsonSchema.ts";
import { toPlainValue, type Value } from "../../provider/layers/document.ts";
import type { Cells } from "../../provider/reconcile/merging/records.ts";

/** Parts of an Environment file that are promoted; the others are about the environment itself. */
const promoted = ["organizations", "seeds", "apps"];

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
    else record.cells[name] = toPlainValue(held);
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
const wayLabels = new Set(["organizations", "teams", "members", "seeds", "apps"]);

/** A thing as people name it: `countries`, `acme/crew/eve@example.com`. */
export const nameOfPath = (path: readonly string[]): string =>
  path
    .filter((step, at) => !(at % 2 === 0 && wayLabels.has(step)) && !(step === "members" && path[at - 1] === "roster"))
    .join("/");
