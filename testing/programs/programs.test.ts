import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { examplesIn, languages, problemsOf, problemsOfExamples, repository } from "./files.ts";
import type { Language } from "./files.ts";
import { field } from "./go.ts";
import { located } from "./program.ts";
import { snake } from "./python.ts";
import { committedSchema, Schema } from "./schema.ts";

const schema = committedSchema();

/** A program with one mistake in it, and what is said of that: `line:column: message`. */
type Mistake = [from: string, to: string, ...said: string[]];

const mistakes: Record<Language, Mistake[]> = {
  yaml: [
    [
      "type: microapps:Team\n",
      "type: microapps:Teem\n",
      '18:11: the package has no microapps:Teem; did you mean "microapps:Team"?',
    ],
    [
      "organizationID:",
      "organisationID:",
      '18:11: Team needs the input "organizationID"',
      '20:7: Team has no input "organisationID"; did you mean "organizationID"?',
    ],
    ["      name: Acme\n", "", '13:11: Organization needs the input "name"'],
    ["role: admin", "role: boss", '33:13: "boss" is no TeamMemberRole; there is admin, member'],
    [
      "          key: Code",
      "          kee: Code",
      '64:11: SeedRowsReferences needs the property "key"',
      '65:11: SeedRowsReferences has no property "kee"; did you mean "key"?',
    ],
    [
      "Decimals: number",
      "Decimals: numeric",
      '55:19: "numeric" is no SeedRowsTypes; there is text, number, boolean, date, checkbox, json',
    ],
    ["${acme.id}", "${amce.id}", '20:25: there is no resource or variable "amce"; did you mean "acme"?'],
    ["${currencies.table}", "${currencies.tabel}", '64:31: SeedRows has no output "tabel"; did you mean "table"?'],
    [
      "${portal.appLink}",
      '"see ${portal.appLnk}"',
      '99:22: GeneratedApp has no output "appLnk"; did you mean "appLink"?',
    ],
    [
      "    properties:\n      name: Acme",
      "    propertys:\n      name: Acme",
      '13:11: Organization needs the input "name"',
      '14:5: a resource has no "propertys"; did you mean "properties"?',
    ],
    [
      "  app: ${portal.appLink}",
      "  app: ${offices.drift.mising}",
      '99:24: SeedRowsDrift has no property "mising"; did you mean "missing"?',
    ],
    [
      "outputs:",
      "variables:\n  who:\n    fn::invoke:\n      function: microapps:getTaem\n      arguments: {}\noutputs:",
      '93:17: the package has no microapps:getTaem; did you mean "microapps:getTeam"?',
    ],
    ["outputs:", "outputs: [", "91:18: Unexpected flow-map-start at node end"],
  ],
  python: [
    ["microapps.Team(", "microapps.Teem(", '7:18: the package has no Teem; did you mean "Team"?'],
    [
      "organization_id=",
      "organizationID=",
      '7:8: Team needs the input "organization_id"',
      '7:31: Team has no input "organizationID"; did you mean "organization_id"?',
    ],
    ['name="Acme", ', "", '6:8: Organization needs the input "name"'],
    ['role="admin"', 'role="boss"', '10:76: "boss" is no TeamMemberRole; there is admin, member'],
    ["TeamMemberRole.MEMBER", "TeamMemberRole.MEMBR", '16:35: TeamMemberRole has no "MEMBR"; did you mean "MEMBER"?'],
    [
      "microapps.TeamMemberRole.MEMBER",
      "microapps.TeamMemberRoles.MEMBER",
      '16:20: the package has no TeamMemberRoles; did you mean "TeamMemberRole"?',
    ],
    [
      '"key": "Code"',
      '"kee": "Code"',
      '32:29: SeedRowsReferences needs the property "key"',
      '32:57: SeedRowsReferences has no property "kee"; did you mean "key"?',
    ],
    [
      '"number"',
      '"numeric"',
      '25:24: "numeric" is no SeedRowsTypes; there is text, number, boolean, date, checkbox, json',
    ],
    ["currencies.table,", "currencies.tabel,", '32:50: SeedRows has no output "tabel"; did you mean "table"?'],
    ["portal.app_link", "portal.appLink", '60:29: GeneratedApp has no output "appLink"; did you mean "app_link"?'],
    [
      '{"table": currencies.table, "key": "Code"}',
      "microapps.SeedRowsReferencesArgs(table=currencies.table)",
      '32:29: SeedRowsReferences needs the property "key"',
    ],
    [
      "offices.row_count",
      "offices.drift.mising",
      '58:101: SeedRowsDrift has no property "mising"; did you mean "missing"?',
    ],
    [
      "import pulumi_microapps as microapps",
      "import pulumi_microapps as microapps\nfrom pulumi_microapps import TeemArgs as T",
      '5:30: the package has no TeemArgs; did you mean "TeamArgs"?',
    ],
    ["pulumi.export(", "pulumi.export((", "55:1: this is no Python"],
  ],
  go: [
    ["microapps.NewTeam(", "microapps.NewTeem(", '29:25: the package has no NewTeem; did you mean "NewTeam"?'],
    ["microapps.TeamArgs{", "microapps.TeemArgs{", '29:57: the package has no TeemArgs; did you mean "TeamArgs"?'],
    [
      "OrganizationID:",
      "OrganizationId:",
      '29:47: Team needs the input "OrganizationID"',
      '30:3: Team has no input "OrganizationId"; did you mean "OrganizationID"?',
    ],
    ['\t\tName:        pulumi.String("Acme"),\n', "", '22:55: Organization needs the input "Name"'],
    [
      "TeamMemberRoleAdmin",
      "TeamMemberRoleBoss",
      '48:22: the package has no TeamMemberRoleBoss; did you mean "TeamMemberRole"?',
    ],
    [
      "microapps.TeamMemberRoleAdmin",
      'microapps.TeamMemberRole("boss")',
      '48:37: "boss" is no TeamMemberRole; there is admin, member',
    ],
    [
      'Key: pulumi.String("Code")}',
      'Kee: pulumi.String("Code")}',
      '87:16: SeedRowsReferences needs the property "Key"',
      '87:74: SeedRowsReferences has no property "Kee"; did you mean "Key"?',
    ],
    ["currencies.Table,", "currencies.Tabel,", '87:67: SeedRows has no output "Tabel"; did you mean "Table"?'],
    ["portal.AppLink", "portal.AppLnk", '128:27: GeneratedApp has no output "AppLnk"; did you mean "AppLink"?'],
    ["\t\t\tEmail:  pulumi", "\t\t\tMail:  pulumi", '47:4: TeamMember has no input "Mail"; did you mean "Email"?'],
    [
      "AppID: portal.AppID",
      "AppID: portal.AppLink.ApplyT(func(x string) string { return portal.AppLnk })",
      '125:150: GeneratedApp has no output "AppLnk"; did you mean "AppLink"?',
    ],
    [
      "offices.RowCount",
      "offices.Drift.Mising()",
      '111:31: SeedRowsDrift has no property "Mising"; did you mean "Missing"?',
    ],
    [
      "microapps.SeedRowsTypesMap{",
      "microapps.SeedRowsTypeMap{",
      '77:21: the package has no SeedRowsTypeMap; did you mean "SeedRowsTypesMap"?',
    ],
    ["return nil", "return nil }", "70:1: this is no Go"],
  ],
};

