import type { ExampleDeclaration, ExampleEntry, Example, ExampleValue } from "./example.ts";
import { indentBy, pascal, quoteLiteral } from "./layout.ts";

export function csharp({ resources, invokes, outputs }: Example): string {
  const answers = outputs.map(([name, value]) => [`[${quoteLiteral(name)}]`, expression(value)] as const);
  const body = [
    ...resources.map(resource),
    ...invokes.map(
      ({ name, type, entries }) =>
        `var ${name} = Microapps.${pascal(type)}.Invoke(${initializer("new()", fields(entries))});`,
    ),
    ...(answers.length > 0 ? [`return ${initializer("new Dictionary<string, object?>", answers)};`] : []),
  ];
  return [
    ...(/\bDictionary</.test(body.join("\n")) ? ["using System.Collections.Generic;"] : []),
    "using Pulumi;",
    "using Microapps = Pulumi.Microapps;\n",
    "return await Deployment.RunAsync(() =>",
    "{",
    indentBy(body.join("\n"), "    "),
    "});",
  ].join("\n");
}

const resource = ({ name, type, entries, isUsed }: ExampleDeclaration): string =>
  `${isUsed ? `var ${name} = ` : ""}new Microapps.${type}(${quoteLiteral(name)}, ${initializer("new()", fields(entries))});`;

type Field = readonly [name: string, value: string];

const fields = (entries: readonly ExampleEntry[]): Field[] =>
  entries.map(([name, value]) => [pascal(name), expression(value)]);

const block = (open: string, lines: readonly string[]): string =>
  [...(open === "" ? [] : [open]), "{", ...lines.map((line) => indentBy(`${line},`, "    ")), "}"].join("\n");

const initializer = (type: string, entries: readonly Field[]): string =>
  block(
    type,
    entries.map(([name, value]) => `${name} =${value.startsWith("{") ? "\n" : " "}${value}`),
  );

function expression(value: ExampleValue, isAny = false): string {
  switch (value.kind) {
    case "scalar":
      return quoteLiteral(value.value);
    case "stackName":
      return `$"${value.before}{Deployment.Instance.StackName}${value.after}"`;
    case "constant":
      return `Microapps.${value.enumeration}.${pascal(value.value)}`;
    case "reference": {
      const member = pascal(value.property);
      return value.isResult ? `${value.name}.Apply(answer => answer.${member})` : `${value.name}.${member}`;
    }
    case "list":
      return block(
        "new[]",
        value.items.map((item) => expression(item, isAny)),
      );
    case "map": {
      const entries = value.entries.map(([key, entry]) => [key, expression(entry, !isTyped(value.of))] as const);
      // A value of any type needs the dictionary's type in words: braces alone would not fix it.
      return isAny
        ? initializer(
            "new Dictionary<string, object?>",
            entries.map(([key, text]) => [`[${quoteLiteral(key)}]`, text] as const),
          )
        : block(
            "",
            entries.map(([key, text]) => `{ ${quoteLiteral(key)}, ${text} }`),
          );
    }
    case "object":
      // Types for a function's inputs have another name among outputs.
      return initializer(
        `new Microapps.Inputs.${value.type}${value.type.startsWith("Get") ? "Input" : ""}Args`,
        fields(value.entries),
      );
  }
}

const isTyped = ({ $ref = "", type }: { $ref?: string; type?: string }): boolean =>
  $ref.startsWith("#/types/") || type !== undefined;
