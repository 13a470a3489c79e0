import { suggestion } from "../../provider/environment/problems.ts";
import type { Entry, Expression, Problem, Program } from "./program.ts";
import type { Schema, Shape, Type } from "./schema.ts";
import type { Meaning, Spelling } from "./spelling.ts";

/** What a program names that the schema does not have, in the order in which it stands there. */
export function check(program: Program, spelling: Spelling, schema: Schema): Problem[] {
  const checker = new Checker(spelling, schema, program.closed);
  // Twice: a resource in YAML may be used above its declaration.
  for (const { binds, value } of program.statements) checker.bind(binds, value);
  checker.problems.length = 0;
  for (const { value } of program.statements) if (value) checker.evaluate(value);
  return [...program.problems, ...checker.problems].toSorted((a, b) => a.at - b.at);
}

class Checker {
  readonly problems: Problem[] = [];
  readonly #spelling: Spelling;
  readonly #schema: Schema;
  readonly #closed: boolean;
  readonly #variables = new Map<string, Type | undefined>();

  constructor(spelling: Spelling, schema: Schema, closed: boolean) {
    this.#spelling = spelling;
    this.#schema = schema;
    this.#closed = closed;
  }

  /** A name that stands for different things is left to the compiler. */
  bind(name: string | undefined, value: Expression | undefined): void {
    if (name === undefined) return;
    const type = value && this.evaluate(value);
    const same = !this.#variables.has(name) || this.#variables.get(name)?.shape === type?.shape;
    this.#variables.set(name, same ? type : undefined);
  }

  /** Type of an expression, if it is one of the package's; what it names is checked on the way. */
  evaluate(expression: Expression, expected: Type = {}): Type | undefined {
    switch (expression.kind) {
      case "text": {
        this.#text(expression.text, expression.at, expected);
        return;
      }
      case "list":
        for (const item of expression.items) this.evaluate(item, this.#elementOf(expected));
        return undefined;
      case "map": {
        this.#map(expression, expected);
        return;
      }
      case "variable":
        return this.#variable(expression);
      case "member":
        this.#meaning(expression);
        return undefined;
      case "select":
        return this.#select(expression);
      case "call":
        return this.#call(expression);
      case "other":
        for (const part of expression.parts) this.evaluate(part);
        return undefined;
    }
  }

  #text(text: string, at: number, expected: Type): undefined {
    const name = this.#schema.enumerationOf(expected);
    const values = (name !== undefined && this.#schema.enumerations.get(name)) || [];
    if (name !== undefined && !values.includes(text)) this.#report(at, `"${text}" is no ${name}`, text, values);
  }

  #map({ entries, at }: Extract<Expression, { kind: "map" }>, expected: Type): undefined {
    const shape = this.#alternatives(expected)
      .map((type) => this.#schema.shapeOf(type))
      .find((shape) => shape !== undefined);
    if (shape) this.#properties(shape, entries, at);
    else for (const { value } of entries) this.evaluate(value, this.#elementOf(expected));
  }

  #variable({ name, at }: Extract<Expression, { kind: "variable" }>): Type | undefined {
    if (this.#closed && !this.#variables.has(name)) {
      this.#report(at, `there is no resource or variable "${name}"`, name, [...this.#variables.keys()]);
    }
    return this.#variables.get(name);
  }

  #meaning({ name, at }: Extract<Expression, { kind: "member" }>): Meaning | undefined {
    const meaning = this.#spelling.members.get(name);
    if (!meaning) this.#report(at, `the package has no ${name}`, name, [...this.#spelling.members.keys()]);
    return meaning;
  }

  #select({ from, name, at }: Extract<Expression, { kind: "select" }>): Type | undefined {
    if (from.kind === "member") {
      const meaning = this.#meaning(from);
      if (meaning?.kind === "enumeration" && name !== undefined && !meaning.constants.includes(name)) {
        this.#report(at, `${meaning.name} has no "${name}"`, name, meaning.constants);
      }
      return undefined;
    }
    const type = this.evaluate(from);
    if (!type) return undefined;
    if (name === undefined) return this.#elementOf(type);
    const shape = this.#schema.shapeOf(type);
    if (!shape) return undefined;
    const property = this.#named(shape, name);
    if (property || this.#spelling.isCommon(name)) return property;
    this.#unknown(shape, name, at, []);
    return undefined;
  }

  #call({ callee, at, entries, items, open }: Extract<Expression, { kind: "call" }>): Type | undefined {
    const meaning = callee.kind === "member" ? this.#meaning(callee) : undefined;
    const element: Type =
      meaning?.kind === "elements" ? meaning.of : meaning?.kind === "enumeration" ? { $ref: meaning.name } : {};
    for (const item of items) this.evaluate(item, element);
    switch (meaning?.kind) {
      case "resource":
      case "function": {
        const { inputs, outputs } = meaning.of;
        // In Go the inputs are a literal of their own among the items.
        this.#properties(inputs, entries, open || items.length > 1 ? undefined : at);
        return { shape: outputs };
      }
      case "inputs":
        this.#properties(meaning.of, entries, open ? undefined : at);
        return undefined;
      default: {
        const type = callee.kind === "member" ? undefined : this.evaluate(callee);
        for (const { value } of entries) this.evaluate(value, element);
        return type;
      }
    }
  }

  /** @param at where required ones are missed; undefined when they may be given elsewhere */
  #properties(shape: Shape, entries: readonly Entry[], at?: number): void {
    for (const entry of entries) {
      const property = entry.name === undefined ? undefined : this.#named(shape, entry.name);
      this.evaluate(entry.value, property);
      if (entry.name === undefined || property || this.#spelling.options.includes(entry.name)) continue;
      this.#unknown(shape, entry.name, entry.at, this.#spelling.options);
    }
    const missing = shape.required
      .map((name) => this.#spelling.property(name))
      .filter((name) => !entries.some((entry) => entry.name === name));
    if (at !== undefined && missing.length > 0) {
      const names = missing.map((name) => `"${name}"`).join(", ");
      this.problems.push({ at, message: `${shape.owner} needs the ${shape.noun} ${names}` });
    }
  }

  #named(shape: Shape, spelled: string): Type | undefined {
    return Object.entries(shape.properties).find(([name]) => this.#spelling.property(name) === spelled)?.[1];
  }

  #unknown({ owner, noun, properties }: Shape, name: string, at: number, options: readonly string[]): void {
    const known = Object.keys(properties).map((each) => this.#spelling.property(each));
    this.#report(at, `${owner} has no ${noun} "${name}"`, name, [...known, ...options]);
  }

  #report(at: number, message: string, word: string, known: readonly string[]): void {
    const help = suggestion(word, known);
    // A list of everything that the package has helps nobody.
    const long = known.length > 40 && !help.startsWith("did");
    this.problems.push({ at, message: `${message}; ${long ? "plugin/schema.json says what there is" : help}` });
  }

  #alternatives = (type: Type): readonly Type[] => type.oneOf ?? [type];

  #elementOf(type: Type): Type | undefined {
    return this.#alternatives(type)
      .map(({ items, additionalProperties }) => items ?? additionalProperties)
      .find((element) => element !== undefined);
  }
}