test.each(languages)("a mistake in a %s program is told with its place and the name that was meant", (language) => {
  const file = `testing/programs/testdata/program.${language}`;
  const text = readFileSync(join(repository, file), "utf8");
  expect(problemsOf(language, text, schema)).toEqual([]);
  for (const [from, to, ...said] of mistakes[language]) {
    expect(text).toContain(from);
    const wrong = text.replace(from, to);
    const problems = problemsOf(language, wrong, schema).map((problem) => located(file, wrong, problem));
    expect(problems).toEqual(said.map((message) => `${file}:${message}`));
  }
});

test("what the examples and the documentation of the schema name is there", () => {
  expect(problemsOfExamples(schema)).toEqual([]);
  for (const language of languages) expect(examplesIn(language)).toHaveLength(1);
});

test("an example in the documentation that names what is not there is told", () => {
  const text = readFileSync(join(repository, "plugin/schema.json"), "utf8").replace(
    "      role: admin",
    "      rle: admin",
  );
  expect(problemsOfExamples(new Schema(text))).toEqual([
    'plugin/schema.json, example of TeamMember:18:7: TeamMember has no input "rle"; did you mean "role"?',
  ]);
});

test("a variable that shadows a resource is left to the compiler", () => {
  const text = `import pulumi_microapps as microapps
acme = microapps.Organization("acme", name="Acme")
print([acme.nonsense for acme in [1]], acme.nonsense)
`;
  expect(problemsOf("python", text, schema)).toEqual([]);
});

