import { z } from "zod";

const summary = z.object({
  result: z.string(),
  summary: z.record(z.string(), z.number()).default({}),
  resources: z.array(z.looseObject({ op: z.string(), name: z.string() })).default([]),
});

/** Reads the last line of `--output json` among the lines, which both engines print alike; undefined where there is none. */
export function readSummary(output: string): z.output<typeof summary> | undefined {
  const line = output.split("\n").findLast((text) => text.startsWith('{"result"'));
  return line === undefined ? undefined : summary.parse(JSON.parse(line));
}
