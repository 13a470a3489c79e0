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
import { dirname, join, relative } from "node:path";
import { isAbsent, messageOf } from "../../machine/failures.ts";
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
} from "../../provider/files/git.ts";
import { placed } from "./changeSet.ts";
import {
  DataRefusal,
  type Declared,
  declareNothing,
  type EnvironmentReading,
  readDeclaration,
} from "./environments.ts";

/** The commit that a name stands for. */
export async function commitOf(root: string, ref: string): Promise<string> {
  try {
    return (await runGit(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`)).trim();
  } catch (error) {
    if (isAbsent(error)) throw new DataRefusal("git is not installed, so the base can't be read");
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

/** The project as it lies there. Each Environment file is read once. */
export class WorkingTree {
  readonly root: string;
  /** The folder of Pulumi.yaml. */
  readonly folder: string;
  /** That folder, from the top of the repository on. */
  readonly prefix: string;
  readonly #readings = new Map<string, { held: Declared["rules"]; reading: Promise<EnvironmentReading> }>();

  /** @param folder by its true path */
  constructor(root: string, folder: string) {
    [this.root, this.folder, this.prefix] = [root, folder, toSlashes(relative(root, folder))];
  }

  /** @param held rules of another version that hold as well */
  read(file: string, held: Declared["rules"] = []): Promise<EnvironmentReading> {
    const known = this.#readings.get(file);
    if (known?.held === held || (known && held.length === 0)) return known.reading;
    const reading = this.#readAll(file, held);
    this.#readings.set(file, { held, reading });
    return reading;
  }

  /** Paths, from the top of the repository on, of the files that declarations consist of and read. */
  async dataOf(names: readonly string[]): Promise<ReadonlySet<string>> {
    const readings = await Promise.all(names.map((name) => this.read(name)));
    const data = readings.flatMap(({ files, declared }) => [
      ...files,
      ...(declared ? listSources(declared.declaration) : []),
    ]);
    return new Set(data.map(this.pathOf));
  }

  protected readonly pathOf = (name: string): string => pathInRepository(this.prefix, name);

  /** Makes files that a declaration names readable; true where one is that was not. */
  protected readonly bring: (names: readonly string[]) => Promise<boolean> = () => Promise.resolve(false);

  /** Why a file is not read although it is there: something on its way is no file or folder of this repository. */
  protected detourTo(path: string): string | undefined {
    for (const above of partsOf(path)) {
      const place = join(this.root, above);
      if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        return `${above} is a symbolic link: it is not followed`;
      if (existsSync(join(place, ".git"))) return `${above} is a submodule: it is not read`;
    }
    return undefined;
  }

  protected describePointer = (name: string): string =>
    `${name} is a pointer of Git LFS: fetch the file with "git lfs pull"`;

  async #readAll(file: string, held: Declared["rules"]): Promise<EnvironmentReading> {
    const { folder } = this;
    let reading = readDeclaration(file, folder, held);
    // What it names is only known once it is read.
    while (await this.bring([...reading.missing, ...(reading.parts ? listSources(reading.parts) : [])]))
      reading = readDeclaration(file, folder, held);
    const { declared, files, problems } = reading;
    const sources = declared ? listSources(declared.declaration) : [];
    // What stands in a file's place is named and not shown: nobody could approve it.
    const detours = new Map<string, string>();
    const pointers = new Map<string, string>();
    for (const name of new Set([...files, ...sources])) {
      const detour = this.detourTo(this.pathOf(name));
      if (detour !== undefined) detours.set(name, detour);
      else if (await isPointer(folder, name)) pointers.set(name, this.describePointer(name));
    }
    const unread = (name: string): string | undefined => detours.get(name) ?? pointers.get(name);
    const layers = files.flatMap((name) => unread(name) ?? []);
    if (layers.length > 0) return { ...reading, declared: undefined, problems: layers.map((text) => ({ text })) };
    if (!declared) return reading;
    const others = sources.flatMap((name) => detours.get(name) ?? []).map((text) => ({ text }));
    return { ...reading, declared: { ...declared, unread }, problems: [...problems, ...others] };
  }
}

/**
 * A commit. The files that Environment files need are written into a private folder under their paths, where they are read
 * as those of a working tree are. What is no file is empty there.
 */
export class BaseTree extends WorkingTree {
  /** Everything in the commit. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly #repository: string;
  readonly #written = new Set<string>();

  private constructor(repository: string, top: string, prefix: string, entries: ReadonlyMap<string, TreeEntry>) {
    super(top, join(top, prefix));
    [this.#repository, this.entries] = [repository, entries];
    mkdirSync(join(top, ".git")); // the reader takes it for a repository, and reads nothing beyond it
    mkdirSync(this.folder, { recursive: true });
  }

  static async of(root: string, prefix: string, commit: string): Promise<BaseTree> {
    const entries = await treeOf(root, commit);
    return new BaseTree(root, realpathSync(mkdtempSync(join(tmpdir(), "microapps-base-"))), prefix, entries);
  }

  /** The text of a file beside Pulumi.yaml; undefined where there is none. */
  async text(file: string): Promise<string | undefined> {
    await this.bring([file]);
    const place = join(this.folder, file);
    return existsSync(place) ? readFileSync(place, "utf8") : undefined;
  }

  /** What a file declared, or why there is nothing to compare with. A file that there was not declared nothing. */
  override async read(file: string): Promise<EnvironmentReading & { why?: string; notes: string[] }> {
    await this.bring([file]);
    if (!this.#written.has(this.pathOf(file))) {
      const notes = [`${file} is not in the base: everything it declares is new`];
      return { declared: declareNothing(this.folder), problems: [], files: [], missing: [], notes };
    }
    const reading = await super.read(file);
    if (reading.declared) return { ...reading, notes: [] };
    const wrong = reading.problems.slice(0, 3).map(placed).join("; ");
    const [detour = `the file of the base can't be read: ${wrong}`] = reading.problems.flatMap(({ text, place }) =>
      place === undefined ? text : [],
    );
    return { ...reading, why: detour, notes: [] };
  }

  protected override readonly bring = async (names: readonly string[]): Promise<boolean> => {
    let isMore = false;
    for (const path of names.map(this.pathOf)) {
      const refused = this.detourTo(path);
      const entry = this.entries.get(path);
      if (this.#written.has(path) || (entry ?? refused) === undefined) continue;
      isMore = true;
      this.#written.add(path);
      const file = join(this.root, path);
      mkdirSync(dirname(file), { recursive: true });
      if (entry && refused === undefined) await writeBlob(this.#repository, entry.id, file);
      else writeFileSync(file, "", { mode: 0o600 });
    }
    return isMore;
  };

  protected override detourTo(path: string): string | undefined {
    for (const above of partsOf(path)) {
      const kind = this.entries.get(above)?.kind;
      if (kind === "link") return `${above} is a symbolic link at the base: it is not followed`;
      if (kind === "submodule") return `${above} is a submodule at the base: it is not read`;
    }
    return undefined;
  }

  protected override describePointer = (name: string): string =>
    `${name} is a pointer of Git LFS at the base: what it stands for is not read`;

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
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
