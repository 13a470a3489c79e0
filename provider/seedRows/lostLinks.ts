import { sameContent, type Content } from "../reconcile/digests.ts";
import type { Ledger } from "../reconcile/ledger.ts";
import type { LiveRows } from "../reconcile/liveRows.ts";
import type { KnownRows } from "../reconcile/ownership.ts";
import { planRows, type Meeting, type RowOptions, type RowPlan } from "../reconcile/rows.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import { digesterFor, type Summary } from "./declared/declaration.ts";
import type { RowTarget } from "./declared/target.ts";
import type { RowContext } from "./live/context.ts";
import type { Links } from "./live/links.ts";
import { rowsByIDs } from "./live/queries.ts";
import { read } from "./source/read.ts";

interface Seen {
  summary: Summary;
  links: Links;
  live: LiveRows;
  ledger: Ledger | KnownRows;
}

/**
 * Plans a run like `planRows`. An unknown row that matches the declaration except for dangling links needs no `adopt`:
 * the rows that it is linked to were recreated, and nobody edited it.
 */
export async function planWithLostLinks(
  context: RowContext,
  inputs: RowTarget,
  { summary, links, live, ledger }: Seen,
  options: RowOptions & { source?: RowSet | undefined },
): Promise<RowPlan> {
  const plan = planRows(summary.rows, ledger, live, options);
  const unlinked = plan.adoptNeeded.flatMap(({ wanted }) => {
    const at = live.rows.find(summary.rows.key(wanted));
    const id = at !== undefined && live.isDangling(at) ? live.id(at) : undefined;
    return id === undefined ? [] : [{ wanted, id }];
  });
  if (unlinked.length === 0) return plan;
  const ours = await asDeclaredBut(context, inputs, { summary, links }, unlinked);
  const { handedOver } = options;
  const has = (index: number): boolean => ours.has(index) || handedOver?.has(index) === true;
  return planRows(summary.rows, ledger, live, { ...options, handedOver: { has } });
}

/** Those of the rows that differ from what is declared by lost links alone, by their index in the source. */
async function asDeclaredBut(
  context: RowContext,
  inputs: RowTarget,
  { summary, links }: Pick<Seen, "summary" | "links">,
  meetings: readonly Meeting[],
): Promise<Set<number>> {
  const { table } = inputs;
  const contentBut = (lost: readonly string[]) => {
    const labels = summary.labels.filter((label) => !lost.includes(label));
    return digesterFor({ ...inputs, salt: undefined }, labels).content;
  };
  const indices = new Map(meetings.map(({ wanted, id }) => [id, wanted]));
  const found = new Map<number, { lost: string[]; content: Content }>();
  for await (const page of rowsByIDs(context, table, [...indices.keys()])) {
    for (const row of page) {
      const index = indices.get(row._id);
      const lost = links.lostLabels(row);
      if (index !== undefined) found.set(index, { lost, content: contentBut(lost)(links.inSourceTerms(row)) });
    }
  }
  const same = new Set<number>();
  let index = -1;
  for await (const block of read(inputs, context.directory)) {
    for (const { values } of block) {
      const one = found.get(++index);
      if (one && sameContent(one.content, contentBut(one.lost)(values))) same.add(index);
    }
  }
  return same;
}
