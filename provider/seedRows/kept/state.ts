import { encodeLedger, type Ledger } from "../../reconcile/ledger.ts";
import type { Mode, RowOptions } from "../../reconcile/rows.ts";
import type { Summary } from "../declared/declaration.ts";
import { isWithinBounds } from "../declared/summaries.ts";
import type { RowTarget } from "../declared/target.ts";

/** Inputs of a seed that its rows depend on. */
export interface SeedInputs extends RowTarget, Omit<RowOptions, "adopt" | "maxRemovals" | "handedOver" | "existing"> {
  resourceUrn?: string | undefined;
  key: string[];
  mode: Mode;
  maxRemovals: number;
  adopt?: boolean | undefined;
  sensitive?: boolean | undefined;
  digest?: string | undefined;
  keys?: string[] | undefined;
  onViewersChange?: "newRows" | "error" | undefined;
}

/** Values that a run leaves in the state beside the inputs. */
export interface KeptState {
  rowCount: number;
  ledger: string;
  /** Those that rows declare, and in mode exact those that rows may still have from earlier runs. */
  labels: string[];
  /** Rows with a value, by label; states of earlier versions have none. */
  labelled?: Record<string, number> | undefined;
  /** In another mode than exact: labels that single rows declare, where not all declare the same. */
  labelSets?: string[][] | undefined;
  /** Digests of the keys of rows that were there as declared, and that others made. */
  existing?: string | undefined;
  /** The same in states of earlier versions, which did not ask who made a row. */
  found?: string | undefined;
  unfinished?: boolean;
  /** User IDs of the addresses that viewers and userID name, as the last run found them. */
  viewerIDs?: Record<string, string> | undefined;
  renewals?: number | undefined;
  departed?: string | undefined;
  /** IDs of rows that were inserted, and whose key was not seen yet. */
  unproven?: string[] | undefined;
}

/** State of the last run. */
export type SeedState = SeedInputs & KeptState;

/** What a state says of existing rows. */
export const existingIn = ({ existing, found }: Pick<KeptState, "existing" | "found">): string | undefined =>
  existing ?? found;

export const optionsOf = ({ mode, onConflict, adopt = false, maxRemovals }: SeedInputs): RowOptions => ({
  mode,
  onConflict,
  adopt,
  maxRemovals,
});

export function outputsOf<Inputs extends SeedInputs>(
  { rows: inline, keys, ...inputs }: Inputs,
  summary: Pick<Summary, "labels">,
  ledger: Ledger,
  more: Omit<KeptState, "rowCount" | "ledger" | "labels" | "unfinished">,
): Inputs & KeptState {
  const outputs = {
    ...inputs,
    rowCount: ledger.count,
    ledger: encodeLedger(ledger),
    labels: summary.labels,
    ...more,
  };
  // Those of a ledger that has other rows would name the wrong ones.
  const named = keys && isWithinBounds(keys) && ledger.count === keys.length ? { ...outputs, keys } : outputs;
  return named as unknown as Inputs & KeptState; // without rows, which no output holds, and with keys where they fit
}
