import { expect, test } from "@jest/globals";
import { formatPath, parsePath, resetPath } from "./paths.ts";
import { type PropertyMap, Secret } from "./values.ts";

test.each([
  ["root.nested[0].*", ["root", "nested", 0, "*"]],
  ['root["a.b"][*]', ["root", "a.b", "*"]],
  ['["say \\"so\\" \\n"]', ['say "so" \\n']],
  ["foo-bar.[0]", ["foo-bar", 0]],
  ['a]b"c', ['a]b"c']],
])("the path %s is read as Pulumi reads it", (text, path) => {
  expect(parsePath(text)).toEqual(path);
});

test.each([".a", "a.", "a[", "a[x]", 'a["x]'])("the path %s is refused", (text) => {
  expect(() => parsePath(text)).toThrow("property path");
});

test("a path is written as Pulumi writes it", () => {
  expect(formatPath(["a", "b_1", 0, "my-key", 'q"'])).toBe('a.b_1[0]["my-key"]["q\\""]');
});

test("a value set back stays secret, but inside a secret it need not be one itself", () => {
  const olds: PropertyMap = { plain: new Secret({ a: "old" }), sealed: { a: new Secret("old") } };
  const news: PropertyMap = { plain: { a: "new" }, sealed: new Secret({ a: "new" }) };
  expect(resetPath(["plain", "a"], olds, news)).toBe(true);
  expect(resetPath(["sealed", "a"], olds, news)).toBe(true);
  expect(news).toEqual({ plain: { a: new Secret("old") }, sealed: new Secret({ a: new Secret("old") }) });
});
