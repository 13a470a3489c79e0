import type { PropertyChange } from "../events.ts";
import type { Paint, Style } from "../terminal/colors.ts";
import { padText } from "../terminal/columns.ts";
import { oneLine } from "../terminal/text.ts";
import { widthOf } from "../terminal/width.ts";
import { isObject } from "../values/json.ts";
import type { ChangeTree, Key } from "./changes.ts";

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
