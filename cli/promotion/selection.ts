import { nearest } from "../../machine/spelling.ts";
import { some } from "../../provider/messages/text.ts";
import { keyText } from "../../provider/reconcile/digests.ts";
import type { Cells } from "../../provider/reconcile/merging/records.ts";
import { isSeed, type PromotedChange, type Seeds, type PromotedSubject } from "./model/model.ts";
import { PromotionError } from "./model/promotionError.ts";
import { isBelow } from "./settings.ts";

/** True if a name on the command line means something: itself, or a thing that it is below. */
export const isNamed = (name: string, pattern: string): boolean => name === pattern || name.startsWith(`${pattern}/`);

/** A thing or row by its full path in the file, which differs for things of one name. */
const fullName = ({ path, row, name }: PromotedSubject): string =>
  [...path, ...(row ? [name.slice(name.indexOf("/") + 1)] : [])].join("/");

const isMeant = (subject: PromotedSubject, pattern: string): boolean =>
  isNamed(subject.name, pattern) || isNamed(fullName(subject), pattern);

/** Throws a PromotionError for a name on the command line that no environment has. */
export function assertKnown(
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
    throw new PromotionError(`neither environment has ${pattern}: ${advice}`);
  }
}

/** The chosen changes with those that they need, and the others. */
export interface Selection {
  chosen: PromotedChange[];
  left: PromotedChange[];
}

/** Chooses changes by name, and takes along what they link to. */
export function select(changes: readonly PromotedChange[], patterns: readonly string[], seeds: Seeds): Selection {
  const chosen = new Map<PromotedChange, PromotedChange>();
  const waiting: PromotedChange[] = [];
  const choose = (change: PromotedChange, by: PromotedChange | undefined): void => {
    if (chosen.has(change)) return;
    chosen.set(change, by ? { ...change, with: by.with === undefined ? by.name : by.with } : change);
    waiting.push(change);
  };
  for (const change of changes) if (patterns.some((pattern) => isMeant(change, pattern))) choose(change, undefined);
  const index = new Links(changes, seeds);
  for (let next = waiting.pop(); next; next = waiting.pop())
    for (const needed of index.of(next)) choose(needed, chosen.get(next));
  return {
    chosen: changes.flatMap((change) => chosen.get(change) ?? []),
    left: changes.filter((change) => !chosen.has(change)),
  };
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
    if (change.do === "remove") return [];
    const above = this.#added((path) => path.length < change.path.length && isBelow(change.path, path));
    const seed = change.path[0] === "seeds" ? change.path[1] : undefined;
    if (seed === undefined) return [...above, ...this.#ofTeam(change)];
    // A row of a seed that is new comes with it.
    const own = change.row ? this.#added((path) => path[0] === "seeds" && path[1] === seed) : [];
    return [...above, ...own, ...(isSeed(change) ? this.#ofSeed(seed) : this.#ofRow(seed, change))];
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
const cellsOf = (change: PromotedChange): Cells =>
  change.do === "change"
    ? Object.fromEntries(Object.entries(change.cells).map(([label, { from }]) => [label, from]))
    : change.cells;
