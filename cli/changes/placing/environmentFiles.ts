import { existsSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { listSources } from "../../../provider/environment/sources.ts";
import { maxMegabytesOfLayer, textIfAny } from "../../../provider/files/files.ts";
import { toSlashes } from "../../../provider/files/repository.ts";
import { find, parse, type Value } from "../../../provider/layers/document.ts";
import { DataRefusal } from "../base/dataRefusal.ts";
import type { EnvironmentEntry } from "../base/environments.ts";
import { readDeclaration, type Declared } from "../model/source.ts";

/** The reason why no file of an environment takes one edit; others may be made. */
export class PlacingRefusal extends DataRefusal {
  override readonly name = "PlacingRefusal";
}

/**
 * The files of an environment and who else has them: decides which one an edit goes into. What stands in a file that no
 * other environment has is changed there; else the environment's own file overrides it. `into` decides otherwise.
 */
export class EnvironmentFiles {
  readonly name: string;
  readonly declared: Declared;
  readonly root: Value;
  readonly #shared: ReadonlyMap<string, string>;
  readonly #into: string | undefined;
  readonly #parsed = new Map<string, Value | undefined>();

  /**
   * @param others files that other environments have, each with the name of one of these
   * @param into the file that takes all edits
   */
  constructor(name: string, declared: Declared, others: ReadonlyMap<string, string>, into?: string) {
    const { document } = declared;
    if (!document) throw new DataRefusal(`${declared.file} breaks its own rules: mend it first`);
    const named = document.files.find((file) => into !== undefined && normalized(file) === normalized(into));
    if (into !== undefined && named === undefined)
      throw new DataRefusal(
        `--into ${into}: the environment does not extend it; its files are ${document.files.join(", ")}`,
      );
    this.name = name;
    this.declared = declared;
    this.root = document.root;
    this.#shared = others;
    this.#into = named;
  }

  /** The environment's own file, which overrides what others share. Throws a PlacingRefusal where it has none. */
  get own(): string {
    const { file } = this.declared;
    const other = this.#shared.get(normalized(file));
    if (this.#into !== undefined || other === undefined) return this.#into ?? file;
    throw new PlacingRefusal(
      `${file} is the file of ${other} as well: give ${this.name} a file of its own that extends it`,
    );
  }

  /** True if edits of what stands in a file go there. */
  isOwn(file: string): boolean {
    return this.#into === undefined ? !this.isShared(file) : normalized(file) === normalized(this.#into);
  }

  /** True if another environment has the file as well. */
  isShared(file: string): boolean {
    return this.#shared.has(normalized(file));
  }

  /** The file that takes an edit of what stands at a path, or comes there. */
  fileFor(path: readonly PropertyKey[]): string {
    this.assertReached(find(this.root, path)?.value.at.file);
    return this.ownFileAt(path) ?? this.own;
  }

  /** Throws a PlacingRefusal where `into` lies below the file in which something stands. */
  assertReached(file: string | undefined): void {
    const { files = [] } = this.declared.document ?? {};
    const into = this.#into;
    if (into === undefined || file === undefined) return;
    if (files.indexOf(file) < files.indexOf(into))
      throw new PlacingRefusal(`${file} overrides what ${into} says of it: leave --into ${into} out`);
  }

  /** The file where something stands, if edits go there. */
  ownFileAt(path: readonly PropertyKey[]): string | undefined {
    const file = find(this.root, path)?.value.at.file;
    return file !== undefined && this.isOwn(file) ? file : undefined;
  }

  /** The files that have something at a path, the environment's own first. */
  filesWith(path: readonly PropertyKey[]): string[] {
    const { files = [] } = this.declared.document ?? {};
    return files.filter((file) => this.valueIn(file, path) !== undefined);
  }

  /** The value that a file by itself has at a path. */
  valueIn(file: string, path: readonly PropertyKey[]): Value | undefined {
    const root = this.#read(file);
    return root && find(root, path)?.value;
  }

  /** A file as the environment's own one names it. */
  named(file: string): string {
    return posix.normalize(toSlashes(relative(dirname(this.own), file)));
  }

  #read(file: string): Value | undefined {
    if (!this.#parsed.has(file)) {
      const text = textIfAny(this.declared.folder, file, maxMegabytesOfLayer);
      this.#parsed.set(file, text === undefined ? undefined : parse(text, file, () => undefined));
    }
    return this.#parsed.get(file);
  }
}

const normalized = (file: string): string => posix.normalize(toSlashes(file));

/** All files that a declaration consists of: its layers, and those with its rows and people. */
export const filesOf = ({ file, document, declaration }: Declared): string[] => [
  ...new Set([file, ...(document?.files ?? []), ...listSources(declaration).map(({ source }) => source)]),
];

/** Each file that another environment has, and which one. Throws a DataRefusal where one of these can't be read. */
export function filesOfOthers(
  folder: string,
  name: string,
  all: readonly Pick<EnvironmentEntry, "name" | "file">[],
): Map<string, string> {
  const found = new Map<string, string>();
  for (const other of all) {
    if (other.name === name || !existsSync(join(folder, other.file))) continue;
    const { declared, files, problems } = readDeclaration(other.file, folder);
    if (!declared && problems.length > 0)
      throw new DataRefusal(
        `nobody can tell which files ${other.name} shares with ${name}: ${other.file} can't be read: ${problems[0]?.text ?? ""}`,
      );
    for (const file of [...files, ...(declared ? filesOf(declared) : [])].map(normalized))
      if (!found.has(file)) found.set(file, other.name);
  }
  return found;
}
