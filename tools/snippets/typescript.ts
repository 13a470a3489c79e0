import type { ExampleDeclaration, ExampleEntry, Example, ExampleValue } from "./example.ts";
import { writeInBrackets, quoteLiteral } from "./layout.ts";

/** The example with the classes of this package. */
export function typescript({ resources, invokes, outputs }: Example): string {
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
    { by: "  ", padding: " " },
  );

function expression(value: ExampleValue): string {
  switch (value.kind) {
    case "scalar":
    case "constant":
      return quoteLiteral(value.value);
    case "stackName":
      return `\`${value.before}\${pulumi.getStack()}${value.after}\``;
    case "reference":
      return `${value.name}.${value.property}`;
    case "list":
      return writeInBrackets("[", value.items.map(expression), "]", { by: "  " });
    case "map":
    case "object":
      return object(value.entries);
  }
}
