import { expect, test } from "@jest/globals";
import { following, indexOf, memberAt, type ListedMember } from "./teamIndex.ts";

const person = (userID: string, role = "member"): ListedMember => ({ userID, email: `${userID}@crew.example`, role });
const ids = (list: readonly ListedMember[]): string[] => [...indexOf(list).byID.keys()];

test("a list that grew goes on with the members and the index of the one before", () => {
  const before = [person("ann"), person("bob")];
  const { byID } = indexOf(before);
  const after = following(before, [person("ann"), person("bob"), person("cat")]);
  expect(after[0]).toBe(before[0]);
  expect(indexOf(after).byID).toBe(byID);
  expect(ids(after)).toEqual(["ann", "bob", "cat"]);
  expect(memberAt(after, "CAT@crew.example")).toBe(after[2]);
  // The list before has who was in it.
  expect(ids(before)).toEqual(["ann", "bob"]);
  expect(memberAt(before, "cat@crew.example")).toBeUndefined();
});

test.each([
  ["somebody left", [person("bob"), person("cat")]],
  ["the last one left", [person("ann")]],
  ["somebody got another role", [person("ann"), person("bob", "admin")]],
  ["somebody has another address", [person("ann"), { ...person("bob"), email: "rob@crew.example" }]],
  ["everybody left", []],
])("a list is indexed as it is when %s", (_, now) => {
  const before = [person("ann"), person("bob")];
  indexOf(before);
  const after = following(before, now);
  expect(after).toEqual(now);
  expect(ids(after)).toEqual(now.map(({ userID }) => userID));
  expect(now.map(({ email = "" }) => memberAt(after, email))).toEqual(now);
  expect(ids(before)).toEqual(["ann", "bob"]);
});

test("an address that comes a second time is of nobody, also in a list that grew", () => {
  const before = [{ userID: "one", email: "ann@crew.example" }];
  indexOf(before);
  const after = following(before, [...before, { userID: "other", email: "Ann@crew.example" }]);
  expect(memberAt(after, "ANN@crew.example")).toBeUndefined();
  expect(memberAt(after, "ann@crew.example")?.userID).toBe("one");
});
