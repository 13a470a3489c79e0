import { dirname, relative, resolve } from "node:path";
import { FileRefusal, maxMegabytesOfLayer, readText } from "../files/files.ts";
import { parse, type Entry, type Mapping, type Place, type Problem, type Value } from "./document.ts";

/** A file as people and the state know it: relative to the program's folder, with forward slashes. */
export const shown = (path: string, folder: string): string => relative(folder, path).replaceAll("\\", "/") || ".";

/**
 * Reads an environment file with everything that it extends. What is wrong goes to `report`; then there may be no value.
 * `folder` is the program's.
 */
export function load(file: string, folder: string, report: (problem: Problem) => void): Value | undefined {
  return loaded(resolve(folder, file), folder, [], report);
}

function loaded(
  path: string,
  folder: string,
  chain: readonly Link[],
  report: (problem: Problem) => void,
): Value | undefined {
  const file = shown(path, folder);
  const extending = chain.at(-1)?.at;
  let text: string;
  try {
    text = readText(folder, path, maxMegabytesOfLayer);
  } catch (error) {
    const message = `can't be read: ${reasonOf(error)}`;
    if (extending) report({ at: extending, message: `${file} ${message}; correct extends` });
    else report({ at: { file, line: 1, column: 1 }, message: `${message}; correct the file that Environment names` });
    return undefined;
  }
  const value = parse(text, file, report);
  if (value?.kind !== "map") return value;
  const base = value.entries.get("extends");
  if (!base) return value;
  const own: Mapping = { ...value, entries: new Map([...value.entries].filter(([key]) => key !== "extends")) };
  const target = base.value;
  if (target.kind !== "scalar" || typeof target.value !== "string" || target.value === "") {
    report({ at: target.at, message: "extends must be the name of a file, relative to this one; name one file" });
    return own;
  }
  const links = [...chain, { path, at: target.at }];
  const basePath = resolve(dirname(path), target.value);
  const from = links.findIndex((link) => link.path === basePath);
  if (from >= 0) {
    const circle = [...links.slice(from).map((link) => link.path), basePath].map((each) => shown(each, folder));
    report({ at: target.at, message: `the files extend each other in a circle: ${circle.join(" → ")}; break it` });
    return own;
  }
  const below = loaded(basePath, folder, links, report);
  return below ? merged(below, own) : own;
}

/** A file on the way down, and where it says which one it extends. */
interface Link {
  path: string;
  at: Place;
}

/** Where an entry stands that may say which keys it had before. */
const renamable = /^(organizations|seeds|apps)\/[^/]+$|^organizations\/[^/]+\/teams\/[^/]+$/;

/** Maps are merged by key, at every depth; former keys of both count; anything else is replaced whole. */
function merged(below: Value, above: Value, path: readonly string[] = []): Value {
  if (path.at(-1) === "formerly" && renamable.test(path.slice(0, -1).join("/"))) return both(below, above);
  if (below.kind !== "map" || above.kind !== "map") return above;
  const entries = new Map<string, Entry>(below.entries);
  for (const [key, entry] of above.entries) {
    const under = below.entries.get(key);
    entries.set(key, under ? { at: entry.at, value: merged(under.value, entry.value, [...path, key]) } : entry);
  }
  return { kind: "map", at: above.at, entries };
}

/** The items of two lists, of which one may be written as a single value. What is neither is left for the check to tell. */
function both(below: Value, above: Value): Value {
  const items = [below, above].map((value) => (value.kind === "list" ? value.items : [value]));
  return { kind: "list", at: above.at, items: items.flat() };
}

function reasonOf(error: unknown): string {
  if (error instanceof FileRefusal) return error.message;
  const { code, message } = error as NodeJS.ErrnoException; // reading a file throws nothing else
  if (code === "ENOENT") return "there is no such file";
  // Without the path, which is told already and may be absolute.
  return message.replace(/, open .*$/, "");
}
