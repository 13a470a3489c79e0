import { describe, expect } from "@jest/globals";
import { drawnFrom, partOf, sampleStories } from "../harness/drawn.ts";
import * as testedKinds from "../harness/kinds.ts";
import { Play } from "./play.ts";
import type { Edit } from "./rearrangements.ts";

// One of the calls in every run of the tests, carried out in every other one; with REARRANGED_KILLS=all each call both ways.
const isAll = process.env["REARRANGED_KILLS"] === "all";
const calls = isAll ? Array.from({ length: 24 }, (_, call) => call) : [4];
const commits = isAll ? [[true], [false]] : [[true, false]];

const edit = (kind: Edit["kind"], seed: number): Edit => ({ kind, which: [seed, 0, 0] });
const [depots, sites] = [0, 2];

describe.each(drawnFrom(Object.values(testedKinds), "kills"))("with the $name provider:", (providerKind) => {
  const test = sampleStories();
  test(
    "another key, another table, and back again: wherever the provider is killed, the next run ends it",
    async () => {
      const play = await Play.open(providerKind);
      try {
        for (const after of calls) {
          for (const [first = true, second = first] of commits) {
            const [kill, other] = [
              { after, commit: first },
              { after, commit: second },
            ];
            const all = [
              { edits: [edit("changeKey", depots)], kill },
              { edits: [edit("changeKey", depots)], kill: other },
              // Its rows are linked to those that change their table.
              { edits: [edit("removeSeed", sites)], kill: undefined },
              { edits: [edit("changeTable", depots)], kill },
              { edits: [edit("changeTable", depots)], kill: other },
            ];
            const steps = isAll ? all : partOf(all, 0, 3);
            await expect(
              play.run(steps).catch((error: unknown) => `${JSON.stringify([kill, other])}: ${String(error)}`),
            ).resolves.toBeUndefined();
          }
        }
      } finally {
        await play.close();
      }
    },
    100_000 + calls.length * 600_000,
  );
});
