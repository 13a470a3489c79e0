import fc from "fast-check";
import { isMap, isScalar, parseDocument, visit, type Document } from "yaml";
import { isObject } from "../../../../platform/contract/wire.ts";
import type { EditStep, ValueFileEdit } from "../text.ts";

type Content = null | string | number | boolean | Content[] | { [name: string]: Content };

const scalar = fc.constantFrom<Content[]>(
  "plain",
  "with: colon",
  "# hash",
  "a, b",
  "two\nlines",
  "block\ntext\n",
  "",
  " padded ",
  "007",
  "yes",
  7,
  -1.5,
  true,
  'say "hi"',
  "it's",
  "*star",
  "{x}",
  "a\\b",
);
const name = fc.constantFrom("alpha", "beta", "g@example.com", "rows~", "rows-", "tags+", "with space", "7", "a: b");

const { content } = fc.letrec<{ content: Content }>((tie) => ({
  content: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    { arbitrary: scalar, weight: 3 },
    {
      arbitrary: fc.uniqueArray(tie("content"), { maxLength: 3, selector: (item) => JSON.stringify(item) }),
      weight: 1,
    },
    { arbitrary: fc.dictionary(name, tie("content"), { maxKeys: 4, noNullPrototype: true }), weight: 3 },
  ),
}));

/** Gives nodes of a document other forms, from one draw after another. */
function decorate(document: Document, draws: Iterator<number>): void {
  const draw = (count: number): number => (draws.next().value as number) % count;
  visit(document, {
    Scalar: (key, node) => {
      if (typeof node.value === "string" && draw(2) === 0) {
        node.type = (["QUOTE_DOUBLE", "QUOTE_SINGLE", "BLOCK_LITERAL", "BLOCK_FOLDED"] as const)[draw(4)] ?? "PLAIN";
        if (key === "key" && node.type.startsWith("BLOCK")) node.type = "PLAIN";
      }
      if (key !== "key" && draw(5) === 0) node.comment = " a comment";
      else if (key !== "key" && draw(12) === 0) node.anchor = `a${draw(100)}`;
    },
    Collection: (key, node) => {
      if (key !== null && draw(4) === 0) node.flow = true;
      if (key !== null && draw(12) === 0) node.anchor = `c${draw(100)}`;
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && draw(5) === 0) key.commentBefore = " above";
      else if (isScalar(key) && draw(6) === 0) key.spaceBefore = true;
    },
  });
  if (isMap(document.contents) && draw(3) === 0) {
    const anchored: string[] = [];
    visit(document, {
      Value: (_, { anchor }) => {
        if (anchor !== undefined) anchored.push(anchor);
      },
    });
    const [repeated] = anchored;
    if (repeated !== undefined)
      document.contents.set("repeats", document.createAlias(anchorOf(document, repeated), repeated));
  }
}

function anchorOf(document: Document, anchor: string): Parameters<Document["createAlias"]>[0] {
  let found: Parameters<Document["createAlias"]>[0] | undefined;
  visit(document, {
    Value: (_, node) => {
      if (node.anchor === anchor) found = node;
    },
  });
  if (!found) throw new Error("it was there");
  return found;
}

/** A YAML text and the value that it has. */
export const drawnDocument: fc.Arbitrary<string> = fc
  .tuple(
    fc.dictionary(name, content, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
    fc.infiniteStream(fc.nat(1_000)),
    fc.constantFrom("\n", "\r\n"),
    fc.boolean(),
    fc.constantFrom(2, 4),
    fc.boolean(),
  )
  .map(([value, draws, lineEnd, isOpen, indent, indentSeq]) => {
    const document = parseDocument(JSON.stringify(value));
    visit(document, {
      Collection: (_, node) => void (node.flow = false),
      Scalar: (_, node) => {
        if (typeof node.value === "string") delete node.type;
      },
    });
    decorate(document, draws);
    const hasEmptyLists = /\[\]/.test(document.toString());
    const text = document.toString({ lineWidth: 0, indent, indentSeq: indentSeq || hasEmptyLists }); // it misplaces them
    return (isOpen && !/[|>]/.test(text) ? text.trimEnd() : text).replaceAll("\n", lineEnd);
  });

/** An edit somewhere in a document: of something that is there, or beside it. */
export const drawnEdit = (root: unknown): fc.Arbitrary<ValueFileEdit> =>
  fc.tuple(fc.constantFrom(...placesIn(root)), content, name, fc.nat(4)).map(([path, value, other, what]) => {
    const at = valueAt(root, path);
    const edit = { kind: "value" as const, file: "file.yaml", path };
    if (what === 0) return { ...edit, do: "remove" as const };
    if (what === 1) return { ...edit, do: "remove" as const, prune: true };
    if (what === 2 && Array.isArray(at)) return { ...edit, do: "append" as const, value };
    if (what === 3 && isObject(at)) return { ...edit, do: "set" as const, path: [...path, other], value };
    return { ...edit, do: "set" as const, value };
  });

/** All paths of a value, except of itself; items of lists by their index. */
function placesIn(value: unknown, above: readonly EditStep[] = []): EditStep[][] {
  const entries: [EditStep, unknown][] = Array.isArray(value)
    ? (value as unknown[]).map((item, at) => [{ at }, item])
    : isObject(value)
      ? Object.entries(value)
      : [];
  return entries.flatMap(([step, item]) => [[...above, step], ...placesIn(item, [...above, step])]);
}

export function valueAt(root: unknown, path: readonly EditStep[]): unknown {
  return path.reduce((value, step): unknown => {
    if (typeof step === "string") return (value as Record<string, unknown> | undefined)?.[step];
    return (value as unknown[])[(step as { at: number }).at];
  }, root);
}
