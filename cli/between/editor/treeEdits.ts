import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../platform/contract/wire.ts";
import { EditRefusal, lineEndOf, lineStart, nextLine, overlaps, splice, type Splice } from "./text.ts";
import type { TextMember, TextNode, TextTree } from "./trees.ts";

/** Thrown where a step can't be planned beside those before it: the text is parsed again first. */
class Later extends Error {}

/** Splices of several steps in one tree, before its text is made: they may not be in each other's way. */
export class Round {
  readonly tree: TextTree;
  readonly splices: Splice[] = [];
  readonly #own: Splice[] = [];
  /** Collections that get something at a place, such as the end of the file, where several of them may end. */
  readonly #ends = new Map<number, TextNode>();
  /** Parts that go: nothing is added within one, which would go as well. */
  readonly #dropped: TextNode[] = [];
  readonly #touched = new Map<TextNode, { drops: number; names: Set<string | undefined> }>();

  constructor(tree: TextTree) {
    this.tree = tree;
  }

  set(parent: TextNode, member: TextMember, value: unknown): void {
    this.#take(setMember(this.tree, parent, member, value));
  }

  add(spot: Spot, name: string | undefined, value: unknown): void {
    const { parent } = spot;
    if (this.#dropped.some(({ start, end }) => start <= parent.start && parent.end <= end)) throw new Later();
    const touched = this.#touchedOf(parent);
    const isTwice = name !== undefined && touched.names.has(name);
    if (isTwice || touched.drops > 0 || (parent.members.length === 0 && touched.names.size > 0)) throw new Later();
    const isNothing = parent.kind === "scalar";
    const splices = isNothing ? addToNothing(this.tree, spot, name, value) : addMember(this.tree, spot, name, value);
    touched.names.add(name);
    for (const { start, end } of splices) {
      if (start !== end) continue;
      if ((this.#ends.get(start) ?? parent) !== parent) throw new Later();
      this.#ends.set(start, parent);
    }
    this.#take(splices);
  }

  drop(spot: Spot, member: TextMember): void {
    const { parent } = spot;
    const touched = this.#touchedOf(parent);
    const isLast = touched.drops > 0 && touched.drops + 1 >= parent.members.length;
    if (isLast || touched.names.size > 0) throw new Later();
    // An addition within it goes elsewhere, once it is there.
    const { start, end } = member.node;
    for (const [node, { names }] of this.#touched)
      if (names.size > 0 && start <= node.start && node.end <= end) throw new Later();
    const splices = dropMember(this.tree, spot, member);
    touched.drops++;
    this.#take(splices);
    this.#dropped.push(member.node);
  }

  /** Does a step whole or not at all; false where it waits for the next round. */
  run(step: (round: Round) => void): boolean {
    this.#own.length = 0;
    try {
      step(this);
    } catch (error) {
      if (error instanceof Later && this.splices.length > 0) return false;
      throw error instanceof Later ? new EditRefusal("changes one place twice") : error;
    }
    this.splices.push(...this.#own);
    return true;
  }

  #touchedOf(node: TextNode): { drops: number; names: Set<string | undefined> } {
    const touched = this.#touched.get(node) ?? { drops: 0, names: new Set() };
    this.#touched.set(node, touched);
    return touched;
  }

  #take(splices: readonly Splice[]): void {
    if (splices.some((each) => [...this.splices, ...this.#own].some((other) => overlaps(each, other))))
      throw new Later();
    this.#own.push(...splices);
  }
}

/** A step of an edit, and where its refusal goes. */
export interface TreeStep {
  run: (round: Round) => void;
  refuse: (refusal: EditRefusal, text: string) => void;
}

/** Takes steps one after another, as many in one round as are not in each other's way. */
export function runSteps(text: string, parse: (text: string) => TextTree, steps: readonly TreeStep[]): string {
  let [now, at] = [text, 0];
  while (at < steps.length) {
    const round = new Round(parse(now));
    const from = at;
    for (let step = steps[at]; step; step = steps[++at]) {
      try {
        if (!round.run(step.run)) break;
      } catch (error) {
        if (!(error instanceof EditRefusal)) throw error;
        step.refuse(error, now);
      }
    }
    if (at === from) throw new Error("a round takes at least one step");
    now = splice(now, round.splices);
  }
  return now;
}

/** Sets the value behind a colon or a dash. */
export function setMember(tree: TextTree, parent: TextNode, member: TextMember, value: unknown): Splice[] {
  const { node, after } = member;
  assertOpen(member, true);
  if (isDeepStrictEqual(node.plain(), value) && node.end > node.start) return [];
  const { text } = tree;
  if (isWrittenInline(tree, parent, member, value)) {
    const gap = node.start === node.end && parent.kind === "map" ? " " : "";
    const isCollection = typeof value === "object" && value !== null;
    const written = isCollection
      ? tree.writeInline(undefined, value, { parent, member: node.kind === "scalar" ? undefined : withoutName(member) })
      : tree.writeScalar(value, node.style);
    return [{ start: node.start, end: node.end, text: gap + written }];
  }
  if (/\S/.test(text.slice(after, node.start))) {
    throw new EditRefusal("has a comment, an anchor or a tag before its value: move it to the line above", node.start);
  }
  return [{ start: after, end: node.end, text: behindKey(tree, parent, member, value) }];
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

/** Adds members behind the last one of a collection. */
export function addMember(
  tree: TextTree,
  { parent, holder }: Spot,
  name: string | undefined,
  value: unknown,
): Splice[] {
  assertOpen({ node: parent });
  const last = parent.members.at(-1);
  if (last) assertEditable(last);
  if (parent.isInline) return [addInBrackets(tree, { parent, holder }, name, value)];
  const { text } = tree;
  if (!last) throw new EditRefusal("is neither a list nor a map", parent.start);
  const lineEnd = lineEndOf(text);
  const margin = columnAt(text, last.start);
  const likeRow = last.node.isInline && last.node.kind === "map" && isObject(value);
  const written = likeRow
    ? `${name === undefined ? "-" : `${name}:`} ${tree.writeInline(undefined, value, { parent, member: withoutName(last) })}`
    : blockOf(tree, parent, name, value, margin);
  const line = " ".repeat(margin) + written;
  const at = nextLine(text, last.node.end);
  const isOpen = at === text.length && !text.endsWith("\n");
  return [{ start: at, end: at, text: isOpen ? lineEnd + line : line + lineEnd }];
}

/** Adds the first member to a document that has none. */
export function addToNothing(
  tree: TextTree,
  { parent, holder }: Spot,
  name: string | undefined,
  value: unknown,
): Splice[] {
  const { text } = tree;
  if (holder || !tree.writeBlock || parent.end > parent.start)
    throw new EditRefusal("is no list and no map", parent.start);
  const lineEnd = lineEndOf(text);
  const written = tree.writeBlock(name, value, 0).replaceAll("\n", lineEnd);
  const at = text.length;
  return [{ start: at, end: at, text: `${text === "" || text.endsWith("\n") ? "" : lineEnd}${written}${lineEnd}` }];
}

/** A collection, and the member that holds it; none holds the root. */
export interface Spot {
  parent: TextNode;
  holder: { parent: TextNode; member: TextMember } | undefined;
}

function addInBrackets(tree: TextTree, { parent, holder }: Spot, name: string | undefined, value: unknown): Splice {
  const { text } = tree;
  const { members, start, end, kind } = parent;
  const last = members.at(-1);
  const first = members[0];
  if (!last || !first) {
    const isEmpty = !/\S/.test(text.slice(start + 1, end - 1));
    if (!isEmpty) throw new EditRefusal("has a comment in its brackets: move it out", start);
    const whole = name === undefined ? [value] : { [name]: value };
    if (tree.writeBlock && holder && !holder.parent.isInline && holder.member.node === parent && kind === "list")
      return emptied(tree, holder, whole);
    const pad = tree.writeBlock && kind === "map" ? " " : "";
    return { start: start + 1, end: end - 1, text: pad + tree.writeInline(name, value, undefined) + pad };
  }
  const written = tree.writeInline(name, value, { parent, member: last });
  const before = members.at(-2);
  const between = before ? text.slice(before.node.end, last.start) : "";
  const lead = text.slice(start + 1, first.start);
  const gap = /^\s*,\s*$/.test(between)
    ? between
    : /^[ \t]*\r?\n\s*$/.test(lead)
      ? `,${lead}`
      : `,${tree.writeBlock || /[,:]\s/.test(text) ? " " : ""}`;
  return { start: last.node.end, end: last.node.end, text: gap + written };
}

/** A first item in the place of empty brackets: on lines of its own, as people write lists. */
function emptied(tree: TextTree, { parent, member }: NonNullable<Spot["holder"]>, whole: unknown): Splice {
  const text = behindKey(tree, parent, member, whole);
  const { start, end } = member.node;
  return /^[ \t]*$/.test(tree.text.slice(member.after, start))
    ? { start: member.after, end, text }
    : { start, end, text: tree.writeInline(undefined, whole, undefined) };
}

/** Takes a member out of a collection. */
export function dropMember(tree: TextTree, { parent, holder }: Spot, member: TextMember): Splice[] {
  assertOpen(member, true);
  assertOpen({ node: parent });
  const { members } = parent;
  const index = members.indexOf(member);
  const [before, next] = [members[index - 1], members[index + 1]];
  if (members.length === 1) return [emptyCollection(tree, { parent, holder }, member)];
  if (parent.isInline) {
    const cut = before
      ? { start: before.node.end, end: member.node.end }
      : { start: member.start, end: next?.start ?? member.node.end };
    assertNoComment(
      tree,
      tree.text.slice(before ? before.node.end : member.node.end, before ? member.start : cut.end),
      cut.start,
    );
    return [{ ...cut, text: "" }];
  }
  const { text } = tree;
  const from = lineStart(text, member.start);
  const behind = nextLine(text, member.node.end);
  if (/^ *$/.test(text.slice(from, member.start))) {
    const isOpen = behind === text.length && !text.endsWith("\n");
    const back = isOpen && from > 0 ? (text[from - 2] === "\r" ? 2 : 1) : 0;
    return [{ start: from - back, end: behind, text: "" }];
  }
  if (!next) throw new EditRefusal("stands on the line of something else", member.start);
  assertNoComment(tree, text.slice(behind, next.start), member.start);
  return [{ start: member.start, end: next.start, text: "" }];
}

/** Leaves empty brackets where the last member goes. */
function emptyCollection(tree: TextTree, { parent, holder }: Spot, member: TextMember): Splice {
  const { text } = tree;
  const empty = parent.kind === "map" ? "{}" : "[]";
  if (parent.isInline) {
    assertNoComment(
      tree,
      text.slice(parent.start + 1, member.start) + text.slice(member.node.end, parent.end - 1),
      parent.start,
    );
    return { start: parent.start, end: parent.end, text: empty };
  }
  const from = holder?.member.after;
  const isBelow = from !== undefined && /^[ \t]*\r?\n *$/.test(text.slice(from, member.start));
  return isBelow
    ? { start: from, end: member.node.end, text: ` ${empty}` }
    : { start: member.start, end: member.node.end, text: empty };
}

function blockOf(tree: TextTree, parent: TextNode, name: string | undefined, value: unknown, column: number): string {
  const written = tree.writeBlock?.(parent.kind === "map" ? (name ?? "") : undefined, value, column) ?? "";
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

const assertEditable = ({ locked, node }: TextMember): void => {
  if (locked !== undefined) throw new EditRefusal(locked, node.start);
};
