import { type Node as JsonNode, parseTree } from "jsonc-parser";
import { isDeepStrictEqual } from "node:util";
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
import { isObject } from "../../../platform/contract/wire.ts";
import { EditRefusal, lineEndOf, lineStart, nextLine, splice, type Splice } from "./text.ts";

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

/** A collection, and the member that holds it; none holds the root. */
export interface Spot {
  parent: TextNode;
  holder: { parent: TextNode; member: TextMember } | undefined;
}

/** What a step does to a tree, and the part that it touches. */
export interface Planned {
  splices: Splice[];
  part: Pick<TextNode, "start" | "end">;
}

/** A step of an edit, and where its refusal goes. */
export interface TreeStep {
  plan: (tree: TextTree) => Planned;
  refuse: (refusal: EditRefusal, text: string) => void;
}

/** Takes steps one after another. Those that touch other parts of the text are made in one, without parsing it again. */
export function runSteps(text: string, parse: (text: string) => TextTree, steps: readonly TreeStep[]): string {
  let now = text;
  const waiting = steps.toReversed();
  while (waiting.length > 0) {
    const tree = parse(now);
    const made: Planned[] = [];
    for (let step = waiting.at(-1); step; step = waiting.at(-1)) {
      try {
        const planned = step.plan(tree);
        const { start, end } = planned.part;
        if (made.some(({ part }) => part.start <= end && start <= part.end)) break;
        made.push(planned);
      } catch (error) {
        if (!(error instanceof EditRefusal)) throw error;
        // What it lacks may come with those before it.
        if (made.length > 0) break;
        step.refuse(error, now);
      }
      waiting.pop();
    }
    now = splice(
      now,
      made.flatMap(({ splices }) => splices),
    );
  }
  return now;
}

/** Sets the value behind a colon or a dash. */
export function setMember(tree: TextTree, parent: TextNode, member: TextMember, value: unknown): Planned {
  const { node, after } = member;
  const part = { start: Math.min(member.start, after), end: node.end };
  assertOpen(member, true);
  if (isDeepStrictEqual(node.plain(), value) && node.end > node.start) return { splices: [], part };
  if (isWrittenInline(tree, parent, member, value)) {
    const gap = node.start === node.end && parent.kind === "map" ? " " : "";
    const isCollection = typeof value === "object" && value !== null;
    const written = isCollection
      ? tree.writeInline(undefined, value, node.kind === "scalar" ? undefined : withoutName(member))
      : tree.writeScalar(value, node.style);
    return { splices: [{ start: node.start, end: node.end, text: gap + written }], part };
  }
  if (/\S/.test(tree.text.slice(after, node.start)))
    throw new EditRefusal("has a comment, an anchor or a tag before its value: move it to the line above", node.start);
  return { splices: [{ start: after, end: node.end, text: behindKey(tree, parent, member, value) }], part };
}

const withoutName = ({ start, after, node }: TextMember): TextMember => ({
  start: Math.max(start, node.start),
  after,
  node,
});

