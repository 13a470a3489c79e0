import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { problemsOf } from "../../testing/programs/check.ts";
import { found } from "../../testing/programs/cli.ts";
import type { Language } from "../../testing/programs/names.ts";
import { Schema } from "../../testing/programs/schema.ts";
import { presentSchema } from "../packageSchema.ts";
import { allSnippets, snippetsOf } from "./snippets.ts";

const schema = new Schema();
const snippets = allSnippets(presentSchema("0.0.0"));
const written = (mark: string) => snippets.filter(({ snippet }) => snippet.mark === mark);

test("each resource and function has its example in six languages", () => {
  const names = [...schema.resources.keys(), ...schema.functions.keys()].filter((name) => name !== "Provider");
  const languages = ["C#", "Go", "Java", "Python", "TypeScript", "YAML"];
  for (const name of names) {
    expect({ name, in: snippets.flatMap(({ of, snippet }) => (of === name ? [snippet.language] : [])).sort() }).toEqual(
      { name, in: languages },
    );
  }
});

test("the name of the stack may stand in a text", () => {
  const yaml =
    "resources:\n  r:\n    type: microapps:SeedRows\n    properties: { table: r, key: Code, source: '${pulumi.stack}.csv' }\n";
  const of = snippetsOf("```yaml\n" + yaml + "```", presentSchema("0.0.0"));
  const expected: Record<string, string> = {
    ts: "source: `${pulumi.getStack()}.csv`",
    python: 'source=f"{pulumi.get_stack()}.csv"',
    go: 'Source: pulumi.String(ctx.Stack() + ".csv")',
    csharp: 'Source = $"{Deployment.Instance.StackName}.csv"',
    java: '.source(ctx.stackName() + ".csv")',
    yaml: "source: '${pulumi.stack}.csv'",
  };
  for (const { mark, code } of of) expect(code).toContain(expected[mark]);
  for (const language of checked) {
    expect(problemsOf(language, of.find(({ mark }) => mark === language)?.code ?? "", schema)).toEqual([]);
  }
});

const checked: Language[] = ["yaml", "python", "go", "csharp", "java"];
describe.each(checked)("in %s", (language) => {
  test.each(written(language))("the example of $of names what the schema has", ({ snippet }) => {
    expect(problemsOf(language, snippet.code, schema)).toEqual([]);
  });
});

/** Texts in examples, a mistaken form of each, and the resulting problems. */
const mistakes: [Language, of: string, from: string, to: string, ...problems: string[]][] = [
  ["csharp", "Team", "Microapps.Team(", "Microapps.Teem(", "the package has no Teem"],
  ["csharp", "Team", "OrganizationID =", "OrganizationId =", "Team has no OrganizationId", "Team needs organizationID"],
  ["csharp", "TeamMember", "TeamMemberRole.Admin", "TeamMemberRole.Boss", "TeamMemberRole has no Boss"],
  [
    "csharp",
    "SeedRows",
    "                Key =",
    "                Kee =",
    "SeedRowsReferences has no Kee",
    "SeedRowsReferences needs key",
  ],
  ["csharp", "Notification", "portal.AppID", "portal.AppId", "GeneratedApp has no AppId"],
  ["csharp", "getTeam", "answer.Name", "answer.Nme", "getTeam has no Nme"],
  ["csharp", "getRows", "Label =", "Lable =", "GetRowsSort has no Lable", "GetRowsSort needs label"],
  ["java", "Team", "new Team(", "new Teem(", "the package has no Teem"],
  ["java", "Team", ".organizationID(", ".organizationId(", "Team has no organizationId", "Team needs organizationID"],
  ["java", "TeamMember", "TeamMemberRole.Admin)", "TeamMemberRole.Boss)", "TeamMemberRole has no Boss"],
  ["java", "SeedRows", '.key("Code")\n        ', '.kee("Code")\n        ', "SeedRows has no kee", "SeedRows needs key"],
  ["java", "Notification", "portal.appID()", "portal.appId()", "GeneratedApp has no appId"],
  ["java", "getTeam", "answer.name()", "answer.nme()", "getTeam has no nme"],
  ["java", "getRows", ".label(", ".lable(", "GetRowsSort has no lable", "GetRowsSort needs label"],
  [
    "csharp",
    "TeamMember",
    "Microapps.TeamMemberRole.Admin",
    '"admin"',
    "string stands where TeamMemberRole is expected",
  ],
  ["csharp", "Team", "acme.Id", "12", "integer stands where string is expected"],
  ["csharp", "Notification", "portal.AppID", "true", "boolean stands where string is expected"],
  [
    "csharp",
    "SeedRows",
    "Inputs.SeedRowsReferencesArgs",
    "Inputs.SeedRowsParentArgs",
    "SeedRowsParent stands where SeedRowsReferences is expected",
    "SeedRowsParent needs by",
  ],
  ["java", "TeamMember", "TeamMemberRole.Admin", '"admin"', "string stands where TeamMemberRole is expected"],
  ["java", "getRows", '.label("Code")', ".label(12)", "integer stands where string is expected"],
];
test.each(mistakes)("in %s a mistake in the example of %s is found: %s", (language, name, from, to, ...problems) => {
  const code = written(language).find(({ of }) => of === name)?.snippet.code ?? "";
  expect(code).toContain(from);
  const wrong = problemsOf(language, code.replace(from, to), schema);
  expect(wrong.map((each) => each.replace(/^\d+: /, ""))).toEqual(problems);
});

describe("where the language is installed", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "microapps-"));
    for (const { of, snippet } of [...written("go"), ...written("python")]) {
      writeFileSync(join(folder, `${of}.${snippet.mark === "go" ? "go" : "py"}`), `${snippet.code}\n`);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const parsers: [program: string, ...args: string[]][] = [
    ["gofmt", "-l"], // names the files that it would write otherwise
    ["python3", "-c", "import ast, sys; [ast.parse(open(file).read()) for file in sys.argv[1:]]"],
  ];
  test.each(parsers)("%s has nothing to say", (program, ...args) => {
    const files = snippets.flatMap(({ of, snippet }) => {
      const ending = { gofmt: "go", python3: "python" }[program];
      return snippet.mark === ending ? [join(folder, `${of}.${ending === "go" ? "go" : "py"}`)] : [];
    });
    expect(files.length).toBeGreaterThan(10);
    if (found(program) !== undefined) expect(execFileSync(program, [...args, ...files], { encoding: "utf8" })).toBe("");
  });
});
