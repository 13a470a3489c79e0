import type { RowData } from "../../platform/contract/values.ts";
import type { OnConflict, Mode } from "../reconcile/rows.ts";
import { brief, comparing } from "./cells.ts";
import {
  areAlike,
  describeRows,
  maxRows,
  rowsByKey,
  withoutSecrets,
  withoutIgnored,
  type RowsByKey,
} from "./declaration.ts";
import type { Seed, Drift } from "./inputs.ts";
import { callsAhead, type Changes } from "./reports.ts";
import { isHidden } from "./source/source.ts";

/** Secret values of rows by natural key and label, sealed. */
export type FoundSecrets = Record<string, Record<string, string>>;

/** Cells of the first changed rows on the platform, of declared labels; cuts long values and seals secret ones. */
export class EditedRows {
  readonly keys: string[] = [];
  readonly #declaration: Seed & { labels: readonly string[] };
  readonly #found: [key: string, values: RowData][] = [];

  constructor(declaration: Seed & { labels: readonly string[] }) {
    this.#declaration = declaration;
  }

  observe(key: string, values: RowData): void {
    this.keys.push(key);
    if (this.#found.length < maxRows) this.#found.push([key, withoutSecrets(this.#declaration, values)]);
  }

  /** Rows without their secret cells. */
  get found(): Record<string, RowData> {
    return this.#cells((label) => !isHidden(this.#declaration, label));
  }

  /** The secret part of the rows; undefined where there is none. */
  get secrets(): FoundSecrets | undefined {
    if ((this.#declaration.secretLabels ?? []).length === 0) return undefined;
    return this.#cells((label) => isHidden(this.#declaration, label)) as FoundSecrets; // sealed values are texts
  }

  #cells(isMeant: (label: string) => boolean): Record<string, RowData> {
    const labels = this.#declaration.labels.filter(isMeant);
    const form = comparing(this.#declaration);
    const rows = this.#found.map(([key, values]) => {
      const cells = labels.flatMap((label) => {
        const value = values[label];
        return value === undefined || value === null ? [] : [[label, brief(value, form(label, value))] as const];
      });
      return [key, Object.fromEntries(cells)] as const;
    });
    return Object.fromEntries(rows);
  }
}

/** Rows as they were found on the platform, secret values sealed. */
export const sealFoundRows = (
  declaration: Seed,
  { found = {} }: Pick<Drift, "found">,
  secrets: FoundSecrets = {},
): RowsByKey =>
  new Map(
    Object.entries(found).map(([key, values]) => [
      key,
      withoutIgnored(declaration, { ...withoutSecrets(declaration, values), ...secrets[key] }),
    ]),
  );

/** The part of a drift that an update repairs: edits may be kept, and insert-only rows are not changed back. */
export function repairsOf(
  { mode, onConflict }: { mode: Mode; onConflict: OnConflict },
  drift: Drift | undefined,
): Drift | undefined {
  if (!drift) return undefined;
  const { unlinked = 0, unlinkedKeys = [] } = drift;
  const left: Drift =
    onConflict === "keepLive"
      ? { ...drift, changed: unlinked, changedKeys: unlinkedKeys, missing: 0, missingKeys: [] }
      : drift;
  const repaired = mode === "insertOnly" ? { ...left, changed: 0, changedKeys: [] } : left;
  return repaired.changed + repaired.missing > 0 ? repaired : undefined;
}

/** The changes of a run that repairs a drift as well. */
export const withRepairs = (changes: Changes, { changed, missing }: Drift): Changes => ({
  insert: changes.insert + missing,
  update: changes.update + changed,
  remove: changes.remove,
});

/**
 * Describes the drift in one line: the changed rows, cell by cell (declared => found), and the missing rows.
 * When nothing else is to be done it has the calls that repair it. Undefined where the declared rows are those that a
 * refresh has found: it has described them, and what the program declares is compared later.
 */
export async function driftMessage(
  declaration: Seed & { onConflict: OnConflict },
  drift: Drift,
  {
    owned,
    alone,
    directory,
    secrets,
  }: { owned: number; alone: boolean; directory: string; secrets?: FoundSecrets | undefined },
): Promise<string | undefined> {
  const { changed, missing, changedKeys, missingKeys, unlinked = 0 } = drift;
  const byHand = changed + missing > unlinked;
  const is = sealFoundRows(declaration, drift, secrets);
  const was = is.size === 0 ? is : await rowsByKey(declaration, directory, changedKeys);
  if (missing === 0 && unlinked === 0 && areAlike(declaration, changed, { was, is })) return undefined;
  const parts = [
    part(changed, "changed", describeRows(declaration, changedKeys, changed, { was, is })),
    part(missing, "gone", describeRows(declaration, missingKeys, missing)),
  ].filter((each) => each !== "");
  const lost = describeRows(declaration, changedKeys, changed);
  const changes = byHand
    ? `rows edited by hand: ${parts.join(", ")}`
    : `rows whose links lead nowhere any more: ${changed}${lost === "" ? "" : ` (${lost})`}`;
  if (byHand && declaration.onConflict === "error")
    return `${changes}; onConflict is "error", so an update stops at them`;
  const calls = callsAhead(declaration, withRepairs({ insert: 0, update: 0, remove: 0 }, drift), owned - missing);
  return alone ? `${changes}; about ${calls} calls` : changes;
}

const part = (count: number, what: string, rows: string): string =>
  count === 0 ? "" : `${count} ${what}${rows === "" ? "" : ` (${rows})`}`;
