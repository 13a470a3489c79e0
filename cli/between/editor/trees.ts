import { type Node as JsonNode, parseTree } from "jsonc-parser";
import {
  Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Scalar,
  visit,
} from "yaml";
import { parseBounded } from "../../../machine/bounded.ts";
import { BoundError, type Bounds } from "../../../machine/bounds.ts";
import { EditRefusal, lineStart } from "./text.ts";

/** A value of a JSON or YAML text that knows which characters it consists of. */
export interface TextNode {
  kind: "scalar" | "map" | "list";
  /** Without an anchor or a tag before it. */
  start: number;
  /** Behind its last character: neither white space nor comments follow within it. */
  end: number;
  /** True if it stands in brackets or is a scalar on its lines alone; false for what only its indentation shows. */
  isInline: boolean;
  /** Quotation marks of a scalar. */
  style?: "plain" | "single" | "double" | "block";
  members: readonly TextMember[];
  /** Why it is not edited, with what is in it: an alias, or an anchor that others repeat. */
  locked?: string;
  /** Why it is not replaced or removed as a whole, although its parts may be edited. */
  held?: string;
  /** The value, read when somebody asks. */
  plain: () => unknown;
}

/** An entry of a map, or an item of a list. */
export interface TextMember {
  name?: string;
  /** Where it begins: its key, or the dash of a block list. */
  start: number;
  /** Where its value may begin: behind the colon or the dash. */
  after: number;
  node: TextNode;
  /** Why it is not edited: it is written in a rare form. */
  locked?: string;
}

/** A text as a tree, and how values are written in it. */
export interface TextTree {
  text: string;
  root: TextNode;
  /**
   * Writes a member of a map (with a name) or of a list on one line, or between brackets.
   * @param like a member beside it, whose layout it takes
   */
  writeInline: (name: string | undefined, value: unknown, like?: TextMember) => string;
  /** Writes a scalar in the place of one of this style. */
  writeScalar: (value: unknown, style: TextNode["style"]) => string;
  /** Writes what stands behind a colon or a dash, from its line on, indented by so many columns; not for JSON. */
  writeBlock: ((name: string | undefined, value: unknown, column: number) => string) | undefined;
}

/** Reads a JSON text. Throws an EditRefusal where it is not valid, or has comments. */
export function parseJsonTree(text: string): TextTree {
  const errors: { offset: number }[] = [];
  const root = parseTree(text, errors as never, { disallowComments: true });
  const [wrong] = errors;
  if (wrong || !root) throw new EditRefusal("is not valid JSON: correct it", wrong?.offset ?? 0);
  return {
    text,
    root: toTextNode(root, text),
    writeInline: (name, value, like) => writeMember(text, name, value, like),
    writeScalar: (value) => JSON.stringify(value),
    writeBlock: undefined,
  };
}

function toTextNode(node: JsonNode, text: string): TextNode {
  const start = node.offset;
  const common = { start, end: start + node.length, isInline: true };
  const plain = (): unknown => JSON.parse(text.slice(start, start + node.length));
  const children = node.children ?? [];
  if (node.type === "object") {
    const members = children.flatMap((property): TextMember[] => {
      const [key, value] = property.children ?? [];
      if (!key || !value) return [];
      const name = String(key.value);
      return [{ name, start: property.offset, after: (property.colonOffset ?? 0) + 1, node: toTextNode(value, text) }];
    });
    return { ...common, kind: "map", members, plain };
  }
  if (node.type === "array") {
    const members = children.map((item) => ({ start: item.offset, after: item.offset, node: toTextNode(item, text) }));
    return { ...common, kind: "list", members, plain };
  }
  return { ...common, kind: "scalar", members: [], plain };
}

