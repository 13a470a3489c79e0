import { expect, test } from "@jest/globals";
import { RecentlyMade } from "./recentlyMade.ts";

test("a thing that was made is asked for again until its time is over", () => {
  let now = 0;
  const made = new RecentlyMade(1_000, () => now);
  made.note("insertteam", {}, { teamID: "t1" });
  expect(made.waitFor("readteam", { teamID: "t1" }, 0)).toBe(100);
  expect(made.waitFor("teammembers", { teamIDs: ["t1", "t2"] }, 1)).toBe(200);
  expect(made.waitFor("readteam", { teamID: "t2" }, 0)).toBeUndefined();
  // A new team need not have that member.
  expect(made.waitFor("readteammember", { teamID: "t1", userID: "u1" }, 0)).toBeUndefined();
  now = 950;
  expect(made.waitFor("readteam", { teamID: "t1" }, 0)).toBeUndefined();
});

test("a thing that was removed again is gone, and one whose creation was lost may be there", () => {
  const made = new RecentlyMade(1_000, () => 0);
  made.note("insertorganization", {}, { organizationID: "o1" });
  made.note("deleteorganization", { organizationID: "o1" }, {});
  expect(made.waitFor("insertteam", { teamInfo: { organizationID: "o1" } }, 0)).toBeUndefined();
  made.noteOpen({ organizationInfo: { _id: "o2" } });
  expect(made.waitFor("insertteam", { teamInfo: { organizationID: "o2" } }, 0)).toBe(100);
});

test("without a time nothing is asked for again", () => {
  const made = new RecentlyMade(0, () => 0);
  made.note("insertteam", {}, { teamID: "t1" });
  made.noteOpen({ teamInfo: { _id: "t1" } });
  expect(made.waitFor("readteam", { teamID: "t1" }, 0)).toBeUndefined();
});
