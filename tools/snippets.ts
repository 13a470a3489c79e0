import { parse } from "yaml";
import { z } from "zod";
import { nameOf, type PackageSchema } from "./packageSchema.ts";

/** A program in a language, with the word that marks it in Markdown. */
export interface Snippet {
  language: "TypeScript" | "YAML";
  mark: string;
  code: string;
}

/** The example of a description in each language; none where it has no example. */
export function snippetsOf(description: string): Snippet[] {
  const yaml = /```yaml\n(.*?)```/s.exec(description)?.[1];
  if (yaml === undefined) return [];
  return [
    { language: "TypeScript", mark: "ts", code: typescript(yaml) },
    { language: "YAML", mark: "yaml", code: yaml.trimEnd() },
  ];
}

/** The examples of all resources and functions, with the name of what each is of. */
export const allSnippets = ({ resources, functions }: PackageSchema): { of: string; snippet: Snippet }[] =>
  Object.entries({ ...resources, ...functions }).flatMap(([token, { description }]) =>
    snippetsOf(description).map((snippet) => ({ of: nameOf(token), snippet })),
  );

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

/** A program of YAML with the classes of this package. That it compiles is tested. */
function typescript(yaml: string): string {
  const { resources, variables, outputs } = program.parse(parse(yaml));
  const imported = new Set<string>();
  const body: string[] = [];
  for (const [name, { type, properties }] of Object.entries(resources)) {
    imported.add(nameOf(type));
    const assigned = yaml.includes(`\${${name}.`) ? `const ${name} = ` : "";
    body.push(`${assigned}new ${nameOf(type)}("${name}", ${expression(properties)});`);
  }
  for (const [name, { "fn::invoke": invoked }] of Object.entries(variables)) {
    const asked = `${nameOf(invoked.function)}Output`;
    imported.add(asked);
    body.push(`const ${name} = ${asked}(${expression(invoked.arguments)});`);
  }
  for (const [name, value] of Object.entries(outputs)) body.push(`export const ${name} = ${expression(value)};`);
  return [
    ...(body.some((line) => line.includes("pulumi.")) ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    `import { ${[...imported].sort().join(", ")} } from "pulumi-microapps";\n`,
    ...body,
  ].join("\n");
}

/** A value with what it refers to: another resource, or the stack within a text. */
function expression(value: unknown): string {
  if (Array.isArray(value)) return inBrackets("[", value.map(expression), "]");
  if (typeof value === "object" && value !== null) {
    const key = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
    const entries = Object.entries(value).map(([name, inner]) => `${key(name)}: ${expression(inner)}`);
    return inBrackets("{", entries, "}", " ");
  }
  const text = typeof value === "string" ? value : "";
  const [, reference] = /^\$\{(\w+\.\w+)\}$/.exec(text) ?? [];
  if (reference !== undefined && reference !== "pulumi.stack") return reference;
  const [before = "", after, ...more] = text.split("${pulumi.stack}");
  if (more.length > 0 || `${before}${after ?? ""}`.includes("${")) throw new Error(`nobody knows how to write ${text}`);
  return after === undefined ? JSON.stringify(value) : `\`${before}\${pulumi.getStack()}${after}\``;
}

/** Characters of the longest single line. */
const maxWidth = 76;

/** Items in brackets: on one line when they are short, else one a line. */
function inBrackets(open: string, items: readonly string[], close: string, padding = ""): string {
  const line = items.length === 0 ? `${open}${close}` : `${open}${padding}${items.join(", ")}${padding}${close}`;
  if (line.length <= maxWidth && !line.includes("\n")) return line;
  return [open, ...items.map((item) => `${item},`.replaceAll(/^(?=.)/gm, "  ")), close].join("\n");
}
