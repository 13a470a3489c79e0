import { parse } from "yaml";
import { z } from "zod";
import type { TypeSpec } from "../../provider/pulumi/plugin/types.ts";
import { nameOf, findNamedType, type ObjectSpec, type PackageSchema } from "../packageSchema.ts";

/** A value of an example, with the facts about its type that writers of a language need. */
export type ExampleValue =
  | { kind: "scalar"; value: string | number | boolean }
  | { kind: "stackName"; before: string; after: string } // the name of the stack within a text
  | { kind: "constant"; enumeration: string; value: string }
  | { kind: "reference"; name: string; property: string; isResult: boolean }
  | { kind: "list"; of: TypeSpec; items: ExampleValue[] }
  | { kind: "map"; of: TypeSpec; entries: ExampleEntry[] }
  | { kind: "object"; type: string; entries: ExampleEntry[] };

export type ExampleEntry = readonly [key: string, value: ExampleValue];

/** A resource, or a question that a function answers. */
export interface ExampleDeclaration {
  /** Name of its variable in the program. */
  name: string;
  /** Name in the package, such as `Team` or `getTeam`. */
  type: string;
  entries: ExampleEntry[];
  /** True when the program refers to it. */
  isUsed: boolean;
}

export interface Example {
  resources: ExampleDeclaration[];
  invokes: ExampleDeclaration[];
  outputs: ExampleEntry[];
}

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const properties = z.record(z.string(), z.unknown());
const program = z.strictObject({
  resources: z.record(z.string(), z.strictObject({ type: z.string(), properties })).default({}),
  variables: z
    .record(
      z.string(),
      z.strictObject({ "fn::invoke": z.strictObject({ function: z.string(), arguments: properties }) }),
    )
    .default({}),
  outputs: properties.default({}),
});

/** The YAML program in a description of the schema. */
export const yamlIn = (description: string): string | undefined => /```yaml\n(.*?)```/s.exec(description)?.[1];

/** The declarations of a YAML example, with the types of the schema. */
export function readExample(yaml: string, schema: PackageSchema): Example {
  const { resources, variables, outputs } = program.parse(parse(yaml));
  const reader = new Reader(schema, Object.keys(variables));
  const isUsed = (name: string): boolean => yaml.includes(`\${${name}.`);
  return {
    resources: Object.entries(resources).map(([name, { type, properties }]) => {
      const { inputProperties = {} } = found(schema.resources, type);
      return {
        name,
        type: nameOf(type),
        entries: reader.object({ properties: inputProperties }, properties),
        isUsed: isUsed(name),
      };
    }),
    invokes: Object.entries(variables).map(([name, { "fn::invoke": invoked }]) => {
      const { inputs = {} } = found(schema.functions, invoked.function);
      return {
        name,
        type: nameOf(invoked.function),
        entries: reader.object(inputs, invoked.arguments),
        isUsed: isUsed(name),
      };
    }),
    outputs: Object.entries(outputs).map(([name, value]) => [name, reader.value({}, value)] as const),
  };
}

function found<Spec>(specs: Record<string, Spec>, token: string): Spec {
  const spec = specs[`microapps:index:${nameOf(token)}`];
  if (!spec) throw new Error(`the package has no ${token}`);
  return spec;
}

class Reader {
  readonly #schema: PackageSchema;
  readonly #results: readonly string[];

  constructor(schema: PackageSchema, results: readonly string[]) {
    this.#schema = schema;
    this.#results = results;
  }

  object({ properties = {} }: ObjectSpec, values: Readonly<Record<string, unknown>>): ExampleEntry[] {
    return Object.entries(values).map(([name, value]) => {
      const type = properties[name];
      if (!type) throw new Error(`there is no property ${name}`);
      return [name, this.value(type, value)] as const;
    });
  }

  value(type: TypeSpec, value: unknown): ExampleValue {
    if (type.oneOf) return this.value(type.oneOf.find((option) => fits(option, value)) ?? {}, value);
    const text = typeof value === "string" ? value : "";
    const [, name, property] = /^\$\{(\w+)\.(\w+)\}$/.exec(text) ?? [];
    if (name !== undefined && property !== undefined) {
      return { kind: "reference", name, property, isResult: this.#results.includes(name) };
    }
    const [before, after, ...more] = text.split("${pulumi.stack}");
    if (before !== undefined && after !== undefined) return { kind: "stackName", before, after };
    if (more.length > 0 || text.includes("${")) throw new Error(`nobody knows how to write ${text}`);
    const named = findNamedType(this.#schema, type);
    if (named?.enum) return { kind: "constant", enumeration: nameOf(type.$ref ?? ""), value: String(value) };
    if (Array.isArray(value)) {
      const of = type.items ?? {};
      return { kind: "list", of, items: value.map((item) => this.value(of, item)) };
    }
    if (typeof value === "object" && value !== null) {
      const entries = value as Record<string, unknown>; // what is no list, and no scalar, in YAML
      if (named) return { kind: "object", type: nameOf(type.$ref ?? ""), entries: this.object(named, entries) };
      const of = type.additionalProperties ?? {};
      return {
        kind: "map",
        of,
        entries: Object.entries(entries).map(([key, entry]) => [key, this.value(of, entry)] as const),
      };
    }
    return { kind: "scalar", value: scalar.parse(value) };
  }
}

const fits = ({ type }: TypeSpec, value: unknown): boolean =>
  Array.isArray(value) ? type === "array" : typeof value === (type === "integer" ? "number" : type);
