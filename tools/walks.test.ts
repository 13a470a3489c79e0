import { expect, test } from "@jest/globals";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const repository = join(import.meta.dirname, "../..");
const text = readFileSync(join(repository, "CONTRIBUTING.md"), "utf8");
const [, walks = ""] = /^## Four walks$(.*?)^## /ms.exec(text) ?? [];

/** The files of a walk, each with the functions that are named beside it. */
const stepsOf = (walk: string): { file: string; names: string[] }[] =>
  [...walk.matchAll(/^\d+\. `([^`]+)`: (.*(?:\n {3}.*)*)/gm)].map(([, file = "", rest = ""]) => ({
    file,
    names: [...rest.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  }));

const isDefined = (source: string, name: string): boolean =>
  new RegExp(`(?:\\b(?:function\\*?|class|const) |^  (?:async )?\\*?)${name}\\b`, "m").test(source);

test.each([
  ["`up` of an Environment", 15],
  ["An update of SeedRows", 12],
  ["A preview's diff", 8],
  ["`report`", 12],
])("the walk '%s' takes at most %i files, and what it names is there", (title, most) => {
  const [, walk = ""] = walks.split(/^### /m).flatMap((part) => (part.startsWith(`${title}\n`) ? ["", part] : []));
  const steps = stepsOf(walk);
  expect(steps.length).toBeGreaterThan(5);
  expect(steps.length).toBeLessThanOrEqual(most);
  const missing = steps.flatMap(({ file, names }) => {
    if (!existsSync(join(repository, file))) return [file];
    const source = readFileSync(join(repository, file), "utf8");
    return names.filter((name) => !isDefined(source, name)).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test("CONTRIBUTING.md is short, and each folder of its tree is there", () => {
  expect(text.split("\n").length).toBeLessThanOrEqual(151); // the last line ends
  const [, tree = ""] = /^## The tree$.*?^```$(.*?)^```$/ms.exec(text) ?? [];
  let top = "";
  const folders = tree.split("\n").flatMap((line) => {
    const names = [...line.matchAll(/(?<![\w/])([a-z]+)\/(?= )/g)].map(([, name = ""]) => name);
    if (/^\S/.test(line)) top = names[0] ?? "";
    return /^\S/.test(line) ? names : names.map((name) => `${top}/${name}`);
  });
  expect(folders).toContain("provider/client");
  expect(folders.filter((folder) => !existsSync(join(repository, folder)))).toEqual([]);
});
