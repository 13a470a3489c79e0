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
import { isBelow, mergeSettings, nameOfPath, pathIn, settingsIn, type SettingsMerge } from "./settings.ts";

/** Terms of a promotion: how conflicts are decided, and which changes are chosen. */
export interface PromotionTerms {
  only: readonly string[];
  ours: readonly string[];
  theirs: readonly string[];
}

/** Compares two environments with their base, and plans what the later one gets. Writes nothing. Throws a DataRefusal. */
export async function planPromotion(
  sides: PromotionSides,
  base: PromotionBase,
  terms: PromotionTerms,
): Promise<Promotion> {
  return new Planning(sides, terms).plan(base);
}

class Planning {
  readonly #sides: PromotionSides;
  readonly #terms: PromotionTerms;
  readonly #taken: PromotedChange[] = [];
  readonly #conflicts: PromotionConflict[] = [];
  readonly #notes: string[] = [];
  #untouched = 0;
  #kept = 0;
  #alike = 0;

  constructor(sides: PromotionSides, terms: PromotionTerms) {
    this.#sides = sides;
    this.#terms = terms;
  }

  async plan(base: PromotionBase): Promise<Promotion> {
    const { from, to, base: before } = this.#sides;
    const roots = { base: before.document?.root, from: rootOf(from), to: rootOf(to) };
    const names = { from: from.name, to: to.name };
    const decide: Decide = (key, label) => this.#decision(nameOfPath(pathIn(key)), label);
    const settings = mergeSettings(roots, { names, decide });
    await this.#takeSettings(settings);
    await this.#takeRows(settings);
    const known = new Set(
      Object.values(roots).flatMap((root) =>
        root ? [...settingsIn(root).values()].flatMap(({ path }) => [nameOfPath(path), path.join("/")]) : [],
      ),
    );
    return this.#chosen(base, known);
  }

  async #takeSettings(settings: SettingsMerge): Promise<void> {
    this.#count(settings);
    this.#notes.push(...settings.notes);
    const removed = settings.taken.flatMap(({ do: verb, key }) => (verb === "remove" ? [pathIn(key)] : []));
    for (const change of settings.taken) {
      const path = pathIn(change.key);
      const subject = { name: nameOfPath(path), path };
      const isOwn = change.do === "remove" && (await this.#hasOwn(path, removed, settings));
      const decision = isOwn ? this.#decision(subject.name, undefined) : "theirs";
      const isBelowRemoved = removed.some((above) => above.length < path.length && isBelow(path, above));
      if (decision === "ours") this.#kept++;
      else if (decision === undefined)
        this.#conflicts.push({ ...subject, base: change.cells, from: undefined, to: "has rows or people of its own" });
      else if (isOwn || change.do !== "remove" || !isBelowRemoved) this.#taken.push({ ...subject, ...change });
    }
    for (const conflict of settings.conflicts) {
      const path = pathIn(conflict.key);
      this.#conflicts.push({ name: nameOfPath(path), path, ...conflict });
    }
  }

