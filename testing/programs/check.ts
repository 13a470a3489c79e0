import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { namesIn, type Language, type Member, type Names } from "./names.ts";
import { readProgram, type Entry, type Program, type Value } from "./program.ts";
import { repository, type Schema, type Shape, type Type } from "./schema.ts";

/** Tokens, properties, outputs and constants of a program that the schema does not have, as `line: message`. */
export function problemsOf(language: Language, text: string, schema: Schema): string[] {
  return new Checker(readProgram(language, text), namesIn[language](schema), schema).problems;
}

const endings: Readonly<Record<Language, string>> = { yaml: "Pulumi.yaml", python: ".py", go: ".go" };

/** Example programs of a language, by path from the root. */
export const programsIn = (language: Language): string[] => {
  const folders = readdirSync(join(repository, "examples")).filter((name) => name.split("-")[0] === language);
  // Programs that declare each resource by itself come first.
  return folders.toReversed().flatMap((folder) => {
    const files = readdirSync(join(repository, "examples", folder)).filter((name) => name.endsWith(endings[language]));
    return files.map((name) => `examples/${folder}/${name}`);
  });
};

/** Problems of all example programs, and of the YAML in the schema's documentation. */
export function problemsOfExamples(schema: Schema): string[] {
  const programs = (Object.keys(endings) as Language[]).flatMap((language) =>
    programsIn(language).map((file) => {
      const text = readFileSync(join(repository, file), "utf8");
      return [file, problemsOf(language, text, schema)] as const;
    }),
  );
  const documented = [...schema.descriptions].flatMap(([name, description]) =>
    [...description.matchAll(/```yaml\n(.*?)```/gs)].map(
      ([, text = ""]) => [`plugin/schema.json, example of ${name}`, problemsOf("yaml", text, schema)] as const,
    ),
  );
  return [...programs, ...documented].flatMap(([file, problems]) => problems.map((problem) => `${file}:${problem}`));
}

const memberOf = (name: string): string | undefined => /^(?:microapps|pulumi:providers)[.:](.+)$/.exec(name)?.[1];

class Checker {
  readonly problems: string[] = [];
  readonly #program: Program;
  readonly #names: Names;
  readonly #schema: Schema;

  constructor(program: Program, names: Names, schema: Schema) {
    this.#program = program;
    this.#names = names;
    this.#schema = schema;
    this.#all(program.entries);
  }

  #all(entries: readonly Entry[], expected?: Type): void {
    for (const { values } of entries) {
      values.forEach((value, i) => {
        // Go: map[string]T{…} has entries of T.
        const elements = values[i - 1]?.name === "map";
        this.#value(value, expected, elements);
      });
    }
  }

  #value(value: Value, expected: Type = {}, areElements = false): void {
    const { line, text, number, name, entries = [] } = value;
    const own = name === undefined ? undefined : memberOf(name);
    const types = expected.oneOf ?? [expected];
    if (own !== undefined) {
      const takes = this.#member(own, line)?.takes;
      this.#entries(entries, areElements && takes ? { items: takes } : takes, line);
    } else if (name !== undefined) {
      this.#variable(name, line);
      this.#all(entries, {});
    } else if (number !== undefined) {
      return;
    } else if (text === undefined) {
      const type = types.find((each) => this.#shape(each) ?? each.items ?? each.additionalProperties);
      this.#entries(entries, type, line);
    } else {
      const values = types.map(({ $ref = "" }) => this.#schema.enumerations.get($ref.split(":").at(-1) ?? ""));
      const constants = values.find((each) => each !== undefined);
      if (constants && !constants.includes(text)) this.#report(line, `"${text}" is none of ${constants.join(", ")}`);
    }
  }

  #member(path: string, line: number): Member | undefined {
    const [name = "", constant] = path.split(".");
    const member = this.#names.members.get(name);
    if (!member) this.#report(line, `the package has no ${name}`);
    if (constant !== undefined && member?.constants?.includes(constant) === false) {
      this.#report(line, `${name} has no ${constant}`);
    }
    return member;
  }

  #entries(entries: readonly Entry[], type: Type | undefined, line: number): void {
    const shape = type && this.#shape(type);
    if (!shape) {
      this.#all(entries, type?.items ?? type?.additionalProperties);
      return;
    }
    for (const entry of entries) {
      if (entry.key === undefined || entry.key === "opts") this.#all([entry]);
      else this.#all([entry], this.#property(shape, entry.key, entry.line));
    }
    const missing = shape.required.filter((name) => !entries.some(({ key }) => key === this.#names.property(name)));
    if (missing.length > 0) this.#report(line, `${shape.owner} needs ${missing.join(", ")}`);
  }

  #variable(path: string, line: number): Type | undefined {
    const [root = "", ...steps] = path.split(".");
    const assigned = this.#program.variables.get(root);
    if (assigned === undefined && this.#program.closed && root !== "pulumi") {
      this.#report(line, `there is no resource or variable ${root}`);
    }
    let type = this.#names.members.get(memberOf(assigned ?? "") ?? assigned ?? "")?.gives;
    for (const step of steps) {
      const shape = type && this.#shape(type);
      if (this.#names.common.test(step)) return { type: "string" };
      if (!shape) return undefined;
      type = this.#property(shape, step, line);
    }
    return steps.length === 0 ? undefined : type;
  }

  #property(shape: Shape, spelled: string, line: number): Type | undefined {
    const found = Object.entries(shape.properties).find(([name]) => this.#names.property(name) === spelled);
    if (!found) this.#report(line, `${shape.owner} has no ${spelled}`);
    return found?.[1];
  }

  #shape = ({ shape, $ref = "" }: Type): Shape | undefined =>
    shape ?? this.#schema.objects.get($ref.split(":").at(-1) ?? "");

  #report(line: number, message: string): void {
    this.problems.push(`${line}: ${message}`);
  }
}
