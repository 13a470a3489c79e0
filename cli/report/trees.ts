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
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { messageOf } from "../../machine/failures.ts";
import { some } from "../../platform/messages/text.ts";
import { listSources } from "../../provider/environment/declaration.ts";
import { openFile, pathInRepository, rootOf, toSlashes } from "../../provider/files/files.ts";
import {
  findUncommitted,
  gitFlags,
  runGit,
  toGitEnvironment,
  type TreeEntry,
  treeOf,
  workingTreeOf,
} from "../../provider/files/git.ts";
import { placed } from "./changeSet.ts";
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

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";

/** Why a commit may be missing in a shallow clone, and what to do. */
export const deepen =
  'this clone has a part of the history: fetch the rest ("git fetch --unshallow"; in a pipeline: fetch-depth: 0)';

export async function isShallow(root: string): Promise<boolean> {
  return (await runGit(root, "rev-parse", "--is-shallow-repository")).trim() === "true";
}

/** Where a branch began, and how many commits of the base it lacks. */
export async function forkOf(root: string, base: string, head: string): Promise<{ commit: string; behind: number }> {
  if (base === head) return { commit: base, behind: 0 };
  try {
    const commit = (await runGit(root, "merge-base", base, "HEAD")).trim();
    const behind = Number((await runGit(root, "rev-list", "--count", `${commit}..${base}`)).trim());
    return { commit, behind };
  } catch {
    // A shallow clone does not have it, nor does a branch without a commit: then the base itself is all there is.
    return { commit: base, behind: 0 };
  }
}

/** An Environment file of one side. */
interface Reading extends EnvironmentReading {
  /** Why there is no declaration to compare with. */
  why?: string;
  notes: string[];
}

/** One side of a comparison: a project at a commit or as it lies there. Each Environment file is read once. */
abstract class Tree {
  /** The folder of Pulumi.yaml. */
  abstract readonly folder: string;
  /** That folder, from the top of the repository on. */
  readonly prefix: string;
  readonly #read = new Map<string, Set<string>>();

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  abstract read(file: string): Promise<Reading>;

  /** Keeps which files a declaration consists of and reads. */
  protected note(file: string, { files, declared }: Pick<EnvironmentReading, "files" | "declared">): void {
    const names = [...files, ...(declared ? listSources(declared.declaration) : [])];
    this.#read.set(file, new Set(names.map((name) => pathInRepository(this.prefix, name))));
  }

