import { createHash } from "node:crypto";
import { z } from "zod";
import { RowSet } from "../../../reconcile/rowSet.ts";
import type { Context } from "../../model/resource.ts";
import { anyIntent, forgetIntent, readIntent, writeIntent } from "../../records/intents.ts";
import { listFoundAmong, encodeFound } from "./foundKeys.ts";
import type { SeedInputs } from "./state.ts";

type Reach = Pick<Context, "directory" | "now" | "report">;
type Seed = Pick<SeedInputs, "resourceUrn" | "table">;

/** That a run is about to insert rows: until the state is another one, rows as declared may be its work. */
const inserting = anyIntent.extend({ table: z.string(), before: z.string() });
/** Rows that a seed which left the program has made, and that stay for this one. */
const handing = anyIntent.extend({ table: z.string(), keys: z.string() });

const insertingOf = (urn: string): string => `${urn}#inserting`;
const handingOf = (urn: string): string => `${urn}#handed over`;
/** Digest of a ledger, or of a table, whose name may be a secret. */
const nameOf = (ledger = ""): string => createHash("sha256").update(ledger).digest("hex").slice(0, 32);

/** Notes, before the first insert, that rows are about to be made which no state knows. */
export async function beginInserts(
  { directory, now, report }: Reach,
  { resourceUrn, table }: Seed,
  ledger: string | undefined,
): Promise<void> {
  if (resourceUrn === undefined) return;
  const intent = { urn: insertingOf(resourceUrn), startedAt: new Date(now()).toISOString(), table: nameOf(table) };
  await kept(report, () => writeIntent(directory, { ...intent, before: nameOf(ledger) }));
}

/** True if a run that ended before its state was written may have inserted rows of this seed. */
export async function isUnfinished(
  { directory }: Pick<Reach, "directory">,
  { resourceUrn, table }: Seed,
  ledger: string | undefined,
): Promise<boolean> {
  if (resourceUrn === undefined) return false;
  const begun = await readIntent(directory, insertingOf(resourceUrn), inserting);
  return begun?.isSealed === true && begun.table === nameOf(table) && begun.before === nameOf(ledger);
}

/** Notes rows, by the keys of the seed that declares them from now on, that a seed made which leaves the program. */
export async function noteMade(context: Reach, seed: Seed, rows: RowSet): Promise<void> {
  const { resourceUrn, table } = seed;
  if (resourceUrn === undefined || rows.length === 0) return;
  const urn = handingOf(resourceUrn);
  const before = await readIntent(context.directory, urn, handing);
  const known =
    before?.isSealed && before.table === nameOf(table)
      ? (listFoundAmong(before.keys, rows) ?? new RowSet())
      : undefined;
  if (known && known.length === rows.length) return;
  const keys = encodeFound(rows);
  const startedAt = new Date(context.now()).toISOString();
  await kept(context.report, () => writeIntent(context.directory, { urn, startedAt, table: nameOf(table), keys }));
}

/** Those of the rows that were noted as made. */
export async function listMadeAmong(
  { directory }: Pick<Reach, "directory">,
  seed: Seed,
  rows: RowSet,
): Promise<RowSet> {
  const { resourceUrn, table } = seed;
  if (resourceUrn === undefined || rows.length === 0) return new RowSet();
  const noted = await readIntent(directory, handingOf(resourceUrn), handing);
  if (!noted?.isSealed || noted.table !== nameOf(table)) return new RowSet();
  return listFoundAmong(noted.keys, rows) ?? new RowSet();
}

/** Forgets what was noted of a seed that is no more. */
export async function forgetMade({ directory }: Pick<Reach, "directory">, urn: string | undefined): Promise<void> {
  if (urn === undefined) return;
  await Promise.all([insertingOf(urn), handingOf(urn)].map((one) => forgetIntent(directory, one)));
}

/** Where nothing can be kept, rows whose maker is not known are left alone: that harms nobody. */
async function kept(report: Reach["report"], write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    report.warning(
      `no note of rows that are about to be made can be kept: after a kill they count as found (${reason})`,
    );
  }
}
