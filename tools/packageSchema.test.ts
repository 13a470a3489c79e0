import { expect, test } from "@jest/globals";
import { z } from "zod";
import { readOwnPackage } from "../machine/ownPackage.ts";
import { packageSchema } from "./packageSchema.ts";

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
  .parse(packageSchema(readOwnPackage().version));

test("everything is described", () => {
  const all = [
    ...Object.values(schema.resources).flatMap(({ properties, inputProperties }) => [properties, inputProperties]),
    ...Object.values(schema.functions).flatMap(({ inputs, outputs }) => [inputs.properties, outputs.properties]),
    ...Object.values(schema.types).map(({ properties }) => properties),
  ].flatMap((properties) => Object.entries(properties));
  const bare = [...all, ...Object.entries(schema.config.variables)].filter(([, { description = "" }]) => !description);
  expect(bare).toEqual([]);
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
