import { expect, test } from "@jest/globals";
import { picture } from "./picture.ts";
import { renewSection, tableOf } from "./readme.ts";

const panel = (seconds: number) => ({
  title: "Rows",
  jobs: ["from nothing", "gone"],
  peers: [
    { name: "this", seconds: [seconds, 2], calls: [3, 0] },
    { name: "a & b", seconds: [10, 0.04], calls: [1_000, 1] },
  ],
});

test("both distances stand in one cell", () => {
  expect(tableOf("Rows", [panel(1), panel(1.25)])).toEqual([
    "| Rows  | from nothing              | gone                 |",
    "| ----- | ------------------------- | -------------------- |",
    "| this  | 1.0 / 1.3 s, 3 calls      | 2.0 / 2.0 s, 0 calls |",
    "| a & b | 10.0 / 10.0 s, 1000 calls | 0.0 / 0.0 s, 1 calls |",
  ]);
  expect(picture([panel(1)])).toContain("a &amp; b");
});

test("the lines of a page between the marks are replaced, however often", () => {
  const page = "before\n\n<!-- Written by `make bench-peers`. -->\n\nold\n\n<!-- Here it ends. -->\n\nafter\n";
  const once = renewSection(page, ["one", "two"]);
  expect(once).toBe(page.replace("old", "one\ntwo"));
  expect(renewSection(once, ["old"])).toBe(page);
  expect(() => renewSection("before\n", [])).toThrow("the page lacks");
});
