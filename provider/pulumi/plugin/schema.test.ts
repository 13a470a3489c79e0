import { expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { functions } from "../../functions/functions.ts";
import { factsOf } from "../../resources/common.ts";
import { resources } from "../../resources/resources.ts";
import { schemaText } from "./schema.ts";

const repository = join(import.meta.dirname, "../../../..");
const committed = join(repository, "plugin/schema.json");
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(repository, "package.json"), "utf8")));

const property = z.looseObject({
  type: z.string().optional(),
  $ref: z.string().optional(),
  description: z.string().optional(),
  secret: z.boolean().optional(),
  replaceOnChanges: z.boolean().optional(),
  default: z.unknown().optional(),
  defaultInfo: z.object({ environment: z.array(z.string()) }).optional(),
});
const properties = z.record(z.string(), property);
const side = z.object({ properties, required: z.array(z.string()) });
const schema = z
  .looseObject({
    config: z.object({ variables: properties }),
    types: z.record(z.string(), z.looseObject({ properties: properties.default({}) })),
    functions: z.record(z.string(), z.looseObject({ description: z.string(), inputs: side, outputs: side })),
    resources: z.record(
      z.string(),
      z.looseObject({ properties, inputProperties: properties, required: z.array(z.string()) }),
    ),
  })
  .parse(JSON.parse(schemaText(version)));

test("the committed schema.json is the one of the definitions (UPDATE_SCHEMA=1 in a test run writes it anew)", () => {
  const text = schemaText(version);
  if (process.env["UPDATE_SCHEMA"]) writeFileSync(committed, text);
  expect(readFileSync(committed, "utf8")).toBe(text);
});

test("every resource is there, with every input but those that nobody gives", () => {
  for (const { name, inputs } of resources) {
    const names = Object.keys(inputs.shape).filter((input) => !factsOf(inputs.shape[input]).computed);
    expect(Object.keys(schema.resources[`microapps:index:${name}`]?.inputProperties ?? {})).toEqual(names);
  }
});

test("every function is there, with its inputs, its outputs and the values that there are", () => {
  for (const { name, inputs, outputs } of functions) {
    const found = schema.functions[`microapps:index:${name}`];
    expect(Object.keys(found?.inputs.properties ?? {})).toEqual(Object.keys(inputs.shape));
    expect(Object.keys(found?.outputs.properties ?? {})).toEqual(Object.keys(outputs.shape));
  }
  const status = schema.functions["microapps:index:getAppStatus"];
  expect(status?.inputs.required).toEqual(["appID"]);
  expect(status?.outputs.required).toEqual(["appID", "status", "meaning"]);
  expect(schema.types["microapps:index:GetAppStatusMeaning"]).toMatchObject({
    enum: [{ value: "pending" }, { value: "ready" }, { value: "failed" }],
  });
});

test("everything is described", () => {
  const all = [
    ...Object.values(schema.resources).flatMap(({ properties, inputProperties }) => [properties, inputProperties]),
    ...Object.values(schema.functions).flatMap(({ inputs, outputs }) => [inputs.properties, outputs.properties]),
    ...Object.values(schema.types).map(({ properties }) => properties),
  ].flatMap((properties) => Object.entries(properties));
  const bare = [...all, ...Object.entries(schema.config.variables)].filter(([, { description = "" }]) => !description);
  expect(bare).toEqual([]);
});

test("what replaces, what is secret, what has a default and where from, and which values there are", () => {
  const rows = schema.resources["microapps:index:SeedRows"];
  expect(rows?.inputProperties["table"]).toMatchObject({ type: "string", replaceOnChanges: true });
  expect(rows?.inputProperties["mode"]).toMatchObject({
    $ref: "#/types/microapps:index:SeedRowsMode",
    default: "exact",
  });
  expect(schema.types["microapps:index:SeedRowsMode"]).toMatchObject({
    enum: ["exact", "upsert", "insertOnly", "updateOnly"].map((value) => ({ value })),
  });
  expect(rows?.properties).not.toHaveProperty("rows");
  expect(rows?.properties).toHaveProperty("digest");
  expect(schema.config.variables["password"]).toMatchObject({
    secret: true,
    defaultInfo: { environment: ["MICROAPPS_PASSWORD"] },
  });
  expect(schema.resources["microapps:index:Team"]?.inputProperties["description"]).toMatchObject({ type: "string" });
});

test("every value of an enumeration has letters, of which generators of SDKs make its name", () => {
  const all = Object.values(schema.types).flatMap((type) =>
    Array.isArray(type["enum"]) ? (type["enum"] as unknown[]) : [],
  );
  expect(all.length).toBeGreaterThan(5);
  expect(all.filter((one) => !/"value":"[^"]*[a-z]/i.test(JSON.stringify(one)))).toEqual([]);
});

test("no two names of one object are the same in Python, where they are in snake case", () => {
  const objects = [
    schema.config.variables,
    ...Object.values(schema.resources).flatMap(({ properties, inputProperties }) => [properties, inputProperties]),
    ...Object.values(schema.functions).flatMap(({ inputs, outputs }) => [inputs.properties, outputs.properties]),
    ...Object.values(schema.types).map(({ properties }) => properties),
  ];
  const alike = objects.flatMap((object) => {
    const names = Object.keys(object).map((name) => name.replaceAll("_", "").toLowerCase());
    return names.filter((name, at) => names.indexOf(name) !== at);
  });
  expect(alike).toEqual([]);
});
