import { Document, isMap, isNode, isScalar, isSeq, type Node } from "yaml";
import { type Entry, toPlainValue, type Value, describePlace } from "../layers/document.ts";
import { type Declaration, withoutSecretRows } from "./declaration.ts";

/** The merged file as one that extends nothing, for the program's folder: sources are named from there. Secret rows are hidden. */
export function toShownTree(merged: Value, { seeds }: Declaration): Value {
  const root = withoutSecretRows(merged);
  const all = root.kind === "map" ? root.entries.get("seeds")?.value : undefined;
  if (root.kind !== "map" || all?.kind !== "map") return root;
  const entries = [...all.entries].map(([name, entry]): [string, Entry] => {
    const { value } = entry;
    const source = value.kind === "map" ? value.entries.get("source") : undefined;
    const located = seeds[name]?.source;
    if (value.kind !== "map" || !source || located === undefined) return [name, entry];
    const moved: Entry = { at: source.at, value: { kind: "scalar", at: source.value.at, value: located } };
    return [name, { at: entry.at, value: { ...value, entries: new Map([...value.entries, ["source", moved]]) } }];
  });
  const moved: Value = { ...all, entries: new Map(entries) };
  const at = root.entries.get("seeds")?.at ?? root.at;
  return { ...root, entries: new Map([...root.entries, ["seeds", { at, value: moved }]]) };
}

/** A tree as YAML; with `origin`, the place of each value behind it. */
export function yamlOf(tree: Value, origin = false): string {
  const document = new Document(toPlainValue(tree), { aliasDuplicateObjects: false });
  if (origin) annotate(document.contents, tree);
  return document.toString({ lineWidth: 0, blockQuote: false, doubleQuotedMinMultiLineLength: Infinity });
}

function annotate(node: Node | null, value: Value): void {
  if (isMap(node) && value.kind === "map" && value.entries.size > 0) {
    for (const { key, value: held } of node.items) {
      const entry = value.entries.get(String(isScalar(key) ? key.value : key));
      if (entry && isNode(held)) annotate(held, entry.value);
    }
  } else if (isSeq(node) && value.kind === "list" && value.items.length > 0) {
    value.items.forEach((item, index) => {
      const held = node.items[index];
      if (isNode(held)) annotate(held, item);
    });
  } else if (node) node.comment = ` ${describePlace(value.at)}`;
}

/** The place of each value that is no map and no list, by its path as a JSON pointer. */
export const origins = (tree: Value): Record<string, string> => Object.fromEntries(placesIn(tree, ""));

function placesIn(tree: Value, pointer: string): [pointer: string, place: string][] {
  const below: [string, Value][] =
    tree.kind === "map"
      ? [...tree.entries].map(([key, { value }]) => [key.replaceAll("~", "~0").replaceAll("/", "~1"), value])
      : tree.kind === "list"
        ? tree.items.map((item, index) => [String(index), item])
        : [];
  if (below.length === 0) return [[pointer, describePlace(tree.at)]];
  return below.flatMap(([step, value]) => placesIn(value, `${pointer}/${step}`));
}
