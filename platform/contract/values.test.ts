import { expect, test } from "@jest/globals";
import { row } from "./values.ts";

const whole = {
  ...{ _id: "r1", userID: "u1", viewers: ["u2"], teamViewers: [], isLocked: false, submitted: 1, embeddingRowID: "r0" },
  ...{ Code: "AT", Area: { wide: true } },
};

test.each<[field: keyof typeof whole, good: unknown[], bad: unknown[]]>([
  ["_id", ["x".repeat(200)], ["", "x".repeat(201), 1, null, undefined]],
  ["userID", ["", null, undefined], [1, {}]],
  ["viewers", [[], [1], null, undefined], ["u2", {}]],
  ["teamViewers", [["t1"], null, undefined], ["t1", {}]],
  ["isLocked", [true, null, undefined], [0, "false"]],
  ["submitted", [0, "2026-01-02T03:04:05Z", null, undefined], []],
  ["embeddingRowID", ["", null, undefined], [1, []]],
  ["Code", ["", null, 1, [], {}, undefined], []],
])("a row as the platform answers it: %s", (field, good, bad) => {
  const accepted = (value: unknown): boolean => row.safeParse({ ...whole, [field]: value }).success;
  expect(good.map(accepted)).toEqual(good.map(() => true));
  expect(bad.map(accepted)).toEqual(bad.map(() => false));
});

test("a row is passed on as it is", () => {
  expect(row.parse(whole)).toBe(whole);
  for (const none of [null, undefined, "r1", [whole]]) expect(row.safeParse(none).success).toBe(false);
});
