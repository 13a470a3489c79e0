import { expect, test } from "@jest/globals";
import { spellings } from "../../testing/security/spellings.ts";
import { Mask } from "./masks.ts";

const hide = (secret: string, text: string, clear: string[] = []): string => new Mask([secret], clear).hide(text);

/** Each with what some spelling writes otherwise. */
const secrets = [
  'pass "word"/für+ada?&',
  "key \\of/the+operator\"%<&>'",
  "Zoë 100%41 \\u0041",
  "correct horse 🐎 staple",
  "a-b.c*d/[e]{f}$",
  "crew",
];

test.each(Object.entries(spellings))("%s: no secret stays", (_, spell) => {
  for (const secret of secrets) {
    const text = `it said <${spell(secret)}>, and ${spell(secret)}; no more`;
    expect(hide(secret, text)).toBe("it said <[secret]>, and [secret]; no more");
  }
});

test("the header of a login tells no password, wherever it begins in it", () => {
  for (const name of ["a", "ab", "abc", "ada@example.com"]) {
    const header = `Basic ${Buffer.from(`${name}:correct-horse`).toString("base64")}`;
    expect(hide("correct-horse", header)).toMatch(/^Basic [\w+/]*\[secret\]$/);
    expect(hide("correct-horse", `path/${header.slice(6)}`)).toContain("[secret]");
  }
});

test("a short secret is hidden as a whole word, a longer one wherever it stands", () => {
  expect(hide("crew", "the screws of crew, “crew” and ücrew; CREW crew1 aGVsbG8=crew")).toBe(
    "the screws of [secret], “[secret]” and ücrew; CREW crew1 aGVsbG8=[secret]",
  );
  expect(hide("correcthorsebattery", "xcorrecthorsebatteryx")).toBe("x[secret]x");
  expect(hide("cr-w", "xcr-wx")).toBe("x[secret]x");
  expect(hide("abc", "abc")).toBe("abc");
});

test("white space and the letter case of an address may be other ones, and what was cut off is hidden to its end", () => {
  expect(hide("two  lines\nof text", "said: two lines of text.")).toBe("said: [secret].");
  expect(hide("Ada@Example.com", "no ada@example.com there")).toBe("no [secret] there");
  expect(hide("a long text about the project, and more of it", "a long text about the pro…")).toBe("[secret]…");
  expect(hide("a long text about the project, and more of it", "a long text about a pro…")).toBe(
    "a long text about a pro…",
  );
});

test("what overlaps is one, a secret within a clear word stays, and one that holds it is hidden whole", () => {
  expect(new Mask(["first half", "half and rest"]).hide("the first half and rest.")).toBe("the [secret].");
  expect(hide("horse", "horse@example.com, horse@example.org", ["horse@example.com"])).toBe(
    "horse@example.com, [secret]@example.org",
  );
  expect(hide("ada@example.com1", "ada@example.com1 ada@example.com", ["ada@example.com"])).toBe(
    "[secret] ada@example.com",
  );
});

test("many secrets are hidden in a long text without a pass for each", () => {
  const rows = Array.from({ length: 50_000 }, (_, index) => `https://example.com/row/${index} of many`);
  const mask = new Mask(rows);
  const text = `${"a line of the platform with %20 and \\u0041 in it, https://example.com/row/ \n".repeat(1_000)}${rows[7] ?? ""}`;
  expect(mask.hide(text).endsWith("\n[secret]")).toBe(true);
});
