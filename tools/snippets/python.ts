import { snake } from "../../testing/programs/names.ts";
import type { ExampleDeclaration, ExampleEntry, Example, ExampleValue } from "./example.ts";
import { writeInBrackets, quoteLiteral } from "./layout.ts";

export function python({ resources, invokes, outputs }: Example): string {
  const exports = outputs.map(([name, value]) => `pulumi.export(${quoteLiteral(name)}, ${expression(value)})`);
  const body = [
    ...resources.map(resource),
    ...invokes.map(
      ({ name, type, entries }) =>
        `${snake(name)} = ${writeInBrackets(`microapps.${snake(type)}_output(`, named(entries), ")")}`,
    ),
    ...exports,
  ];
  return [
    ...(body.some((line) => line.includes("pulumi.")) ? ["import pulumi"] : []),
    "import pulumi_microapps as microapps\n",
    ...body,
  ].join("\n");
}

const resource = ({ name, type, entries, isUsed }: ExampleDeclaration): string =>
  `${isUsed ? `${snake(name)} = ` : ""}${writeInBrackets(`microapps.${type}(`, [quoteLiteral(name), ...named(entries)], ")")}`;

const named = (entries: readonly ExampleEntry[]): string[] =>
  entries.map(([name, value]) => `${snake(name)}=${expression(value)}`);

/** @param spelled how a key is: the properties of an object are Python's, the keys of a map are its own */
const dictionary = (entries: readonly ExampleEntry[], spelled: (name: string) => string): string =>
  writeInBrackets(
    "{",
    entries.map(([name, value]) => `${quoteLiteral(spelled(name))}: ${expression(value)}`),
    "}",
  );

function expression(value: ExampleValue): string {
  switch (value.kind) {
    case "scalar":
      return typeof value.value === "boolean" ? (value.value ? "True" : "False") : quoteLiteral(value.value);
    case "stackName":
      return `f"${value.before}{pulumi.get_stack()}${value.after}"`;
    case "constant":
      return quoteLiteral(value.value);
    case "reference":
      return `${snake(value.name)}.${snake(value.property)}`;
    case "list":
      return writeInBrackets("[", value.items.map(expression), "]");
    case "map":
      return dictionary(value.entries, (name) => name);
    case "object":
      return dictionary(value.entries, snake);
  }
}
