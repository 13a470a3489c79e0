import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { check } from "./check.ts";
import { goProgram, goSpelling } from "./go.ts";
import { located, type Problem } from "./program.ts";
import { pythonProgram, pythonSpelling } from "./python.ts";
import type { Schema } from "./schema.ts";
import { yamlProgram, yamlSpelling } from "./yaml.ts";

/** The repository's root. */
export const repository = join(import.meta.dirname, "../../..");

/** Languages of programs that use the plugin. */
export const languages = ["yaml", "python", "go"] as const;
export type Language = (typeof languages)[number];

const endings = { yaml: ".yaml", python: ".py", go: ".go" } as const;

/** What a program in a language names that the schema does not have. */
export function problemsOf(language: Language, text: string, schema: Schema): Problem[] {
  switch (language) {
    case "yaml":
      return check(yamlProgram(text), yamlSpelling(schema), schema);
    case "python":
      return check(pythonProgram(text), pythonSpelling(schema), schema);
    case "go":
      return check(goProgram(text), goSpelling(schema), schema);
  }
}

/** Folders of `examples` that are Pulumi projects of a language. */
export function examplesIn(language: Language): string[] {
  return readdirSync(join(repository, "examples"))
    .filter((name) => runtimeOf(join(repository, "examples", name)) === language)
    .map((name) => `examples/${name}`);
}

const project = z.object({ runtime: z.union([z.string(), z.object({ name: z.string() })]) });

function runtimeOf(folder: string): string | undefined {
  const file = join(folder, "Pulumi.yaml");
  if (!existsSync(file)) return undefined;
  const { runtime } = project.parse(parse(readFileSync(file, "utf8")));
  return typeof runtime === "string" ? runtime : runtime.name;
}

/** A project's programs, by path from the root. */
export const programsOf = (folder: string, language: Language): string[] =>
  readdirSync(join(repository, folder))
    .filter((name) => name.endsWith(endings[language]) && !/^Pulumi\..+\.yaml$/.test(name))
    .map((name) => `${folder}/${name}`);

/** Problems of all example programs and of the YAML in the schema's documentation, a line each. */
export function problemsOfExamples(schema: Schema): string[] {
  const programs = languages.flatMap((language) =>
    examplesIn(language)
      .flatMap((folder) => programsOf(folder, language))
      .flatMap((file) => {
        const text = readFileSync(join(repository, file), "utf8");
        return problemsOf(language, text, schema).map((problem) => located(file, text, problem));
      }),
  );
  const documented = [...schema.descriptions].flatMap(([name, description]) =>
    [...description.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, text = ""]) =>
      problemsOf("yaml", text, schema).map((problem) =>
        located(`plugin/schema.json, example of ${name}`, text, problem),
      ),
    ),
  );
  return [...programs, ...documented];
}
