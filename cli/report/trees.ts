import { spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  lstatSync,
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
import { dirname, join, posix, relative, resolve } from "node:path";
import { type Document, isMap, isPair, isScalar, LineCounter, visit } from "yaml";
import { parseBounded } from "../../machine/bounded.ts";
import { BoundError } from "../../machine/bounds.ts";
import { messageOf } from "../../machine/failures.ts";
import { listSources } from "../../provider/environment/declaration.ts";
import { maxMegabytesOfLayer, openFile, pathInRepository, rootOf, textOrReason } from "../../provider/files/files.ts";
import {
  findUncommitted,
  gitFlags,
  runGit,
  toGitEnvironment,
  type TreeEntry,
  treeOf,
} from "../../provider/files/git.ts";
import { type Note, placed } from "./changeSet.ts";
import { DataRefusal } from "./environments.ts";
import { type Declared, declareNothing, type EnvironmentReading, readDeclaration } from "./source.ts";

/** The commit that a name stands for. */
export async function commitOf(root: string, ref: string): Promise<string> {
  try {
    return (await runGit(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`)).trim();
  } catch (error) {
    if (isMissing(error)) throw new DataRefusal("git is not installed, so the base can't be read");
    if (await isShallow(root)) throw new DataRefusal(`there is no commit "${ref}" here, since ${deepen}`);
    throw new DataRefusal(`there is no commit "${ref}" in this clone: fetch it, or name another one`);
  }
}

/** Why a commit may be missing in a shallow clone, and what to do. */
export const deepen =
  'this clone has a part of the history: fetch the rest ("git fetch --unshallow"; in a pipeline: fetch-depth: 0)';

export async function isShallow(root: string): Promise<boolean> {
  return (await runGit(root, "rev-parse", "--is-shallow-repository")).trim() === "true";
}

/** Where a branch began, and how many commits of the base it lacks. */
export async function forkOf(root: string, base: string): Promise<{ commit: string; behind: number }> {
  try {
    const commit = (await runGit(root, "merge-base", base, "HEAD")).trim();
    const behind = Number((await runGit(root, "rev-list", "--count", `${commit}..${base}`)).trim());
    return { commit, behind };
  } catch {
    // A shallow clone does not have it, nor does a branch without a commit: then the base itself is all there is.
    return { commit: base, behind: 0 };
  }
}

/** Writes a blob into a file of its own. */
async function writeBlob(root: string, id: string, file: string): Promise<void> {
  const target = openSync(file, "w", 0o600);
  try {
    const options: SpawnOptions = { cwd: root, env: toGitEnvironment(), stdio: ["ignore", target, "ignore"] };
    const [status] = (await once(spawn("git", [...gitFlags, "cat-file", "blob", id], options), "close")) as [number];
    if (status !== 0)
      throw new DataRefusal("a file of the base is not in this clone, which has a part of the history: fetch the rest");
  } finally {
    closeSync(target);
  }
}

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";

/** True if a file, by how it begins, is what Git LFS leaves in its place. */
const isPointer = (start: string): boolean => start.startsWith("version https://git-lfs.github.com/spec/");

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
    if (isPointer(beginningOf(file))) {
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

function beginningOf(file: string): string {
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

/** Why a file of the working tree is not read although it is there: something on its way is no file or folder of this repository. */
function detourTo(root: string, folder: string, file: string): string | undefined {
  const parts = relative(root, resolve(folder, file)).replaceAll("\\", "/").split("/");
  for (let length = 1; length <= parts.length; length++) {
    const above = parts.slice(0, length).join("/");
    const place = join(root, above);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      return `${above} is a symbolic link: it is not followed`;
    }
    if (existsSync(join(place, ".git"))) return `${above} is a submodule: it is not read`;
  }
  return undefined;
}

/** Sources that are what Git LFS leaves in place of a file. */
async function pointersIn(folder: string, sources: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const source of new Set(sources)) {
    if (isPointer(await startOf(folder, source)))
      found.set(source, `${source} is a pointer of Git LFS: fetch the file with "git lfs pull"`);
  }
  return found;
}

async function startOf(folder: string, source: string): Promise<string> {
  try {
    const file = await openFile(folder, source);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(100), 0, 100, 0);
      return buffer.toString("latin1", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return ""; // the file's reader reports the reason
  }
}

/** Throws a DataRefusal that names files which are not committed: an edit would mix with somebody's own. */
export async function assertCommitted(folder: string, files: readonly string[]): Promise<void> {
  const root = rootOf(folder);
  if (!existsSync(join(root, ".git"))) return;
  const prefix = relative(root, realpathSync(folder));
  const paths = new Set(files.map((file) => pathInRepository(prefix, file)));
  const changed = await findUncommitted(root, [...paths]).catch((error: unknown) => {
    throw new DataRefusal(
      `Git can't tell which files are committed (${messageOf(error)}): mend that, or go on with --dirty`,
    );
  });
  if (changed.length === 0) return;
  const names = changed.slice(0, 10).join(", ") + (changed.length > 10 ? ` and ${changed.length - 10} more` : "");
  throw new DataRefusal(
    `${names} ${changed.length === 1 ? "is" : "are"} not committed: commit first, or go on with --dirty`,
  );
}

/** Reads a file of the working tree. What stands in a file's place is named and not shown: nobody could approve it. */
export async function readInTree(
  { folder, root }: { folder: string; root: string },
  file: string,
  held?: Declared["rules"],
): Promise<EnvironmentReading> {
  const from = realpathSync(folder);
  const unread = (name: string): string | undefined => detourTo(root, from, name);
  const reading = readDeclaration(file, folder, held);
  const { declared, policy, files } = reading;
  const ofLayer = (name: string): string | undefined => {
    const found = textOrReason(folder, name, maxMegabytesOfLayer);
    const isLfs = "text" in found && isPointer(found.text);
    return unread(name) ?? (isLfs ? `${name} is a pointer of Git LFS` : undefined);
  };
  const notes = (names: readonly string[], reasonOf: typeof unread): Note[] =>
    names.flatMap((name) => reasonOf(name) ?? []).map((text) => ({ text }));
  const layers = notes(files, ofLayer);
  if (layers.length > 0) return { problems: layers, policy, files };
  if (!declared) return reading;
  const sources = listSources(declared.declaration);
  const problems = [...reading.problems, ...notes(sources, unread)];
  const pointers = await pointersIn(folder, sources);
  return { ...reading, declared: { ...declared, unread: (name) => unread(name) ?? pointers.get(name) }, problems };
}

/** An Environment file of a commit. */
interface AtBase {
  declared?: Declared;
  /** Why there is no declaration to compare with. */
  why?: string;
  notes: string[];
}

/** Reads an Environment file of a commit. `prefix` is the folder of Pulumi.yaml, from the top of the repository on. */
export async function readAtBase({ base, prefix }: { base: BaseTree; prefix: string }, file: string): Promise<AtBase> {
  const path = pathInRepository(prefix, file);
  const folder = join(base.folder, prefix);
  if (!(await base.writeEnvironment(path))) {
    return { declared: declareNothing(folder), notes: [`${file} is not in the base: everything it declares is new`] };
  }
  const unread = base.unread(path);
  if (unread !== undefined) return { why: unread, notes: [] };
  const { declared, problems } = readDeclaration(file, folder);
  if (!declared) {
    return { why: `the file of the base can't be read: ${problems.slice(0, 3).map(placed).join("; ")}`, notes: [] };
  }
  return { declared: { ...declared, unread: (source) => base.unread(pathInRepository(prefix, source)) }, notes: [] };
}
