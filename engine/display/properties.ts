import type { PropertyChange } from "../events.ts";
import type { Paint, Style } from "../terminal/colors.ts";
import { padText, widthOf } from "../terminal/columns.ts";
import { oneLine } from "../terminal/text.ts";
import { isObject } from "../values/json.ts";
import { parsePath } from "../values/paths.ts";

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

/** The sign and the colour of each kind of change. */
export const marks = {
  add: { glyph: "+ ", style: "green" },
  delete: { glyph: "- ", style: "red" },
  update: { glyph: "~ ", style: "yellow" },
} as const satisfies Record<PropertyChange["kind"], { glyph: string; style: Style }>;

const step = 4;
/** True for keys of the engine and the dynamic providers: `__provider` is a whole serialized program. */
const isInternal = (key: string): boolean => key.startsWith("__");
const compareKeys = (a: string, b: string): number => (a < b ? -1 : 1);

/** Prints the properties of what is created or deleted, or that stay; `style` colours all of them. */
export const propertyLines = (
  properties: Record<string, unknown>,
  column: number,
  style: Style | undefined,
  print: Print,
): string[] => entryLines(namedIn(properties), { column, glyph: "  ", style }, print);

/** What is inside of a list or an object, by its printed name. */
function namedIn(value: unknown): [name: string, value: unknown][] {
  if (Array.isArray(value)) return value.map((element: unknown, at) => [`[${at}]`, element]);
  if (!isObject(value)) return [];
  const entries = Object.entries(value).filter(([key]) => !isInternal(key));
  return entries.sort(([a], [b]) => compareKeys(a, b)).map(([key, inner]) => [oneLine(key), inner]);
}

function entryLines(entries: readonly [name: string, value: unknown][], place: Place, print: Print): string[] {
  const width = Math.max(0, ...entries.map(([name]) => widthOf(name)));
  return entries.flatMap(([name, value]) => valueLines(padText(name, width), value, place, print));
}

/** `name: value`, or the name and what is inside of the value, a line each. */
function valueLines(name: string, value: unknown, place: Place, print: Print): string[] {
  const inside = namedIn(value);
  if (inside.length === 0) return [marked(place, print, `${name}: ${inline(value, print)}`)];
  const below = { ...place, column: place.column + step };
  return [marked(place, print, `${name.trimEnd()}:`), ...entryLines(inside, below, print)];
}

function marked({ column, glyph, style }: Place, { paint }: Print, text: string): string {
  const line = " ".repeat(column - 2) + glyph + text;
  return style === undefined ? line : paint(style, line);
}

function inline(value: unknown, print: Print): string {
  if (value === "[secret]") return value;
  if (value === "[unknown]") return print.preview ? "output<string>" : value;
  if (value === null || value === undefined) return "<null>";
  const inside = namedIn(value).map(([name, inner]) => {
    const text = inline(inner, print);
    return Array.isArray(value) ? text : `${name}: ${text}`;
  });
  if (Array.isArray(value)) return `[${inside.join(", ")}]`;
  if (isObject(value)) return inside.length === 0 ? "{}" : `{ ${inside.join(", ")} }`;
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
export const topKey = (path: string): string => String(parsePath(path)[0] ?? path);

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
