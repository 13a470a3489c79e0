import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { repository, type Schema, type Shape, type Type } from "./schema.ts";

// Programs in YAML: nothing compiles them. Those in other languages are compiled by `make test-pulumi`.

/** Tokens, properties, outputs and constants of a program that the schema does not have, as `line: message`. */
export const problemsOf = (text: string, schema: Schema): string[] => new Checker(readProgram(text), schema).problems;

/** Example programs, by path from the root; those that declare each resource by itself come first. */
export const programs = readdirSync(join(repository, "examples"))
  .filter((name) => name.split("-")[0] === "yaml")
  .toReversed()
  .map((folder) => `examples/${folder}/Pulumi.yaml`);

/** Problems of all example programs, and of the YAML in the schema's documentation. */
export function problemsOfExamples(schema: Schema): string[] {
  const own = programs.map((file) => [file, readFileSync(join(repository, file), "utf8")] as const);
  const documented = [...schema.descriptions].flatMap(([name, description]) =>
    [...description.matchAll(/```yaml\n(.*?)```/gs)].map(
      ([, text = ""]) => [`plugin/schema.json, example of ${name}`, text] as const,
    ),
  );
  return [...own, ...documented].flatMap(([file, text]) =>
    problemsOf(text, schema).map((problem) => `${file}:${problem}`),
  );
}

/** A value as a program writes it: a text, a dotted name, entries, or a name with entries. */
interface Value {
  line: number;
  text?: string;
  name?: string;
  entries?: Entry[];
}

/** A key with its value, or a value alone, which may have several parts. */
interface Entry {
  line: number;
  key?: string;
  values: Value[];
}

/** The entries of a program, and the values of its variables. */
interface Program {
  entries: Entry[];
  variables: Map<string, string>;
}

/** A name in the package: its parameters and the type of its result. */
interface Member {
  takes: Type;
  gives: Type;
}

/** The package's resources and functions, by each of their tokens. */
function membersOf({ resources, functions }: Schema): ReadonlyMap<string, Member> {
  const tokens = (name: string): string[] => (name === "Provider" ? ["microapps"] : [name, `index:${name}`]);
  return new Map(
    [...resources, ...functions].flatMap(([name, { inputs, outputs }]) =>
      tokens(name).map((token) => [token, { takes: { shape: inputs }, gives: { shape: outputs } }] as const),
    ),
  );
}

const memberOf = (name: string): string | undefined => /^(?:microapps|pulumi:providers)[.:](.+)$/.exec(name)?.[1];

class Checker {
  readonly problems: string[] = [];
  readonly #program: Program;
  readonly #members: ReadonlyMap<string, Member>;
  readonly #schema: Schema;

  constructor(program: Program, schema: Schema) {
    this.#program = program;
    this.#members = membersOf(schema);
    this.#schema = schema;
    this.#all(program.entries);
  }

