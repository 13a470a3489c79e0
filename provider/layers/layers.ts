import { dirname, relative, resolve } from "node:path";
import { maxMegabytesOfLayer, textOrReason } from "../files/files.ts";
import { type Mapping, parse, type Place, type Problem, type Value } from "./document.ts";
import type { Grammar } from "./grammar.ts";
import { layer, type Merged, mergeTrees, resolveVerbs, type Tree } from "./merge.ts";

/** A file as people and the state know it: relative to the program's folder, with forward slashes. */
export const toShownPath = (path: string, folder: string): string =>
  relative(folder, path).replaceAll("\\", "/") || ".";

/** Contents of files that extend each other, the lowest one first. */
export interface Layers {
  trees: readonly Tree[];
  grammar: Grammar;
  /** Paths of the files that were asked for. */
  files: readonly string[];
}

/** Where files come from, and what may stand in them. */
interface Origin {
  /** The program's: files may come from its repository. */
  folder: string;
  /** Names a file for people (default: its path relative to the folder). */
  nameOf?: (path: string) => string;
  grammar: Grammar;
  /** Text of the file itself, where it was read already. */
  text?: string;
}

/** Reads a file with everything that it extends. What is wrong goes to `report`. */
export function loadLayers(path: string, origin: Origin, report: (problem: Problem) => void): Layers {
  const { grammar, text } = origin;
  const loader = new Loader(origin, report);
  return { trees: loader.load(path, [], text).toReversed(), grammar, files: loader.files };
}

/** Merges all layers, or the lowest ones of them. */
export function mergeLayers(
  { trees, grammar }: Pick<Layers, "trees" | "grammar">,
  report: (problem: Problem) => void,
  count?: number,
): Merged {
  const [lowest, ...others] = trees.slice(0, count);
  if (!lowest) return { value: undefined, taken: new Map() };
  return resolveVerbs(
    others.reduce((below, above) => mergeTrees(below, above, grammar), lowest),
    grammar,
    report,
  );
}

class Loader {
  readonly files: string[] = [];
  readonly #folder: string;
  readonly #nameOf: (path: string) => string;
  readonly #grammar: Grammar;
  readonly #report: (problem: Problem) => void;

  constructor({ folder, nameOf, grammar }: Origin, report: (problem: Problem) => void) {
    this.#folder = folder;
    this.#nameOf = nameOf ?? ((path) => toShownPath(path, folder));
    this.#grammar = grammar;
    this.#report = report;
  }

  /** The file's tree, and after it those of the files below. */
  load(path: string, chain: readonly Link[], known?: string): Tree[] {
    const file = this.#nameOf(path);
    const text = known ?? this.#read(path, file, chain.at(-1)?.at);
    const value = text === undefined ? undefined : parse(text, file, this.#report);
    if (!value) return [];
    if (value.kind !== "map") return [value];
    const base = value.entries.get("extends");
    if (!base) return [layer(value, this.#grammar)];
    const own: Mapping = { ...value, entries: new Map([...value.entries].filter(([key]) => key !== "extends")) };
    return [layer(own, this.#grammar), ...this.#below(path, base.value, chain)];
  }

  #below(path: string, target: Value, chain: readonly Link[]): Tree[] {
    if (target.kind !== "scalar" || typeof target.value !== "string" || target.value === "") {
      const message = "extends must be the name of a file, relative to this one; name one file";
      this.#report({ at: target.at, message });
      return [];
    }
    const links = [...chain, { path, at: target.at }];
    const basePath = resolve(dirname(path), target.value);
    const from = links.findIndex((link) => link.path === basePath);
    if (from < 0) return this.load(basePath, links);
    const circle = [...links.slice(from).map((link) => link.path), basePath].map((each) => this.#nameOf(each));
    const message = `the files extend each other in a circle: ${circle.join(" → ")}; break it`;
    this.#report({ at: target.at, message });
    return [];
  }

  #read(path: string, file: string, extending: Place | undefined): string | undefined {
    this.files.push(path);
    const found = textOrReason(this.#folder, path, maxMegabytesOfLayer);
    if ("text" in found) return found.text;
    const message = `can't be read: ${found.reason}`;
    const at = extending ?? { file, line: 1, column: 1 };
    const advice = extending ? `${file} ${message}; correct extends` : `${message}; correct the name of the file`;
    this.#report({ at, message: advice });
    return undefined;
  }
}

/** A file on the way down, and the place of its `extends`. */
interface Link {
  path: string;
  at: Place;
}
