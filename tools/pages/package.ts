import type { Json } from "../../platform/contract/wire.ts";
import {
  inlined,
  nameOf,
  type FunctionSpec,
  type ObjectSpec,
  type PackageSchema,
  type ResourceSpec,
  type PropertySpec,
} from "../packageSchema.ts";
import { snippetsOf } from "../snippets.ts";
import { meaningOf, rowsOf, typeOf } from "./jsonSchema.ts";
import { code, fenceBlock, page, table } from "./markdown.ts";

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
    examples(spec.description),
    "## Inputs",
    inputTable({ properties: inputs, required: requiredInputs }, schema),
    "## Outputs",
    lost.length < Object.keys(inputs).length
      ? `All inputs${but} are outputs as well${added.length > 0 ? ", and" : "."}`
      : [],
    added.length > 0
      ? outputTable(
          {
            properties: Object.fromEntries([...(spec.isComponent ? [] : [idOutput]), ...added]),
            required: ["id", ...required],
          },
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
    examples(spec.description),
    "## Inputs",
    inputTable(inputs, schema),
    "## Outputs",
    outputTable(answer, schema),
  );
}

/** The import section of a description. */
const importOf = (description: string): string[] => {
  const [, section] = description.split("\n## Import\n");
  return section === undefined ? [] : ["## Import", section.trim()];
};

function examples(description: string): string[] {
  const snippets = snippetsOf(description);
  if (snippets.length === 0) return [];
  const folded = snippets.flatMap(({ language, mark, code }, index) => [
    `<details${index === 0 ? " open" : ""}><summary>${language}</summary>`,
    fenceBlock(mark, code),
    "</details>",
  ]);
  return ["## Example", ...folded];
}

function inputTable(inputs: ObjectSpec, schema: PackageSchema): string {
  const rows = rowsOf(inlined(inputs, schema), (path, property, isRequired) => {
    const { default: value } = property;
    const otherwise = isRequired ? "**required**" : value === undefined ? "" : code(JSON.stringify(value));
    return [code(path), typeOf(property), otherwise, meaningWithMarks(property)];
  });
  return table("| input | type | default | what it means |", rows);
}

function outputTable(outputs: ObjectSpec, schema: PackageSchema): string {
  const rows = rowsOf(inlined(outputs, schema), (path, property, isRequired) => {
    return [code(path), typeOf(property), isRequired ? "yes" : "", meaningWithMarks(property)];
  });
  return table("| output | type | always | what it means |", rows);
}

const meaningWithMarks = (property: Json): string =>
  [
    meaningOf(property),
    ...(property["replaceOnChanges"] === true ? ["**Another value replaces.**"] : []),
    ...(property["secret"] === true ? ["**Secret.**"] : []),
  ].join(" ");
