import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Language } from "./names.ts";

/** A value as a program writes it: a text, a number, a dotted name, what stands in brackets, or a name with brackets. */
export interface Value {
  line: number;
  text?: string;
  number?: string;
  name?: string;
  entries?: Entry[];
}

/** The text between two commas: `key: value`, `key=value`, or a value alone, which may have several parts. */
export interface Entry {
  line: number;
  key?: string;
  values: Value[];
}

/** The entries of a program, and the values of its variables. */
export interface Program {
  entries: Entry[];
  variables: Map<string, string>;
  /** True when it has no other variables. */
  closed: boolean;
}

export const readProgram = (language: Language, text: string): Program =>
  language === "yaml" ? yamlProgram(text) : bracketedProgram(text);

const tokens =
  /#.*|\/\/.*|(?<text>"""[^]*?"""|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?<number>\d+(?:\.\d+)?)|[=:!<>]=|(?<mark>[()[\]{},:=])/g;

/** Reads names, texts and brackets of Python and Go, whose calls and literals look alike. */
function bracketedProgram(text: string): Program {
  const variables = [...text.matchAll(/(\w+)(?:, \w+)? :?= microapps\.(\w+)/g)];
  const found = [...text.matchAll(tokens)].values();
  const entriesOf = (): Entry[] => {
    const entries: Entry[] = [];
    let entry: Entry | undefined;
    for (const { index, groups = {} } of found) {
      const line = text.slice(0, index).split("\n").length;
      const { text: quoted, name, number, mark } = groups;
      if ((quoted ?? name ?? number ?? mark) === undefined) continue;
      if (mark !== undefined && ")]}".includes(mark)) break;
      if (mark === ",") {
        entry = undefined;
        continue;
      }
      if (!entry) entries.push((entry = { line, values: [] }));
      const last = entry.values.at(-1);
      if (quoted !== undefined) entry.values.push({ line, text: quoted.replace(/^["'`]+|["'`]+$/g, "") });
      else if (name !== undefined) entry.values.push({ line, name });
      else if (number !== undefined) entry.values.push({ line, number });
      else if (mark !== ":" && mark !== "=") {
        if (last?.name === undefined || last.entries) entry.values.push({ line, entries: entriesOf() });
        else last.entries = entriesOf();
      } else if (entry.values.length === 1 && last && !last.entries) {
        entry.key = last.text ?? last.name ?? "";
        entry.values = [];
      }
    }
    return entries;
  };
  return {
    entries: entriesOf(),
    variables: new Map(variables.map(([, name = "", member = ""]) => [name, member])),
    closed: false,
  };
}

function yamlProgram(text: string): Program {
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
  return { entries: [...entries, ...entriesOf(document.get("outputs"))], variables, closed: true };
}
