import { nameOf, type PackageSchema } from "../packageSchema.ts";
import { readExample, yamlIn } from "./example.ts";
import { go } from "./go.ts";
import { python } from "./python.ts";
import { typescript } from "./typescript.ts";

/** A program in a language, with the word that marks it in Markdown. */
export interface Snippet {
  language: "TypeScript" | "Python" | "Go" | "YAML";
  mark: string;
  code: string;
}

/** The example of a description in each language; none where it has no example. */
export function snippetsOf(description: string, schema: PackageSchema): Snippet[] {
  const yaml = yamlIn(description);
  if (yaml === undefined) return [];
  const example = readExample(yaml, schema);
  return [
    { language: "TypeScript", mark: "ts", code: typescript(example) },
    { language: "Python", mark: "python", code: python(example) },
    { language: "Go", mark: "go", code: go(example, Object.keys(schema.resources).map(nameOf)) },
    { language: "YAML", mark: "yaml", code: yaml.trimEnd() },
  ];
}

/** The examples of all resources and functions, with the name of what each is of. */
export const allSnippets = (schema: PackageSchema): { of: string; snippet: Snippet }[] =>
  Object.entries({ ...schema.resources, ...schema.functions }).flatMap(([token, { description }]) =>
    snippetsOf(description, schema).map((snippet) => ({ of: nameOf(token), snippet })),
  );
