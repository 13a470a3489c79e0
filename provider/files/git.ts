import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

// Git reads objects and its own settings alone: no checkout, nothing of the repository runs and nothing is fetched.
const settings = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "protocol.allow=never",
];
export const gitFlags = ["--no-replace-objects", ...settings.flatMap((setting) => ["-c", setting])];
export const toGitEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
});

const run = promisify(execFile);

/** Returns what Git prints. Throws as `execFile` does. */
export async function runGit(root: string, ...words: string[]): Promise<string> {
  const { stdout } = await run("git", [...gitFlags, ...words], {
    cwd: root,
    env: toGitEnvironment(),
    maxBuffer: 512 * 1024 * 1024,
  });
  return stdout;
}

/** Something in the tree of a commit. */
export interface TreeEntry {
  kind: "file" | "link" | "submodule";
  id: string;
}

/** Everything in a commit, by path. */
export async function treeOf(root: string, commit: string): Promise<Map<string, TreeEntry>> {
  const entries = (await runGit(root, "ls-tree", "-r", "-z", "--full-tree", commit)).split("\0");
  return new Map(
    entries.flatMap((entry) => {
      const [, mode, id, path] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
      if (mode === undefined || id === undefined || path === undefined) return [];
      const kind = mode === "120000" ? "link" : mode === "160000" ? "submodule" : "file";
      return [[path, { kind, id }] as const];
    }),
  );
}

/** True if Git ignores a file of a repository and does not track it; false where there is no repository. */
export async function isIgnored(root: string, path: string): Promise<boolean> {
  if (!existsSync(join(root, ".git"))) return false;
  try {
    await runGit(root, "check-ignore", "--quiet", "--", path);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 1) return false;
    throw error;
  }
}

/** Files that differ from the last commit, or that Git does not track. */
export async function findUncommitted(root: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const words = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--"];
  const entries = (await runGit(root, ...words, ...paths.map((path) => `:(top,literal)${path}`))).split("\0");
  return entries.flatMap((line) => (line === "" ? [] : line.slice(3))).sort();
}
