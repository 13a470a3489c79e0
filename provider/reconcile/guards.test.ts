import { describe, expect, test } from "@jest/globals";
import { losingSelf, massDisappearance, tooFewAdmins, tooManyRemovals } from "./guards.ts";

describe("removals", () => {
  test.each([
    [9, 9, undefined, false], // too few for a fraction to say anything
    [2, 10, undefined, false],
    [3, 10, undefined, true],
    [10, 10, 1, false],
    [1, 10, 0, true],
    [0, 10, 0, false],
    [250_000, 1_000_000, undefined, false],
    [250_001, 1_000_000, undefined, true],
  ])("%p of %p with maxRemovals %p are refused: %p", (removals, owned, maxRemovals, refused) => {
    expect(tooManyRemovals("rows", removals, owned, maxRemovals) !== undefined).toBe(refused);
  });

  test("the fraction that the sentence names is enough", () => {
    for (let removals = 3; removals <= 10; removals++) {
      const named = /set maxRemovals to ([\d.]+)/.exec(tooManyRemovals("rows", removals, 10) ?? "")?.[1];
      expect(tooManyRemovals("rows", removals, 10, Number(named))).toBeUndefined();
    }
  });
});

test("a mass disappearance is not believed", () => {
  expect(massDisappearance("rows", 100, 100)).toContain("100 of 100 rows that were applied are not on the platform");
  expect(massDisappearance("rows", 60, 100)).toContain(
    "set maxRemovals to 0.6 for one up, without a refresh before it",
  );
  expect(massDisappearance("rows", 10, 100)).toBeUndefined();
});

test("administrators and the caller are kept", () => {
  expect(tooFewAdmins(1, 1)).toBeUndefined();
  expect(tooFewAdmins(0, 1)).toBe(
    "0 administrators would be left, fewer than minAdmins asks for (1). Give more members the role admin, or lower minAdmins.",
  );
  expect(losingSelf("ann@crew.example", undefined)).toBeUndefined();
  expect(losingSelf("ann@crew.example", "demoted")).toContain("would be made a plain member");
});
