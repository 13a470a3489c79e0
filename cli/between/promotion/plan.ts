import { nearest } from "../../../machine/spelling.ts";
import { some } from "../../../platform/messages/text.ts";
import type { Value } from "../../../provider/layers/document.ts";
import { keyText, printableKey, type Cells } from "../../../provider/seedRows/digests.ts";
import { DataRefusal } from "../../report/environments.ts";
import type { Decide, RecordMerge } from "../merge.ts";
import {
  isSeed,
  type PromotedChange,
  type PromotedSubject,
  type Promotion,
  type PromotionBase,
  type PromotionConflict,
  type PromotionSides,
  type Seeds,
} from "./model.ts";
import { findSeed, hasOwnRows, mergeRows, readRows } from "./rows.ts";
import { isBelow, mergeSettings, nameOfPath, pathIn, type SettingsMerge, settingsIn } from "./settings.ts";

/** Terms of a promotion: how conflicts are decided, and which changes are chosen. */
export interface PromotionTerms {
  only: readonly string[];
  ours: readonly string[];
  theirs: readonly string[];
}

/** What a promotion is made of, before it is chosen from. */
type Found = Pick<Promotion, "taken" | "conflicts" | "notes" | "untouched" | "kept" | "alike">;

/** Compares two environments with their base, and plans what the later one gets. Writes nothing. Throws a DataRefusal. */
export async function planPromotion(
  sides: PromotionSides,
  base: PromotionBase,
  terms: PromotionTerms,
): Promise<Promotion> {
  const { from, to } = sides;
  const found: Found = { taken: [], conflicts: [], notes: [], untouched: 0, kept: 0, alike: 0 };
  const decision = (name: string, label?: string): ReturnType<Decide> => {
    const isIn = (patterns: readonly string[]): boolean =>
      patterns.some((pattern) => isNamed(label === undefined ? name : `${name}/${label}`, pattern));
    return isIn(terms.ours) ? "ours" : isIn(terms.theirs) ? "theirs" : undefined;
  };
  const roots = { base: sides.base.document?.root, from: rootOf(from), to: rootOf(to) };
  const settings = mergeSettings(roots, {
    shared: { base: sides.shared.base?.document?.root, now: sides.shared.now?.document?.root },
    names: { from: from.name, to: to.name },
    decide: (key, label) => decision(nameOfPath(pathIn(key)), label),
  });
  await takeSettings(found, sides, settings, decision);
  await takeRows(found, sides, settings, decision);
  await assertOneSeed(found.taken, sides.to);
  const paths = Object.values(roots).flatMap((root) => (root ? [...settingsIn(root).values()] : []));
  const known = new Set(paths.flatMap(({ path }) => [nameOfPath(path), path.join("/")]));
  const { only, ours, theirs } = terms;
  assertKnown([...only, ...ours, ...theirs], known, [...found.taken, ...found.conflicts]);
  const touches = ({ name, path }: PromotionConflict): boolean =>
    only.length === 0 || only.some((each) => isNamed(name, each) || isNamed(path.join("/"), each));
  const conflicts = found.conflicts.filter(touches);
  return {
    ...found,
    ...{ from: from.name, to: to.name, base, notes: [...new Set(found.notes)] },
    ...select(found.taken, only, from.declared.declaration.seeds),
    ...{ conflicts, leftConflicts: found.conflicts.length - conflicts.length },
  };
}

function rootOf({ name, declared }: PromotionSides["from"]): Value {
  const root = declared.document?.root;
  if (!root) throw new DataRefusal(`${declared.file} of ${name} breaks a rule: "microapps environment check" names it`);
  return root;
}

type Decision = (name: string, label?: string) => ReturnType<Decide>;

function count(found: Found, { untouched, kept, alike }: RecordMerge): void {
  found.untouched += untouched;
  found.kept += kept.length;
  found.alike += alike;
}

async function takeSettings(
  found: Found,
  sides: PromotionSides,
  settings: SettingsMerge,
  decision: Decision,
): Promise<void> {
  count(found, settings);
  found.notes.push(...settings.notes);
  const removed = settings.taken.flatMap(({ do: verb, key }) => (verb === "remove" ? [pathIn(key)] : []));
  for (const change of settings.taken) {
    const path = pathIn(change.key);
    const subject = { name: nameOfPath(path), path };
    const isOwn = change.do === "remove" && (await hasOwn(sides, path, removed, settings));
    const decided = isOwn ? decision(subject.name) : "theirs";
    // It goes with what it is below.
    const isBelowRemoved = removed.some((above) => above.length < path.length && isBelow(path, above));
    if (decided === "ours") found.kept++;
    else if (decided === undefined)
      found.conflicts.push({ ...subject, base: change.cells, from: undefined, to: "has rows or people of its own" });
    else if (isOwn || change.do !== "remove" || !isBelowRemoved) found.taken.push({ ...subject, ...change });
  }
  for (const conflict of settings.conflicts) {
    const path = pathIn(conflict.key);
    found.conflicts.push({ name: nameOfPath(path), path, ...conflict });
  }
}

