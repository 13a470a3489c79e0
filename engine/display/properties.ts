import type { PropertyChange } from "../events.ts";
import type { Paint, Style } from "../terminal/colors.ts";
import { padText, widthOf } from "../terminal/columns.ts";
import { oneLine } from "../terminal/text.ts";
import { isObject } from "../values/json.ts";
import { parsePath } from "../values/paths.ts";

type Key = string | number;

/** How properties are printed. */
export interface Print {
  paint: Paint;
  /** In a preview, unknown values have another name. */
  preview: boolean;
}

/** How a property is printed: the column of its name, and the mark before it. */
interface Place {
  column: number;
  glyph: string;
  style: Style | undefined;
}

const marks = {
  add: { glyph: "+ ", style: "green" },
  delete: { glyph: "- ", style: "red" },
  update: { glyph: "~ ", style: "yellow" },
} as const satisfies Record<PropertyChange["kind"], { glyph: string; style: Style }>;

const step = 4;
/** True for keys of the engine and the dynamic providers: `__provider` is a whole serialized program. */
const isInternal = (key: string): boolean => key.startsWith("__");
const title = (key: Key): string => (typeof key === "number" ? `[${key}]` : oneLine(key));
const compareKeys = (a: Key, b: Key): number =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;

function widest(keys: readonly Key[]): number {
  return Math.max(0, ...keys.map((key) => widthOf(title(key))));
}

/** Prints the properties of what is created or deleted, or that stay; `style` colours all of them. */
export function propertyLines(
  properties: Record<string, unknown>,
  column: number,
  style: Style | undefined,
  print: Print,
): string[] {
  return objectLines(properties, { column, glyph: "  ", style }, print);
}

function objectLines(object: Record<string, unknown>, place: Place, print: Print): string[] {
  const keys = Object.keys(object)
    .filter((key) => !isInternal(key))
    .sort(compareKeys);
  const width = widest(keys);
  return keys.flatMap((key) => valueLines(padText(title(key), width), object[key], place, print));
}

/** `name: value`, on several lines where the value is a list or an object. */
function valueLines(name: string, value: unknown, place: Place, print: Print): string[] {
  const column = place.column;
  const closing = (bracket: string): string => paintedAs(place, print, " ".repeat(column) + bracket);
  if (Array.isArray(value) && value.length > 0) {
    // Elements carry their mark in the column of the list itself, as Pulumi prints them.
    const elements = value.flatMap((element: unknown, i) => {
      const lines = valueLines(`[${i}]`, element, { ...place, column: column + step }, print);
      const mark = " ".repeat(column - 2) + place.glyph + " ".repeat(step);
      return lines.with(0, paintedAs(place, print, mark + singleLine(`[${i}]`, element, print)));
    });
    return [marked(place, print, `${name}: [`), ...elements, closing("]")];
  }
  if (isObject(value) && Object.keys(value).length > 0) {
    return [
      marked(place, print, `${name}: {`),
      ...objectLines(value, { ...place, column: column + step }, print),
      closing("}"),
    ];
  }
  return [marked(place, print, singleLine(name, value, print))];
}

function singleLine(name: string, value: unknown, print: Print): string {
  if (Array.isArray(value) && value.length > 0) return `${name}: [`;
  if (isObject(value) && Object.keys(value).length > 0) return `${name}: {`;
  return `${name}: ${inline(value, print)}`;
}

const paintedAs = ({ style }: Place, { paint }: Print, text: string): string =>
  style === undefined ? text : paint(style, text);

function marked(place: Place, print: Print, text: string): string {
  return paintedAs(place, print, " ".repeat(place.column - 2) + place.glyph + text);
}

