import { parseTree, type Node } from "jsonc-parser";
import { EditRefusal, lineStart } from "./splices.ts";
import type { Like, TextMember, TextNode, TextTree } from "./textTree.ts";

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

function toTextNode(node: Node, text: string): TextNode {
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

/** Writes a member as the one beside it is laid out. */
function writeMember(text: string, name: string | undefined, value: unknown, like: Like | undefined): string {
  const beside = like?.member ? text.slice(like.member.start, like.member.node.end) : "";
  const isBroken = /[\r\n]/.test(beside) && typeof value === "object" && value !== null;
  const written = isBroken ? broken(text, value, like?.member) : compact(value, beside === "" ? text : beside);
  return name === undefined ? written : `${JSON.stringify(name)}${/":\S/.test(beside || text) ? ":" : ": "}${written}`;
}

function broken(text: string, value: unknown, member: TextMember | undefined): string {
  const start = member?.start ?? 0;
  const [margin = ""] = /^[ \t]*/.exec(text.slice(lineStart(text, start))) ?? [];
  const inner = member?.node.members[0];
  const [deeper = ""] = inner ? (/^[ \t]*/.exec(text.slice(lineStart(text, inner.start))) ?? []) : [];
  const step = deeper.startsWith(margin) && deeper.length > margin.length ? deeper.slice(margin.length) : "  ";
  return JSON.stringify(value, null, step).replaceAll("\n", `\n${margin}`);
}

/** On one line, with white space where the text beside it has some. */
function compact(value: unknown, beside: string): string {
  const colon = /":\s/.test(beside) || !/":/.test(beside) ? ": " : ":";
  const comma = /,\s/.test(beside) || !beside.includes(",") ? ", " : ",";
  const pad = /\{\s/.test(beside) ? " " : "";
  const write = (one: unknown): string => {
    if (Array.isArray(one)) return `[${one.map(write).join(comma)}]`;
    if (typeof one !== "object" || one === null) return JSON.stringify(one);
    const entries = Object.entries(one).map(([name, each]) => `${JSON.stringify(name)}${colon}${write(each)}`);
    return entries.length === 0 ? "{}" : `{${pad}${entries.join(comma)}${pad}}`;
  };
  return write(value);
}
