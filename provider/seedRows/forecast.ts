import { quote, some } from "../../platform/messages/text.ts";
import type { RowDigests } from "../reconcile/digests.ts";
import type { Ledger } from "../reconcile/ledger.ts";
import type { Forecast } from "../reconcile/rows.ts";
import type { ChangeKind } from "../resources/model/resource.ts";
import { describeRows, type BothSides } from "./declared/cells.ts";
import { keysOf, type RowDeclaration } from "./declared/declaration.ts";
import type { LinkDeclaration } from "./declared/links.ts";
import { withRepairs, type Drift } from "./drift.ts";
import { callsAhead } from "./reports.ts";

/** Keys of each kind that a message names, and that a diff shows. */
const maxNamed = 5;
export const maxShown = 20;

/** The first keys of rows that a run adds, changes and removes, up to `mostShown` of those in the source; none of secret rows. */
export interface Names {
  added: string[];
  changed: string[];
  removed: string[];
}

export const noNames = (): Names => ({ added: [], changed: [], removed: [] });

/** Names the first rows of a plan; the source is read once. `keys` are those of the ledger, as far as they are known. */
export async function firstNames(
  declaration: RowDeclaration,
  plan: Forecast,
  ledger: Ledger,
  keys: readonly string[],
  directory: string,
): Promise<Names> {
  if (!plan.exact || declaration.sensitive) return noNames();
  const { insert, update, remove, change } = plan;
  const added = insert > 0 ? change.added.first(maxShown) : [];
  const changed = update > 0 ? change.changed.slice(0, maxShown) : [];
  const chosen = [...added, ...changed].sort((a, b) => a - b);
  const found = chosen.length > 0 ? await keysOf(declaration, directory, new Set(chosen)) : [];
  const named = (indices: readonly number[]): string[] =>
    indices.flatMap((index) => found[chosen.indexOf(index)] ?? []);
  return {
    added: named(added),
    changed: named(changed),
    removed: remove > 0 ? inLedger(change.removed, ledger, keys) : [],
  };
}

/** Keys of rows of a ledger: that of a small seed keeps the order of its keys. */
const inLedger = (removed: readonly RowDigests[], ledger: Ledger, keys: readonly string[]): string[] =>
  ledger.kind === "list" ? removed.flatMap(({ key }) => keys[ledger.rows.find(key) ?? -1] ?? []) : [];

/** Parts of a run that are not known before it reads the platform. */
export interface Unknowns {
  /** True when existing rows are adopted, whatever their content is. */
  adopts?: boolean | undefined;
  /** True when links are named by another label now: they are compared on the platform alone. */
  relinked?: boolean | undefined;
  /** True when only the platform shows how many rows change. */
  isVague?: boolean | undefined;
  /** Links of rows that stay as they are may be renewed. */
  renewed?: boolean | undefined;
  /** Rows that go are read before, for a seed that comes later. */
  keepsCells?: boolean | undefined;
}

/**
 * Describes the coming run in one line with the first keys.
 * @param owned rows that were ours before
 */
export function forecast(
  declaration: RowDeclaration & LinkDeclaration,
  plan: Forecast,
  names: Names,
  owned: number,
  known: Unknowns & { repairs?: Drift | undefined; cells?: BothSides | undefined } = {},
): string {
  if (!plan.exact) {
    const { moreThan, net } = plan;
    const how = Math.abs(net) > moreThan ? `at least ${Math.abs(net)}` : `more than ${moreThan}`;
    return `${how} rows to add, change or remove (${net >= 0 ? "+" : ""}${net} rows in all)`;
  }
  const { adopts = false, relinked = false, isVague = false, renewed = false, keepsCells, repairs, cells } = known;
  const { insert, update, remove, unchanged, keptForOthers = 0, taken = 0, differing = false } = plan;
  const first = (keys: readonly string[], count: number, both?: BothSides): string =>
    keys.length === 0 ? "" : ` (${describeRows(declaration, keys, count, both)})`;
  const { removed } = names;
  const removals = removed.length === 0 ? "" : ` (${some(removed.map(quote), maxNamed)})`;
  // Rows of a removed seed stay until the end of a run, and only the platform shows if they exist.
  const parts = [
    insert > 0
      ? `${insert} to add ${adopts ? "or to take over" : "if they do not exist yet"}${first(names.added, insert)}`
      : "",
    update > 0 ? `${relinked || isVague ? "up to " : ""}${update} to change${first(names.changed, update, cells)}` : "",
    remove > 0 ? `${remove} to remove${removals}` : "",
    taken > 0 ? `${taken} to take over from another seed${differing ? ", changed where they differ" : ""}` : "",
    keptForOthers > 0 ? `${keptForOthers} to leave to another seed` : "",
    unchanged > 0 ? `${unchanged} unchanged${relinked || renewed ? " but for links" : ""}` : "",
  ];
  const calls = callsAhead(declaration, repairs ? withRepairs(plan, repairs) : plan, owned, keepsCells);
  return `rows: ${parts.filter((part) => part !== "").join(", ")}; about ${calls} calls`;
}

/** A row that a run changes, by its natural key. */
export type Part = readonly [key: string, kind: ChangeKind];

export const as =
  (kind: ChangeKind) =>
  (key: string): Part => [key, kind];