/** True if a value stays on its line: where brackets are around it, and in the place of what was on one. */
function isWrittenInline(tree: TextTree, parent: TextNode, { node }: TextMember, value: unknown): boolean {
  if (!tree.writeBlock || parent.isInline) return true;
  if (!node.isInline) return false;
  // Lines that come in between would take the comment for theirs.
  if (/^[ \t]+#/.test(tree.text.slice(node.end, nextLine(tree.text, node.end)))) return true;
  const isCollection = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (isCollection) return node.kind !== "scalar";
  return !(typeof value === "string" && value.includes("\n"));
}

/** Members to be added: entries of a map, or items of a list, which have no name. */
type Added = readonly (readonly [name: string | undefined, value: unknown])[];

/** Adds members behind the last one of a collection. */
export function addMembers(tree: TextTree, { parent, holder }: Spot, added: Added): Planned {
  assertOpen({ node: parent });
  const last = parent.members.at(-1);
  if (last?.locked !== undefined) throw new EditRefusal(last.locked, last.node.start);
  const planned = (one: Splice): Planned => ({ splices: [one], part: parent });
  if (parent.isInline && parent.kind !== "scalar") return planned(addInBrackets(tree, { parent, holder }, added));
  const { text } = tree;
  const lineEnd = lineEndOf(text);
  if (last) {
    const margin = columnAt(text, last.start);
    const lines = added.map(([name, value]) => {
      const isLikeRow = last.node.isInline && last.node.kind === "map" && isObject(value);
      const written = isLikeRow
        ? `${name === undefined ? "-" : `${name}:`} ${tree.writeInline(undefined, value, withoutName(last))}`
        : blockOf(tree, parent, name, value, margin);
      return " ".repeat(margin) + written;
    });
    const at = nextLine(text, last.node.end);
    const isOpen = at === text.length && !text.endsWith("\n");
    return planned({
      start: at,
      end: at,
      text: lines.map((line) => (isOpen ? lineEnd + line : line + lineEnd)).join(""),
    });
  }
  if (holder || !tree.writeBlock || parent.end > parent.start)
    throw new EditRefusal("is neither a list nor a map", parent.start);
  // The first members of a document that has none.
  const lines = added.map(([name, value]) => `${blockOf(tree, parent, name, value, 0)}${lineEnd}`);
  const begin = text === "" || text.endsWith("\n") ? "" : lineEnd;
  return planned({ start: text.length, end: text.length, text: begin + lines.join("") });
}

function addInBrackets(tree: TextTree, { parent, holder }: Spot, added: Added): Splice {
  const { text } = tree;
  const { members, start, end, kind } = parent;
  const last = members.at(-1);
  const first = members[0];
  const writtenLike = (member?: TextMember): string[] =>
    added.map(([name, value]) => tree.writeInline(name, value, member));
  if (!last || !first) {
    if (/\S/.test(text.slice(start + 1, end - 1)))
      throw new EditRefusal("has a comment in its brackets: move it out", start);
    // The first items of a list stand on lines of their own, as people write lists.
    const member = holder && !holder.parent.isInline && kind === "list" ? holder.member : undefined;
    if (tree.writeBlock && member?.node === parent && /^[ \t]*$/.test(text.slice(member.after, start))) {
      const items = added.map(([, value]) => value);
      return { start: member.after, end, text: behindKey(tree, holder?.parent ?? parent, member, items) };
    }
    const pad = tree.writeBlock && kind === "map" ? " " : "";
    return { start: start + 1, end: end - 1, text: pad + writtenLike().join(", ") + pad };
  }
  const before = members.at(-2);
  const between = before ? text.slice(before.node.end, last.start) : "";
  const lead = text.slice(start + 1, first.start);
  const gap = /^\s*,\s*$/.test(between)
    ? between
    : /^[ \t]*\r?\n\s*$/.test(lead)
      ? `,${lead}`
      : `,${tree.writeBlock || /[,:]\s/.test(text) ? " " : ""}`;
  const at = last.node.end;
  return {
    start: at,
    end: at,
    text: writtenLike(last)
      .map((one) => gap + one)
      .join(""),
  };
}

/** Takes members out of a collection. */
export function dropMembers(tree: TextTree, { parent, holder }: Spot, dropped: readonly TextMember[]): Planned {
  assertOpen({ node: parent });
  for (const member of dropped) assertOpen(member, true);
  const kept = parent.members.filter((member) => !dropped.includes(member));
  if (kept.length === 0) return { splices: [emptyCollection(tree, { parent, holder })], part: parent };
  const cuts: Splice[] = [];
  for (const member of dropped.toSorted((one, other) => one.start - other.start)) {
    const { start, end } = (parent.isInline ? cutInBrackets : cutLines)(tree, parent, member, kept);
    const last = cuts.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else cuts.push({ start, end, text: "" });
  }
  const last = cuts.at(-1);
  // A file without a line end at its end stays so.
  if (last && !parent.isInline && last.end === tree.text.length && !tree.text.endsWith("\n"))
    last.start = tree.text.slice(0, last.start).replace(/\r?\n$/, "").length;
  return { splices: cuts, part: parent };
}

type Cut = (
  tree: TextTree,
  parent: TextNode,
  member: TextMember,
  kept: readonly TextMember[],
) => Pick<Splice, "start" | "end">;

/** A member with the comma before it, or with that behind it where nothing before it is kept. */
const cutInBrackets: Cut = (tree, { members }, member, kept) => {
  const at = members.indexOf(member);
  const before = kept.some(({ start }) => start < member.start) ? members[at - 1] : undefined;
  const [start, end] = before
    ? [before.node.end, member.node.end]
    : [member.start, members[at + 1]?.start ?? member.node.end];
  assertNoComment(tree, tree.text.slice(before ? start : member.node.end, before ? member.start : end), start);
  return { start, end };
};

/** The lines of a member. What is kept behind it takes its place on the line of a dash. */
const cutLines: Cut = ({ text, ...tree }, _, member, kept) => {
  const from = lineStart(text, member.start);
  const behind = nextLine(text, member.node.end);
  if (/^ *$/.test(text.slice(from, member.start))) return { start: from, end: behind };
  const next = kept.find(({ start }) => start > member.start);
  if (!next) throw new EditRefusal("stands on the line of something else", member.start);
  assertNoComment({ text, ...tree }, text.slice(behind, next.start), member.start);
  return { start: member.start, end: next.start };
};

/** Leaves empty brackets where all members go. */
function emptyCollection(tree: TextTree, { parent, holder }: Spot): Splice {
  const { text } = tree;
  const { start, end, members } = parent;
  const empty = parent.kind === "map" ? "{}" : "[]";
  const [first, last] = [members[0], members.at(-1)];
  const from = holder?.member.after;
  if (parent.isInline) {
    const beside = text.slice(start + 1, first?.start) + text.slice(last?.node.end, end - 1);
    assertNoComment(tree, beside, start);
    return { start, end, text: empty };
  }
  const isBelow = from !== undefined && /^[ \t]*\r?\n *$/.test(text.slice(from, first?.start));
  return isBelow ? { start: from, end, text: ` ${empty}` } : { start: first?.start ?? start, end, text: empty };
}

function blockOf(tree: TextTree, parent: TextNode, name: string | undefined, value: unknown, column: number): string {
  const written = tree.writeBlock?.(parent.kind === "list" ? undefined : name, value, column) ?? "";
  return written.replaceAll("\n", lineEndOf(tree.text));
}

/** A value in lines as it stands behind its colon or dash. */
function behindKey(tree: TextTree, parent: TextNode, { name, start }: TextMember, value: unknown): string {
  const column = columnAt(tree.text, start);
  const key = blockOf(tree, parent, name, null, column).length - " null".length;
  return blockOf(tree, parent, name, value, column).slice(key);
}

/** Columns before a place on its line. */
const columnAt = (text: string, at: number): number => at - lineStart(text, at);

function assertNoComment({ writeBlock }: TextTree, between: string, at: number): void {
  if (writeBlock && between.includes("#"))
    throw new EditRefusal("has a comment beside it that would go as well: move it", at);
}

function assertOpen({ node, locked }: Pick<TextMember, "node" | "locked">, isWhole = false): void {
  const why = locked ?? node.locked ?? (isWhole ? node.held : undefined);
  if (why !== undefined) throw new EditRefusal(why, node.start);
}
