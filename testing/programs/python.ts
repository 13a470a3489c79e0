import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/python";
import type { Entry, Expression, Program } from "./program.ts";
import type { Schema } from "./schema.ts";
import type { Meaning, Spelling } from "./spelling.ts";
import { childrenOf, errorsOf, textOf } from "./syntax.ts";

const words = /[A-Z]+(?=[A-Z][a-rt-z])|[A-Z]{2,}(?:[s\d][a-z\d]*)?|[A-Z]?[a-z\d]+|[A-Z]/g;

/** `organizationID` → `organization_id`, `teamIDs` → `team_ids`. */
export const snake = (name: string): string => (name.match(words) ?? [name]).join("_").toLowerCase();

/** What the package `pulumi_microapps` has. */
export function pythonSpelling({ resources, functions, objects, enumerations }: Schema): Spelling {
  const members = new Map<string, Meaning>();
  for (const [name, of] of resources) {
    members.set(name, { kind: "resource", of });
    members.set(`${name}Args`, { kind: "inputs", of: of.inputs });
  }
  for (const [name, of] of functions) {
    members.set(snake(name), { kind: "function", of });
    members.set(`${snake(name)}_output`, { kind: "function", of });
  }
  for (const [name, of] of objects) members.set(`${name}Args`, { kind: "inputs", of });
  for (const [name, values] of enumerations) {
    members.set(name, { kind: "enumeration", name, constants: values.map((value) => snake(value).toUpperCase()) });
  }
  for (const name of ["config", "outputs"]) members.set(name, { kind: "value" });
  return {
    property: snake,
    members,
    isCommon: (name) => ["id", "urn", "get", "apply"].includes(name) || name.startsWith("_"),
    options: ["opts", "resource_name", "args"],
  };
}

/** A Pulumi program in Python. */
export function pythonProgram(text: string): Program {
  const root = parser.parse(text).topNode;
  const reader = new Reader(text);
  const statements = childrenOf(root).flatMap((node) => reader.statements(node));
  return { statements: [...statements, ...reader.inner], closed: false, problems: errorsOf(root, "Python") };
}

const packageName = "pulumi_microapps";

class Reader {
  /** Names inside expressions: of comprehensions and lambdas. */
  readonly inner: Program["statements"] = [];
  readonly #source: string;
  readonly #packages = new Set<string>();
  /** Members that were imported by name, by the name that they have here. */
  readonly #members = new Map<string, string>();

  constructor(text: string) {
    this.#source = text;
  }

