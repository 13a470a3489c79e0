import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { problemsOf, problemsOfExamples, programs } from "./check.ts";
import { repository, Schema } from "./schema.ts";

const schema = new Schema();

/** Texts in an example, a mistaken form of each, and the resulting problems. */
const mistakes: [from: string, to: string, ...problems: string[]][] = [
  ["microapps:Team\n", "microapps:Teem\n", "the package has no Teem"],
  ["organizationID:", "organisationID:", "Team has no organisationID", "Team needs organizationID"],
  ["role: admin", "role: boss", '"boss" is none of admin, member'],
  ["key: Code\n      source", "kee: Code\n      source", "SeedRows has no kee", "SeedRows needs key"],
  ["          key: Code", "          kee: Code", "SeedRowsReferences has no kee", "SeedRowsReferences needs key"],
  ["Decimals: number", "Decimals: numeric", '"numeric" is none of text, number, boolean, date, checkbox, json'],
  ["${acme.id}", "${amce.id}", "there is no resource or variable amce"],
  ["${currencies.table}", "${currencies.tabel}", "SeedRows has no tabel"],
  ["${portal.appLink}", "see ${offices.drift.mising}", "SeedRowsDrift has no mising"],
  ["microapps:getTeam", "microapps:getTaem", "the package has no getTaem"],
  ["        teamID: ${crew.id}\n\n", "        team: ${crew.id}\n\n", "getTeam has no team", "getTeam needs teamID"],
  ["${found.name}", "${found.nme}", "getTeam has no nme"],
  ["fn::invoke:", "fn::microapps:getTaem:", "the package has no getTaem"],
];

test("a misspelt name in an example is a problem", () => {
  const program = readFileSync(join(repository, programs[0] ?? ""), "utf8");
  for (const [from, to, ...problems] of mistakes) {
    expect(program).toContain(from);
    const found = problemsOf(program.replace(from, to), schema);
    expect({ to, found: found.map((each) => each.replace(/^\d+: /, "")) }).toEqual({ to, found: problems });
  }
});

test("the examples, and those in the documentation of the schema, name what is there", () => {
  expect(problemsOfExamples(schema)).toEqual([]);
});

test("a problem has its file and line", () => {
  const text = readFileSync(join(repository, "plugin/schema.json"), "utf8").replace(
    "      role: admin",
    "      rle: admin",
  );
  expect(problemsOfExamples(new Schema(text))).toEqual([
    "plugin/schema.json, example of TeamMember:18: TeamMember has no rle",
  ]);
});
