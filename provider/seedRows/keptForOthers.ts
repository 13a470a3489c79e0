import type { Row } from "../../platform/contract/values.ts";
import type { RowDigests } from "../reconcile/digests.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { type Report, ResourceError } from "../resources/model/resource.ts";
import type { RowClaim } from "./declared/claims.ts";
import { digesterFor } from "./declared/declaration.ts";
import type { RowTarget } from "./declared/target.ts";
import { keysWithin, sameKey } from "./declared/terms.ts";
import type { RowContext } from "./live/context.ts";
import { Links } from "./live/links.ts";
import { rowsByIDs } from "./live/queries.ts";
import { referringTo } from "./owners.ts";
import { listLinkedLabels } from "./source/source.ts";
import type { Removal, HandedOverRows } from "./writing/steps.ts";

/**
 * Takes rows that another seed of the program declares out of what is to be removed.
 * @param target the seed that removes them
 * @param claims the others
 */
export async function withoutClaimed(
  context: RowContext,
  target: RowTarget,
  removals: readonly Removal[],
  claims: readonly RowClaim[],
): Promise<{ left: Removal[]; keptForOthers: HandedOverRows }> {
  const keptForOthers = new Map<string, number>();
  let left = [...removals];
  for (const claim of claims) {
    if (left.length === 0) break;
    const claimed = await claimedBy(context, target, left, claim);
    const staying = left.filter((row) => claimed(row));
    if (staying.length === 0) continue;
    keptForOthers.set(claim.name, staying.length);
    left = left.filter((row) => !claimed(row));
  }
  return { left, keptForOthers };
}

/** Answers whether a seed declares a row: by its digest, or by the live row where keys have other labels. */
async function claimedBy(
  context: RowContext,
  target: RowTarget,
  removals: readonly Removal[],
  claim: RowClaim,
): Promise<(row: Removal) => boolean> {
  if (sameKey(target, claim.target)) {
    const staying = await keysWithin({ target, keys: RowSet.of(removals) }, claim.target, context.directory);
    return ({ key }) => staying.has(key);
  }
  const { rows } = await context.rowClaims.summary(claim);
  const { key } = claim.target;
  const linked = listLinkedLabels(claim.target);
  const links = linked.some((label) => key.includes(label)) ? await Links.of(context, claim.target) : undefined;
  const digester = digesterFor(claim.target);
  const declared = new Set<string>();
  const take = (row: Row): void => {
    const digest = digester.key(links?.inSourceTerms(row) ?? row);
    if (digest && rows.has(digest)) declared.add(row._id);
  };
  const ids = removals.map(({ id }) => id);
  for await (const page of rowsByIDs(context, target.table, ids)) page.forEach(take);
  return ({ id }) => declared.has(id);
}

/** Throws when rows of other seeds refer to what is about to be removed: a link must not lead nowhere. */
export async function refuseReferredTo(
  { rowClaims, directory }: Pick<RowContext, "rowClaims" | "directory">,
  { target, urn }: { target: RowTarget; urn: string | undefined },
  removals: readonly RowDigests[],
): Promise<void> {
  if (removals.length === 0) return;
  const referrers = [...rowClaims.checked(), ...rowClaims.referrers(urn)];
  const found = await referringTo(referrers, { target, keys: RowSet.of(removals) }, directory);
  if (found.length === 0) return;
  throw new ResourceError(
    `table ${target.table}: nothing was removed, since rows that other seeds declare refer to what would leave:\n${found.join("\n")}\nKeep those rows, or change what refers to them in the same run.`,
  );
}

/** Which rows stay for whom, in one line. */
export const describeKeptForOthers = (keptForOthers: HandedOverRows, stay = "stay"): string =>
  [...keptForOthers].map(([name, count]) => `${count} ${stay}: ${name} declares them`).join("; ");

/** Reports which rows stay for other seeds. */
export function sayWhatStays(report: Report, table: string, ...all: HandedOverRows[]): void {
  for (const keptForOthers of all)
    if (keptForOthers.size > 0) report.info(`table ${table}: ${describeKeptForOthers(keptForOthers)}`);
}
