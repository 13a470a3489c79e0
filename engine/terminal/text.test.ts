import { describe, expect, test } from "@jest/globals";
import { appUrn, events, log, shown } from "../display/testing/events.ts";
import { allowsColor } from "./colors.ts";
import { cutText, padText } from "./columns.ts";
import { firstLine, isPipeline, oneLine, printable, withoutCommands } from "./text.ts";

test("colours of a program stay where colours are allowed, and end with its text", () => {
  expect(printable("\u001b[31mred\u001b[2J", true)).toBe("\u001b[31mred\u001b[0m");
  expect(printable("none", true)).toBe("none");
});

test("rows and names stay on one line", () => {
  expect(firstLine("\n\n  first\tline\nsecond")).toBe("first line");
  expect(oneLine("a\nb\tc")).toBe("a\\nb\\tc");
});

test("width is counted in columns of the terminal", () => {
  const texts = ["abc", "é", "e\u0301", "日本", "👩‍👩‍👧", "├─ "];
  expect(texts.map((text) => padText(text, 6).length - text.length)).toEqual([3, 5, 5, 2, 4, 3]);
  expect(padText("\u001b[31mab\u001b[39m", 4)).toBe("\u001b[31mab\u001b[39m  ");
  expect([cutText("a日本b", 5, "end"), cutText("a日本b", 5, "start"), cutText("abc", 3, "end")]).toEqual([
    "a日…",
    "…本b",
    "abc",
  ]);
});

test("a pipeline carries out nothing that was said", () => {
  expect(withoutCommands("::add-mask::x\n  ::set-output name=a::b\n/approve\nno ::command, 1/2")).toBe(
    "|::add-mask::x\n  |::set-output name=a::b\n|/approve\nno ::command, 1/2",
  );
  expect(withoutCommands("##[error]x\nand ##vso[task.setvariable]y ##VSO[z]")).toBe(
    "#|#[error]x\nand #|#vso[task.setvariable]y #|#VSO[z]",
  );
});

test("pipelines are known by what they set", () => {
  expect([{ CI: "true" }, { GITHUB_ACTIONS: "true" }, { TF_BUILD: "True" }].map(isPipeline)).toEqual([
    true,
    true,
    true,
  ]);
  expect([{}, { CI: "false" }].map(isPipeline)).toEqual([false, false]);
});

describe("colours", () => {
  test.each([
    ["always", { NO_COLOR: "1" }, false, true],
    ["never", {}, true, false],
    ["auto", {}, true, true],
    ["auto", {}, false, false],
    ["auto", { NO_COLOR: "1" }, true, false],
    ["auto", { NO_COLOR: "" }, true, true],
    ["auto", { TERM: "dumb" }, true, false],
  ] as const)("--color %s, %j, terminal %p: %p", (choice, environment, terminal, allowed) => {
    expect(allowsColor(choice, environment, terminal)).toBe(allowed);
  });

  const { start, step, failed, summary } = events(false);
  const all = [start(), step("create", "app"), failed("create", "app"), log("error", "no", appUrn), summary()];

  test("show what an operation does", () => {
    const text = shown(all, { color: true });
    expect(text).toContain(" \u001b[32m+ \u001b[39m  └─ microapps:App ");
    expect(text).toContain("\u001b[31m**creating failed**\u001b[39m");
    expect(text).toContain("    \u001b[31merror:\u001b[39m no\n");
  });

  test("are nowhere when they are not wanted", () => {
    for (const options of [{}, { diff: true }]) expect(shown(all, options)).not.toContain("\u001b");
  });
});
