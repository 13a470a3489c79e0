import { expect, test } from "@jest/globals";
import { organization } from "../resources/organization.ts";
import type { Resource } from "../resources/resource.ts";
import { seedRows } from "../resources/seedRows.ts";
import { teamRoster } from "../resources/teamRoster.ts";
import { explainRefusedIgnores, explainRefusedReplacements, findReplacements, withoutOptions } from "./options.ts";
import { parsePath } from "./propertyPaths.ts";

const [seed, roster, acme] = [seedRows, teamRoster, organization] as unknown as [Resource, Resource, Resource]; // the general type

test("a path is read as Pulumi spells it", () => {
  expect(parsePath("name")).toEqual(["name"]);
  expect(parsePath('members["ada@example.com"]')).toEqual(["members", "ada@example.com"]);
  expect(parsePath('rows["a\\"b"].Name')).toEqual(["rows", 'a"b', "Name"]);
  expect(parsePath("viewers[0]")).toEqual(["viewers", 0]);
  expect(parsePath("references.*.table")).toEqual(["references", "*", "table"]);
  expect(parsePath("members[*]")).toEqual(["members", "*"]);
  expect(["", ".name", "rows[", "rows[x]", 'rows["EUR'].map(parsePath)).toEqual(Array(5).fill(undefined));
});

test("replaceOnChanges acts on what changed at its path, and on nothing beside it", () => {
  const old = { members: { "ada@example.com": "admin", "kay@example.com": "member" }, ignore: ["a"] };
  const news = { members: { "ada@example.com": "member", "kay@example.com": "member" }, ignore: ["b"] };
  const change = { changed: ["members", "ignore"], replaces: [] };
  const replaced = (...paths: string[]): string[] => findReplacements(roster, paths, change, old, news);
  expect(replaced()).toEqual([]);
  expect(replaced("*")).toEqual(["members", "ignore"]);
  expect(replaced("members")).toEqual(["members"]);
  expect(replaced('members["ada@example.com"]')).toEqual(["members"]);
  expect(replaced('members["kay@example.com"]', "members.grace")).toEqual([]);
  expect(replaced("members.*", "ignore[0]")).toEqual(["members", "ignore"]);
  expect(replaced("ignore[1]", "mode", "teamID")).toEqual([]);
  // Letter case alone is no change to the roster, so nothing is replaced for it.
  expect(findReplacements(roster, ["*"], { changed: [], replaces: [] }, old, news)).toEqual([]);
});

test("of rows the digest tells that they changed, and drift is a change of them, too", () => {
  const change = { changed: ["digest", "drift", "mode"], replaces: [] };
  expect(findReplacements(seed, ["rows"], change, {}, {})).toEqual(["digest", "drift"]);
  expect(findReplacements(seed, ["digest"], change, {}, {})).toEqual([]);
});

test("a part of rows can't be ignored, nor what is in a source; whole rows of the program can", () => {
  const instead =
    'can\'t be ignored: set mode to "upsert", which removes no row, and leave a label out of the rows to leave its ' +
    'values alone, set mode to "insertOnly" to change no row that is there, or set onConflict to "keepLive" to keep what is edited by hand';
  for (const path of ['rows["EUR"].Name', "rows[0].Name", "rows.EUR", "rows[*]", "*.EUR"]) {
    expect(explainRefusedIgnores(seed, ["table", path], { rows: [] })).toBe(
      `ignoreChanges names ${path}, a part of rows, which ${instead}`,
    );
  }
  expect(explainRefusedIgnores(seed, ["rows"], { source: "rows.csv" })).toBe(
    `ignoreChanges names rows, and what is in a source ${instead}`,
  );
  expect(explainRefusedIgnores(seed, ["rows", "*", "source", "references.Country"], { rows: [] })).toBeUndefined();
  expect(explainRefusedIgnores(roster, ['members["ada@example.com"]', "members.*"], {})).toBeUndefined();
});

test("a misspelt path is refused by both options, with the names that there are", () => {
  const names = "it has name, description, adminID, forceDestroy, adopt";
  expect(explainRefusedIgnores(acme, ["nme"], {})).toBe(
    `ignoreChanges names nme, which is no input of Organization; ${names}`,
  );
  expect(explainRefusedReplacements(acme, ["nme"])).toBe(
    `replaceOnChanges names nme, which is no input of Organization; ${names}`,
  );
  expect(explainRefusedIgnores(acme, ["name["], {})).toBe('ignoreChanges has "name[", which is no property path');
  expect(explainRefusedIgnores(seed, ["digest"], {})).toContain("names digest, which is no input of SeedRows");
  expect(explainRefusedReplacements(acme, ["*", "name", "#initerror"])).toBeUndefined();
  expect(explainRefusedReplacements(seed, ['rows["EUR"]'])).toBe(
    'replaceOnChanges names rows["EUR"], a part of rows, and the state tells of rows only whether they changed: name rows',
  );
});

test("the options are no inputs of the resource", () => {
  const set = { replaceOnChanges: ["name"] };
  const read = { options: { ...set, timeouts: {}, secrets: [] }, kept: { __options: set } };
  expect(withoutOptions({ name: "Acme", __options: set })).toEqual({ inputs: { name: "Acme" }, ...read });
  const program = { resourceUrn: "urn", isPreview: true, options: set };
  expect(withoutOptions({ name: "Acme", __program: program })).toEqual({
    inputs: { name: "Acme", resourceUrn: "urn" },
    isPreview: true,
    ...read,
  });
  // The program's present options count, not those that ignored changes bring back from the last run.
  expect(withoutOptions({ __program: {}, __options: set })).toMatchObject({
    options: { replaceOnChanges: [] },
    kept: {},
  });
  expect(withoutOptions({ name: "Acme" }).options).toEqual({ replaceOnChanges: [], timeouts: {}, secrets: [] });
});
