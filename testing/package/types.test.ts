import { beforeAll, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { presentSchema } from "../../tools/packageSchema.ts";
import { allSnippets } from "../../tools/snippets/snippets.ts";
import { repository } from "../harness/project.ts";

const head = `import { Environment, GeneratedApp, Organization, Provider, SeedRows, Team, TeamMember, TeamRoster, UserTeams } from "pulumi-microapps";
import * as pulumi from "@pulumi/pulumi";
interface Country { Code: string; People?: number | null }
declare const text: string; declare const output: pulumi.Output<string>;
`;

/** Programs with the editor's messages; none for a right one. */
const cases: [program: string, said: string[]][] = [
  [`new Organization("acme", { name: "Acme", adminID: output });`, []],
  [`new Organization("acme", { nmae: "Acme" });`, ["'nmae' does not exist in type 'OrganizationArgs'"]],
  [`new Organization("acme", {});`, ["Property 'name' is missing"]],
  [`new Organization("acme", { name: 7 });`, ["Type 'number' is not assignable to type 'Input<string>'"]],
  [`new Team("crew", { name: "Crew" });`, ["required in type 'TeamArgs'"]],
  [
    `new Team("crew", { name: "Crew", organisationID: output });`,
    ["'organisationID' does not exist in type 'TeamArgs'"],
  ],
  [`new TeamMember("ada", { teamID: output, email: "ada@example.com", role: "admin" });`, []],
  [`new TeamMember("ada", { teamID: output, userID: output });`, []],
  [
    `new TeamMember("ada", { teamID: output, email: "ada@example.com", role: "owner" });`,
    [`'"owner"' is not assignable`],
  ],
  [`new TeamMember("ada", { teamID: output });`, ["is not assignable to parameter of type 'TeamMemberArgs'"]],
  [
    `new TeamMember("ada", { teamID: output, email: "ada@example.com", userID: "u1" });`,
    ["is not assignable to parameter of type 'TeamMemberArgs'"],
  ],
  [`new TeamRoster("all", { teamID: output, members: { "ada@example.com": "admin" } });`, []],
  [
    `new TeamRoster("all", { teamID: output, members: { "ada@example.com": "amdin" } });`,
    [`'"amdin"' is not assignable`],
  ],
  [`new TeamRoster("all", { teamID: output, members: {}, mode: "strict" });`, [`'"strict"' is not assignable`]],
  [`new UserTeams("ada", { email: "ada@example.com" });`, ["missing the following properties", "teamIDs"]],
  [`new UserTeams("ada", { teamIDs: [output], userID: output });`, []],
  [`new UserTeams("ada", { teamIDs: [] });`, ["is not assignable to parameter of type 'UserTeamsArgs'"]],
  [`new SeedRows("r", { table: "r", key: "Code", rows: [{ Code: "N", Name: output }] });`, []],
  [
    `new SeedRows("r", { table: "r", key: ["City", "Floor"], source: "r.csv", types: { Floor: "number", Since: "date" } });`,
    [],
  ],
  [`new SeedRows("r", { table: "r", key: "Code" });`, ["is not assignable to parameter of type 'SeedRowsArgs<"]],
  [
    `new SeedRows("r", { table: "r", key: "Code", source: "r.csv", rows: [] });`,
    ["is not assignable to parameter of type 'SeedRowsArgs<"],
  ],
  [`new SeedRows("r", { table: "r", source: "r.csv" });`, ["Property 'key' is missing"]],
  [
    `new SeedRows("r", { table: "r", key: "Code", sorce: "r.csv" });`,
    ["'sorce' does not exist in type 'SeedRowsArgs<"],
  ],
  [`new SeedRows("r", { table: "r", key: "Code", source: "r.csv", mode: "exakt" });`, [`'"exakt"' is not assignable`]],
  [
    `new SeedRows("r", { table: "r", key: "Code", source: "r.csv", types: { N: "integer" } });`,
    [`'"integer"' is not assignable`],
  ],
  [
    `new SeedRows("r", { table: "r", key: "Code", source: "r.csv", parent: { by: "N" } });`,
    ["missing the following properties", "table, key"],
  ],
  [
    `new SeedRows<Country>("r", { table: "r", key: "Code", rows: [{ Code: "PT", People: output.apply(Number) }] });`,
    [],
  ],
  [
    `new SeedRows<Country>("r", { table: "r", key: "Code", rows: [{ Code: "PT", Pepole: 10 }] });`,
    ["'Pepole' does not exist"],
  ],
  [
    `new SeedRows<Country>("r", { table: "r", key: "Code", rows: [{ Code: "PT", People: "10" }] });`,
    ["Type 'string' is not assignable to type 'Input<number | null | undefined>'"],
  ],
  [`new SeedRows<Country>("r", { table: "r", key: "Code", rows: [{ People: 10 }] });`, ["Property 'Code' is missing"]],
  [`new SeedRows<Country>("r", { table: "r", key: "Cdoe", source: "r.csv" });`, [`'"Cdoe"' is not assignable`]],
  [
    `new SeedRows<Country>("r", { table: "r", key: "Code", source: "r.csv", changes: [{ Code: "PT", People: true }] });`,
    ["Type 'true' is not assignable"],
  ],
  [
    `new GeneratedApp("a", { userEmail: "ada@example.com", appPrompt: "An atlas.", wait: "done" });`,
    [`'"done"' is not assignable`],
  ],
  [`new Environment("e", { fiel: "dev.yaml" });`, ["'fiel' does not exist in type"]],
  [`new Provider("p", { endpoint: text, readonly: true });`, ["'readonly' does not exist in type"]],
  [`new Provider("p", { endpoint: text, readOnly: true, userID: output, token: output });`, []],
  [`const team: pulumi.Output<string> = new Team("crew", { name: "Crew", organizationID: text }).name; void team;`, []],
  [`new Team("crew", { name: "Crew", organizationID: text }).nmae;`, ["Property 'nmae' does not exist on type 'Team'"]],
];

/** The examples of the documentation, by what they are of. */
const examples = allSnippets(presentSchema("0.0.0")).filter(({ snippet }) => snippet.language === "TypeScript");
const programs = [
  ...cases.map(([program]) => ({ name: program, text: head + program })),
  ...examples.map(({ of, snippet }) => ({ name: of, text: snippet.code })),
];

let said: Map<string, string>;
beforeAll(() => {
  const folder = join(repository, "testing");
  const files = new Map(programs.map(({ text }, i) => [join(folder, `case${i}.mts`), text] as const));
  const options: ts.CompilerOptions = {
    ...{ target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, lib: ["lib.es2024.d.ts"], types: ["node"] },
    ...{ strict: true, noEmit: true, skipLibCheck: true },
  };
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const readFile = host.readFile.bind(host);
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, version) => {
    const text = files.get(file) ?? (fileExists(file) ? readFileSync(file, "utf8") : undefined);
    return text === undefined ? undefined : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  said = new Map(
    [...files.keys()].map((file, i) => {
      const diagnostics = program.getSemanticDiagnostics(program.getSourceFile(file));
      const texts = diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
      return [programs[i]?.name ?? "", texts.join("\n")];
    }),
  );
});

test.each(cases)("%s", (program, expected) => {
  const words = said.get(program) ?? "nothing was said";
  if (expected.length === 0) expect(words).toBe("");
  for (const part of expected) expect(words).toContain(part);
});

test.each(examples)("the example of $of compiles", ({ of }) => {
  expect(said.get(of)).toBe("");
});
