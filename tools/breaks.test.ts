import { describe, expect, test } from "@jest/globals";
import { breaksBetween, mayBreak } from "./breaks.ts";
import type { PackageSchema } from "./packageSchema.ts";

const text = { type: "string" };
const schema = (): PackageSchema => ({
  version: "0.1.0",
  config: { variables: { endpoint: text } },
  provider: { inputProperties: { endpoint: text } },
  resources: {
    "microapps:index:Team": {
      description: "",
      inputProperties: {
        name: text,
        role: { $ref: "#/types/microapps:index:Role" },
        parent: { $ref: "#/types/microapps:index:Parent" },
      },
      requiredInputs: ["name"],
      properties: { name: text, count: { type: "integer" }, drift: { $ref: "#/types/microapps:index:Drift" } },
      required: ["name", "count"],
    },
  },
  functions: {
    "microapps:index:getTeam": {
      description: "",
      inputs: { properties: { teamID: text, limit: { type: "integer" } }, required: ["teamID"] },
      outputs: { properties: { members: { type: "array", items: text } }, required: ["members"] },
    },
  },
  types: {
    "microapps:index:Role": { enum: [{ value: "admin" }, { value: "member" }] },
    "microapps:index:Parent": { properties: { table: text, key: text }, required: ["table"] },
    "microapps:index:Drift": { properties: { missing: { type: "integer" } }, required: ["missing"] },
  },
  language: { go: { importBasePath: "example.com/go" } },
});

/** The parts of a schema that a case changes. */
const parts = (of: PackageSchema) => ({
  of,
  team: of.resources["microapps:index:Team"] as Required<PackageSchema["resources"][string]>,
  getTeam: of.functions["microapps:index:getTeam"] as unknown as { inputs: Properties; outputs: Properties },
  role: of.types["microapps:index:Role"] as { enum: { value: string }[] },
  parent: of.types["microapps:index:Parent"] as Properties,
  drift: of.types["microapps:index:Drift"] as Properties,
});
interface Properties {
  properties: Record<string, object>;
  required: string[];
}
type Change = (parts_: ReturnType<typeof parts>) => unknown;

const after = (change: Change): string[] => {
  const now = schema();
  change(parts(now));
  return breaksBetween(schema(), now);
};

const gone = (from: object, name: string): boolean => Reflect.deleteProperty(from, name);

describe("a break is one sentence", () => {
  const breaks: [sentence: string, Change][] = [
    ["resources.microapps:index:Team is gone", ({ of }) => gone(of.resources, "microapps:index:Team")],
    ["functions.microapps:index:getTeam is gone", ({ of }) => gone(of.functions, "microapps:index:getTeam")],
    ["config.variables.endpoint is gone", ({ of }) => gone(of.config.variables, "endpoint")],
    ["provider.inputProperties.endpoint is gone", ({ of }) => (of.provider.inputProperties = {})],
    ["resources.microapps:index:Team.inputProperties.role is gone", ({ team }) => gone(team.inputProperties, "role")],
    ["resources.microapps:index:Team.properties.drift is gone", ({ team }) => gone(team.properties, "drift")],
    ["resources.microapps:index:Team.required lacks count", ({ team }) => (team.required = ["name"])],
    [
      'resources.microapps:index:Team.inputProperties.name.type is "integer", and was "string"',
      ({ team }) => (team.inputProperties["name"] = { type: "integer" }),
    ],
    [
      "functions.microapps:index:getTeam.outputs.properties.members.items.type is gone",
      ({ getTeam }) => (getTeam.outputs.properties["members"] = { type: "array", items: { $ref: "pulumi.json#/Any" } }),
    ],
    ["resources.microapps:index:Team demands role", ({ team }) => (team.requiredInputs = ["name", "role"])],
    ["functions.microapps:index:getTeam.inputs demands limit", ({ getTeam }) => getTeam.inputs.required.push("limit")],
    ["types.microapps:index:Drift is gone", ({ of }) => gone(of.types, "microapps:index:Drift")],
    ["types.microapps:index:Role.enum lacks member", ({ role }) => role.enum.pop()],
    ["types.microapps:index:Parent demands key", ({ parent }) => parent.required.push("key")],
    ["types.microapps:index:Drift.required lacks missing", ({ drift }) => drift.required.pop()],
    [
      'language.go.importBasePath is "example.com/other", and was "example.com/go"',
      ({ of }) => (of.language = { go: { importBasePath: "example.com/other" } }),
    ],
  ];
  test.each(breaks)("%s", (sentence, change) => {
    expect(after(change)).toEqual([sentence]);
  });
});

describe("an addition is none:", () => {
  const additions: [what: string, Change][] = [
    ["a resource", ({ of, team }) => (of.resources["microapps:index:Crew"] = team)],
    ["an input that may be left out", ({ team }) => (team.inputProperties["more"] = text)],
    ["an input that may be left out now", ({ team }) => (team.requiredInputs = [])],
    ["an output", ({ team }) => (team.properties["more"] = text)],
    ["an output that is always there now", ({ team }) => (team.required = ["name", "count", "drift"])],
    ["a value", ({ role }) => role.enum.push({ value: "guest" })],
    ["a language", ({ of }) => (of.language = { ...of.language, java: { basePackage: "com.example" } })],
    ["another text", ({ team }) => (team.description = "A team.")],
  ];
  test.each(additions)("%s", (_, change) => {
    expect(after(change)).toEqual([]);
  });
});

test.each([
  ["0.1.0", "0.1.0", false],
  ["0.1.0", "0.1.9", false],
  ["0.1.0", "0.2.0", true],
  ["0.1.0", "1.0.0", true],
  ["1.2.0", "1.3.0", false],
  ["1.2.0", "2.0.0", true],
])("after %s version %s may break: %s", (released, version, may) => {
  expect(mayBreak(released, version)).toBe(may);
});
