import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { maskText } from "./masks.ts";
import { moveDate, Pseudonyms } from "./pseudonyms.ts";

const world = new Pseudonyms("0123456789abcdef0123456789abcdef");

test("masks that were recorded: an earlier dump and the next one have the same world", () => {
  expect({
    address: world.address("Ada@Example.org"),
    name: world.name("Ada Lovelace"),
    one: world.name("Ada"),
    phone: world.digits("+49 170 1234567"),
    code: world.digits("AB-0012/x"),
    number: world.number(1234.5),
    day: moveDate("1990-03-05", world.span("ada")),
  }).toEqual({
    address: "psbpmjgyurseb@example.com",
    name: "Griolavex Jupaetist",
    one: "Botaemur",
    phone: "+12 067 9495704",
    code: "VX-6645/j",
    number: 9146.4,
    day: "1989-06-16",
  });
});

test("two texts of one form never get the same mask, and none its own", () => {
  for (const texts of [
    Array.from({ length: 1000 }, (_, at) => String(at).padStart(3, "0")),
    Array.from({ length: 10 }, (_, at) => `C-${at}`),
    Array.from({ length: 676 }, (_, at) => String.fromCharCode(97 + Math.floor(at / 26), 65 + (at % 26))),
    Array.from({ length: 900 }, (_, at) => `${1 + (at % 9)}.${Math.floor(at / 9)}`),
  ]) {
    const masked = texts.map((text) => world.digits(text));
    expect(new Set(masked).size).toBe(new Set(texts).size);
    masked.forEach((mask, at) => {
      if (!/^0+$/.test(texts[at] ?? "")) expect(mask).not.toBe(texts[at]);
    });
  }
});

test("a text keeps its length and its form, a number is a number of as many digits, in text and as a number alike", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z]{0,3}[ -]?[0-9]{1,12}[a-z./ -]{0,4}$/), (text) => {
      const form = (of: string): string =>
        of.replaceAll(/\d/g, "0").replaceAll(/[a-z]/g, "a").replaceAll(/[A-Z]/g, "A");
      expect(form(world.digits(text))).toBe(form(text));
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 999_999_999 }), (number) => {
      const masked = world.number(number);
      expect(String(masked)).toHaveLength(String(number).length);
      expect(world.digits(String(number))).toBe(String(masked));
    }),
  );
  expect(world.digits("007")).toMatch(/^00[1-9]$/);
  expect(String(world.number(0.25))).toMatch(/^0\.\d[1-9]$/);
  expect(world.number(-17)).toBeLessThan(0);
  expect(Number.isSafeInteger(world.number(1.5e300))).toBe(true);
});

test("letter case, Unicode form and spaces are no other person", () => {
  expect(world.address("REN\u00c9@Example.org ")).toBe(world.address("rene\u0301@example.org"));
  expect(world.name("Ada  LOVELACE")).toBe(world.name("ada Lovelace"));
  expect(world.digits("e\u0301-1")).toBe(world.digits("\u00e9-1"));
  expect(maskText("Ada <ADA@x.org>; bob@x.org", "address", world)).toBe(
    `${world.address("ada@x.org")}; ${world.address("bob@x.org")}`,
  );
  expect(maskText("Ada Lovelace, Bob", "name", world)).toBe(`${world.name("Ada Lovelace")}, ${world.name("Bob")}`);
});

test.each([
  ["2024-02-28", 86_400, "2024-02-29"],
  ["2024-01", 40 * 86_400, "2024-02"],
  ["2024-01-31T23:59:30Z", 60, "2024-02-01T00:00:30Z"],
  ["2024-01-31T23:59:30.1234+02:00", -3600, "2024-01-31T22:59:30.1234+02:00"],
  ["2024-01-31 23:59", 60, "2024-02-01 00:00"],
  ["9999-12-31", 86_400, "9999-12-30"],
  [1_700_000_000_000, 60, 1_700_000_060_000],
  [1_700_000_000, 60, 1_700_000_060],
  ["31.01.2024", 60, undefined],
  ["2023-02-29", 60, undefined],
  ["1990", 60, undefined],
  ["2024-01-31T25:00:00Z", 60, undefined],
])("the date %j moved by %i seconds is %j", (date, seconds, moved) => {
  expect(moveDate(date, seconds)).toBe(moved);
});
