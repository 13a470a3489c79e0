import type { PropertySpec, TypeSpec } from "../../provider/pulumi/plugin/schema.ts";
import {
  findNamedType,
  nameOf,
  type FunctionSpec,
  type ObjectSpec,
  type PackageSchema,
  type ResourceSpec,
} from "../packageSchema.ts";
import { snippetsOf } from "../snippets.ts";
import { code, escapeCell, fenceBlock, page, row, table } from "./markdown.ts";

/** Pages of the package: one for each resource and function, by path below docs. */
export function packagePages(schema: PackageSchema): Record<string, string> {
  const resources = Object.entries(schema.resources).map(([token, spec]) => [
    resourcePath(nameOf(token)),
    resourcePage(nameOf(token), spec, schema),
  ]);
  const functions = Object.entries(schema.functions).map(([token, spec]) => [
    functionPath(nameOf(token)),
    functionPage(nameOf(token), spec, schema),
  ]);
  return Object.fromEntries([...resources, ...functions]) as Record<string, string>;
}

export const resourcePath = (name: string): string => `resources/${name.charAt(0).toLowerCase()}${name.slice(1)}.md`;
export const functionPath = (name: string): string => `functions/${name}.md`;

/** The part of a description before its first heading. */
export const summaryOf = (description: string): string => description.split(/\n\n(?=\{\{%|## )/)[0] ?? "";

function resourcePage(name: string, spec: ResourceSpec, schema: PackageSchema): string {
  const { inputProperties: inputs = {}, requiredInputs = [], properties = {}, required = [] } = spec;
  const lost = Object.keys(inputs).filter((input) => !(input in properties));
  const added = Object.entries(properties).filter(([output]) => !(output in inputs));
  const but = lost.length > 0 ? ` but ${lost.map(code).join(", ")}` : "";
  return page(
    "provider/resources",
    `# ${name}`,
    summaryOf(spec.description),
    examples(spec.description, schema),
    "## Inputs",
    inputTable(inputs, requiredInputs, schema),
    "## Outputs",
    lost.length < Object.keys(inputs).length
      ? `All inputs${but} are outputs as well${added.length > 0 ? ", and" : "."}`
      : [],
    added.length > 0
      ? outputTable(
          Object.fromEntries([...(spec.isComponent ? [] : [idOutput]), ...added]),
          ["id", ...required],
          schema,
        )
      : [],
    importOf(spec.description),
  );
}

const idOutput: [string, PropertySpec] = [
  "id",
  { type: "string", description: "ID on the platform, or what tells it from others." },
];

function functionPage(name: string, spec: FunctionSpec, schema: PackageSchema): string {
  const { inputs = {}, outputs: answer = {} } = spec;
  return page(
    "provider/functions",
    `# ${name}`,
    summaryOf(spec.description),
    `\`${name}\` takes plain values and \`${name}Output\` outputs, which it waits for. It asks the platform of the stack, or that of the \`provider\` among its options.`,
    examples(spec.description, schema),
    "## Inputs",
    inputTable(inputs.properties ?? {}, inputs.required ?? [], schema),
    "## Outputs",
    outputTable(answer.properties ?? {}, answer.required ?? [], schema),
  );
}

/** The import section of a description. */
const importOf = (description: string): string[] => {
  const [, section] = description.split("\n## Import\n");
  return section === undefined ? [] : ["## Import", section.trim()];
};

function examples(description: string, schema: PackageSchema): string[] {
  const snippets = snippetsOf(description, schema);
  if (snippets.length === 0) return [];
  const folded = snippets.flatMap(({ language, mark, code }, index) => [
    `<details${index === 0 ? " open" : ""}><summary>${language}</summary>`,
    fenceBlock(mark, code),
    "</details>",
  ]);
  return ["## Example", ...folded];
}

function inputTable(
  properties: Record<string, PropertySpec>,
  required: readonly string[],
  schema: PackageSchema,
): string {
  const rows = rowsOf({ properties, required }, schema, (name, spec, isRequired) => {
    const value = isRequired ? "**required**" : spec.default === undefined ? "" : code(JSON.stringify(spec.default));
    return [code(name), typeOf(spec, schema), value, meaningOf(spec)];
  });
  return table("| input | type | default | what it means |", rows);
}

function outputTable(
  properties: Record<string, PropertySpec>,
  required: readonly string[],
  schema: PackageSchema,
): string {
  const rows = rowsOf({ properties, required }, schema, (name, spec, isRequired) => {
    return [code(name), typeOf(spec, schema), isRequired ? "yes" : "", meaningOf(spec)];
  });
  return table("| output | type | always | what it means |", rows);
}

const meaningOf = ({ description = "", replaceOnChanges, secret }: PropertySpec): string =>
  [
    escapeCell(description),
    ...(replaceOnChanges ? ["**Another value replaces.**"] : []),
    ...(secret ? ["**Secret.**"] : []),
  ].join(" ");

type Cells = (name: string, spec: PropertySpec, isRequired: boolean) => string[];

/** A row for each property, and for those of objects that it holds. */
function rowsOf(
  { properties = {}, required = [] }: ObjectSpec,
  schema: PackageSchema,
  cells: Cells,
  prefix = "",
): string[] {
  return Object.entries(properties).flatMap(([name, spec]) => {
    const [inner, suffix] = heldBy(spec);
    const held = findNamedType(schema, inner);
    return [
      row(...cells(prefix + name, spec, required.includes(name))),
      ...(held?.properties ? rowsOf(held, schema, cells, `${prefix}${name}${suffix}.`) : []),
    ];
  });
}

/** The innermost type of lists and maps, and the path to it. */
function heldBy(spec: TypeSpec, way = ""): [TypeSpec, string] {
  if (spec.items) return heldBy(spec.items, `${way}[]`);
  if (spec.additionalProperties) return heldBy(spec.additionalProperties, `${way}.*`);
  return [spec, way];
}

export function typeOf(spec: TypeSpec, schema: PackageSchema): string {
  const named = findNamedType(schema, spec);
  if (named?.enum) return named.enum.map(({ value }) => code(value)).join(" or ");
  if (named) return "object";
  if (spec.oneOf) return spec.oneOf.map((option) => typeOf(option, schema)).join(" or ");
  if (spec.items) return `list of ${grouped(typeOf(spec.items, schema))}`;
  if (spec.additionalProperties) return `map of ${grouped(typeOf(spec.additionalProperties, schema))}`;
  return spec.type ?? "any";
}

const grouped = (type: string): string => (type.includes(" or ") ? `(${type})` : type);
