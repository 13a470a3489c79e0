import type { RowData } from "../../../platform/contract/values.ts";
import { another, canonical } from "../../reconcile/digests.ts";
import type { Ledger } from "../../reconcile/ledger.ts";
import { Lookup } from "../../reconcile/references.ts";
import { recogniseRows, type Recognised, type SeenRow } from "../../reconcile/rekey.ts";
import type { RowSet } from "../../reconcile/rowSet.ts";
import { digesterFor, summarize, type Summary } from "../declared/declaration.ts";
import { lastSource } from "../declared/summaries.ts";
import type { RowTarget } from "../declared/target.ts";
import type { LeftLabels } from "../kept/clearing.ts";
import type { Scope } from "../kept/scope.ts";
import { SourceError } from "../source/read.ts";
import { rowsOf, type RowContext } from "./context.ts";
import { Links } from "./links.ts";
import { makerOf } from "./liveRows.ts";
import { ProgressRate } from "./progressRate.ts";

const linking = ({ references, parent }: RowTarget): string | undefined =>
  canonical([references ?? {}, parent ?? null]);

const shape = (target: RowTarget): string | undefined => canonical([target.key, linking(target) ?? null]);

/** True when links are named by other labels than in the last run. */
export const isRelinked = (old: RowTarget, inputs: RowTarget): boolean => linking(old) !== linking(inputs);

/** True when the key labels, the links, or the keys of linked rows differ from those of the last run. */
export const isReshaped = (old: RowTarget, inputs: RowTarget): boolean => shape(old) !== shape(inputs);

/** The declaration of this run with the key labels and links of the last one. */
export const inOldTerms = <Inputs extends RowTarget>(
  old: RowTarget,
  inputs: Inputs,
): Omit<Inputs, "key"> & Pick<RowTarget, "key" | "references" | "parent"> => ({
  ...inputs,
  key: old.key,
  references: old.references,
  parent: old.parent,
});

/** The rows of this run by the key of the last one; undefined when that key is no longer unique. */
export async function byOldKey(old: RowTarget, inputs: RowTarget, directory: string): Promise<Summary | undefined> {
  try {
    // A link that is no more need not be among the labels.
    return await summarize(inOldTerms(old, inputs), directory, false);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

/** Reads the table and recognises our rows by the key of the last run. */
export async function readReshapedRows(
  context: RowContext,
  inputs: RowTarget,
  old: RowTarget & { labels: readonly string[]; digest?: string | undefined },
  seed: {
    ledger: Ledger;
    summary: Summary;
    links: Links;
    scope: Scope;
    left: LeftLabels;
    projection: { observe: (row: { id: string; index: number | undefined; values: RowData }) => void } | undefined;
  },
): Promise<Recognised | undefined> {
  const { ledger, summary, links, scope, left, projection } = seed;
  // Rows that the last run linked to may have been removed.
  const oldLinks = await Links.of(context, old, () => new Lookup());
  const before = digesterFor(old, old.labels);
  const now = digesterFor(inputs, scope.labels);
  const rate = new ProgressRate("rows read", context.now);
  const seen: SeenRow[] = [];
  const isMine = await makerOf(context, inputs);
  for await (const page of rowsOf(context, inputs.table, ledger.count)) {
    for (const row of page) {
      const [was, is] = [oldLinks.inSourceTerms(row), links.inSourceTerms(row)];
      const key = before.key(was);
      const content = now.content(is);
      left.observe(row._id, is);
      const wanted = now.key(is);
      if (wanted) projection?.observe({ id: row._id, index: summary.rows.find(wanted), values: is });
      seen.push({
        id: row._id,
        before: key && { key, content: before.content(was) },
        dangling: oldLinks.isDangling(row),
        isMine: isMine(row),
        now: { key: wanted, content: links.isDangling(row) ? another(content) : content },
      });
    }
    context.report.status(`${inputs.table}: ${rate.add(page.length)}`);
  }
  const sameRows = await byOldKey(old, inputs, context.directory);
  const near: RowSet[] =
    ledger.kind === "list"
      ? []
      : [(await lastSource(context, old))?.rows, sameRows?.rows].filter((rows) => rows !== undefined);
  return recogniseRows(seen, summary.rows, sameRows?.rows, ledger, near);
}
