import { existsSync } from "node:fs";
import { join } from "node:path";
import { listSources } from "../../provider/environment/sources.ts";
import { treeOf, workingTreeOf, type TreeEntry } from "../../provider/files/git.ts";
import { pathInRepository } from "../../provider/files/repository.ts";
import type { BaseTree } from "./base/baseTree.ts";
import type { AlsoChanged } from "./model/changeSet.ts";
import { readDeclaration } from "./model/source.ts";

// Data are the files that a declaration reads. Every other file that a branch changes may run in a pipeline, whatever it
// is called: it is named, and people read it.

/** Names that a report has at most; all are counted. */
const maxNamed = 1_000;

/** The two sides of a report. */
export interface Sides {
  /** The folder of Pulumi.yaml, and its path from the top of the repository on. */
  folder: string;
  prefix: string;
  /** The top of the repository. */
  root: string;
  base: BaseTree;
  /** The commit of the working tree; empty where there is none. */
  head: string;
}

/**
 * The changed files that no declaration reads. One that is there on both sides has to be read on both of them: a file that
 * became data with this change was something else before.
 * @param before Environment files of the base, of all environments
 * @param after those of the working tree
 */
export async function alsoChanged(
  { folder, prefix, root, base, head }: Sides,
  before: readonly string[],
  after: readonly string[],
): Promise<AlsoChanged> {
  const committed = head === "" ? new Map<string, TreeEntry>() : await treeOf(root, head);
  const now = await workingTreeOf(root, committed);
  const then = base.entries;
  const paths = [...new Set([...then.keys(), ...now.keys()])].filter((path) => !isSame(then.get(path), now.get(path)));
  if (paths.length === 0) return { count: 0, files: [] };
  for (const file of before) await base.writeEnvironment(pathInRepository(prefix, file));
  const wasRead = readBy(before, join(base.folder, prefix), prefix);
  const isRead = readBy(after, folder, prefix);
  const isData = (entry: TreeEntry | undefined, path: string, read: ReadonlySet<string>): boolean =>
    entry === undefined || (entry.kind === "file" && read.has(path));
  const others = paths.filter((path) => !isData(then.get(path), path, wasRead) || !isData(now.get(path), path, isRead));
  // What was there before comes first: of new files a branch may have any number.
  const isNew = (path: string): boolean => !then.has(path);
  others.sort((a, b) => Number(isNew(a)) - Number(isNew(b)) || (a < b ? -1 : 1));
  return { count: others.length, files: others.slice(0, maxNamed) };
}

/** Paths, from the top of the repository on, of the files that declarations consist of and read. */
function readBy(files: readonly string[], folder: string, prefix: string): ReadonlySet<string> {
  const read = new Set<string>();
  for (const file of new Set(files)) {
    if (!existsSync(join(folder, file))) continue;
    const reading = readDeclaration(file, folder);
    const sources = reading.declared ? listSources(reading.declared.declaration) : [];
    for (const name of [...reading.files, ...sources]) read.add(pathInRepository(prefix, name));
  }
  return read;
}

const isSame = (one: TreeEntry | undefined, other: TreeEntry | undefined): boolean =>
  one?.id === other?.id && one?.kind === other?.kind && one?.mode === other?.mode;
