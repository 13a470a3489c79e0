import { afterAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isLong } from "../../testing/harness/drawn.ts";
import type { Section, Tally } from "./changeSet.ts";
import { composed, type Effects, effectsOf } from "./testing/composed.ts";
import { drawn, type Drawn, filesOf } from "./testing/drawn.ts";
import { Folders } from "./testing/twoFolders.ts";

// More with PROPERTY_RUNS=400.
const numRuns = Number(process.env["PROPERTY_RUNS"] ?? (isLong ? 25 : 8));

const folders = new Folders();
afterAll(() => folders.remove());

/** In the order of their places, so that two of them can be compared. */
const sorted = (effects: Effects): [string, unknown][] => [...effects].toSorted(([a], [b]) => (a < b ? -1 : 1));

const tallies = ({ things }: Section): [string, Tally][] =>
  things.flatMap(({ kind, name, people, rows }): [string, Tally][] => {
    const tally = people ?? rows;
    return tally ? [[`${kind} ${name}`, tally]] : [];
  });

/**
 * Removes the effects that a report leaves out on purpose: rows of a seed that comes or goes, which are counted, and of
 * a person who goes everything but the role.
 */
function comparable(effects: Effects, sections: readonly Section[]): Effects {
  const whole = new Set<string>();
  for (const { things } of sections)
    for (const { kind, op, name, formerly, changes } of things) {
      if (kind === "seed" && op !== "change")
        for (const each of [name, formerly]) whole.add(JSON.stringify([kind, each, "row"]));
      for (const change of changes)
        if (change.kind === "person" && change.op !== "change") whole.add(JSON.stringify(["person", change.name]));
    }
  return new Map(
    [...effects].filter(([path]) => {
      const [kind, name, what, inner, field] = JSON.parse(path) as string[];
      if (what === "row") return !whole.has(JSON.stringify([kind, name, what]));
      return !(
        what === "person" &&
        field !== undefined &&
        field !== "role" &&
        whole.has(JSON.stringify([what, inner]))
      );
    }),
  );
}

/** Seeds that leave nothing on the platform: what another mode leaves there is not in the files that come after. */
const exact = drawn.map(({ organizations, seeds }): Drawn => {
  const all = Object.entries(seeds).map(([name, seed]) => [name, { ...seed, mode: "exact" }] as const);
  return { organizations, seeds: Object.fromEntries(all) };
});

test("this change from A to B and then from B to C is the one from A to C", async () => {
  await fc.assert(
    fc.asyncProperty(exact, exact, exact, async (...versions: [Drawn, Drawn, Drawn]) => {
      const [a, b, c] = versions.map((_, at) => folders.declared(filesOf(versions.slice(0, at + 1))));
      if (!a || !b || !c) throw new Error("three declarations");
      const sections = [[a, b] as const, [b, c] as const, [a, c] as const].map(([base, head]) =>
        folders.between(base, head),
      );
      const [first, second, both] = await Promise.all(sections);
      if (!first || !second || !both) throw new Error("three sections");
      const three = [first, second, both];
      expect(sorted(comparable(composed(first, second), three))).toEqual(sorted(comparable(effectsOf(both), three)));
      // However many are listed, the counts fit together: what B has is the same from either side.
      const after = new Map(tallies(first).map(([name, { add, change, same }]) => [name, add + change + same]));
      for (const [name, { remove, change, same }] of tallies(second))
        if (after.has(name)) expect([name, remove + change + same]).toEqual([name, after.get(name)]);
    }),
    { numRuns },
  );
});
