import { messageOf } from "../../../machine/failures.ts";
import { ApiError } from "../../../platform/contract/errors.ts";
import type { RowPlan } from "../../reconcile/rows.ts";
import type { Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";
import { listLinkedLabels } from "../source/source.ts";
import { RowWriter } from "./rowWriter.ts";
import { Stopped, type Applied, type Steps } from "./steps.ts";

/** Carries out a plan: inserts and updates, then removals. Failures are part of the answer; the rest is done. */
export async function applyPlan(
  context: RowContext,
  target: RowTarget,
  summary: Summary,
  links: Links,
  plan: RowPlan,
  steps: Steps = {},
): Promise<Applied> {
  const writer = new RowWriter(context, target, summary, links, plan, steps);
  // Nothing is sent as long as something refers to nowhere.
  if (listLinkedLabels(target).length > 0) await writer.checkLinks();
  const reasons: string[] = [];
  context.tables.changed(target.table);
  try {
    await writer.insertAll();
    await writer.updateAll();
    await writer.removeAll();
    await writer.verify();
  } catch (error) {
    reasons.push(reasonOf(error));
    if (error instanceof Stopped) await writer.verify();
  } finally {
    context.tables.changed(target.table);
  }
  const { failures, ...outcome } = await writer.outcome();
  return { ...outcome, failures: [...failures, ...reasons] };
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.code === "cancelled") return "the run was cancelled; the next one goes on";
  return messageOf(error);
}
