import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isObject, type Json } from "../platform/contract/wire.ts";
import { functions, type PlatformFunction } from "../provider/functions/functions.ts";
import { configuration } from "../provider/pulumi/configuration.ts";
import { hiddenNames } from "../provider/pulumi/properties.ts";
import { appReadiness } from "../provider/resources/appReadiness.ts";
import type { Resource } from "../provider/resources/resource.ts";
import { resources } from "../provider/resources/resources.ts";
import { fieldsIn, fieldsOf, pascal, schemaIn, type Field } from "./packageSchema.ts";

/** Pairs of inputs of which exactly one is set, by resource. */
const alternatives: Readonly<Record<string, readonly [string, string]>> = {
  TeamMember: ["email", "userID"],
  SeedRows: ["rows", "source"],
};

/** Inputs whose type in a program is not that of the definition, by resource and name. */
const own: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Provider: {
    wireNames: 'Input<string | Partial<Record<"platformFormat" | "storecopy" | "uploadFileToStore", string>>>',
  },
  SeedRows: {
    references: "Record<string, RowsOf>",
    parent: "ParentRows",
    key: "Input<LabelOf<NoInfer<Row>> | Input<LabelOf<NoInfer<Row>>>[]>",
    rows: "Input<Input<CellsOf<NoInfer<Row>>>[]>",
    additions: "Input<Input<CellsOf<NoInfer<Row>>>[]>",
    changes: "Input<Input<Partial<CellsOf<NoInfer<Row>>>>[]>",
  },
};

/** Resources whose arguments have a type of their rows. */
const generic: Readonly<Record<string, readonly [declared: string, used: string]>> = {
  SeedRows: ["<Row extends object = Record<string, unknown>>", "<Row>"],
};

/** Inputs that a class adds to those of its resource: one with its lines, and those of a resource that it declares. */
const added: Readonly<Record<string, { name: string; lines: readonly string[]; shape: z.ZodRawShape }>> = {
  GeneratedApp: {
    name: "wait",
    lines: [
      '  /** "ready" (default): `ready` waits for the end of the generation. "none": it does not. */',
      '  wait?: "ready" | "none";',
    ],
    shape: appReadiness.inputs.omit({ appID: true }).shape,
  },
};

/** Inputs that the SDK sets by itself. */
const setBySdk: Readonly<Record<string, readonly string[]>> = { TeamRoster: ["sensitive"] };

const header = `// Generated from the definitions of provider/resources and provider/functions by \`make docs\`: change those, not this.
/* eslint-disable max-lines */
import type { Input, Output } from "@pulumi/pulumi";
import type { CellsOf, InputsOf, LabelOf, OutputsOf, ParentRows, RowsOf } from "./resourceClass.ts";
`;

/** The text of sdk/args.ts: interfaces of arguments and results, with the descriptions that editors show. */
export function writeSdkTypes(): string {
  const pairs = new Map(Object.values(alternatives).map((pair) => [nameReason(pair), pair]));
  const reasons = [...pairs].map(([name, pair]) => describeReason(name, pair));
  return [
    header,
    ...reasons,
    ...resources.map(describeResource),
    ...functions.map(describeFunction),
    describeProvider(),
  ].join("\n");
}

function describeResource(resource: Resource): string {
  const { name } = resource;
  const unseen = [...hiddenNames(resource), ...(setBySdk[name] ?? [])];
  const isSeen = ({ key, schema }: Field): boolean =>
    !schema.internal && !schema.passing && !schema.computed && !unseen.includes(key);
  const { lines = [], shape: more = {} } = added[name] ?? {};
  const { inputs } = resource;
  const args = fieldsOf(z.object({ ...inputs.shape, ...more }), "input").filter(isSeen);
  const outputs = fieldsOf(z.object({ ...inputs.shape, ...resource.outputs.shape }), "output").filter(isSeen);
  const typed = args.map((property) => ({
    ...property,
    type: own[name]?.[property.key] ?? writeInput(property.schema),
    example: resource.example.inputs[property.key],
  }));
  const pair = alternatives[name];
  return [
    ...(pair
      ? describeAlternatives(name, pair, typed)
      : [writeInterface(`${name}Args`, `Arguments of ${name}.`, typed, "", { lines })]),
    describeOutputs(name, pair ? `${name}Settings` : `${name}Args`, args, outputs),
  ].join("\n");
}

