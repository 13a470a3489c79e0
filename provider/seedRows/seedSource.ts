import { emptyLedger } from "../reconcile/ledger.ts";
import { planOffline } from "../reconcile/rows.ts";
import type { OfflineRowContext } from "./declared/claims.ts";
import { fingerprintOf, summarize } from "./declared/declaration.ts";
import { linksOf } from "./declared/links.ts";
import { keysIn } from "./declared/summaries.ts";
import { firstNames, forecast } from "./forecast.ts";
import type { SeedInputs } from "./kept/state.ts";
import { takesUp } from "./kept/tombstones.ts";
import { sayRenewed, removeTakenOver } from "./preview.ts";

/** Results of the last run's check of the source. */
type Last = Partial<Pick<SeedInputs, "table" | "digest" | "keys"> & { fingerprint: string | undefined }>;

interface Read {
  digest: string;
  fingerprint: string | undefined;
  keys: string[] | undefined;
  /** Unknown where rows that left the source stay ours, and of a file that an earlier version has read. */
  rowCount: number | undefined;
}

/** Values that check computes from a source; an unchanged file is only hashed. Reports the forecast for a new seed. */
export async function sourceOf(context: OfflineRowContext, inputs: SeedInputs, old: Last): Promise<Read> {
  const { directory, report, rowClaims } = context;
  const countOf = (rows: number | undefined): number | undefined => (inputs.mode === "exact" ? rows : undefined);
  const file = await fingerprintOf(inputs, directory);
  const last = counted(old.fingerprint);
  if (file !== undefined && file === last.file && old.digest !== undefined) {
    return { digest: old.digest, fingerprint: old.fingerprint, keys: old.keys, rowCount: countOf(last.rows) };
  }
  const summary = await summarize(inputs, directory);
  rowClaims.remember(inputs.resourceUrn, summary);
  if (old.table === undefined) {
    const plan = await removeTakenOver(context, inputs, planOffline(summary.rows, emptyLedger(), inputs.mode));
    report.rows?.({ plan, keptForOthers: new Map() });
    const names = await firstNames(inputs, plan, emptyLedger(), [], directory);
    const isVague = inputs.mode === "updateOnly";
    report.forecast(forecast(inputs, plan, names, 0, { adopts: inputs.adopt, isVague }));
    // Those that are there, since another seed had them.
    sayRenewed(
      report,
      linksOf(inputs).filter(({ table }) => rowClaims.isRenewed(table)),
    );
    if (await takesUp(context, inputs, rowClaims.going(inputs.table, inputs.resourceUrn)))
      rowClaims.renew(inputs.table);
  }
  const rows = summary.rows.length;
  const keys = await keysIn(inputs, summary, directory);
  summary.rows.rest(); // until it is applied, of many seeds at once
  return {
    digest: summary.digest,
    fingerprint: file && `${file}:${rows}`,
    keys,
    rowCount: countOf(rows),
  };
}

/** The file's digest and its number of rows, which those of earlier versions lack. */
function counted(fingerprint = ""): { file: string; rows: number | undefined } {
  const [file = "", rows] = fingerprint.split(":");
  return { file, rows: rows === undefined ? undefined : Number(rows) };
}
