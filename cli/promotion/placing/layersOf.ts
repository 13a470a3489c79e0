import { dirname, posix, relative } from "node:path";
import { maxMegabytesOfLayer, textIfAny } from "../../../provider/files/files.ts";
import { find, parse, type Value } from "../../../provider/layers/document.ts";
import type { Declared } from "../../changes/model/source.ts";
import { PromotionError } from "../model/promotionError.ts";

/** The files of an environment: which of them no other one has, and what each holds by itself. */
export class EnvironmentLayers {
  readonly name: string;
  readonly declared: Declared;
  readonly root: Value;
  readonly #shared: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, Value | undefined>();

  /** @param others files that other environments have, each with the name of one of these */
  constructor(name: string, declared: Declared, others: ReadonlyMap<string, string>) {
    const root = declared.document?.root;
    if (!root) throw new Error("an environment that is compared was read whole");
    this.name = name;
    this.declared = declared;
    this.root = root;
    this.#shared = others;
  }

  /** The environment's own file, which overrides what others share. Throws a PromotionError where it has none. */
  get own(): string {
    const { file } = this.declared;
    const other = this.#shared.get(normalized(file));
    if (other === undefined) return file;
    throw new PromotionError(
      `${file} is the file of ${other} as well: give ${this.name} a file of its own that extends it`,
    );
  }

  isOwn(file: string): boolean {
    return !this.#shared.has(normalized(file));
  }

  /** The file where something stands, if no other environment has that file. */
  ownFileAt(path: readonly PropertyKey[]): string | undefined {
    const file = find(this.root, path)?.value.at.file;
    return file !== undefined && this.isOwn(file) ? file : undefined;
  }

  /** The files that have something at a path, the environment's own first. */
  filesWith(path: readonly PropertyKey[]): string[] {
    const { files = [] } = this.declared.document ?? {};
    return files.filter((file) => {
      const root = this.#read(file);
      return root && find(root, path) !== undefined;
    });
  }

  /** The value that a file by itself has at a path. */
  valueIn(file: string, path: readonly PropertyKey[]): Value | undefined {
    const root = this.#read(file);
    return root && find(root, path)?.value;
  }

  /** A file as the environment's own one names it. */
  named(file: string): string {
    const path = posix.normalize(relative(dirname(this.own), file).replaceAll("\\", "/"));
    return path;
  }

  #read(file: string): Value | undefined {
    if (!this.#parsed.has(file)) {
      const text = textIfAny(this.declared.folder, file, maxMegabytesOfLayer);
      this.#parsed.set(file, text === undefined ? undefined : parse(text, file, () => undefined));
    }
    return this.#parsed.get(file);
  }
}

const normalized = (file: string): string => posix.normalize(file.replaceAll("\\", "/"));

/** All files of environments: layers and sources, each with the name of one that has it. */
export function filesOfOthers(others: readonly { name: string; declared: Declared }[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, declared } of others) {
    const sources = Object.values(declared.declaration.seeds).flatMap(({ source }) => source ?? []);
    for (const file of [declared.file, ...(declared.document?.files ?? []), ...sources])
      found.set(normalized(file), name);
  }
  return found;
}
