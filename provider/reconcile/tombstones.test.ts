import { expect, test } from "@jest/globals";
import { digestOf } from "./digests.ts";
import { Tombstones } from "./tombstones.ts";

const row = (name: string) => ({ key: digestOf(name), content: digestOf(`${name} content`) });
const nobody = (): boolean => false;

test("what was removed is remembered until it is there again", () => {
  const first = Tombstones.decode(undefined).encode([row("a"), row("b")], nobody);
  const departed = Tombstones.decode(first);
  expect([departed.has(digestOf("a")), departed.has(digestOf("c"))]).toEqual([true, false]);
  const later = departed.encode([row("c")], (key) => key.high === digestOf("a").high);
  const left = Tombstones.decode(later);
  expect(["a", "b", "c"].map((name) => left.has(digestOf(name)))).toEqual([false, true, true]);
  expect(left.encode([], () => true)).toBeUndefined();
});

test("of too many, every row may be one of them", () => {
  const many = Array.from({ length: 600 }, (_, index) => row(`r${index}`));
  const text = Tombstones.decode(undefined).encode(many, nobody) ?? "";
  expect(text.length).toBeLessThan(6_000);
  expect(Tombstones.decode(text).has(digestOf("never seen"))).toBe(true);
});
