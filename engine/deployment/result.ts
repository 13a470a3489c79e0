import type { ChangeCounts, PropertyChange } from "../events.ts";

/** The stack's outputs as plain JSON, and how they differ from those before the run. */
export interface StackOutputs {
  outputs: Record<string, unknown>;
  outputChanges: PropertyChange[];
}

export interface RunResult extends StackOutputs {
  succeeded: boolean;
  changes: ChangeCounts;
}

/** Whether a run changed any resource; like Pulumi, `--expect-no-changes` lets stack outputs change. */
export function hasChanges({ changes }: RunResult): boolean {
  return Object.entries(changes).some(([op, count]) => op !== "same" && op !== "read-discard" && count > 0);
}
