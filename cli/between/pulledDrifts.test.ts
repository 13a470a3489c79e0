import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { PullStage, refusals } from "./testing/pullStage.ts";

// More with TEST_LONG=1; others with PROPERTY_SEED.
const numRuns = process.env["TEST_LONG"] ? 300 : 12;
const stage = PullStage.begin();

const oneDrift = fc.record({
  what: fc.constantFrom("edit", "edit", "remove", "foreign", "role", "leave", "join", "name", "description"),
  team: fc.constantFrom("acme/crew", "acme/ops", "acme/desk"),
  table: fc.constantFrom("shared", "own", "inline"),
  code: fc.constantFrom("C0", "C1", "C2", "C3", "X1", "A", "B"),
  word: fc.constantFrom("by hand", 'say "hi"', "a, b", "two\nlines", "# hash", "007", "yes", "- x", "ünï"),
  person: fc.constantFrom("ada@example.com", "bob@example.com", "eve@example.com", "kay@example.com"),
});
type Drift = typeof oneDrift extends fc.Arbitrary<infer Drawn> ? Drawn : never;
const drifts = fc.array(oneDrift, { minLength: 1, maxLength: 5 });

/** Somebody's change by hand; one that the platform refuses is none. */
async function drifted({ what, team, table, code, word, person }: Drift): Promise<void> {
  const teamID = stage.idOf(team);
  const isTried = (call: Promise<unknown>): Promise<unknown> => call.catch(() => undefined);
  switch (what) {
    case "edit":
      return stage.editRow(table, code, { Name: word });
    case "remove":
      if ((await stage.rows(table)).size > 1) await stage.removeRow(table, code);
      return;
    case "foreign":
      if (!(await stage.rows(table)).has(`F${code}`))
        await stage.client.insertmicroapprow({ microAppID: table, rowData: { Code: `F${code}`, Name: word, Size: 5 } });
      return;
    case "role":
      await isTried(stage.client.updateteammember({ teamID, userID: person, role: "admin" }));
      return;
    case "leave":
      await isTried(stage.client.deleteteammember({ teamID, userID: person }));
      return;
    case "join":
      await isTried(stage.client.insertteammembers({ teamIDs: [teamID], emails: [person] }));
      return;
    case "name":
      await stage.client.updateteam({ teamID, teamInfo: { name: word } });
      return;
    case "description":
      await stage.client.updateorganization({
        organizationID: stage.idOf("acme"),
        organizationInfo: { description: word },
      });
  }
}

test("after a pull of any drift the next run sends nothing", async () => {
  await fc.assert(
    fc.asyncProperty(drifts, async (all) => {
      stage.reset();
      for (const each of all) await drifted(each);
      const pulled = await stage.pull({ foreign: true });
      expect(refusals(pulled)).toEqual([]);
      await stage.write(pulled);
      await stage.expectApplied();
    }),
    { numRuns },
  );
});
