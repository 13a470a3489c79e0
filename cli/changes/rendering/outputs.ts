import { stops, type ChangeSet, type Thing } from "../model/changeSet.ts";
import { totals } from "./text.ts";

/**
 * Counts of a report for later jobs of a pipeline, as files of job outputs and of variables take them: a line a name.
 * Each thing, person and row counts once for each environment; a thing whose rows or people alone change does not.
 */
export function outputs({ environments }: ChangeSet): string {
  const counts = { added: 0, changed: 0, removed: 0, stops: 0 };
  for (const environment of environments) {
    const { things, people, rows } = totals(environment.change);
    counts.added += things.add + people.add + rows.add;
    counts.changed += environment.change.things.filter(isSetAnew).length + people.change + rows.change;
    counts.removed += things.remove + people.remove + rows.remove;
    counts.stops += stops(environment).length;
  }
  return Object.entries(counts)
    .map(([name, count]) => `${name}=${count}\n`)
    .join("");
}

const isSetAnew = ({ op, changes }: Thing): boolean =>
  op === "replace" || (op === "change" && changes.some(({ kind }) => kind === "setting"));
