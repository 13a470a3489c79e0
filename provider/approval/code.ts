import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { decidesCode } from "../../machine/settings/deciding.ts";
import { addFile } from "../files/files.ts";
import { runGit, treeOf, type TreeEntry } from "../files/git.ts";
import { rootOf, toSlashes } from "../files/repository.ts";
import { digestOf } from "./canonical.ts";
import { ApprovalError } from "./signature.ts";

// Code is not understood, so a seal has what it is: a run with other code is not what somebody read.

/**
 * Digests all files of Git's that decide what runs, with their names: code, packages and their settings, by the list of
 * deciding files. Their content is that of the working tree, full SHA-256.
 * @param project folder of Pulumi.yaml
 */
export async function digestCode(project: string): Promise<string> {
  const { root, prefix } = placeOf(project);
  const all: unknown[] = [];
  for (const [path, { kind, id }] of codeIn(await committedIn(root), prefix)) {
    const digest = createHash("sha256");
    const isRead = kind === "file" && (await addFile(digest, root, path));
    all.push([path, kind, isRead ? digest.digest("hex") : kind === "file" ? "" : id]);
  }
  return digestOf(all);
}

/** Names of such files that differ from those of a commit, or are not committed; empty where Git can't say. */
export async function findOtherCode(project: string, commit: string): Promise<string[]> {
  const { root, prefix } = placeOf(project);
  try {
    const [before, now] = [codeIn(await treeOf(root, commit), prefix), codeIn(await treeOf(root, "HEAD"), prefix)];
    const status = await runGit(root, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames");
    const uncommitted = new Set(status.split("\0").map((line) => line.slice(3)));
    const paths = [...new Set([...before.keys(), ...now.keys()])].sort();
    return paths.filter((path) => before.get(path)?.id !== now.get(path)?.id || uncommitted.has(path));
  } catch (error) {
    const { code } = error as { code?: unknown }; // of execFile
    if (code === 128) return []; // the commit is not in this clone
    throw error;
  }
}

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
