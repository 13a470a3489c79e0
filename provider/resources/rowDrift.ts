import type { OnConflict, Mode } from "../reconcile/rows.ts";
import { callsAhead, type Changes } from "./rowReports.ts";
import type { LinkDeclaration } from "./rowLookups.ts";
import { quoted } from "./rowSource.ts";

/** What was done by hand to rows of ours, and the first keys of both kinds. */
export interface Drift {
  changed: number;
  missing: number;
  changedKeys: string[];
  missingKeys: string[];
  /** Those of the changed ones that only lost the row that they were linked to: nobody edited them. */
  unlinked?: number | undefined;
  unlinkedKeys?: string[] | undefined;
}

/** Keys that a message names. */
const mostNamed = 10;

/** What of a drift is not left as it is: edits may be kept, and rows that may only be inserted are not changed back. */
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

/** The drift in one line, with the first keys and, when nothing else is to be done, the calls that repair it. */
export function driftSaid(
  declaration: LinkDeclaration & { onConflict: OnConflict },
  drift: Drift,
  { owned, alone }: { owned: number; alone: boolean },
): string {
  const { changed, missing, changedKeys, missingKeys, unlinked = 0 } = drift;
  const byHand = changed + missing > unlinked;
  const keys = [...changedKeys, ...missingKeys].slice(0, mostNamed);
  const more = changed + missing > keys.length ? ", …" : "";
  const named = keys.length > 0 ? `: ${keys.map(quoted).join(", ")}${more}` : "";
  const said = byHand
    ? `rows edited by hand: ${changed} changed, ${missing} removed${named}`
    : `rows whose links lead nowhere any more: ${changed}${named}`;
  if (byHand && declaration.onConflict === "error") return `${said}; onConflict is "error", so an update stops at them`;
  const calls = callsAhead(declaration, withRepairs({ insert: 0, update: 0, remove: 0 }, drift), owned - missing);
  return alone ? `${said}; about ${calls} calls` : said;
}
