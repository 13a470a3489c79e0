import { describe, expect, test } from "@jest/globals";
import * as doors from "../harness/doors.ts";
import { Play } from "./play.ts";
import type { Edit } from "./rearrangements.ts";

// One of the calls in every run of the tests; each of them with REARRANGED_KILLS=all.
const calls = process.env["REARRANGED_KILLS"] === "all" ? Array.from({ length: 24 }, (_, call) => call) : [4];

const edit = (kind: Edit["kind"], seed: number): Edit => ({ kind, which: [seed, 0, 0] });
const [depots, sites] = [0, 2];

describe.each(Object.values(doors))("through the $name door:", (door) => {
  test(
    "another key, another table, and back again: wherever the provider is killed, the next run ends it",
    async () => {
      const play = await Play.open(door);
      try {
        for (const after of calls) {
          for (const commit of [true, false]) {
            const kill = { after, commit };
            const steps = [
              { edits: [edit("changeKey", depots)], kill },
              { edits: [edit("changeKey", depots)], kill },
              // Its rows are linked to those that change their table.
              { edits: [edit("removeSeed", sites)], kill: undefined },
              { edits: [edit("changeTable", depots)], kill },
              { edits: [edit("changeTable", depots)], kill },
            ];
            await expect(
              play.run(steps).catch((error: unknown) => `${JSON.stringify(kill)}: ${String(error)}`),
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
