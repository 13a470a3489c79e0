import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../platform/contract/wire.ts";
import { EditRefusal, lineEndOf, lineStart, nextLine, splice, type Splice } from "./text.ts";
import type { TextMember, TextNode, TextTree } from "./trees.ts";

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
