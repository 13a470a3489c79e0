import { createHash } from "node:crypto";
import { existsSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { decidesCode } from "../../machine/settings/deciding.ts";
import { addFile } from "../files/files.ts";
import { runGit, treeOf, workingTreeOf, type TreeEntry } from "../files/git.ts";
import { rootOf, toSlashes } from "../files/repository.ts";
import { digestOf } from "./canonical.ts";
import { ApprovalError } from "./signature.ts";

// Code is not understood, so a seal has what it is: a run with other code is not what somebody read.

/**
 * Digests all files that decide what runs, with their names: code, packages and their settings, by the list of deciding
 * files, committed or not, but for those that Git ignores. Their content is that of the working tree, full SHA-256.
 * @param project folder of Pulumi.yaml
 */
export async function digestCode(project: string): Promise<string> {
  const { root, prefix } = placeOf(project);
  const all: unknown[] = [];
  for (const [path, entry] of codeIn(await workingTree(root), prefix)) {
    all.push([path, entry.kind, await contentOf(root, path, entry)]);
  }
  return digestOf(all);
}

/** The content of a file by its digest, that of a link by its target, that of a submodule by its commit. */
async function contentOf(root: string, path: string, { kind, id }: TreeEntry): Promise<string> {
  if (kind === "submodule") return id;
  if (kind === "link") return targetOf(join(root, path));
  const digest = createHash("sha256");
  return (await addFile(digest, root, path)) ? digest.digest("hex") : "";
}

/** The target of a link, which some systems keep as the text of a file. */
function targetOf(place: string): string {
  try {
    return readlinkSync(place);
  } catch {
    return readFileSync(place, "utf8");
  }
}

/** Names of such files that differ from those of a commit, or are not committed; empty where Git can't say. */
export async function findOtherCode(project: string, commit: string): Promise<string[]> {
  const { root, prefix } = placeOf(project);
  try {
    const [before, now] = [codeIn(await treeOf(root, commit), prefix), codeIn(await workingTree(root), prefix)];
    const paths = [...new Set([...before.keys(), ...now.keys()])].sort();
    return paths.filter((path) => before.get(path)?.id !== now.get(path)?.id);
  } catch (error) {
    const { code } = error as { code?: unknown }; // of execFile
    if (code === 128) return []; // the commit is not in this clone
    throw error;
  }
}

/** Everything that is committed, or will be with the next commit. */
const workingTree = async (root: string): Promise<ReadonlyMap<string, TreeEntry>> =>
  workingTreeOf(root, await committedIn(root));

function placeOf(project: string): { root: string; prefix: string } {
  const root = rootOf(project);
  if (!existsSync(join(root, ".git"))) {
    throw new ApprovalError(
      "there is no Git repository here, so nobody can know whether its code is what was approved: run it in a clone",
    );
  }
  return { root, prefix: toSlashes(relative(root, realpathSync(project))) };
}

const codeIn = (tree: ReadonlyMap<string, TreeEntry>, prefix: string): ReadonlyMap<string, TreeEntry> =>
  new Map([...tree].filter(([path]) => decidesCode(path, prefix)).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Everything in the last commit; nothing before the first one. */
async function committedIn(root: string): Promise<ReadonlyMap<string, TreeEntry>> {
  try {
    await runGit(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}");
  } catch (error) {
    const { code } = error as { code?: unknown }; // of execFile
    if (code === 1) return new Map();
    throw new ApprovalError(
      code === "ENOENT"
        ? "git is not installed, and code is compared by what Git has"
        : "Git can't read its last commit",
    );
  }
  return treeOf(root, "HEAD");
}
