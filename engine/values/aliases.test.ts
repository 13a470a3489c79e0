import { expect, test } from "@jest/globals";
import { formerUrns } from "./aliases.ts";

const urn = (rest: string): string => `urn:pulumi:dev::app::${rest}`;
const thing = { stack: "dev", project: "app", parent: urn("my:Gang$my:Team::crew"), type: "my:Member", name: "ada" };
const parts = { name: "", type: "", stack: "", project: "", parent: "", noParent: false };
const before = new Map([
  [urn("my:Gang::g"), urn("my:Group::g")],
  [urn("my:Gang$my:Team::crew"), urn("my:Group$my:Team::band")],
]);

test("a child of what was found by an alias was below the former URN", () => {
  expect(formerUrns(thing, [], before)).toEqual([urn("my:Group$my:Team$my:Member::ada")]);
  expect(formerUrns(thing, [], new Map())).toEqual([]);
});

test("a name that begins with that of the parent changed with it", () => {
  expect(formerUrns({ ...thing, name: "crew-ada" }, [], before)).toEqual([urn("my:Group$my:Team$my:Member::band-ada")]);
});

test("an alias has the parts that were others, and each counts below the former parent as well", () => {
  expect(formerUrns(thing, [{ ...parts, name: "eve" }], before)).toEqual([
    urn("my:Group$my:Team$my:Member::eve").replace("my:Group", "my:Gang"),
    urn("my:Group$my:Team$my:Member::ada"),
    urn("my:Group$my:Team$my:Member::eve"),
  ]);
  expect(formerUrns({ ...thing, parent: "" }, [{ ...parts, type: "my:Old", project: "old" }], before)).toEqual([
    "urn:pulumi:dev::old::my:Old::ada",
  ]);
});

test("another parent in an alias counts under its own former URN, or there was none", () => {
  const below = (parent: string): string[] => formerUrns({ ...thing, parent: "" }, [{ ...parts, parent }], before);
  expect(below(urn("my:Gang::g"))).toEqual([urn("my:Group$my:Member::ada")]);
  expect(below(urn("my:Other::o"))).toEqual([urn("my:Other$my:Member::ada")]);
  expect(formerUrns({ ...thing, parent: "" }, [{ ...parts, noParent: true }], before)).toEqual([urn("my:Member::ada")]);
});

test("a whole URN is taken as it is", () => {
  expect(formerUrns({ ...thing, parent: "" }, [urn("x:Y::z")], before)).toEqual([urn("x:Y::z")]);
});
