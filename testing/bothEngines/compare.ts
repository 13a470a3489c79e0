import { rm } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { OptionProgram } from "./program.ts";
import { type Done, Side } from "./side.ts";

/** Runs a program under both engines and throws where they differ. @param cli the Pulumi CLI's file */
export async function compareEngines({ turns }: OptionProgram, cli: string): Promise<void> {
  const sides = await Promise.all([Side.set(cli), Side.set()]);
  const [theirs, ours] = sides;
  try {
    for (const [i, turn] of turns.entries()) {
      const place = `turn ${String(i + 1)} (${turn.command})`;
      const [expected, found] = await Promise.all([theirs.take(turn), ours.take(turn)]);
      const problems = differences(expected.done, found.done);
      if (expected.done.succeeded !== !turn.fails) problems.push(`the CLI's status is not the expected one`);
      if (problems.length === 0) continue;
      const outputs = `Pulumi CLI (-):\n${expected.output}\nembedded engine (+):\n${found.output}`;
      throw new Error(`${place}:\n${problems.join("\n")}\n${outputs}`);
    }
  } finally {
    for (const { folder } of sides) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function differences(expected: Done, found: Done): string[] {
  const parts = Object.keys(expected) as (keyof Done)[]; // an object of its own
  return parts.flatMap((part) => {
    if (isDeepStrictEqual(expected[part], found[part])) return [];
    const [theirs, ours] = [expected[part], found[part]].map(linesOf);
    const only = (lines: readonly string[] = [], others: readonly string[] = []): string[] =>
      lines.filter((line) => !others.includes(line));
    return [
      `${part}:`,
      ...only(theirs, ours).map((line) => `  - ${line}`),
      ...only(ours, theirs).map((line) => `  + ${line}`),
    ];
  });
}

const linesOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : [value === undefined ? "nothing" : JSON.stringify(value)];
