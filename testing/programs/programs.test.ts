import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { problemsOf, problemsOfExamples, programsIn } from "./check.ts";
import { snake, type Language } from "./names.ts";
import { repository, Schema } from "./schema.ts";

const schema = new Schema();

/** Texts in an example, a mistaken form of each, and the resulting problems. */
const mistakes: Record<Language, [from: string, to: string, ...problems: string[]][]> = {
  yaml: [
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
  ],
  python: [
    ["microapps.Team(", "microapps.Teem(", "the package has no Teem"],
    ["organization_id=", "organizationID=", "Team has no organizationID", "Team needs organizationID"],
    ['role="admin"', 'role="boss"', '"boss" is none of admin, member'],
    ["Role.MEMBER", "Role.MEMBR", "TeamMemberRole has no MEMBR"],
    ['"key": "Code"', '"kee": "Code"', "SeedRowsReferences has no kee", "SeedRowsReferences needs key"],
    ["currencies.table,", "currencies.tabel,", "SeedRows has no tabel"],
    ["portal.app_link", "portal.appLink", "GeneratedApp has no appLink"],
    ["get_team_output(team_id", "get_team_output(id", "getTeam has no id", "getTeam needs teamID"],
    ["get_team_output", "get_taem_output", "the package has no get_taem_output"],
    ["found.name", "found.nme", "getTeam has no nme"],
  ],
  go: [
    ["NewTeam(", "NewTeem(", "the package has no NewTeem"],
    ["TeamArgs{", "TeemArgs{", "the package has no TeemArgs"],
    ["OrganizationID:", "OrganizationId:", "Team has no OrganizationId", "Team needs organizationID"],
    ["TeamID: crew.ID(),\n\t\t\tEmail:", "TeamID: crew.ID(),\n\t\t\tMail:", "TeamMember has no Mail"],
    ["RoleAdmin", "RoleBoss", "the package has no TeamMemberRoleBoss"],
    [
      'Key: pulumi.String("Code")}',
      'Kee: pulumi.String("Code")}',
      "SeedRowsReferences has no Kee",
      "SeedRowsReferences needs key",
    ],
    ["SeedRowsTypesMap{", "SeedRowsTypeMap{", "the package has no SeedRowsTypeMap"],
    ["currencies.Table,", "currencies.Tabel,", "SeedRows has no Tabel"],
    ["portal.AppLink", "portal.AppLnk", "GeneratedApp has no AppLnk"],
    ["LookupTeamOutputArgs{TeamID", "LookupTeamOutputArgs{ID", "getTeam has no ID", "getTeam needs teamID"],
    ["found.Name()", "found.Nme()", "getTeam has no Nme"],
  ],
};

test.each(Object.entries(mistakes))("a misspelt name in the %s example is a problem", (language, cases) => {
  const file = programsIn(language as Language)[0] ?? "";
  const program = readFileSync(join(repository, file), "utf8");
  for (const [from, to, ...problems] of cases) {
    expect(program).toContain(from);
    const found = problemsOf(language as Language, program.replace(from, to), schema);
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

test("Python's names are spelled as Pulumi spells them", () => {
  const names = ["organizationID", "teamIDs", "memberUserID", "URLPath", "sha256Hash"];
  expect(names.map(snake)).toEqual(["organization_id", "team_ids", "member_user_id", "url_path", "sha256_hash"]);
});
