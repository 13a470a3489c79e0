import { expect, test } from "@jest/globals";
import { describeSizes } from "./leaving.ts";

const deleted = (type: string, name: string, properties: Record<string, unknown>, id = name) => ({
  urn: `urn:pulumi:dev::p::${type}::${name}`,
  resourceType: type,
  id,
  properties,
});

test("a seed says its rows, through either kind of provider, and whether they stay", () => {
  const sizeOf = describeSizes();
  expect(sizeOf(deleted("microapps:index:SeedRows", "a", { rowCount: 24 }))).toBe("24 rows");
  expect(sizeOf(deleted("pulumi-nodejs:dynamic/microapps:SeedRows", "b", { rowCount: 1 }))).toBe("1 row");
  const kept = { rowCount: 3, onDestroy: "retain" };
  expect(sizeOf(deleted("microapps:index:SeedRows", "c", kept))).toBe("3 rows, which stay on the platform");
  // A state that does not know is not one without rows.
  expect(sizeOf(deleted("microapps:index:SeedRows", "d", {}))).toBeUndefined();
});

test("members that are a secret are counted by their user IDs", () => {
  const hidden = { teamID: "t", members: "[secret]", userIDs: ["1", "2", "3"] };
  expect(describeSizes()(deleted("microapps:index:TeamRoster", "r", hidden))).toBe("3 people");
});
