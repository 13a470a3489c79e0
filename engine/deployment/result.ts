import type { ChangeCounts, PropertyChange } from "../events.ts";

/** The stack's outputs as plain JSON, and their changes since the last run. */
export interface StackOutputs {
  outputs: Record<string, unknown>;
  outputChanges: PropertyChange[];
}

export interface RunResult extends StackOutputs {
  succeeded: boolean;
  changes: ChangeCounts;
}

/** True if a run changed any resource. Stack outputs do not count, as with Pulumi. */
export function hasChanges({ changes }: RunResult): boolean {
  return Object.entries(changes).some(([op, count]) => op !== "same" && op !== "read-discard" && count > 0);
}
