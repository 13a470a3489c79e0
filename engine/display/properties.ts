import type { PropertyChange } from "../events.ts";
import type { Paint, Style } from "../terminal/colors.ts";
import { padText, widthOf } from "../terminal/columns.ts";
import { oneLine } from "../terminal/text.ts";
import { isObject } from "../values/json.ts";

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
const compareKeys = (a: string, b: string): number => (a < b ? -1 : 1);

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
  const width = Math.max(0, ...keys.map((key) => widthOf(oneLine(key))));
  return keys.flatMap((key) => valueLines(padText(oneLine(key), width), object[key], place, print));
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

/** Prints changes, each by its place; of lists and objects what differs in them. */
export function changeLines(changes: readonly PropertyChange[], column: number, print: Print): string[] {
  const shown = changes.flatMap(expanded).filter(({ path }) => !isInternal(path));
  const width = Math.max(0, ...shown.map(({ path }) => widthOf(oneLine(path))));
  const sorted = shown.toSorted((a, b) => compareKeys(a.path, b.path));
  return sorted.flatMap(({ path, kind, old, new: next }) => {
    const place: Place = { column, ...marks[kind] };
    // A row of a file has no value in the state.
    if (old === undefined && next === undefined) return [marked(place, print, oneLine(path))];
    const name = padText(oneLine(path), width);
    if (kind !== "update") return valueLines(name, kind === "add" ? next : old, place, print);
    const { paint } = print;
    const [before, after] = [paint("red", inline(old, print)), paint("green", inline(next, print))];
    return [marked(place, print, `${name}: `) + before + paint(marks.update.style, " => ") + after];
  });
}

/** The name of the property that a path leads to or into. */
export const topKey = (path: string): string => {
  const [, quoted, named] = /^\["((?:\\"|[^"])*)"\]|^([^.[]+)/.exec(path) ?? [];
  return quoted ?? named ?? path;
};

/** Splits a change between two lists or two objects into what differs in them. */
function expanded({ path, kind, old, new: next }: PropertyChange): PropertyChange[] {
  const isPair = (Array.isArray(old) && Array.isArray(next)) || (isObject(old) && isObject(next));
  if (kind !== "update" || !isPair) return [{ path, kind, old, new: next }];
  const [before, after] = [new Map(Object.entries(old)), new Map(Object.entries(next))];
  const parts = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key) as unknown, after.get(key) as unknown];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const part = Array.isArray(old) ? `[${key}]` : /^\w+$/.test(key) ? `.${key}` : `["${key}"]`;
    const step = was === undefined ? "add" : is === undefined ? "delete" : "update";
    return expanded({ path: path + part, kind: step, old: was, new: is });
  });
  return parts.length > 0 ? parts : [{ path, kind, old, new: next }]; // they differ in secrets
}