  /** True if `to` has something below a thing that would go, and that is not at the base. */
  async #hasOwn(
    path: readonly string[],
    removed: readonly (readonly string[])[],
    settings: SettingsMerge,
  ): Promise<boolean> {
    const isRemoved = (other: readonly string[]): boolean =>
      removed.some((each) => each.join("\0") === other.join("\0"));
    const below = [...settingsIn(rootOf(this.#sides.to)).values()].filter((record) => isBelow(record.path, path));
    if (below.some((record) => !isRemoved(record.path))) return true;
    const [kind, seed = ""] = path;
    return kind === "seeds" && hasOwnRows(this.#sides, seed, this.#formerSeed(seed, settings));
  }

  #formerSeed(seed: string, { pathNow }: SettingsMerge): string {
    const names = Object.keys(this.#sides.base.declaration.seeds);
    return names.find((name) => pathNow(["seeds", name])[1] === seed) ?? seed;
  }

  async #takeRows(settings: SettingsMerge): Promise<void> {
    const { from, to } = this.#sides;
    for (const seed of from.declared.declaration.seedOrder) {
      const former = this.#formerSeed(seed, settings);
      const decideRow =
        (key: string): Decide =>
        (_, label) =>
          this.#decision(`${seed}/${key}`, label);
      const merge = await mergeRows(this.#sides, seed, former, decideRow);
      if (!merge) continue;
      if ("note" in merge) {
        this.#notes.push(merge.note);
        continue;
      }
      this.#count(merge);
      this.#notes.push(...merge.notes);
      const whole = { name: seed, path: ["seeds", seed] };
      for (const { former, now } of merge.renamed) this.#taken.push({ ...whole, do: "rename", former, now });
      for (const { label, ...names } of merge.columnConflicts)
        this.#conflicts.push({ ...whole, label, base: label, ...names });
      const subjectOf = (key: string): PromotedSubject => ({
        name: `${seed}/${printableKey(merge.key, key)}`,
        path: ["seeds", seed],
        row: { key, labels: merge.key },
      });
      for (const change of merge.taken) this.#taken.push({ ...subjectOf(change.key), ...change });
      for (const conflict of merge.conflicts) this.#conflicts.push({ ...subjectOf(conflict.key), ...conflict });
    }
    await this.#assertOneSeed(to.name);
  }

  /** A row of a table that two seeds would have is refused before it is written. */
  async #assertOneSeed(name: string): Promise<void> {
    const { seeds } = this.#sides.to.declared.declaration;
    const added = this.#taken.filter(({ do: verb, row }) => verb === "add" && row);
    for (const [seed, rows] of Map.groupBy(added, ({ path }) => path[1] ?? "")) {
      const own = seeds[seed];
      const others = Object.entries(seeds).filter(
        ([other, { table, key }]) => other !== seed && table === own?.table && key.join("\0") === own.key.join("\0"),
      );
      for (const [other] of others) {
        const twice = await this.#findTwin(other, rows);
        if (!twice) continue;
        const { table: which = "" } = own ?? {};
        throw new DataRefusal(
          `${twice.name} is a row of ${other} in ${name}, and the table ${which} has one row of a key: move it to ${seed} there, then promote`,
        );
      }
    }
  }

  /** The first of some added rows that a seed of `to` has, and keeps. */
  async #findTwin(seed: string, added: readonly PromotedChange[]): Promise<PromotedChange | undefined> {
    const { declared, name } = this.#sides.to;
    const side = findSeed(declared, seed, name);
    const rows = side && (await readRows(side));
    return added.find(({ row }) => rows?.has(row?.key ?? "") && !this.#isRemoved(seed, row?.key ?? ""));
  }

  #isRemoved(seed: string, key: string): boolean {
    return this.#taken.some(
      ({ do: verb, path, row }) => verb === "remove" && path[1] === seed && (!row || row.key === key),
    );
  }

  #chosen(base: PromotionBase, known: ReadonlySet<string>): Promotion {
    const { only, ours, theirs } = this.#terms;
    const all = [...this.#taken, ...this.#conflicts];
    assertKnown([...only, ...ours, ...theirs], known, all);
    const { from, to } = this.#sides;
    const { seeds } = from.declared.declaration;
    const { chosen, left } = select(this.#taken, only, seeds);
    const touches = (conflict: PromotionConflict): boolean =>
      only.length === 0 || only.some((each) => isNamed(conflict.name, each) || isNamed(conflict.path.join("/"), each));
    return {
      from: from.name,
      to: to.name,
      base,
      taken: chosen,
      left,
      conflicts: this.#conflicts.filter(touches),
      leftConflicts: this.#conflicts.filter((conflict) => !touches(conflict)).length,
      untouched: this.#untouched,
      kept: this.#kept,
      alike: this.#alike,
      notes: [...new Set(this.#notes)],
    };
  }

  #decision(name: string, label: string | undefined): "ours" | "theirs" | undefined {
    const whole = label === undefined ? name : `${name}/${label}`;
    const { ours, theirs } = this.#terms;
    if (ours.some((pattern) => isNamed(whole, pattern))) return "ours";
    return theirs.some((pattern) => isNamed(whole, pattern)) ? "theirs" : undefined;
  }

  #count({ untouched, kept, alike }: RecordMerge): void {
    this.#untouched += untouched;
    this.#kept += kept.length;
    this.#alike += alike;
  }
}

function rootOf({ name, declared }: PromotionSides["from"]): Value {
  const root = declared.document?.root;
  if (!root) throw new DataRefusal(`${declared.file} of ${name} breaks a rule: "microapps environment check" names it`);
  return root;
}

/** True if a name on the command line means something: itself, or a thing that it is below. */
const isNamed = (name: string, pattern: string): boolean => name === pattern || name.startsWith(`${pattern}/`);

/** A thing or row by its full path in the file, which differs for things of one name. */
const fullName = ({ path, row, name }: PromotedSubject): string =>
  [...path, ...(row ? [name.slice(name.indexOf("/") + 1)] : [])].join("/");

const isMeant = (subject: PromotedSubject, pattern: string): boolean =>
  isNamed(subject.name, pattern) || isNamed(fullName(subject), pattern);

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
): { chosen: PromotedChange[]; left: PromotedChange[] } {
  if (patterns.length === 0) return { chosen: [...changes], left: [] };
  const chosen = changes.filter((change) => patterns.some((pattern) => isMeant(change, pattern)));
  const taken = new Set(chosen);
  const links = new Links(changes, seeds);
  const missing = new Map<string, string>();
  for (const change of chosen)
    for (const needed of links.of(change)) if (!taken.has(needed)) missing.set(needed.name, change.name);
  if (missing.size > 0) {
    const reasons = [...missing].map(([name, by]) => `${by} links to ${name}`);
    const names = [...patterns, ...missing.keys()].map((name) =>
      /[^\w/@.+-]/.test(name) ? JSON.stringify(name) : name,
    );
    throw new DataRefusal(
      `${some(reasons, 5)}, which --only leaves out: name ${missing.size === 1 ? "it" : "them"} as well (--only ${some(names, 20)})`,
    );
  }
  return { chosen, left: changes.filter((change) => !taken.has(change)) };
}

