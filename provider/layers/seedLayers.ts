import { dirname, join, resolve } from "node:path";
import { isNode, isScalar, LineCounter, parseDocument, visit, type Document } from "yaml";
import { maxMegabytesOfLayer, readText } from "../files/files.ts";
import { firstLines } from "../messages/firstLines.ts";

/** A seed that can't be taken; `message` has one line for each mistake, with file, line and column where they are known. */
export class SeedError extends Error {
  constructor(mistakes: string[]) {
    super(firstLines(mistakes).join("\n"));
    this.name = "SeedError";
  }
}

/** What YAML files say together, and where. */
export interface Layered {
  content: unknown;
  /** File, line and column of the value at a path, or of the nearest thing around it that is there. */
  place: (path: PropertyKey[]) => string;
}

/**
 * Reads the YAML of a file, and of those that it extends: maps are merged by key, at every depth. Those come from where a
 * program in `directory` may take them from.
 */
export function readLayers(
  yaml: string,
  name: string,
  directory = dirname(name),
  above: readonly string[] = [],
): Layered {
  const layer = parsed(yaml, name);
  const { content } = layer;
  if (!isMap(content) || !Object.hasOwn(content, "extends")) return layer;
  const { extends: base, ...own } = content;
  const refuse = (what: string): never => {
    throw new SeedError([`${layer.place(["extends"])}: extends: ${what}`]);
  };
  if (typeof base !== "string" || base === "") return refuse("must be the name of a file, relative to this one");
  const file = join(dirname(name), base);
  const chain = [...above, join(name)];
  if (chain.includes(file)) return refuse(`the files extend each other in a circle: ${[...chain, file].join(" → ")}`);
  const below = readLayers(textOf(file, refuse, directory), file, directory, chain);
  const place = (path: PropertyKey[]): string => {
    for (let length = path.length; length > 0; length--) {
      const start = path.slice(0, length);
      const found = [layer, below].find(({ content }) => has(content, start));
      if (found) return found.place(start);
    }
    return layer.place([]);
  };
  return { content: merged(below.content, own), place };
}

/** The text of a file that `directory` may name; `refuse` is told why it can't be read. */
export function textOf(file: string, refuse: (reason: string) => never, directory: string): string {
  try {
    return readText(directory, resolve(file), maxMegabytesOfLayer);
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    const reason = error instanceof Error ? error.message.replace(/, (open|lstat|realpath) .*$/, "") : String(error);
    return refuse(`${file} can't be read: ${missing ? "there is no such file; correct its path" : reason}`);
  }
}

function parsed(yaml: string, name: string): Layered {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, uniqueKeys: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  if (document.errors.length > 0) {
    throw new SeedError(
      document.errors.map((error) => `${at(error.pos[0])}: ${error.message.split(" at line ")[0] ?? error.message}`),
    );
  }
  for (const { key, value, wrong } of wrongKeys(document)) throw new SeedError([`${at(key)}: ${wrong}: ${value}`]);
  return { content: document.toJS() ?? {}, place: (path) => at(offsetOf(document, path)) };
}

/** Keys that stand twice, or that objects of JavaScript lose. */
function wrongKeys(document: Document): { key: number; value: string; wrong: string }[] {
  const found: { key: number; value: string; wrong: string }[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const key of items.map((pair) => pair.key).filter(isScalar)) {
        const twice = seen.size === seen.add(key.value).size;
        const wrong = twice ? "Map keys must be unique" : key.value === "__proto__" ? "a key can't have this name" : "";
        if (wrong !== "") found.push({ key: key.range?.[0] ?? 0, value: String(key.value), wrong });
      }
    },
  });
  return found.slice(0, 1);
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function merged(below: unknown, above: unknown): unknown {
  if (!isMap(below) || !isMap(above)) return above;
  const own = Object.entries(above).map(([key, value]): [string, unknown] => [
    key,
    Object.hasOwn(below, key) ? merged(below[key], value) : value,
  ]);
  return Object.fromEntries([...Object.entries(below), ...own]);
}

function has(content: unknown, [step, ...rest]: readonly PropertyKey[]): boolean {
  if (step === undefined) return true;
  if (typeof content !== "object" || content === null || !Object.hasOwn(content, step)) return false;
  return has((content as Record<PropertyKey, unknown>)[step], rest); // it has the key
}

/** Where the value at a path begins, or the nearest thing around it that is there. */
function offsetOf(document: Document, path: PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
