import { parse } from "yaml";
import { z } from "zod";
import type { TypeSpec } from "../provider/pulumi/plugin/schema.ts";
import { findNamedType, nameOf, type ObjectSpec, type PackageSchema } from "./packageSchema.ts";

/** A program in a language, with the word that marks it in Markdown. */
export interface Snippet {
  language: "TypeScript" | "YAML";
  mark: string;
  code: string;
}

/** The example of a description in each language; none where it has no example. */
export function snippetsOf(description: string, schema: PackageSchema): Snippet[] {
  const yaml = yamlIn(description);
  if (yaml === undefined) return [];
  return [
    { language: "TypeScript", mark: "ts", code: typescript(readExample(yaml, schema)) },
    { language: "YAML", mark: "yaml", code: yaml.trimEnd() },
  ];
}

/** The examples of all resources and functions, with the name of what each is of. */
export const allSnippets = (schema: PackageSchema): { of: string; snippet: Snippet }[] =>
  Object.entries({ ...schema.resources, ...schema.functions }).flatMap(([token, { description }]) =>
    snippetsOf(description, schema).map((snippet) => ({ of: nameOf(token), snippet })),
  );

/** A value of an example,, checked against the type of its property. */
type ExampleValue =
  | { kind: "scalar"; value: string | number | boolean }
  | { kind: "stackName"; before: string; after: string } // the name of the stack within a text
  | { kind: "reference"; name: string; property: string }
  | { kind: "list"; items: ExampleValue[] }
  | { kind: "map"; entries: ExampleEntry[] };

type ExampleEntry = readonly [key: string, value: ExampleValue];

/** A resource, or a question that a function answers. */
interface ExampleDeclaration {
  /** Name of its variable in the program. */
  name: string;
  /** Name in the package, such as `Team` or `getTeam`. */
  type: string;
  entries: ExampleEntry[];
  /** True when the program refers to it. */
  isUsed: boolean;
}

interface Example {
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
const yamlIn = (description: string): string | undefined => /```yaml\n(.*?)```/s.exec(description)?.[1];

/** The declarations of a YAML example, with the types of the schema. */
function readExample(yaml: string, schema: PackageSchema): Example {
  const { resources, variables, outputs } = program.parse(parse(yaml));
  const reader = new Reader(schema);
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

  constructor(schema: PackageSchema) {
    this.#schema = schema;
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
    if (name !== undefined && property !== undefined) return { kind: "reference", name, property };
    const [before, after, ...more] = text.split("${pulumi.stack}");
    if (before !== undefined && after !== undefined) return { kind: "stackName", before, after };
    if (more.length > 0 || text.includes("${")) throw new Error(`nobody knows how to write ${text}`);
    const named = findNamedType(this.#schema, type);
    if (Array.isArray(value)) return { kind: "list", items: value.map((item) => this.value(type.items ?? {}, item)) };
    if (typeof value === "object" && value !== null) {
      const entries = value as Record<string, unknown>; // what is no list, and no scalar, in YAML
      if (named) return { kind: "map", entries: this.object(named, entries) };
      const of = type.additionalProperties ?? {};
      return {
        kind: "map",
        entries: Object.entries(entries).map(([key, entry]) => [key, this.value(of, entry)] as const),
      };
    }
    return { kind: "scalar", value: scalar.parse(value) };
  }
}

const fits = ({ type }: TypeSpec, value: unknown): boolean =>
  Array.isArray(value) ? type === "array" : typeof value === (type === "integer" ? "number" : type);

/** Text of a literal that JSON and a language write alike. */
const quoteLiteral = (value: string | number | boolean): string => JSON.stringify(value);

/** All lines of a text, moved to the right. */
const indentBy = (text: string, by: string): string => text.replaceAll(/^(?=.)/gm, by);

/** Characters of the longest single line. */
const maxWidth = 76;

/** Items in brackets: on one line when they are short, else one a line. */
function writeInBrackets(open: string, items: readonly string[], close: string, padding = ""): string {
  const line = items.length === 0 ? `${open}${close}` : `${open}${padding}${items.join(", ")}${padding}${close}`;
  if (items.length === 0 || (line.length <= maxWidth && !line.includes("\n"))) return line;
  return [open, ...items.map((item) => indentBy(`${item},`, "  ")), close].join("\n");
}

/** The example with the classes of this package. */
function typescript({ resources, invokes, outputs }: Example): string {
  const names = [...resources.map(({ type }) => type), ...invokes.map(({ type }) => `${type}Output`)];
  const imported = [...new Set(names)].sort().join(", ");
  const exports = outputs.map(([name, value]) => `export const ${name} = ${expression(value)};`);
  const body = [
    ...resources.map(resource),
    ...invokes.map(({ name, type, entries }) => `const ${name} = ${type}Output(${object(entries)});`),
    ...exports,
  ];
  return [
    ...(body.some((line) => line.includes("pulumi.")) ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    `import { ${imported} } from "pulumi-microapps";\n`,
    ...body,
  ].join("\n");
}

const resource = ({ name, type, entries, isUsed }: ExampleDeclaration): string =>
  `${isUsed ? `const ${name} = ` : ""}new ${type}(${quoteLiteral(name)}, ${object(entries)});`;

const key = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : quoteLiteral(name));

const object = (entries: readonly ExampleEntry[]): string =>
  writeInBrackets(
    "{",
    entries.map(([name, value]) => `${key(name)}: ${expression(value)}`),
    "}",
    " ",
  );

function expression(value: ExampleValue): string {
  switch (value.kind) {
    case "scalar":
      return quoteLiteral(value.value);
    case "stackName":
      return `\`${value.before}\${pulumi.getStack()}${value.after}\``;
    case "reference":
      return `${value.name}.${value.property}`;
    case "list":
      return writeInBrackets("[", value.items.map(expression), "]");
    case "map":
      return object(value.entries);
  }
}
