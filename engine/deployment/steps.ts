import type { Departure, Op, PropertyChange, StepInfo } from "../events.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { formatPath, pathContains } from "../values/paths.ts";
import { type ValueChange, changesBetween } from "../values/propertyChanges.ts";
import { isDefaultProvider, nameOf } from "../values/urns.ts";
import { toShown } from "../values/values.ts";

/** One operation on one resource. */
export interface Step {
  op: Op;
  urn: string;
  old?: ResourceState;
  new?: ResourceState;
  changes?: ValueChange[] | undefined;
  /** Keeps the old resource until the end of the run, marked for deletion. */
  deleteLater?: boolean;
  /** Set when the old resource is deleted now and created again later in the run. */
  recreate?: boolean;
  /** What becomes of the contents of what is deleted. */
  departure?: Departure | undefined;
  /** URNs that this run deletes, for `deletedWith`. */
  deletions?: ReadonlySet<string>;
}

/** Describes a step for events, with secrets hidden. */
export function describeStep(step: Step): StepInfo {
  const state = step.new ?? step.old;
  const described: StepInfo = { op: step.op, urn: step.urn, resourceType: state?.type ?? "", name: nameOf(step.urn) };
  // Before it is done an update has the ID that it had.
  const id = state?.id || (step.op === "update" ? step.old?.id : "");
  if (id) described.id = id;
  if (state?.parent) described.parent = state.parent;
  if (state?.provider) described.provider = state.provider;
  if (step.departure) Object.assign(described, { departure: step.departure, size: step.departure.size });
  const changes = visibleChanges(step);
  if (changes.length > 0) described.changes = changes;
  const whole = step.op === "create" ? step.new?.inputs : step.op === "delete" ? step.old?.outputs : undefined;
  if (whole) {
    const hidden = state?.hideDiff ?? [];
    described.properties = Object.fromEntries(
      Object.entries(whole)
        .filter(([name]) => name !== providerKey && !hidden.some((path) => path.length === 1 && path[0] === name))
        .map(([name, value]) => [name, toShown(value)]),
    );
  }
  if (step.op === "remove-pending-replace" || isDefaultProvider(step.urn)) described.internal = true;
  return described;
}

/** Where a dynamic resource keeps the code of its provider; never shown. */
const providerKey = "__provider";

function visibleChanges({ op, old, new: next, changes }: Step): PropertyChange[] {
  if (!old || !next || op === "same" || op === "delete" || op === "read") return [];
  const hidden = next.hideDiff;
  return (changes ?? changesBetween(old.inputs, next.inputs))
    .filter(({ path }) => path[0] !== providerKey && !hidden.some((outer) => pathContains(outer, path)))
    .map(toPropertyChange);
}

export function toPropertyChange({ path, kind, old, new: next, replaces }: ValueChange): PropertyChange {
  return {
    path: formatPath(path),
    kind,
    ...(old === undefined ? {} : { old: toShown(old) }),
    ...(next === undefined ? {} : { new: toShown(next) }),
    ...(replaces ? { replaces } : {}),
  };
}
