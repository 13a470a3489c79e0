import { expect, test } from "@jest/globals";
import { Trims } from "./trims.ts";

const target = { table: "items", key: ["Code"], forms: { Day: "date" as const } };
const mistake = { line: 1, text: "otherwise" };

test("a field trims texts where none of those that were seen kept the space around it", () => {
  const trims = new Trims(target);
  expect(trims.isTrimmed("Name", { Name: " one " }, { Name: "one" })).toBe(true);
  trims.add("Name", mistake);
  trims.observe({ Name: "two" }, { Name: "two" });
  expect([trims.labels(), trims.mistakes()]).toEqual([["Name"], []]);
  trims.observe({ Name: "three " }, { Name: "three " });
  expect([trims.labels(), trims.mistakes()]).toEqual([[], [mistake]]);
});

test.each([
  ["another text", "Name", " one ", "two"],
  ["half of the space", "Name", " one ", "one "],
  ["another case", "Name", " one ", "One"],
  ["nothing", "Name", "  ", undefined],
  ["a text without space", "Name", "one", "one"],
  ["a natural key", "Code", " one ", "one"],
  ["a field of a declared type", "Day", " 2026-11-21 ", "2026-11-21"],
])("%s is no trimmed text", (_what, label, sent, found) => {
  expect(new Trims(target).isTrimmed(label, { [label]: sent }, { [label]: found })).toBe(false);
});