  #all(entries: readonly Entry[], expected?: Type): void {
    for (const { values } of entries) {
      for (const value of values) this.#value(value, expected);
    }
  }

  #value({ line, text, name, entries = [] }: Value, expected: Type = {}): void {
    const own = name === undefined ? undefined : memberOf(name);
    const types = expected.oneOf ?? [expected];
    if (own !== undefined) {
      const member = this.#members.get(own);
      if (!member) this.#report(line, `the package has no ${own}`);
      this.#entries(entries, member?.takes, line);
    } else if (name !== undefined) {
      this.#variable(name, line);
      this.#all(entries, {});
    } else if (text === undefined) {
      const type = types.find((each) => this.#shape(each) ?? each.items ?? each.additionalProperties);
      this.#entries(entries, type, line);
    } else {
      const values = types.map(({ $ref = "" }) => this.#schema.enumerations.get($ref.split(":").at(-1) ?? ""));
      const constants = values.find((each) => each !== undefined);
      if (constants && !constants.includes(text)) this.#report(line, `"${text}" is none of ${constants.join(", ")}`);
    }
  }

  #entries(entries: readonly Entry[], type: Type | undefined, line: number): void {
    const shape = type && this.#shape(type);
    if (!shape) {
      this.#all(entries, type?.items ?? type?.additionalProperties);
      return;
    }
    for (const entry of entries) {
      if (entry.key === undefined) this.#all([entry]);
      else this.#all([entry], this.#property(shape, entry.key, entry.line));
    }
    const missing = shape.required.filter((name) => !entries.some(({ key }) => key === name));
    if (missing.length > 0) this.#report(line, `${shape.owner} needs ${missing.join(", ")}`);
  }

  #variable(path: string, line: number): Type | undefined {
    const [root = "", ...steps] = path.split(".");
    const assigned = this.#program.variables.get(root);
    if (assigned === undefined && root !== "pulumi") {
      this.#report(line, `there is no resource or variable ${root}`);
    }
    let type = this.#members.get(memberOf(assigned ?? "") ?? assigned ?? "")?.gives;
    for (const step of steps) {
      const shape = type && this.#shape(type);
      if (step === "id" || step === "urn") return { type: "string" };
      if (!shape) return undefined;
      type = this.#property(shape, step, line);
    }
    return steps.length === 0 ? undefined : type;
  }

  #property(shape: Shape, name: string, line: number): Type | undefined {
    const found = shape.properties[name];
    if (!found) this.#report(line, `${shape.owner} has no ${name}`);
    return found;
  }

  #shape = ({ shape, $ref = "" }: Type): Shape | undefined =>
    shape ?? this.#schema.objects.get($ref.split(":").at(-1) ?? "");

  #report(line: number, message: string): void {
    this.problems.push(`${line}: ${message}`);
  }
}

function readProgram(text: string): Program {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors[0]) throw document.errors[0];
  const lineOf = (node: unknown): number => lines.linePos((isNode(node) && node.range?.[0]) || 0).line;
  const pairsOf = (node: unknown) =>
    isMap(node) ? node.items.filter(isPair).map(({ key, value }) => ({ key: String(key), at: key, value })) : [];
  const variables = new Map<string, string>();
  const called = (name: unknown, properties: unknown): Value => ({
    line: lineOf(name),
    name: String(name),
    entries: entriesOf(properties),
  });
  const entriesOf = (node: unknown): Entry[] =>
    pairsOf(node).map(({ key, at, value }) => ({ line: lineOf(at), key, values: valuesOf(value) }));
  const valuesOf = (node: unknown): Value[] => {
    const line = lineOf(node);
    if (isSeq(node)) return [{ line, entries: node.items.map((item) => ({ line, values: valuesOf(item) })) }];
    if (!isScalar(node)) {
      const [{ key, at, value } = { key: "" }] = pairsOf(node);
      if (key === "fn::invoke" && isMap(value)) return [called(value.get("function"), value.get("arguments", true))];
      return key.startsWith("fn::")
        ? [{ ...called(key.slice("fn::".length), value), line: lineOf(at) }]
        : [{ line, entries: entriesOf(node) }];
    }
    const names = [...String(node.value).matchAll(/(?<!\$)\$\{([^}[]*)/g)];
    return names.length > 0 ? names.map(([, name = ""]) => ({ line, name })) : [{ line, text: String(node.value) }];
  };
  const entries: Entry[] = [];
  for (const { key, value } of pairsOf(document.get("resources"))) {
    if (!isMap(value)) continue;
    const resource = called(value.get("type", true), value.get("properties", true));
    variables.set(key, resource.name ?? "");
    entries.push(
      { line: resource.line, values: [resource] },
      { line: resource.line, values: valuesOf(value.get("options", true)) },
    );
  }
  for (const { key, at, value } of pairsOf(document.get("variables"))) {
    const values = valuesOf(value);
    variables.set(key, values[0]?.name ?? "");
    entries.push({ line: lineOf(at), values });
  }
  for (const { key } of pairsOf(document.get("config"))) variables.set(key, "");
  return { entries: [...entries, ...entriesOf(document.get("outputs"))], variables };
}
