import { isOutdated } from "../../../reconcile/digests.ts";
import type { Ledger } from "../../../reconcile/ledger.ts";
import type { LiveRows } from "../../../reconcile/liveRows.ts";
import type { KnownRows } from "../../../reconcile/ownership.ts";
import { Renewal } from "../../../reconcile/renewal.ts";
import { digesterFor, type Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { Scope } from "../kept/scope.ts";
import type { RowContext } from "./context.ts";
import type { Links } from "./links.ts";
import { liveRows, type ObserveRow } from "./liveRows.ts";
import { byOldKey, isReshaped } from "./reshaped.ts";

/** True when only the salt, and with it every digest, differs from the last run. */
export const isRenewal = (old: RowTarget, inputs: RowTarget): boolean =>
  old.salt !== inputs.salt && !isReshaped({ ...old, salt: inputs.salt }, inputs);

/** That the state of an older version gets digests that nobody can guess, in one line; undefined where it has them. */
export const renewalMessage = ({
  salt,
  rowCount,
}: {
  salt?: string | undefined;
  rowCount: number;
}): string | undefined =>
  isOutdated(salt)
    ? `the record of ${rowCount} rows in the state is renewed with a salt, so that nobody guesses rows by it; no row changes for that. The update compares each row anew: what somebody hid from the old record shows only then`
    : undefined;

/** Reads the table and recognises our rows by the salt of the last run. Undefined when that is not all, or not enough. */
export async function readRenewedRows(
  context: RowContext,
  inputs: RowTarget,
  old: RowTarget & { labels: readonly string[] },
  seed: { ledger: Ledger; summary: Summary; links: Links; scope: Scope; see: ObserveRow; keepsIDs: boolean },
): Promise<{ live: LiveRows; ledger: KnownRows } | undefined> {
  const { summary, links, scope, see, keepsIDs } = seed;
  const renewal = isRenewal(old, inputs) ? await renewalOf(inputs, old, seed, context.directory) : undefined;
  if (!renewal) return undefined;
  const digester = digesterFor(old, old.labels);
  const seen: ObserveRow = (row) => {
    see(row);
    const key = digester.key(row.values);
    if (key) renewal.observe({ key, content: digester.content(row.values) }, row);
  };
  const live = await liveRows(context, inputs, scope, links, summary.rows, undefined, seen, keepsIDs);
  return { live, ledger: renewal };
}

/** Holds the rows of the last run here alone, so that their memory is free while the table is read. */
async function renewalOf(
  inputs: RowTarget,
  old: RowTarget,
  { summary, ledger }: { summary: Summary; ledger: Ledger },
  directory: string,
): Promise<Renewal | undefined> {
  const before = await byOldKey(old, inputs, directory);
  return before && Renewal.of(summary.rows, before.rows, ledger);
}
