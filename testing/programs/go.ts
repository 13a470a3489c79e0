import type { SyntaxNode } from "@lezer/common";
import { parser } from "@lezer/go";
import type { Entry, Expression, Program } from "./program.ts";
import type { Schema } from "./schema.ts";
import type { Meaning, Spelling } from "./spelling.ts";
import { childrenOf, errorsOf, textOf } from "./syntax.ts";

const reserved = ["ID", "URN", "GetProvider", "ElementType"];

const title = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `organizationID` → `OrganizationID`; names that every resource has get a `_`. */
export const field = (name: string): string => (reserved.includes(title(name)) ? `${title(name)}_` : title(name));

const inputForms = ["Input", "Output", "ArrayInput", "ArrayOutput", "MapInput", "MapOutput", "PtrInput", "PtrOutput"];

/** What the Go package has. */
export function goSpelling({ resources, functions, objects, enumerations }: Schema): Spelling {
  const members = new Map<string, Meaning>();
  const forms = (name: string, element: Meaning) => {
    members.set(name, { kind: "value" });
    for (const form of inputForms) members.set(name + form, { kind: "value" });
    for (const form of ["Array", "Map"]) members.set(name + form, element);
  };
  for (const [name, of] of resources) {
    forms(name, { kind: "value" });
    members.set(`New${name}`, { kind: "resource", of });
    members.set(`Get${name}`, { kind: "value" });
    members.set(`${name}Args`, { kind: "inputs", of: of.inputs });
    members.set(`${name}State`, { kind: "inputs", of: { ...of.outputs, required: [] } });
  }
  for (const [name, of] of objects) {
    forms(name, { kind: "elements", of: { $ref: name } });
    members.set(`${name}Args`, { kind: "inputs", of });
    members.set(`${name}Ptr`, { kind: "value" });
  }
  for (const [name, values] of enumerations) {
    forms(name, { kind: "elements", of: { $ref: name } });
    members.set(name, { kind: "enumeration", name, constants: [] });
    members.set(`${name}Ptr`, { kind: "enumeration", name, constants: [] });
    for (const value of values) members.set(name + title(value), { kind: "value" });
  }
  for (const [name, of] of functions) {
    // GetTeam is the look-up of the resource Team in a state.
    const own = members.has(title(name)) ? `Lookup${name.slice("get".length)}` : title(name);
    for (const form of [own, `${own}Output`]) members.set(form, { kind: "function", of });
    for (const form of [`${own}Args`, `${own}OutputArgs`]) members.set(form, { kind: "inputs", of: of.inputs });
    for (const form of ["Result", "ResultOutput"]) members.set(own + form, { kind: "value" });
  }
  return {
    property: field,
    members,
    isCommon: (name) => reserved.includes(name) || /^(?:Apply|To[A-Z]|Elem$|Index$|MapIndex$)/.test(name),
    options: [],
  };
}

/** A Pulumi program in Go. */
export function goProgram(text: string): Program {
  const root = parser.parse(text).topNode;
  const reader = new Reader(text);
  reader.visit(root);
  return { statements: reader.statements, closed: false, problems: errorsOf(root, "Go") };
}

const packagePath = /\/microapps$/;

class Reader {
  readonly statements: Program["statements"] = [];
  readonly #source: string;
  readonly #packages = new Set<string>();

  constructor(text: string) {
    this.#source = text;
  }

