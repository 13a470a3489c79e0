import { expect, test } from "@jest/globals";
import { typeThatEquals } from "./cells.ts";

test.each([
  [true, "true", "boolean"],
  [false, "false", "boolean"],
  [["true"], "true", "checkbox"],
  [12, "12", "number"],
  ["1237-10-28", "1237-10-28T00:00:00.000Z", "date"],
])("a value %j that comes back as %j is of the type %s", (sent, found, type) => {
  expect(typeThatEquals(sent, found)).toBe(type);
});

test("two numbers that differ are the same in no type", () => {
  expect(typeThatEquals(3.14159, 3.14)).toBeUndefined();
});

test("a list fits no boolean: a checkbox has no form for false", () => {
  expect(typeThatEquals(true, ["true"])).toBeUndefined();
});