/** True if `to` has something below a thing that would go, and that is not at the base. */
async function hasOwn(
  sides: PromotionSides,
  path: readonly string[],
  removed: readonly (readonly string[])[],
  settings: SettingsMerge,
): Promise<boolean> {
  const isRemoved = (other: readonly string[]): boolean =>
    removed.some((each) => each.length === other.length && isBelow(other, each));
  for (const record of settingsIn(rootOf(sides.to)).values())
    if (isBelow(record.path, path) && !isRemoved(record.path)) return true;
  const [kind, seed = ""] = path;
  return kind === "seeds" && hasOwnRows(sides, seed, formerSeed(sides, seed, settings));
}

const formerSeed = ({ base }: PromotionSides, seed: string, { pathNow }: SettingsMerge): string =>
  Object.keys(base.declaration.seeds).find((name) => pathNow(["seeds", name])[1] === seed) ?? seed;

async function takeRows(
  found: Found,
  sides: PromotionSides,
  settings: SettingsMerge,
  decision: Decision,
): Promise<void> {
  for (const seed of sides.from.declared.declaration.seedOrder) {
    const merge = await mergeRows(
      sides,
      seed,
      formerSeed(sides, seed, settings),
      (key) => (_, label) => decision(`${seed}/${key}`, label),
    );
    if (!merge) continue;
    if ("note" in merge) {
      found.notes.push(merge.note);
      continue;
    }
    count(found, merge);
    found.notes.push(...merge.notes);
    const { key: labels } = merge;
    const whole = { name: seed, path: ["seeds", seed] };
    const rowOf = ({ key }: { key: string }): PromotedSubject => ({
      ...{ name: `${seed}/${printableKey(labels, key)}`, path: whole.path, row: { key, labels } },
    });
    for (const renamed of merge.renamed) found.taken.push({ ...whole, do: "rename", ...renamed });
    for (const change of merge.taken) found.taken.push({ ...rowOf(change), ...change });
    for (const conflict of merge.conflicts) found.conflicts.push({ ...rowOf(conflict), ...conflict });
  }
}

/** Refuses a row of a table that two seeds of `to` would have. */
async function assertOneSeed(
  taken: readonly PromotedChange[],
  { name, declared }: PromotionSides["to"],
): Promise<void> {
  const { seeds } = declared.declaration;
  const isRemoved = (seed: string, key: string): boolean =>
    taken.some(({ do: verb, path, row }) => verb === "remove" && path[1] === seed && (!row || row.key === key));
  const added = taken.filter(({ do: verb, row }) => verb === "add" && row);
  for (const [seed, rows] of Map.groupBy(added, ({ path }) => path[1] ?? "")) {
    const { table = "", key } = seeds[seed] ?? {};
    for (const [other, its] of Object.entries(seeds)) {
      if (other === seed || its.table !== table || its.key.join("\0") !== key?.join("\0")) continue;
      const side = findSeed(declared, other, name);
      const own = side && (await readRows(side));
      const twice = rows.find(({ row }) => row && own?.has(row.key) && !isRemoved(other, row.key));
      if (!twice) continue;
      throw new DataRefusal(
        `${twice.name} is a row of ${other} in ${name}, and the table ${table} has one row of a key: move it to ${seed} there, then promote`,
      );
    }
  }
}

/** True if a name on the command line means something: itself, or a thing that it is below. */
const isNamed = (name: string, pattern: string): boolean => name === pattern || name.startsWith(`${pattern}/`);

/** A thing or row by its name, or by its full path in the file, which differs for things of one name. */
const isMeant = ({ name, path, row }: PromotedSubject, pattern: string): boolean =>
  isNamed(name, pattern) || isNamed([...path, ...(row ? [name.slice(name.indexOf("/") + 1)] : [])].join("/"), pattern);