/** Writes a member as the one beside it is laid out: in lines, or on one with its white space. */
function writeMember(text: string, name: string | undefined, value: unknown, like?: TextMember): string {
  const beside = like ? text.slice(like.start, like.node.end) : "";
  const form = beside === "" ? text : beside;
  const colon = /":\S/.test(form) ? ":" : ": ";
  const comma = /,\S/.test(form) ? "," : ", ";
  const pad = /\{\s/.test(form) ? " " : "";
  const compact = (one: unknown): string => {
    if (Array.isArray(one)) return `[${one.map(compact).join(comma)}]`;
    if (typeof one !== "object" || one === null) return JSON.stringify(one);
    const entries = Object.entries(one).map(([label, each]) => `${JSON.stringify(label)}${colon}${compact(each)}`);
    return entries.length === 0 ? "{}" : `{${pad}${entries.join(comma)}${pad}}`;
  };
  const isBroken = /[\r\n]/.test(beside) && typeof value === "object" && value !== null;
  const written = isBroken ? inLines(text, value, like) : compact(value);
  return name === undefined ? written : `${JSON.stringify(name)}${colon}${written}`;
}

function inLines(text: string, value: unknown, like?: TextMember): string {
  const marginAt = (at = 0): string => /^[ \t]*/.exec(text.slice(lineStart(text, at)))?.[0] ?? "";
  const margin = marginAt(like?.start);
  const deeper = marginAt(like?.node.members[0]?.start);
  const step = deeper.startsWith(margin) && deeper.length > margin.length ? deeper.slice(margin.length) : "  ";
  return JSON.stringify(value, null, step).replaceAll("\n", `\n${margin}`);
}

/** Bounds of what is edited: rows in YAML may have more values than settings. */
export const ofEdited: Bounds = { levels: 100, values: 250_000 };

/** Reads a YAML text of one document. Throws an EditRefusal where it is not valid. */
export function parseYamlTree(text: string): TextTree {
  const document = parseDocument(text);
  const root = document.contents === null ? emptyAt(text.length) : new Reader(document, text).read(document.contents);
  return {
    text,
    root,
    writeInline: (name, value, like) => writeFlow(text, name, value, like),
    writeScalar,
    writeBlock,
  };
}

const emptyAt = (at: number): TextNode => ({
  kind: "scalar",
  start: at,
  end: at,
  isInline: true,
  members: [],
  plain: () => null,
});

function parseDocument(text: string): Document.Parsed {
  try {
    const document = parseBounded(text, { lineCounter: new LineCounter(), keepSourceTokens: true }, ofEdited);
    const [error] = document.errors;
    if (error) throw new EditRefusal("is not valid YAML: correct it", error.pos[0]);
    return document;
  } catch (error) {
    if (error instanceof BoundError) throw new EditRefusal(error.message, error.offset);
    throw error;
  }
}

interface Token {
  type: string;
  offset: number;
  source: string;
}

/** A member as the parser found it: what stands before it, its key, and what stands between key and value. */
interface SourceItem {
  start: Token[];
  key?: { offset: number } | null;
  sep?: Token[];
}

const rare = "is written in a form that is not edited by programs: write it as key: value";

class Reader {
  readonly #document: Document.Parsed;
  readonly #text: string;
  readonly #repeated = new Set<string>();

  constructor(document: Document.Parsed, text: string) {
    this.#document = document;
    this.#text = text;
    visit(document, { Alias: (_, { source }) => void this.#repeated.add(source) });
  }

  read(node: Node | null): TextNode {
    if (!node?.range) return emptyAt(0);
    const [start, end] = node.range;
    const plain = (): unknown => node.toJS(this.#document);
    const anchor = isAlias(node) ? undefined : node.anchor;
    const locked = isAlias(node)
      ? `repeats the anchor ${node.source}: write the value out`
      : anchor !== undefined && this.#repeated.has(anchor)
        ? `has the anchor ${anchor}, which other places repeat: write the values out`
        : undefined;
    const held = this.#heldBy(node);
    const common = { start, plain, ...(locked !== undefined && { locked }), ...(held !== undefined && { held }) };
    if (isMap(node) || isSeq(node)) {
      const members = isMap(node)
        ? node.items.map((pair) => this.#entry(pair as Pair<Node, Node | null>, node.flow === true))
        : this.#items(node.items as Node[], node.srcToken as { items: SourceItem[] } | undefined, node.flow === true);
      const last = members.at(-1);
      const stop = node.flow === true || !last ? end : last.node.end;
      return { ...common, kind: isMap(node) ? "map" : "list", end: stop, isInline: node.flow === true, members };
    }
    const style = isAlias(node) ? "plain" : styleOf(node);
    const isBlock = style === "block";
    const stop = isBlock ? start + this.#text.slice(start, end).trimEnd().length : end;
    return { ...common, kind: "scalar", end: stop, isInline: !isBlock, style, members: [] };
  }

  /** Why a collection stays: another place repeats something in it. */
  #heldBy(node: Node): string | undefined {
    if (this.#repeated.size === 0) return undefined;
    let found: string | undefined;
    visit(node, {
      Value: (_, { anchor }) => {
        if (anchor !== undefined && this.#repeated.has(anchor)) found ??= anchor;
      },
    });
    return found === undefined ? undefined : `has the anchor ${found}, which other places repeat: write the values out`;
  }

  #entry(pair: Pair<Node, Node | null>, isFlow: boolean): TextMember {
    const { key } = pair;
    const source = pair.srcToken as SourceItem | undefined;
    const colon = source?.sep?.find(({ type }) => type === "map-value-ind");
    const isPlain =
      isScalar(key) &&
      source?.start.every(({ type }) => type !== "explicit-key-ind" && type !== "anchor" && type !== "tag");
    const start = key.range?.[0] ?? 0;
    const end = key.range?.[1] ?? start;
    const after = colon ? colon.offset + 1 : end;
    const found = pair.value === null ? emptyAt(after) : this.read(pair.value);
    // The parser may see an empty value behind a comment.
    const node = found.kind === "scalar" && found.start === found.end ? { ...found, start: after, end: after } : found;
    const name = isScalar(key) ? { name: String(key.value) } : {};
    return { ...name, start, after, node, ...(isPlain && (colon ?? isFlow) ? {} : { locked: rare }) };
  }

  #items(nodes: readonly Node[], source: { items: SourceItem[] } | undefined, isFlow: boolean): TextMember[] {
    return nodes.map((node, index) => {
      const found = this.read(node);
      if (isFlow) {
        const props = source?.items[index]?.start.find(({ type }) => type === "anchor" || type === "tag");
        return { start: props?.offset ?? found.start, after: found.start, node: found };
      }
      const dash = source?.items[index]?.start.find(({ type }) => type === "seq-item-ind");
      if (!dash) return { start: found.start, after: found.start, node: found, locked: rare };
      const after = dash.offset + 1;
      const isNothing = found.kind === "scalar" && found.start === found.end;
      return { start: dash.offset, after, node: isNothing ? { ...found, start: after, end: after } : found };
    });
  }
}

function styleOf({ type }: Scalar): NonNullable<TextNode["style"]> {
  switch (type) {
    case "QUOTE_DOUBLE":
      return "double";
    case "QUOTE_SINGLE":
      return "single";
    case "BLOCK_FOLDED":
    case "BLOCK_LITERAL":
      return "block";
    default:
      return "plain";
  }
}

const quoting = { plain: "PLAIN", block: "PLAIN", single: "QUOTE_SINGLE", double: "QUOTE_DOUBLE" } as const;
const options = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity } as const;

const isOfLines = (value: unknown): boolean => typeof value === "string" && /[\r\n]/.test(value);

/** Writes a member of a flow collection; of one that was empty its own brackets decide the layout. */
function writeFlow(text: string, name: string | undefined, value: unknown, like?: TextMember): string {
  const document = new Document(name === undefined ? [value] : { [name]: value });
  if (isCollection(document.contents)) document.contents.flow = true;
  visit(document, {
    Scalar: (_, node) => {
      if (isOfLines(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  const beside = like ? text.slice(like.start, like.node.end) : "";
  const flowCollectionPadding = !/\{\S/.test(beside);
  const written = document.toString({ ...options, flowCollectionPadding }).trim();
  return written.slice(1, -1).trim();
}

/** Writes a scalar on one line. */
function writeScalar(value: unknown, style: TextNode["style"] = "plain"): string {
  const defaultStringType = typeof value === "string" && !isOfLines(value) ? quoting[style] : "QUOTE_DOUBLE";
  const document = new Document([value]);
  const { contents } = document;
  if (isCollection(contents)) contents.flow = true;
  return document
    .toString({ ...options, defaultStringType, flowCollectionPadding: false })
    .trim()
    .slice(1, -1)
    .trim();
}

/** Texts that are read in blocks of lines as they stand. */
const isBlockText = (value: string): boolean =>
  /^\S[^\r]*\S\n?$/.test(value) && !/[^\S\n]\n|[\0-\x08\x0b-\x1f\x7f\x85\u2028\u2029\uFEFF]/.test(value);

function writeBlock(name: string | undefined, value: unknown, column: number): string {
  const document = new Document(name === undefined ? [value] : { [name]: value });
  visit(document, {
    Scalar: (_, node) => {
      if (isOfLines(node.value))
        node.type = isBlockText(String(node.value)) ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
    },
  });
  const margin = " ".repeat(column);
  return document
    .toString(options)
    .trimEnd()
    .replace(/\n(?=[^\n])/g, `\n${margin}`);
}
