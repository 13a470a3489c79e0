import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Switches as Habits } from "../../../provider/habits/deviations.ts";
import { Clinic } from "./testing/clinic.ts";

let clinic: Clinic;
beforeAll(async () => {
  clinic = await Clinic.open();
  // So many that they come in the same order twice by no accident.
  const rows = Array.from({ length: 12 }, (_, index) => ({ Code: `More ${index}`, Name: "more" }));
  await clinic.client.insertmicroapprows({ microAppID: "regions", rows });
});
afterAll(() => clinic.close());

/** Findings on users, order and `skip`, on a platform with these habits. */
async function look(habits: Partial<Habits>, config = {}): Promise<[string, string?][]> {
  clinic.emulator.behave(habits);
  const since = clinic.emulator.lastCall();
  const { findings, status } = await clinic.look({ config });
  expect([status, clinic.emulator.calls({ since, mutating: true })]).toEqual([0, []]);
  const found = findings.filter(({ id }) => id === "userid" || id === "order");
  return found.map((finding) => (finding.is === "skipped" ? ["skipped"] : [finding.is, finding.seen]));
}

const users = "The platform finds the user of an address.";
const kept = "Rows come in the order that is asked for. Skipped ones stay out.";
const none = "The platform finds no user of an address: The endpoint is not enabled.";

test.each<[Partial<Habits>, [string, string], [string, string]]>([
  [{}, ["well", users], ["well", kept]],
  [{ userLookupBy: "query" }, ["well", users], ["well", kept]],
  [{ userLookupBy: "none" }, ["noted", none], ["well", kept]],
  [{ skip: "ignored" }, ["well", users], ["noted", "The platform ignores skip."]],
  [{ viewSort: "ignored" }, ["well", users], ["noted", "The platform ignores the order that is asked for."]],
  [{ rowOrder: "changing" }, ["well", users], ["noted", "Rows that nobody sorts come in another order each time."]],
])("%j is seen by reads alone", async (habits, byAddress, order) => {
  expect(await look(habits)).toEqual([byAddress, order]);
});