  statements(node: SyntaxNode): Program["statements"] {
    switch (node.name) {
      case "ImportStatement":
        return this.#import(childrenOf(node));
      case "AssignStatement": {
        const [target, ...rest] = childrenOf(node);
        const value = rest.at(-1);
        if (target?.name !== "VariableName" || !value) return this.#inside(node);
        return [{ binds: this.#text(target), value: this.#expression(value) }];
      }
      case "ExpressionStatement":
      case "ReturnStatement":
        return childrenOf(node).map((child) => ({ value: this.#expression(child) }));
      case "VariableName": // of a loop, a parameter, a definition: it is anything
        return [{ binds: this.#text(node) }];
      case "ParamList":
        return childrenOf(node, "VariableName").map((parameter) => ({ binds: this.#text(parameter) }));
      default:
        return node.name.endsWith("Expression") ? [{ value: this.#expression(node) }] : this.#inside(node);
    }
  }

  #text = (node: SyntaxNode): string => textOf(node, this.#source);

  #inside = (node: SyntaxNode): Program["statements"] => childrenOf(node).flatMap((child) => this.statements(child));

  #import(nodes: readonly SyntaxNode[]): Program["statements"] {
    const words = nodes.map((node) => this.#text(node));
    const statements: Program["statements"] = [];
    const imports = words.indexOf("import");
    words.forEach((word, i) => {
      const alias = words[i + 1] === "as" ? (words[i + 2] ?? word) : word;
      const node = nodes[i];
      if (word === packageName && words[0] === "import") this.#packages.add(alias);
      if (words[0] !== "from" || words[1] !== packageName || i <= imports || words[i - 1] === "as") return;
      if (node?.name !== "VariableName") return;
      this.#members.set(alias, word);
      statements.push({ value: { kind: "member", at: node.from, name: word } });
    });
    return statements;
  }

  #expression(node: SyntaxNode): Expression {
    const at = node.from;
    const children = childrenOf(node);
    this.inner.push(...this.#bound(children).map((name) => ({ binds: this.#text(name) })));
    switch (node.name) {
      case "String":
        return { kind: "text", at, text: this.#text(node).replace(/^[a-zA-Z]*("""|'''|["'])|("""|'''|["'])$/g, "") };
      case "ArrayExpression":
      case "TupleExpression":
        return { kind: "list", at, items: this.#all(children) };
      case "DictionaryExpression":
        return { kind: "map", at, entries: this.#dictionary(children) };
      case "VariableName":
        return this.#variable(node);
      case "MemberExpression":
        return this.#memberOf(children);
      case "CallExpression": {
        const [callee, list] = children;
        if (!callee || !list) break;
        return { kind: "call", at, callee: this.#expression(callee), ...this.#arguments(childrenOf(list)) };
      }
    }
    return { kind: "other", at, parts: this.#all(children) };
  }

  /** Names between `for` and `in`, and parameters of a lambda. */
  #bound(children: readonly SyntaxNode[]): SyntaxNode[] {
    const inLoop = children.filter((child, i) => {
      const before = children.slice(0, i).map(({ name }) => name);
      return child.name === "VariableName" && before.lastIndexOf("for") > before.lastIndexOf("in");
    });
    return [
      ...inLoop,
      ...children.flatMap((child) => (child.name === "ParamList" ? childrenOf(child, "VariableName") : [])),
    ];
  }

  #all = (nodes: readonly SyntaxNode[]): Expression[] => nodes.map((node) => this.#expression(node));

  #variable(node: SyntaxNode): Expression {
    const name = this.#text(node);
    const member = this.#members.get(name);
    return member === undefined
      ? { kind: "variable", at: node.from, name }
      : { kind: "member", at: node.from, name: member };
  }

  #memberOf([from, dot, property]: readonly SyntaxNode[]): Expression {
    if (!from || !dot || !property) return { kind: "other", at: from?.from ?? 0, parts: [] };
    const at = property.from;
    if (dot.name === "[") return { kind: "select", at, from: this.#expression(from) };
    const name = this.#text(property);
    if (from.name === "VariableName" && this.#packages.has(this.#text(from))) return { kind: "member", at, name };
    return { kind: "select", at, from: this.#expression(from), name };
  }

  #dictionary(nodes: readonly SyntaxNode[]): Entry[] {
    return nodes.flatMap((node, i) => {
      const [key, value] = [nodes[i - 1], nodes[i + 1]];
      if (node.name !== ":" || !key || !value) return [];
      const spelled = this.#expression(key);
      return [
        {
          ...(spelled.kind === "text" ? { name: spelled.text } : {}),
          at: key.from,
          value: this.#expression(value),
        },
      ];
    });
  }

  #arguments(nodes: readonly SyntaxNode[]): { entries: Entry[]; items: Expression[]; open: boolean } {
    const entries: Entry[] = [];
    const items: Expression[] = [];
    nodes.forEach((node, i) => {
      const [before, after] = [nodes[i - 1], nodes[i + 1]];
      if (before?.name === "AssignOp" || ["(", ")", ",", "*", "**"].includes(node.name)) return;
      if (node.name === "AssignOp" || after?.name !== "AssignOp") {
        if (node.name !== "AssignOp") items.push(this.#expression(node));
        return;
      }
      const value = nodes[i + 2];
      if (value) entries.push({ name: this.#text(node), at: node.from, value: this.#expression(value) });
    });
    return { entries, items, open: nodes.some(({ name }) => name === "*" || name === "**") };
  }
}