  /** Paths, from the top of the repository on, of the files that declarations consist of and read. */
  async dataOf(files: readonly string[]): Promise<ReadonlySet<string>> {
    for (const file of files) if (!this.#read.has(file)) await this.read(file);
    return new Set(files.flatMap((file) => [...(this.#read.get(file) ?? [])]));
  }
}

/**
 * A commit. The files that Environment files need are written into a private folder under their paths, and the ordinary
 * reader reads them there. What is no file is named and not followed.
 */
export class BaseTree extends Tree {
  readonly folder: string;
  /** Everything in the commit. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly #root: string;
  readonly #top = realpathSync(mkdtempSync(join(tmpdir(), "microapps-base-")));
  readonly #written = new Set<string>();
  readonly #unread = new Map<string, string>();
  readonly #readings = new Map<string, Promise<Reading>>();

  private constructor(root: string, prefix: string, entries: ReadonlyMap<string, TreeEntry>) {
    super(prefix);
    [this.#root, this.entries, this.folder] = [root, entries, join(this.#top, prefix)];
    mkdirSync(join(this.#top, ".git")); // the reader takes it for a repository, and reads nothing beyond it
    mkdirSync(this.folder, { recursive: true });
  }

  static async of(root: string, prefix: string, commit: string): Promise<BaseTree> {
    return new BaseTree(root, prefix, await treeOf(root, commit));
  }

  /** The text of a file beside Pulumi.yaml; undefined where there is none. */
  async text(file: string): Promise<string | undefined> {
    await this.#write(file);
    const place = join(this.folder, file);
    return existsSync(place) ? readFileSync(place, "utf8") : undefined;
  }

  read(file: string): Promise<Reading> {
    const reading = this.#readings.get(file) ?? this.#readAll(file);
    this.#readings.set(file, reading);
    return reading;
  }

  async #readAll(file: string): Promise<Reading> {
    const { folder } = this;
    if (!(await this.#write(file))) {
      this.note(file, { files: [] });
      const notes = [`${file} is not in the base: everything it declares is new`];
      return { declared: declareNothing(folder), problems: [], files: [], missing: [], notes };
    }
    for (;;) {
      const reading = readDeclaration(file, folder);
      // What it names is only known once it is read.
      let isMore = false;
      for (const name of [...reading.missing, ...(reading.parts ? listSources(reading.parts) : [])])
        if (!this.#written.has(this.#pathOf(name)) && (await this.#write(name))) isMore = true;
      if (isMore) continue;
      this.note(file, reading);
      return { ...reading, ...this.#judged(reading), notes: [] };
    }
  }

  /** What counts of a declaration. */
  #judged({ declared, problems, files }: EnvironmentReading): Pick<Reading, "declared" | "why"> {
    const unread = (name: string): string | undefined => this.#unread.get(this.#pathOf(name));
    const why = files.map(unread).find((reason) => reason !== undefined);
    if (declared && why === undefined) return { declared: { ...declared, unread } };
    const wrong = problems.slice(0, 3).map(placed).join("; ");
    return { declared: undefined, why: why ?? `the file of the base can't be read: ${wrong}` };
  }

  #pathOf = (file: string): string => pathInRepository(this.prefix, file);

  /** Writes a file of the commit; false where there is none. */
  async #write(name: string): Promise<boolean> {
    const path = this.#pathOf(name);
    if (this.#written.has(path)) return true;
    const refused = this.#refusal(path);
    const entry = this.entries.get(path);
    if (entry === undefined && refused === undefined) return false;
    this.#written.add(path);
    const file = join(this.#top, path);
    mkdirSync(dirname(file), { recursive: true });
    if (entry && refused === undefined) await writeBlob(this.#root, entry.id, file);
    else writeFileSync(file, "", { mode: 0o600 });
    if (refused !== undefined) this.#unread.set(path, refused);
    else if (await isPointer(this.#top, path))
      this.#unread.set(path, `${path} is a pointer of Git LFS at the base: what it stands for is not read`);
    return true;
  }

  #refusal(path: string): string | undefined {
    for (const above of partsOf(path)) {
      const kind = this.entries.get(above)?.kind;
      if (kind === "link") return `${above} is a symbolic link at the base: it is not followed`;
      if (kind === "submodule") return `${above} is a submodule at the base: it is not read`;
    }
    return undefined;
  }

  remove(): void {
    rmSync(this.#top, { recursive: true, force: true });
  }
}

/** The working tree. What stands in a file's place is named and not shown: nobody could approve it. */
export class WorkingTree extends Tree {
  readonly folder: string;
  readonly root: string;
  readonly #readings = new Map<string, { held: Declared["rules"]; reading: Promise<Reading> }>();

  /** @param folder by its true path */
  constructor(root: string, folder: string) {
    super(toSlashes(relative(root, folder)));
    [this.root, this.folder] = [root, folder];
  }

  /** @param held rules of another version that hold as well */
  read(file: string, held: Declared["rules"] = []): Promise<Reading> {
    const known = this.#readings.get(file);
    if (known?.held === held || (known && held.length === 0)) return known.reading;
    const reading = this.#readAll(file, held);
    this.#readings.set(file, { held, reading });
    return reading;
  }

  async #readAll(file: string, held: Declared["rules"]): Promise<Reading> {
    const { folder } = this;
    const reading = readDeclaration(file, folder, held);
    const { declared, files } = reading;
    this.note(file, reading);
    const sources = declared ? listSources(declared.declaration) : [];
    const pointers = new Map<string, string>();
    for (const name of new Set([...files, ...sources]))
      if (await isPointer(folder, name))
        pointers.set(name, `${name} is a pointer of Git LFS: fetch the file with "git lfs pull"`);
    const unread = (name: string): string | undefined => this.#detourTo(name) ?? pointers.get(name);
    const layers = files.flatMap((name) => unread(name) ?? []);
    if (layers.length > 0)
      return { ...reading, declared: undefined, problems: layers.map((text) => ({ text })), notes: [] };
    const detours = sources.flatMap((name) => this.#detourTo(name) ?? []).map((text) => ({ text }));
    const problems = [...reading.problems, ...detours];
    return { ...reading, ...(declared && { declared: { ...declared, unread } }), problems, notes: [] };
  }

  /** Why a file is not read although it is there: something on its way is no file or folder of this repository. */
  #detourTo(file: string): string | undefined {
    for (const above of partsOf(toSlashes(relative(this.root, resolve(this.folder, file))))) {
      const place = join(this.root, above);
      if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        return `${above} is a symbolic link: it is not followed`;
      if (existsSync(join(place, ".git"))) return `${above} is a submodule: it is not read`;
    }
    return undefined;
  }

  /** Everything in it, by path, without what Git ignores. `head` is its commit, empty where there is none. */
  async entries(head: string, { entries }: BaseTree, base: string): Promise<Map<string, TreeEntry>> {
    const committed = head === base ? entries : head === "" ? new Map() : await treeOf(this.root, head);
    return workingTreeOf(this.root, committed);
  }
}

/** The paths of what leads to a file, and its own. */
function partsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
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

/** True if a file, by how it begins, is what Git LFS leaves in its place. */
async function isPointer(folder: string, name: string): Promise<boolean> {
  try {
    const file = await openFile(folder, name);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(100), 0, 100, 0);
      return buffer.toString("latin1", 0, bytesRead).startsWith("version https://git-lfs.github.com/spec/");
    } finally {
      await file.close();
    }
  } catch {
    return false; // the file's reader reports the reason
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
  const are = changed.length === 1 ? "is" : "are";
  throw new DataRefusal(`${some(changed, 10)} ${are} not committed: commit first, or go on with --dirty`);
}
