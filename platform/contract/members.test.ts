import { describe, expect, test } from "@jest/globals";
import { teamMember } from "./people.ts";

const whole = { teamMemberID: "tm1", teamID: "t1", userID: "u1", email: "ann@crew.example", role: "admin" };

describe("a member in an answer", () => {
  test.each([
    ["an object of the usual keys", { ...whole, since: 5 }, whole],
    ["its membership as _id", { _id: "tm1", userID: "u1" }, { teamMemberID: "tm1", userID: "u1" }],
    ["a user's ID alone", "u1", { userID: "u1" }],
    ["nothing that is known", {}, {}],
  ])("is read from %s", (_, value, member) => {
    expect(teamMember.parse(value)).toEqual(member);
  });

  test.each([
    ["an empty ID", { userID: "" }],
    ["an ID of more than 200 characters", { userID: "u".repeat(201) }],
    ["an ID that is no text", { userID: null }],
    ["a number as ID", { userID: 8 }],
    ["a number alone", 8],
    ["an address that is no text", { userID: "u1", email: 1 }],
    ["a role that is no text", { userID: "u1", role: ["admin"] }],
    ["a list", [["u1"]]],
    ["nothing", null],
  ])("is refused with %s", (_, value) => {
    expect(teamMember.safeParse(value).success).toBe(false);
  });
});
