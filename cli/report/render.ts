import { z } from "zod";
import { changeSet, type ChangeSet, stops, type Thing } from "./changeSet.ts";
import { markdown } from "./markdown.ts";
import { terminal } from "./terminal.ts";
import { totals, toVisible } from "./text.ts";

/** The report as JSON; what a terminal would obey is escaped, which means the same. */
export const json = (set: ChangeSet): string =>
  `${JSON.stringify(changeSet.parse(set), null, 2).replace(/[^\n\x20-\x7e]/gu, (char) => {
    if (toVisible(char) === char) return char;
    return [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
  })}\n`;

/** JSON Schema of a report. */
export const reportSchema = (): object => ({
  title: "Report of pulumi-microapps",
  ...z.toJSONSchema(changeSet, { io: "output" }),
});

const renderers = { md: markdown, json, text: terminal };

/** How a report may be written. */
export type Format = keyof typeof renderers;

/** The report in a format; the same report makes the same text. */
export const render = (set: ChangeSet, format: Format): string => renderers[format](set);

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
  const plans = environments.flatMap(({ name, plan }) => (plan === undefined ? [] : [[planName(name), plan] as const]));
  return [...Object.entries(counts), ...plans].map(([name, value]) => `${name}=${value}\n`).join("");
}

/** The name under which later jobs get the digest of an environment's plan: `plan_eu_west`. */
export const planName = (environment: string): string => `plan_${environment.replaceAll(/\W/g, "_")}`;

const isSetAnew = ({ op, changes }: Thing): boolean =>
  op === "replace" || (op === "change" && changes.some(({ kind }) => kind === "setting"));
