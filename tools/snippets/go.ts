import { pascal, type TypeSpec } from "../../provider/pulumi/plugin/types.ts";
import { nameOf } from "../packageSchema.ts";
import type { ExampleDeclaration, ExampleEntry, Example, ExampleValue } from "./example.ts";
import { indentBy, quoteLiteral } from "./layout.ts";

/** @param resourceNames of the package: what gets one of them is called `Lookup…`, for `Get…` reads a state */
export function go({ resources, invokes, outputs }: Example, resourceNames: readonly string[]): string {
  const functionName = (type: string): string => {
    const name = type.slice("get".length);
    return `${resourceNames.includes(name) ? "Lookup" : "Get"}${name}Output`;
  };
  const body = [
    ...resources.map(resource),
    ...invokes.map(({ name, type, entries }) => {
      const called = functionName(type);
      return `${name} := microapps.${called}(ctx, ${literal(`microapps.${called}Args`, fields(entries))})`;
    }),
    ...outputs.map(([name, value]) => `ctx.Export(${quoteLiteral(name)}, ${expression(value)})`),
    "return nil",
  ];
  return [
    "package main\n",
    "import (",
    '\t"example.com/pulumi-microapps/sdk/go/microapps"',
    '\t"github.com/pulumi/pulumi/sdk/v3/go/pulumi"',
    ")\n",
    "func main() {",
    "\tpulumi.Run(func(ctx *pulumi.Context) error {",
    indentBy(body.join("\n"), "\t\t"),
    "\t})",
    "}",
  ].join("\n");
}

function resource({ name, type, entries, isUsed }: ExampleDeclaration): string {
  const made = `microapps.New${type}(ctx, ${quoteLiteral(name)}, ${literal(`&microapps.${type}Args`, fields(entries))})`;
  const failed = ["\treturn err", "}"];
  return isUsed
    ? [`${name}, err := ${made}`, "if err != nil {", ...failed].join("\n")
    : [`if _, err := ${made}; err != nil {`, ...failed].join("\n");
}

const fields = (entries: readonly ExampleEntry[]): Field[] =>
  entries.map(([name, value]) => [`${pascal(name)}:`, expression(value)]);

type Field = readonly [key: string, value: string];

/** A composite literal, aligned as gofmt does: fields of one line that follow each other. */
function literal(type: string, entries: readonly Field[]): string {
  const isLong = ([, value]: Field): boolean => value.includes("\n");
  const lines = entries.map((entry, at) => {
    let [first, last] = [at, at];
    if (!isLong(entry)) {
      while (first > 0 && !isLong(entries[first - 1] ?? entry)) first--;
      while (last < entries.length - 1 && !isLong(entries[last + 1] ?? entry)) last++;
    }
    const width = Math.max(...entries.slice(first, last + 1).map(([key]) => key.length));
    return indentBy(`${entry[0].padEnd(width)} ${entry[1]},`, "\t");
  });
  return [`${type}{`, ...lines, "}"].join("\n");
}

/** `pulumi.StringArray`, `microapps.SeedRowsReferencesMap`: the type of a list or map of something. */
function container({ $ref = "", type, additionalProperties }: TypeSpec, of: "Array" | "Map"): string {
  if ($ref.startsWith("#/types/")) return `microapps.${nameOf($ref)}${of}`;
  if (additionalProperties) return `pulumi.Map${of}`;
  const scalars: Record<string, string> = { string: "String", number: "Float64", integer: "Int", boolean: "Bool" };
  return `pulumi.${scalars[type ?? ""] ?? ""}${of}`;
}

/** The name of the stack between two texts, of which either may be empty. */
const joinText = ({ before, after }: { before: string; after: string }): string =>
  [
    ...(before === "" ? [] : [quoteLiteral(before)]),
    "ctx.Stack()",
    ...(after === "" ? [] : [quoteLiteral(after)]),
  ].join(" + ");

function scalar(value: string | number | boolean): string {
  if (typeof value === "string") return `pulumi.String(${quoteLiteral(value)})`;
  if (typeof value === "boolean") return `pulumi.Bool(${quoteLiteral(value)})`;
  return Number.isInteger(value) ? `pulumi.Int(${value})` : `pulumi.Float64(${value})`;
}

function expression(value: ExampleValue): string {
  switch (value.kind) {
    case "scalar":
      return scalar(value.value);
    case "stackName":
      return `pulumi.String(${joinText(value)})`;
    case "constant":
      return `microapps.${value.enumeration}${pascal(value.value)}`;
    case "reference": {
      const member = value.property === "id" ? "ID" : pascal(value.property);
      return `${value.name}.${member}${value.isResult || member === "ID" ? "()" : ""}`;
    }
    case "list": {
      const items = value.items.map((item) => indentBy(`${expression(item)},`, "\t"));
      return [`${container(value.of, "Array")}{`, ...items, "}"].join("\n");
    }
    case "map": {
      const entries = value.entries.map(([key, entry]): Field => [`${quoteLiteral(key)}:`, expression(entry)]);
      return literal(container(value.of, "Map"), entries);
    }
    case "object":
      return literal(`&microapps.${value.type}Args`, fields(value.entries));
  }
}
