import { expect, test } from "@jest/globals";
import { z } from "zod";
import { email } from "../contract/values.ts";
import { ApiError } from "../contract/wire.ts";
import { printableLine, sentences } from "./text.ts";

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

const whole = z
  .strictObject({
    name: z.string().min(1).max(3),
    code: z.string().min(2),
    role: z.enum(["admin", "member"]),
    count: z.int().min(1).max(9),
    share: z.number().positive(),
    list: z.array(z.string()).min(1),
    flag: z.union([z.boolean(), z.enum(["true", "false"])]),
    rows: z.union([
      z.string(),
      z.strictObject({ seed: z.string() }),
      z.strictObject({ table: z.string(), key: z.string() }),
    ]),
    address: email,
    map: z.record(z.string().regex(/^[a-z]+$/, "must consist of letters"), z.number()),
    site: z.url(),
    step: z.number().multipleOf(5),
  })
  .partial();

const judged = (value: unknown): string => {
  const { error } = whole.safeParse(value, sentences);
  return error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join(" | ") ?? "fits";
};

test.each<[unknown, string]>([
  [{ name: "" }, "name: must not be empty"],
  [{ name: "four" }, "name: must have at most 3 characters"],
  [{ code: "x" }, "code: must have at least 2 characters"],
  [{ name: 7 }, "name: must be text, not a number"],
  [{ name: null }, "name: must be text, not null"],
  [{ role: "owner" }, "role: must be admin or member"],
  [{ count: 0 }, "count: must be at least 1"],
  [{ count: 10 }, "count: must be at most 9"],
  [{ count: 1.5 }, "count: must be a whole number, not a fraction"],
  [{ count: "1" }, "count: must be a number, not text"],
  [{ share: 0 }, "share: must be more than 0"],
  [{ list: [] }, "list: must not be empty"],
  [{ list: "a" }, "list: must be a list, not text"],
  [{ list: [{}] }, "list.0: must be text, not a map"],
  [{ flag: "yes" }, "flag: must be true or false, not text"],
  [{ rows: 7 }, "rows: must be text or a map, not a number"],
  [{ rows: { table: "t" } }, "rows: key is required"],
  [{ rows: { table: "t", kye: "k" } }, 'rows: has no "kye"; there is table, key'],
  [{ address: "ada" }, "address: must be an e-mail address"],
  [{ map: { "1": 2 } }, "map.1: must consist of letters"],
  [{ site: "x" }, "site: must be an address"],
  [{ step: 3 }, "step: must be a multiple of 5"],
  [{ zzzzzz: 1 }, `: has no "zzzzzz"; there is ${Object.keys(whole.shape).join(", ")}`],
  [[], ": must be a map, not a list"],
  [undefined, ": is required"],
])("%j: %s", (value, sentence) => {
  expect(judged(value)).toBe(sentence);
});

test("no sentence quotes a value, which may be a secret", () => {
  expect(judged({ role: "horse-battery", count: "horse-battery", flag: "horse-battery" })).not.toContain("horse");
});
