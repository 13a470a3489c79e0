import type { Emit, StepInfo } from "../events.ts";
import { printableJson } from "../terminal/json.ts";
import { printable } from "../terminal/text.ts";

const nanoseconds = 1_000_000_000;

/**
 * Prints one line for each run, in the form that the Pulumi CLI gives `--output json`: how it ended, for how many
 * nanoseconds it ran, how many steps there were of each kind, and each step but those that change nothing.
 * @param writeError gets warnings and errors
 */
export function summaryEmitter(write: (text: string) => void, writeError: (text: string) => void): Emit {
  let steps: object[] = [];
  return (event) => {
    if (event.type === "start") steps = [];
    else if (event.type === "step" && event.op !== "same" && !event.internal) steps.push(stepOf(event));
    else if (event.type === "log" && event.severity !== "info" && !event.ephemeral) {
      writeError(`${event.severity}: ${printable(event.message.trimEnd(), false)}\n`);
    } else if (event.type === "summary") {
      const counts = Object.entries(event.changes).map(([op, count]) => [theirName(op), count] as const);
      const summary = Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
      write(
        `${printableJson({
          result: event.result,
          duration: Math.round(event.seconds * nanoseconds),
          ...(Object.keys(summary).length > 0 ? { summary } : {}),
          ...(steps.length > 0 ? { resources: steps } : {}),
        })}\n`,
      );
    }
  };
}

/** The CLI's name of a step. */
const theirName = (op: string): string => (op === "read-discard" ? "discard" : op);

const stepOf = ({ urn, resourceType: type, name, op, parent }: StepInfo): object => ({
  urn,
  type,
  name,
  op: theirName(op),
  ...(parent ? { parent } : {}),
});