test("names are spelled as Pulumi's generators spell them", () => {
  const python = [
    "organizationID",
    "appID",
    "teamIDs",
    "memberUserID",
    "onPromptChange",
    "name",
    "URLPath",
    "sha256Hash",
  ];
  expect(python.map(snake)).toEqual([
    "organization_id",
    "app_id",
    "team_ids",
    "member_user_id",
    "on_prompt_change",
    "name",
    "url_path",
    "sha256_hash",
  ]);
  expect(["organizationID", "ID", "name"].map(field)).toEqual(["OrganizationID", "ID_", "Name"]);
});

describe("functions", () => {
  const functions = new Schema(
    JSON.stringify({
      config: { variables: {} },
      provider: { properties: {}, inputProperties: {} },
      resources: { "microapps:index:Team": { description: "", properties: { name: { type: "string" } } } },
      functions: {
        "microapps:index:getTeam": {
          description: "",
          inputs: { properties: { teamID: { type: "string" } }, required: ["teamID"] },
          outputs: { properties: { name: { type: "string" } } },
        },
      },
      types: {},
    }),
  );
  const said = (language: Language, text: string) =>
    problemsOf(language, text, functions).map((problem) => located("f", text, problem));

  test("in YAML, in both forms", () => {
    const call = (body: string) => `variables:\n  team:\n    ${body}\noutputs: { name: "\${team}" }\n`;
    expect(
      said("yaml", call("fn::invoke: { function: microapps:getTeam, arguments: { teamID: a }, return: name }")),
    ).toEqual([]);
    expect(
      said("yaml", call("fn::invoke: { function: microapps:getTeam, arguments: { id: a }, return: nme }")),
    ).toEqual([
      'f:3:29: getTeam needs the input "teamID"',
      'f:3:61: getTeam has no input "id"; there is teamID',
      'f:3:78: getTeam has no output "nme"; did you mean "name"?',
    ]);
    expect(said("yaml", call("fn::microapps:getTaem: { teamID: a }"))).toEqual([
      'f:3:5: the package has no microapps:getTaem; did you mean "microapps:getTeam"?',
    ]);
  });

  test("in Python, plain and for outputs", () => {
    const program = (body: string) => `from pulumi_microapps import get_team, get_team_output as look_up\n${body}\n`;
    expect(
      said("python", program('print(get_team(team_id="a").name, look_up(team_id="b").name.apply(print))')),
    ).toEqual([]);
    expect(said("python", program('print(get_team(id="a").nme)'))).toEqual([
      'f:2:7: getTeam needs the input "team_id"',
      'f:2:16: getTeam has no input "id"; there is team_id, opts, resource_name, args',
      'f:2:24: getTeam has no output "nme"; did you mean "name"?',
    ]);
  });

  test("in Go, where a resource has the name GetTeam already", () => {
    const program = (body: string) =>
      `package main\n\nimport m "example.com/microapps"\n\nfunc main() {\n\t${body}\n}\n`;
    expect(
      said("go", program('t, err := m.LookupTeam(ctx, &m.LookupTeamArgs{TeamID: "a"}); use(t.Name, err)')),
    ).toEqual([]);
    expect(
      said(
        "go",
        program("t, err := m.LookupTeamOutput(ctx, m.LookupTeamOutputArgs{ID: x}); use(t.Nme().ToStringOutput())"),
      ),
    ).toEqual([
      'f:6:36: getTeam needs the input "TeamID"',
      'f:6:59: getTeam has no input "ID"; there is TeamID',
      'f:6:74: getTeam has no output "Nme"; did you mean "Name"?',
    ]);
  });
});
