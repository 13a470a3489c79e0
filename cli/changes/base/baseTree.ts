import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { isMap, isPair, isScalar, LineCounter, visit, type Document } from "yaml";
import { parseBounded } from "../../../machine/settings/bounded.ts";
import { BoundError } from "../../../machine/settings/bounds.ts";
import { maxMegabytesOfLayer } from "../../../provider/files/files.ts";
import { treeOf, type TreeEntry } from "../../../provider/files/git.ts";
import { isPointer, writeBlob } from "./commits.ts";

/**
 * The files of a commit that Environment files need, in a private folder of its own: it has their paths, so the ordinary
 * reader reads them there. What is no file is named and not followed.
 */
export class BaseTree {
  /** The folder that stands for the root of the repository. */
  readonly folder: string;
  readonly #root: string;
  readonly #entries: ReadonlyMap<string, TreeEntry>;
  readonly #written = new Set<string>();
  readonly #unread = new Map<string, string>();

  private constructor(root: string, entries: ReadonlyMap<string, TreeEntry>) {
    this.#root = root;
    this.#entries = entries;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-base-")));
    mkdirSync(join(this.folder, ".git")); // the reader takes it for a repository, and reads nothing beyond it
  }

  static async of(root: string, commit: string): Promise<BaseTree> {
    return new BaseTree(root, await treeOf(root, commit));
  }

  /** Everything in the commit. */
  get entries(): ReadonlyMap<string, TreeEntry> {
    return this.#entries;
  }

  /** The text of a file of the commit; undefined where there is none. */
  async text(path: string): Promise<string | undefined> {
    return (await this.#write(path)) ? readFileSync(join(this.folder, path), "utf8") : undefined;
  }

  /** Writes an Environment file with all that it extends and the sources that these name; false where it is not there. */
  async writeEnvironment(path: string): Promise<boolean> {
    const waiting = [path];
    const seen = new Set(waiting);
    for (let layer = waiting.pop(); layer !== undefined; layer = waiting.pop()) {
      if (!(await this.#write(layer)) || this.#unread.has(layer)) continue;
      for (const { name, isLayer } of namesIn(readFileSync(join(this.folder, layer), "utf8"))) {
        const target = posix.normalize(posix.join(posix.dirname(layer), name.replaceAll("\\", "/")));
        if (seen.has(target)) continue;
        seen.add(target);
        if (isLayer) waiting.push(target);
        else await this.#write(target);
      }
    }
    return this.#written.has(path);
  }

  /** Why a file of the commit is not what it stands for; undefined when it is. */
  unread = (path: string): string | undefined => this.#unread.get(path);

  async #write(path: string): Promise<boolean> {
    if (this.#written.has(path)) return true;
    const refused = this.#refusal(path);
    const entry = this.#entries.get(path);
    if (entry === undefined && refused === undefined) return false;
    this.#written.add(path);
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (refused !== undefined || entry === undefined) {
      this.#unread.set(path, refused ?? "");
      writeFileSync(file, "", { mode: 0o600 });
      return true;
    }
    await writeBlob(this.#root, entry.id, file);
    if (isPointer(startOf(file))) {
      this.#unread.set(path, `${path} is a pointer of Git LFS at the base: what it stands for is not read`);
    }
    return true;
  }

  #refusal(path: string): string | undefined {
    const parts = path.split("/");
    for (let length = 1; length <= parts.length; length++) {
      const above = parts.slice(0, length).join("/");
      const kind = this.#entries.get(above)?.kind;
      if (kind === "link") return `${above} is a symbolic link at the base: it is not followed`;
      if (kind === "submodule") return `${above} is a submodule at the base: it is not read`;
    }
    return undefined;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function startOf(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(100);
    return bytes.toString("latin1", 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

function documentOf(text: string): Document.Parsed | undefined {
  try {
    return parseBounded(text, { lineCounter: new LineCounter() });
  } catch (error) {
    if (error instanceof BoundError) return undefined;
    throw error;
  }
}

/** Texts of a YAML file that may name files, and whether it extends them. */
function namesIn(text: string): { name: string; isLayer: boolean }[] {
  if (text.length > maxMegabytesOfLayer * 2 ** 20) return [];
  const names: { name: string; isLayer: boolean }[] = [];
  const document = documentOf(text);
  if (!document) return []; // the ordinary reader reports the reason
  visit(document, {
    Scalar: (_, { value }, path) => {
      if (typeof value !== "string" || value === "" || value.startsWith("/")) return;
      const pair = path.findLast(isPair);
      const isLayer = path.filter(isMap).length === 1 && isScalar(pair?.key) && pair.key.value === "extends";
      names.push({ name: value, isLayer });
    },
  });
  return names;
}
