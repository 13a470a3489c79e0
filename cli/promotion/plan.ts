import type { Value } from "../../provider/layers/document.ts";
import { printableKey } from "../../provider/reconcile/merging/records.ts";
import type { Decide, MergeConflict, Takeover } from "../../provider/reconcile/merging/threeWay.ts";
import { mergeSettings, type SettingsMerge } from "./mergeSettings.ts";
import type {
  PromotedChange,
  Promotion,
  PromotionBase,
  PromotionConflict,
  PromotionSides,
  PromotedSubject,
} from "./model/model.ts";
import { PromotionError } from "./model/promotionError.ts";
import { hasOwnRows, mergeRows } from "./rows/mergeRows.ts";
import { findSeed, readRows } from "./rows/rowTables.ts";
import { assertKnown, isNamed, select } from "./selection.ts";
import { isBelow, nameOfPath, pathIn, settingsIn } from "./settings.ts";

/** Terms of a promotion: how conflicts are decided, and which changes are chosen. */
export interface PromotionTerms {
  conflicts: "cell" | "row";
  only: readonly string[];
  ours: readonly string[];
  theirs: readonly string[];
}

/** Compares two environments with their base, and plans what the later one gets. Writes nothing. Throws a PromotionError. */
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
    const { conflicts } = this.#terms;
    const decide: Decide = (key, label) => this.#decision(nameOfPath(pathIn(key)), label);
    const settings = mergeSettings(roots, { names, conflicts, decide });
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
    this.#count({ ...settings, untouched: settings.untouched.length });
    this.#notes.push(...settings.notes);
    const removed = settings.taken.flatMap(({ do: verb, key }) => (verb === "remove" ? [pathIn(key)] : []));
    for (const change of settings.taken) {
      const path = pathIn(change.key);
      const subject = { name: nameOfPath(path), path };
      if (change.do !== "remove") this.#taken.push({ ...subject, ...withoutKey(change) });
      else if (await this.#hasOwn(path, removed, settings)) {
        const decision = this.#decision(subject.name, undefined);
        if (decision === "ours") this.#kept++;
        else if (decision !== "theirs") {
          this.#conflicts.push({
            ...subject,
            base: change.cells,
            from: undefined,
            to: "has rows or people of its own",
          });
        } else this.#taken.push({ ...subject, do: "remove", cells: change.cells });
      } else if (!removed.some((above) => above.length < path.length && isBelow(path, above))) {
        this.#taken.push({ ...subject, do: "remove", cells: change.cells });
      }
    }
    for (const conflict of settings.conflicts) {
      const path = pathIn(conflict.key);
      this.#conflicts.push({ name: nameOfPath(path), path, ...valuesOf(conflict) });
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
      const merge = await mergeRows(this.#sides, seed, former, { conflicts: this.#terms.conflicts, decideRow });
      if (!merge) continue;
      if ("note" in merge) {
        this.#notes.push(merge.note);
        continue;
      }
      this.#count(merge);
      this.#notes.push(...merge.notes);
      const subjectOf = (key: string): PromotedSubject => ({
        name: `${seed}/${printableKey(merge.key, key)}`,
        path: ["seeds", seed],
        row: { key, labels: merge.key },
      });
      for (const change of merge.taken) this.#taken.push({ ...subjectOf(change.key), ...withoutKey(change) });
      for (const conflict of merge.conflicts)
        this.#conflicts.push({ ...subjectOf(conflict.key), ...valuesOf(conflict) });
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
        throw new PromotionError(
          `${twice.name} is a row of ${other} in ${name}, and the table ${which} has one row of a key: move it to ${seed} there, then promote`,
        );
      }
    }
  }

  /** The first of some added rows that a seed of `to` has, and keeps. */
  async #findTwin(seed: string, added: readonly PromotedChange[]): Promise<PromotedChange | undefined> {
    const { declared, name } = this.#sides.to;
    const side = findSeed(declared, seed, name);
    const byKey = new Map(added.map((change) => [change.row?.key ?? "", change]));
    for await (const rows of side ? readRows(side) : []) {
      for (const { key } of rows) {
        const twin = byKey.get(key);
        if (twin && !this.#isRemoved(seed, key)) return twin;
      }
    }
    return undefined;
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
    const { chosen, left } = only.length > 0 ? select(this.#taken, only, seeds) : { chosen: this.#taken, left: [] };
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

  #count({ untouched, kept, alike }: { untouched: number; kept: readonly string[]; alike: number }): void {
    this.#untouched += untouched;
    this.#kept += kept.length;
    this.#alike += alike;
  }
}

function rootOf({ name, declared }: PromotionSides["from"]): Value {
  const root = declared.document?.root;
  if (!root)
    throw new PromotionError(`${declared.file} of ${name} breaks a rule: "microapps environment check" names it`);
  return root;
}

type WithoutKey<One> = One extends unknown ? Omit<One, "key"> : never;

/** A change without the key of its record, which its subject has. */
function withoutKey(change: Takeover): WithoutKey<Takeover> {
  const { key: _, ...rest } = change;
  return rest;
}

const valuesOf = ({ label, base, from, to }: MergeConflict) => ({
  ...(label === undefined ? {} : { label }),
  base,
  from,
  to,
});
