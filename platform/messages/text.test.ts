import { expect, test } from "@jest/globals";
import { ApiError } from "../contract/wire.ts";
import { printableLine } from "./text.ts";

const escape = String.fromCharCode(0x1b);

test.each([
  ["a team is\r\n\tthere", "a team is there"],
  [`${escape}[31mred${escape}[0m and ${escape}]0;title${String.fromCharCode(7)}done`, "red and done"],
  ["bell \u0007, C1 \u009b2J", "bell \\u0007, C1 \\u009b2J"],
  ["\u202eeman\u202c zero\u200bwidth tag\u{e0041}", "\\u202eeman\\u202c zero\\u200bwidth tag\\ue0041"],
  ["Zürich 北京 👍", "Zürich 北京 👍"],
  ["x".repeat(5000), `${"x".repeat(1000)}…`],
])("%j", (text, expected) => {
  expect(printableLine(text)).toBe(expected);
});

test("an error carries no line of the platform's that begins a new one", () => {
  const message = `no\n::add-mask::x\n${escape}[2Jerror: forged`;
  expect(new ApiError({ code: "rejected", endpoint: "insertteam", message }).message).toBe(
    "insertteam: no ::add-mask::x error: forged. Read the platform's message; nothing was retried.",
  );
});