/** What a resource returns as it was given is an output of the argument's type; the others are listed. */
function describeOutputs(name: string, from: string, args: readonly Field[], outputs: readonly Field[]): string {
  const returned = args.filter(({ key, schema }) => {
    const isOwn = own[name]?.[key] ?? alternatives[name]?.includes(key);
    return !isOwn && outputs.some((output) => output.key === key && isDeepStrictEqual(output.schema, schema));
  });
  const isReturned = (key: string): boolean => returned.some((argument) => argument.key === key);
  const namesOf = (keys: readonly string[]): string => keys.map((key) => JSON.stringify(key)).join(" | ");
  const given = [...args.map(({ key }) => key), ...(added[name] ? [added[name].name] : [])];
  const omitted = given.filter((key) => !isReturned(key) && !alternatives[name]?.includes(key));
  const filled = returned.filter(
    ({ key, isRequired }) => !isRequired && outputs.find((one) => one.key === key)?.isRequired,
  );
  const source = omitted.length === 0 ? from : `Omit<${from}, ${namesOf(omitted)}>`;
  const always = filled.length === 0 ? "" : `, ${namesOf(filled.map(({ key }) => key))}`;
  const others = outputs
    .filter(({ key }) => !isReturned(key))
    .map((property) => ({
      ...property,
      isRequired: true,
      type: `Output<${writeType(property.schema)}${property.isRequired ? "" : " | undefined"}>`,
    }));
  const [summary, extended] = [`Outputs of ${name}.`, `OutputsOf<${source}${always}>`];
  return others.length === 0
    ? `/** ${summary} */\nexport type ${name}Outputs = ${extended};\n`
    : writeInterface(`${name}Outputs`, summary, others, "readonly ", { extends: extended });
}

const nameReason = ([one, other]: readonly [string, string]): string => `Either${pascal(one)}Or${pascal(other)}`;

/** A text that nobody sets: the compiler's errors name it, and editors tell by it which arguments are meant. */
const describeReason = (name: string, [one, other]: readonly [string, string]): string =>
  `type ${name} = "exactly one of ${one} and ${other} is set";\n`;

/** A union for the inputs of which exactly one is set; the compiler's errors name the reason. */
function describeAlternatives(name: string, pair: readonly [string, string], typed: readonly Typed[]): string[] {
  const reason = nameReason(pair);
  const settings = `${name}Settings`;
  const [declared, used] = generic[name] ?? ["", ""];
  const side = (one: string, other: string): string =>
    writeInterface(
      `${name}By${pascal(one)}${declared}`,
      `Arguments of ${name} with \`${one}\`, not \`${other}\`.`,
      typed.filter(({ key }) => key === one).map((property) => ({ ...property, isRequired: true })),
      "",
      { extends: settings + used, lines: [`  /** Excluded by \`${one}\`. */`, `  ${other}?: ${reason};`] },
    );
  return [
    writeInterface(
      settings + declared,
      `Arguments of ${name} beside \`${pair.join("` and `")}\`.`,
      typed.filter(({ key }) => !pair.includes(key)),
    ),
    side(...pair),
    side(pair[1], pair[0]),
    `/** Arguments of ${name}: exactly one of \`${pair.join("` and `")}\` is set. */\nexport type ${name}Args${declared} = ${name}By${pascal(pair[0])}${used} | ${name}By${pascal(pair[1])}${used};\n`,
  ];
}