/** Writes a value on one line. */
function inline(value: unknown, print: Print): string {
  if (value === "[secret]") return value;
  if (value === "[unknown]") return print.preview ? "output<string>" : value;
  if (value === null || value === undefined) return "<null>";
  if (Array.isArray(value)) return `[${value.map((element: unknown) => inline(element, print)).join(", ")}]`;
  if (isObject(value)) {
    const entries = Object.entries(value).filter(([key]) => !isInternal(key));
    const inside = entries.map(([key, element]) => `${oneLine(key)}: ${inline(element, print)}`).join(", ");
    return inside === "" ? "{}" : `{ ${inside} }`;
  }
  return oneLine(JSON.stringify(value));
}

/** Prints changes by place, between the properties of `sames` that do not change. */
export function changeLines(
  tree: ChangeTree,
  column: number,
  print: Print,
  sames: Record<string, unknown> = {},
): string[] {
  const keys = [...new Set<Key>([...tree.keys(), ...Object.keys(sames)])]
    .filter((key) => typeof key === "number" || !isInternal(key))
    .sort(compareKeys);
  const width = widest(keys);
  return keys.flatMap((key) => {
    const name = padText(title(key), width);
    const change = tree.get(key);
    if (change === undefined) return valueLines(name, sames[key], { column, glyph: "  ", style: undefined }, print);
    if (change instanceof Map) return treeLines(name, change, column, print);
    return oneChange(name, change, column, print);
  });
}

function treeLines(name: string, tree: ChangeTree, column: number, print: Print): string[] {
  const place: Place = { column, ...marks.update };
  const isList = [...tree.keys()].every((key) => typeof key === "number");
  return [
    marked(place, print, `${name}: ${isList ? "[" : "{"}`),
    ...changeLines(tree, column + step, print),
    paintedAs(place, print, " ".repeat(column) + (isList ? "]" : "}")),
  ];
}

function oneChange(name: string, change: PropertyChange, column: number, print: Print): string[] {
  const place: Place = { column, ...marks[change.kind] };
  if (change.kind !== "update") {
    return valueLines(name, change.kind === "add" ? change.new : change.old, place, print);
  }
  const { paint } = print;
  const before = paint("red", inline(change.old, print));
  const after = paint("green", inline(change.new, print));
  return [marked(place, print, `${name}: `) + before + paint(marks.update.style, " => ") + after];
}

/** Changes by place; a branch holds the changes below it. */
type ChangeTree = Map<Key, PropertyChange | ChangeTree>;

/** Splits a path; one that cannot be parsed stays one part. */
function partsOf(path: string): Key[] {
  try {
    const parts = parsePath(path);
    return parts.length === 0 ? [path] : parts;
  } catch {
    return [path];
  }
}

export const topKey = (path: string): string => String(partsOf(path)[0]);

/** Arranges changes by their paths. */
export function changeTree(changes: readonly PropertyChange[]): ChangeTree {
  const root: ChangeTree = new Map();
  for (const change of changes) {
    const parts = partsOf(change.path);
    const last = parts.pop();
    if (last === undefined) continue;
    let at = root;
    for (const part of parts) {
      const below = at.get(part);
      const tree: ChangeTree = below instanceof Map ? below : new Map<Key, PropertyChange | ChangeTree>();
      at.set(part, tree);
      at = tree;
    }
    at.set(last, expanded(change));
  }
  return root;
}

/** Splits a change between two lists or two objects into what differs in them. */
function expanded(change: PropertyChange): PropertyChange | ChangeTree {
  if (change.kind !== "update") return change;
  const { old } = change;
  const next = change.new;
  const pairs: [Key, unknown, unknown][] = [];
  if (Array.isArray(old) && Array.isArray(next)) {
    for (let i = 0; i < Math.max(old.length, next.length); i++) pairs.push([i, old[i], next[i]]);
  } else if (isObject(old) && isObject(next)) {
    for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) pairs.push([key, old[key], next[key]]);
  } else {
    return change;
  }
  const tree: ChangeTree = new Map();
  for (const [key, before, after] of pairs) {
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    const kind = before === undefined ? "add" : after === undefined ? "delete" : "update";
    tree.set(key, expanded({ path: change.path, kind, old: before, new: after }));
  }
  return tree.size === 0 ? change : tree;
}