/** Finds what a change links to among all changes. */
class Links {
  readonly #changes: readonly PromotedChange[];
  readonly #seeds: Seeds;
  readonly #rows = new Map<string, PromotedChange>();

  constructor(changes: readonly PromotedChange[], seeds: Seeds) {
    this.#changes = changes;
    this.#seeds = seeds;
    for (const change of changes) if (change.row) this.#rows.set(rowName(change.path[1] ?? "", change.row.key), change);
  }

  of(change: PromotedChange): PromotedChange[] {
    if (change.do === "remove" || change.do === "rename") return [];
    const above = this.#added((path) => path.length < change.path.length && isBelow(change.path, path));
    const seed = change.path[0] === "seeds" ? change.path[1] : undefined;
    if (seed === undefined) return [...above, ...this.#ofTeam(change)];
    // A row of a seed that is new comes with it.
    const own = change.row ? this.#added((path) => path[0] === "seeds" && path[1] === seed) : [];
    const columns = this.#changes.filter(
      (other) => other.do === "rename" && change.row && other.path[1] === seed && other.now in cellsOf(change),
    );
    return [...above, ...own, ...columns, ...(isSeed(change) ? this.#ofSeed(seed) : this.#ofRow(seed, change))];
  }

  #added(isMeant: (path: readonly string[]) => boolean): PromotedChange[] {
    return this.#changes.filter((change) => change.do === "add" && !change.row && isMeant(change.path));
  }

  /** The seeds that a seed names, and the teams that see its rows. */
  #ofSeed(name: string): PromotedChange[] {
    const seed = this.#seeds[name];
    if (!seed) return [];
    const named = this.#mentions(name).flatMap(({ seed }) => seed);
    const teams = (seed.teamViewers ?? []).flatMap((viewer) => (typeof viewer === "string" ? [] : viewer.team));
    return this.#added(
      (path) =>
        (path[0] === "seeds" && named.includes(path[1] ?? "")) ||
        (path[0] === "organizations" && teams.some((team) => isBelow(["organizations", ...pathOfTeam(team)], path))),
    );
  }

  #ofRow(name: string, change: PromotedChange): PromotedChange[] {
    const cells = cellsOf(change);
    // A run writes no such cell of a row that is there.
    const ignored = change.do === "change" ? (this.#seeds[name]?.ignoreLabels ?? []) : [];
    return this.#mentions(name).flatMap(({ label, seed }) => {
      if (ignored.includes(label)) return [];
      const keys = [cells[label]].flat().flatMap((value) => keyText(value) ?? []);
      const rows = keys.flatMap((key) => this.#rows.get(rowName(seed, key)) ?? []);
      return [...rows, ...this.#added((path) => path[0] === "seeds" && path[1] === seed)];
    });
  }

  /** The app that an invitation opens. */
  #ofTeam(change: PromotedChange): PromotedChange[] {
    const target = cellsOf(change)["targetInitialApp"];
    const app = typeof target === "object" && target !== null && "app" in target ? target.app : undefined;
    return app === undefined ? [] : this.#added((path) => path[0] === "apps" && path[1] === app);
  }

  /** The labels of a seed whose values are keys of another one's rows, or are expected to stand there. */
  #mentions(name: string): { label: string; seed: string }[] {
    const { references = {}, parent, expect } = this.#seeds[name] ?? {};
    const expected = Object.entries(expect?.relationships ?? {});
    const links = [...Object.entries(references), ...expected, ...(parent ? [[parent.by, parent] as const] : [])];
    return links.flatMap(([label, rows]) => {
      if ("seed" in rows) return [{ label, seed: rows.seed }];
      const { table, key } = rows;
      return Object.entries(this.#seeds).flatMap(([seed, other]) =>
        other.table === table && other.key.join() === key ? [{ label, seed }] : [],
      );
    });
  }
}

const rowName = (seed: string, key: string): string => JSON.stringify([seed, key]);

function pathOfTeam(team: string): string[] {
  const [organization = "", name = ""] = team.split("/");
  return [organization, "teams", name];
}

/** The cells of a change as `from` has them. */
function cellsOf(change: PromotedChange): Cells {
  if (change.do === "rename") return {};
  if (change.do !== "change") return change.cells;
  return Object.fromEntries(Object.entries(change.cells).map(([label, { from }]) => [label, from]));
}
