import { isMap, isNode, isPair, isScalar, isSeq, parseDocument, type Node, type Pair } from "yaml";
import { suggestion } from "../../provider/environment/problems.ts";
import type { Entry, Expression, Program } from "./program.ts";
import type { Schema } from "./schema.ts";
import type { Meaning, Spelling } from "./spelling.ts";

/** YAML takes the schema's names as they are; `microapps:index:Team` may be written `microapps:Team`. */
export function yamlSpelling({ resources, functions }: Schema): Spelling {
  const members = new Map<string, Meaning>();
  for (const [kind, callables] of [
    ["resource", resources],
    ["function", functions],
  ] as const) {
    for (const [name, of] of callables) {
      members.set(name === "Provider" ? "pulumi:providers:microapps" : `microapps:${name}`, { kind, of });
    }
  }
  return { property: (name) => name, members, isCommon: (name) => ["id", "urn"].includes(name), options: [] };
}

const ownToken = /^microapps:|^pulumi:providers:microapps$/;
const memberOf = (token: string): string => token.replace(/^microapps:index:/, "microapps:");
const resourceKeys = ["type", "name", "defaultProvider", "properties", "options", "get"];
const invokeKeys = ["function", "arguments", "options", "return"];

/** A Pulumi program in YAML. */
export function yamlProgram(text: string): Program {
  return new Reader(text).program;
}

class Reader {
  readonly program: Program = { statements: [{ binds: "pulumi" }], closed: true, problems: [] };

  constructor(text: string) {
    const document = parseDocument(text);
    const [error] = document.errors; // the others come of it
    if (error) this.#report(error.pos[0], error.message.replace(/ at line .*/s, ""));
    const section = (name: string) => pairsOf(document.get(name, true));
    const { statements } = this.program;
    for (const { key } of section("config")) statements.push({ binds: textOf(key) });
    for (const { key, value } of section("variables")) {
      statements.push({ binds: textOf(key), value: this.#expression(value) });
    }
    for (const { key, value } of section("resources")) {
      statements.push({ binds: textOf(key), value: this.#resource(value) });
      statements.push({ value: this.#parts(this.#keysOf(value, resourceKeys, "a resource").get("options")) });
    }
    for (const { value } of section("outputs")) statements.push({ value: this.#expression(value) });
  }

  #report(at: number, message: string): void {
    this.program.problems.push({ at, message });
  }

  #resource(node: unknown): Expression {
    const keys = this.#keysOf(node, resourceKeys);
    return this.#call(keys.get("type"), keys.get("properties"), startOf(node));
  }

  #call(token: Node | undefined, properties: Node | undefined, otherwise: number): Expression {
    const name = textOf(token);
    if (!ownToken.test(name)) return this.#parts(properties);
    const at = token ? startOf(token) : otherwise;
    const callee: Expression = { kind: "member", at, name: memberOf(name) };
    return { kind: "call", at, callee, entries: this.#entries(properties), items: [] };
  }

  /** Values of a map by key; keys that it can't have are reported when `what` it is is told. */
  #keysOf(node: unknown, known: readonly string[], what?: string): ReadonlyMap<string, Node | undefined> {
    const pairs = pairsOf(node);
    for (const { key } of what === undefined ? [] : pairs) {
      const name = textOf(key);
      if (!known.includes(name)) {
        this.#report(startOf(key), `${what ?? ""} has no "${name}"; ${suggestion(name, known)}`);
      }
    }
    return new Map(pairs.map(({ key, value }) => [textOf(key), isNode(value) ? value : undefined]));
  }

  #entries = (node: unknown): Entry[] =>
    pairsOf(node).map(({ key, value }) => ({
      name: textOf(key),
      at: startOf(key),
      value: this.#expression(value),
    }));

  #parts = (node: unknown): Expression => ({ kind: "other", at: startOf(node), parts: [this.#expression(node)] });

  #expression(node: unknown): Expression {
    const at = startOf(node);
    if (isSeq(node)) return { kind: "list", at, items: node.items.map((item) => this.#expression(item)) };
    if (isMap(node)) return this.#invoke(node.items) ?? { kind: "map", at, entries: this.#entries(node) };
    if (!isScalar(node) || typeof node.value !== "string") return { kind: "other", at, parts: [] };
    const parts = interpolations(node.source ?? node.value, node.source === undefined ? at : at + quoteOf(node.type));
    return parts.length === 0
      ? { kind: "text", at, text: node.value }
      : parts.length === 1 && /^\$\{[^}]*\}$/.test(node.value) && parts[0]
        ? parts[0]
        : { kind: "other", at, parts };
  }

  /** `fn::invoke: {function, arguments}`, or `fn::microapps:getTeam: {…}`. */
  #invoke(pairs: readonly Pair[]): Expression | undefined {
    const [pair, ...more] = pairs;
    const name = pair && more.length === 0 ? textOf(pair.key) : "";
    if (!pair || !name.startsWith("fn::")) return undefined;
    const token = name.slice("fn::".length);
    if (ownToken.test(token)) {
      const at = startOf(pair.key);
      const callee: Expression = { kind: "member", at, name: memberOf(token) };
      return { kind: "call", at, callee, entries: this.#entries(pair.value), items: [] };
    }
    if (token !== "invoke") return this.#parts(pair.value);
    const keys = this.#keysOf(pair.value, invokeKeys, "fn::invoke");
    const from = this.#call(keys.get("function"), keys.get("arguments"), startOf(pair.key));
    const result = keys.get("return");
    return result ? { kind: "select", at: startOf(result), from, name: textOf(result) } : from;
  }
}

const pairsOf = (node: unknown): readonly Pair[] => (isMap(node) ? node.items.filter(isPair) : []);
const startOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);
const textOf = (node: unknown): string => (isScalar(node) ? String(node.value) : "");
const quoteOf = (type: unknown): number => (type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE" ? 1 : 0);

/** The `${…}` of a text, as what they refer to. @param start offset of the text in the file */
function interpolations(text: string, start: number): Expression[] {
  return [...text.matchAll(/(?<!\$)\$\{([^}]*)\}/g)].map((match) => {
    const path = match[1] ?? "";
    const from = start + match.index + 2;
    const [root = "", ...steps] = [...path.matchAll(/[^.[\]]+|\[[^\]]*\]/g)];
    const variable: Expression = { kind: "variable", at: from, name: String(root) };
    return steps.reduce<Expression>((value, step) => {
      const name = step[0].startsWith("[") ? undefined : step[0];
      return { kind: "select", at: from + step.index, from: value, ...(name === undefined ? {} : { name }) };
    }, variable);
  });
}
