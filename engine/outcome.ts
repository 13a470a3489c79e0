import type { ChangeCounts, PropertyChange } from "./events.ts";

export interface RunResult {
  succeeded: boolean;
  changes: ChangeCounts;
  outputs: Record<string, unknown>;
  outputChanges: PropertyChange[];
}

/** Whether a run changed any resource; like Pulumi, `--expect-no-changes` lets stack outputs change. */
export function hasChanges({ changes }: RunResult): boolean {
  return Object.entries(changes).some(([op, count]) => op !== "same" && op !== "read-discard" && count > 0);
}