/** Throws a DataRefusal for a name on the command line that no environment has. */
function assertKnown(
  patterns: readonly string[],
  known: ReadonlySet<string>,
  subjects: readonly PromotedSubject[],
): void {
  for (const pattern of patterns) {
    const isThere = [...known].some((name) => isNamed(name, pattern) || isNamed(pattern, name));
    if (isThere || subjects.some((subject) => isMeant(subject, pattern))) continue;
    // The thing of a row may be misspelt.
    const [thing = pattern] = pattern.split("/", 1);
    const near = nearest(pattern, [...known]) ?? nearest(thing, [...known]);
    const short = [...known].filter((name) => !/^(organizations|seeds|apps)\//.test(name));
    const advice = near === undefined ? `there is ${some(short, 20)}` : `did you mean ${near}?`;
    throw new DataRefusal(`neither environment has ${pattern}: ${advice}`);
  }
}

/**
 * Chooses changes by name; all where none is given. Throws a DataRefusal that names what a chosen one links to and which
 * is left out: without it there would be a link to nothing.
 */
function select(
  changes: readonly PromotedChange[],
  patterns: readonly string[],
  seeds: Seeds,
): Pick<Promotion, "taken" | "left"> {
  if (patterns.length === 0) return { taken: [...changes], left: [] };
  const taken = new Set(changes.filter((change) => patterns.some((pattern) => isMeant(change, pattern))));
  const linksOf = linking(changes, seeds);
  const missing = new Map<string, string>();
  for (const change of taken)
    for (const needed of linksOf(change)) if (!taken.has(needed)) missing.set(needed.name, change.name);
  if (missing.size > 0) {
    const reasons = [...missing].map(([name, by]) => `${by} links to ${name}`);
    const names = [...patterns, ...missing.keys()].map((name) =>
      /[^\w/@.+-]/.test(name) ? JSON.stringify(name) : name,
    );
    throw new DataRefusal(
      `${some(reasons, 5)}, which --only leaves out: name ${missing.size === 1 ? "it" : "them"} as well (--only ${some(names, 20)})`,
    );
  }
  return { taken: [...taken], left: changes.filter((change) => !taken.has(change)) };
}

/** Finds what a change links to among all changes. */
function linking(changes: readonly PromotedChange[], seeds: Seeds): (change: PromotedChange) => PromotedChange[] {
  const rowName = (seed: string, key: string): string => JSON.stringify([seed, key]);
  const rows = new Map(
    changes.flatMap((change) => (change.row ? [[rowName(change.path[1] ?? "", change.row.key), change] as const] : [])),
  );
  const added = (isMeant: (path: readonly string[]) => boolean): PromotedChange[] =>
    changes.filter((change) => change.do === "add" && !change.row && isMeant(change.path));
  const addedSeeds = (names: readonly string[]): PromotedChange[] =>
    added(([kind, name = ""]) => kind === "seeds" && names.includes(name));

  /** The seeds that a seed names, and the teams that see its rows. */
  const ofSeed = (name: string): PromotedChange[] => {
    const teams = (seeds[name]?.teamViewers ?? []).flatMap((viewer) => {
      const [organization = "", team = ""] = typeof viewer === "string" ? [] : viewer.team.split("/");
      return typeof viewer === "string" ? [] : [["organizations", organization, "teams", team]];
    });
    return [
      ...addedSeeds(mentionsIn(seeds, name).map(({ seed }) => seed)),
      ...added((path) => path[0] === "organizations" && teams.some((team) => isBelow(team, path))),
    ];
  };

  const ofRow = (name: string, change: PromotedChange): PromotedChange[] => {
    const cells = cellsOf(change);
    // A run writes no such cell of a row that is there.
    const ignored = change.do === "change" ? (seeds[name]?.ignoreLabels ?? []) : [];
    return mentionsIn(seeds, name)
      .filter(({ label }) => !ignored.includes(label))
      .flatMap(({ label, seed }) => {
        const keys = [cells[label]].flat().flatMap((value) => keyText(value) ?? []);
        return [...keys.flatMap((key) => rows.get(rowName(seed, key)) ?? []), ...addedSeeds([seed])];
      });
  };

  /** The app that an invitation opens. */
  const ofMember = (change: PromotedChange): PromotedChange[] => {
    const target = cellsOf(change)["targetInitialApp"];
    const app = typeof target === "object" && target !== null && "app" in target ? target.app : undefined;
    return app === undefined ? [] : added((path) => path[0] === "apps" && path[1] === app);
  };

  return (change) => {
    if (change.do === "remove" || change.do === "rename") return [];
    const above = added((path) => path.length < change.path.length && isBelow(change.path, path));
    const [kind, seed = ""] = change.path;
    if (kind !== "seeds") return [...above, ...ofMember(change)];
    // A row of a seed that is new comes with it, and a cell with the name of its column.
    const own = change.row ? addedSeeds([seed]) : [];
    const columns = changes.filter(
      (other) => other.do === "rename" && change.row && other.path[1] === seed && other.now in cellsOf(change),
    );
    return [...above, ...own, ...columns, ...(isSeed(change) ? ofSeed(seed) : ofRow(seed, change))];
  };
}

/** The labels of a seed whose values are keys of another one's rows, or are expected to stand there. */
function mentionsIn(seeds: Seeds, name: string): { label: string; seed: string }[] {
  const { references = {}, parent, expect } = seeds[name] ?? {};
  const expected = Object.entries(expect?.relationships ?? {});
  const links = [...Object.entries(references), ...expected, ...(parent ? [[parent.by, parent] as const] : [])];
  return links.flatMap(([label, rows]) => {
    if ("seed" in rows) return [{ label, seed: rows.seed }];
    const isOf = ({ table, key }: Seeds[string]): boolean => table === rows.table && key.join() === rows.key;
    return Object.entries(seeds).flatMap(([seed, other]) => (isOf(other) ? [{ label, seed }] : []));
  });
}

/** The cells of a change as `from` has them. */
function cellsOf(change: PromotedChange): Cells {
  if (change.do === "rename") return {};
  if (change.do !== "change") return change.cells;
  return Object.fromEntries(Object.entries(change.cells).map(([label, { from }]) => [label, from]));
}
