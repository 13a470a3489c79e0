import { expect, test } from "@jest/globals";
import { organization } from "../resources/organization.ts";
import type { Resource } from "../resources/resource.ts";
import { seedRows } from "../resources/seedRows.ts";
import { teamRoster } from "../resources/teamRoster.ts";
import { explainRefusedIgnores, fromDynamic, remembering } from "./options.ts";

const [seed, roster, acme] = [seedRows, teamRoster, organization] as unknown as [Resource, Resource, Resource]; // the general type

test("a part of rows can't be ignored, nor what is in a source; whole rows of the program can", () => {
  const instead =
    'can\'t be ignored: set mode to "upsert", which removes no row, and leave a label out of the rows to leave its ' +
    'values alone, set mode to "insertOnly" to change no row that is there, or set onConflict to "keepLive" to keep what is edited by hand';
  for (const path of ['rows["EUR"].Name', "rows[0].Name", "rows.EUR", "rows[*]", "*.EUR"]) {
    expect(explainRefusedIgnores(seed, ["table", path], { rows: [] })).toBe(
      `ignoreChanges names ${path}, and a part of rows ${instead}`,
    );
  }
  expect(explainRefusedIgnores(seed, ["rows"], { source: "rows.csv" })).toBe(
    `ignoreChanges names rows, and what is in a source ${instead}`,
  );
  expect(explainRefusedIgnores(seed, ["rows", "*", "source", "references.Country"], { rows: [] })).toBeUndefined();
  expect(explainRefusedIgnores(roster, ['members["ada@example.com"]', "members.*"], {})).toBeUndefined();
});

test("a misspelt path is refused, with the names that there are", () => {
  const names = "it has name, description, adminID, forceDestroy, adopt";
  expect(explainRefusedIgnores(acme, ["nme"], {})).toBe(
    `ignoreChanges names nme, which is not an input of Organization; ${names}`,
  );
  expect(explainRefusedIgnores(acme, ["[0]"], {})).toContain("names [0], which is not an input of Organization");
  expect(explainRefusedIgnores(seed, ["digest"], {})).toContain("names digest, which is not an input of SeedRows");
});

test("what a program says of a dynamic resource is not an input of it, and secrets are remembered by name", () => {
  const secrets = ["name"];
  const read = { inputs: { name: "Acme" }, secrets, isPreview: undefined };
  expect(fromDynamic(remembering({ name: "Acme" }, secrets))).toEqual(read);
  expect(remembering({ name: "Acme" }, [])).toEqual({ name: "Acme" });
  const program = { resourceUrn: "urn", isPreview: true, secrets };
  expect(fromDynamic({ name: "Acme", __program: program })).toEqual({
    inputs: { name: "Acme", resourceUrn: "urn" },
    isPreview: true,
    secrets,
  });
  // What the program says counts, not what ignored changes bring back from the last run.
  expect(fromDynamic({ __program: {}, __options: { secrets } })).toMatchObject({ secrets: [] });
  // A state of 0.1.0 remembers options that are refused by now.
  const former = { replaceOnChanges: ["name"], timeouts: { create: 300 }, secrets };
  expect(fromDynamic({ name: "Acme", __options: former })).toEqual(read);
});