function describeFunction({ name, inputs, outputs, example }: PlatformFunction): string {
  const title = pascal(name);
  const args = fieldsOf(inputs, "input").map((field) => ({ ...field, example: example.inputs[field.key] }));
  return [
    writeInterface(`${title}Args`, `Arguments of ${name}.`, args),
    `/** Arguments of ${name}Output. */\nexport type ${title}OutputArgs = InputsOf<${title}Args>;\n`,
    writeInterface(`${title}Result`, `Result of ${name}.`, fieldsOf(outputs, "output")),
  ].join("\n");
}

function describeProvider(): string {
  const properties = fieldsOf(configuration, "input").filter(({ key }) => key !== "providerKind"); // one for the whole program
  const typed = properties.map((property) => ({
    ...property,
    isRequired: false,
    type: own["Provider"]?.[property.key] ?? writeInput(property.schema),
  }));
  const summary = "Arguments of a Provider: the keys of the configuration, without `microapps:`.";
  return writeInterface("ProviderArgs", summary, typed);
}

interface Typed extends Field {
  /** By default that of a plain value. */
  type?: string;
  example?: unknown;
}

function writeInterface(
  name: string,
  summary: string,
  properties: readonly Typed[],
  prefix = "",
  more: { extends?: string; lines?: readonly string[] } = {},
): string {
  return [
    `/** ${summary} */`,
    `export interface ${name} ${more.extends ? `extends ${more.extends} ` : ""}{`,
    ...properties.flatMap(({ key, schema, isRequired, type, example }) => [
      ...writeComment(schema, example),
      `  ${prefix}${key}${isRequired ? "" : "?"}: ${type ?? writeType(schema)};`,
    ]),
    ...(more.lines ?? []),
    "}",
    "",
  ].join("\n");
}

function writeComment({ description, default: standard }: Json, example: unknown): string[] {
  const tags = [
    ...(standard === undefined ? [] : [`@default ${JSON.stringify(standard)}`]),
    ...(example === undefined || holdsReference(example) ? [] : [`@example ${JSON.stringify(example)}`]),
  ];
  const text = typeof description === "string" ? description.replaceAll("*/", "* /") : "";
  if (tags.length === 0) return text ? [`  /** ${text} */`] : [];
  return [
    "  /**",
    ...[...(text ? [text] : []), ...tags].map((line) => `   * ${line.replaceAll("*/", "* /")}`),
    "   */",
  ];
}

/** True for an example that refers to another one. */
const holdsReference = (example: unknown): boolean => JSON.stringify(example).includes("${");

/** The type of a plain value. */
const writeType = (schema: Json): string => write(schema, (type) => type);

/** The type of a value that may be an output at each depth. */
const writeInput = (schema: Json): string => `Input<${write(schema, (type) => `Input<${type}>`)}>`;

function write(schema: Json, wrap: (type: string) => string): string {
  const { type, anyOf, properties, additionalProperties, items } = schema;
  if (Array.isArray(anyOf)) return unionOf((anyOf as Json[]).map((one) => write(one, wrap)));
  if (Array.isArray(schema["enum"])) return unionOf(schema["enum"].map((one) => JSON.stringify(one)));
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(type)) return unionOf((type as unknown[]).map((one) => write({ ...schema, type: one }, wrap)));
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type === "number" || type === "integer") return "number";
  if (type === "array") return listOf(wrap(write(schemaIn(items), wrap)));
  if (type !== "object") return "unknown";
  if (!isObject(properties)) return `Record<string, ${wrap(write(schemaIn(additionalProperties), wrap))}>`;
  const parts = fieldsIn(schema).map(
    ({ key, schema: part, isRequired }) => `${key}${isRequired ? "" : "?"}: ${wrap(write(part, wrap))}`,
  );
  return `{ ${parts.join("; ")} }`;
}

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(" | ");
const listOf = (type: string): string =>
  /[ |]/.test(type) && !type.startsWith("Input<") ? `(${type})[]` : `${type}[]`;