  visit(node: SyntaxNode): void {
    const children = childrenOf(node);
    switch (node.name) {
      case "ImportSpec": {
        const path = this.#string(children.at(-1));
        const [alias] = childrenOf(node, "DefName");
        if (packagePath.test(path)) this.#packages.add(alias ? this.#text(alias) : "microapps");
        return;
      }
      case "VarDecl":
      case "VarSpec":
      case "Assignment":
        this.#assignment(children);
        return;
      case "DefName": // of a parameter or a definition: it is anything
        this.statements.push({ binds: this.#text(node) });
        return;
      case "Block":
      case "SourceFile":
        break;
      default:
        if (isExpression(node)) {
          this.statements.push({ value: this.#expression(node) });
          return;
        }
    }
    for (const child of children) this.visit(child);
  }

  #text = (node: SyntaxNode): string => textOf(node, this.#source);

  #string = (node: SyntaxNode | undefined): string => (node ? this.#text(node).slice(1, -1) : "");

  /** `a, err := f()`: the first name holds the value, if there is one value. */
  #assignment(children: readonly SyntaxNode[]): void {
    const operator = children.findIndex(({ name }) => name === ":=" || name === "=");
    const names = children.slice(0, operator < 0 ? undefined : operator);
    const values = operator < 0 ? [] : children.slice(operator + 1).filter(isExpression);
    names.forEach((node, i) => {
      if (node.name === "VarSpec" || node.name === "SpecList") this.visit(node);
      if (node.name !== "DefName" && node.name !== "VariableName") return;
      const value = values.length === 1 && i > 0 ? undefined : values[i];
      const name = this.#text(node);
      this.statements.push({
        ...(name === "_" ? {} : { binds: name }),
        ...(value ? { value: this.#expression(value) } : {}),
      });
    });
  }

  #expression(node: SyntaxNode): Expression {
    const at = node.from;
    const children = childrenOf(node);
    switch (node.name) {
      case "String":
        return { kind: "text", at, text: this.#string(node) };
      case "VariableName":
        return { kind: "variable", at, name: this.#text(node) };
      case "UnaryExp":
      case "ParenthesizedExp":
      case "PointerType": {
        const inner = children.filter(isExpression);
        if (inner.length === 1 && inner[0]) return this.#expression(inner[0]);
        break;
      }
      case "SelectorExpr":
      case "QualifiedType": {
        const [from, , name] = children;
        if (!from || !name) break;
        return this.#packages.has(this.#text(from)) && from.name === "VariableName"
          ? { kind: "member", at: name.from, name: this.#text(name) }
          : { kind: "select", at: name.from, from: this.#expression(from), name: this.#text(name) };
      }
      case "IndexExpr": {
        const [from] = children;
        if (from) return { kind: "select", at, from: this.#expression(from) };
        break;
      }
      case "CallExpr": {
        const [callee, list] = children;
        if (!callee || !list) break;
        const items = childrenOf(list).filter(isExpression);
        return this.#conversion(callee, items) ?? this.#call(at, callee, items);
      }
      case "TypedLiteral": {
        const [type, value] = children;
        if (type && value) return this.#literal(type, value);
        break;
      }
      case "FunctionLiteral": {
        for (const child of children) this.visit(child); // its statements stand beside the others
        return { kind: "other", at, parts: [] };
      }
    }
    return { kind: "other", at, parts: children.filter(isExpression).map((child) => this.#expression(child)) };
  }

  #call = (at: number, callee: SyntaxNode, items: readonly SyntaxNode[]): Expression => ({
    kind: "call",
    at,
    callee: this.#expression(callee),
    entries: [],
    items: items.map((item) => this.#expression(item)),
  });

  /** `pulumi.String("x")` is a text. */
  #conversion(callee: SyntaxNode, [first]: readonly SyntaxNode[]): Expression | undefined {
    return this.#text(callee) === "pulumi.String" && first ? this.#expression(first) : undefined;
  }

  /** `T{…}`, `map[string]*T{"a": {…}}`, `[]T{{…}}`. */
  #literal(type: SyntaxNode, value: SyntaxNode): Expression {
    const at = type.from;
    if (type.name === "MapType" || type.name === "SliceType" || type.name === "ArrayType") {
      const element = childrenOf(type).filter(isExpression).at(-1);
      return { kind: "other", at, parts: this.#elements(value, element).map((entry) => entry.value) };
    }
    const elements = this.#elements(value);
    const keyed = childrenOf(value, "Element").some((element) => childrenOf(element, "Key").length > 0);
    const callee = this.#expression(type);
    return keyed || elements.length === 0
      ? { kind: "call", at, callee, entries: elements, items: [] }
      : { kind: "call", at, callee, entries: [], items: elements.map((entry) => entry.value) };
  }

  /** @param type of elements that do not name theirs */
  #elements(value: SyntaxNode, type?: SyntaxNode): Entry[] {
    return childrenOf(value, "Element").map((element) => {
      const children = childrenOf(element);
      const key = children.find(({ name }) => name === "Key")?.firstChild ?? undefined;
      const content = children.at(-1);
      const name = key && (key.name === "String" ? this.#string(key) : this.#text(key));
      return {
        ...(name === undefined ? {} : { name }),
        at: element.from,
        value: content ? this.#element(content, type) : { kind: "other", at: element.from, parts: [] },
      };
    });
  }

  #element(content: SyntaxNode, type: SyntaxNode | undefined): Expression {
    if (content.name !== "LiteralValue") return this.#expression(content);
    if (type) return this.#literal(type.name === "PointerType" ? (type.lastChild ?? type) : type, content);
    return { kind: "map", at: content.from, entries: this.#elements(content) };
  }
}

const expressions = ["String", "VariableName", "TypedLiteral", "FunctionLiteral", "QualifiedType", "PointerType"];

function isExpression({ name }: SyntaxNode): boolean {
  return expressions.includes(name) || name.endsWith("Expr") || name.endsWith("Exp");
}
