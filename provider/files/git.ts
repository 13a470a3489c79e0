import { execFile } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { withoutPassphrase } from "../../machine/processes.ts";

// Git reads objects and its own settings alone: no checkout, nothing of the repository runs and nothing is fetched.
const settings = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "protocol.allow=never",
];
export const gitFlags = ["--no-replace-objects", ...settings.flatMap((setting) => ["-c", setting])];
export const toGitEnvironment = (): NodeJS.ProcessEnv => ({
  ...withoutPassphrase(process.env), // programs that Git starts have no use for it
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
});

const run = promisify(execFile);

/** Returns what Git prints. Throws as `execFile` does. */
export const runGit = (root: string, ...words: string[]): Promise<string> => runGitWith({}, root, words);

async function runGitWith(variables: NodeJS.ProcessEnv, root: string, words: readonly string[]): Promise<string> {
  const { stdout } = await run("git", [...gitFlags, ...words], {
    cwd: root,
    env: { ...toGitEnvironment(), ...variables },
    maxBuffer: 512 * 1024 * 1024,
  });
  return stdout;
}

/** Something in the tree of a commit. */
export interface TreeEntry {
  kind: "file" | "link" | "submodule";
  id: string;
  /** As Git has it: a file may be a program by its mode alone. */
  mode?: string;
}

/** Everything in a commit, by path. */
export async function treeOf(root: string, commit: string): Promise<Map<string, TreeEntry>> {
  const entries = (await runGit(root, "ls-tree", "-r", "-z", "--full-tree", commit)).split("\0");
  return new Map(
    entries.flatMap((entry) => {
      const [, mode, id, path] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
      if (mode === undefined || id === undefined || path === undefined) return [];
      const kind = mode === "120000" ? "link" : mode === "160000" ? "submodule" : "file";
      return [[path, { kind, id, mode }] as const];
    }),
  );
}

/** Folders of what is installed and of states, where runs write new files that nobody commits. */
const ofRuns = /(^|\/)(node_modules|sdks|\.venv|venv|vendor|\.pulumi)\//;

/**
 * Everything in the working tree, by path, without what Git ignores: the tree of its last commit with what was changed
 * since. Changed and new files have no ID. New files in folders of what is installed, and of states, are left out.
 */
export async function workingTreeOf(
  root: string,
  committed: ReadonlyMap<string, TreeEntry>,
): Promise<Map<string, TreeEntry>> {
  const words = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
  const status = await runGitWith(await withoutFilters(root), root, words);
  const tree = new Map(committed);
  for (const line of status.split("\0")) {
    const path = line.slice(3);
    const isNew = line.startsWith("??");
    if (path === "" || (isNew && (ofRuns.test(path) || path.endsWith("/")))) continue; // or a repository of its own
    const found = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) tree.set(path, { kind: "link", id: "" });
    else if (found?.isFile() === true) tree.set(path, { kind: "file", id: "" });
    else tree.delete(path);
  }
  return tree;
}

/** Variables that turn off the filters in Git's settings: a status runs those that attributes of the branch name. */
async function withoutFilters(root: string): Promise<NodeJS.ProcessEnv> {
  const found = await runGit(root, "config", "-z", "--name-only", "--get-regexp", "^filter\\.").catch(noneOf);
  const names = found.split("\0").filter((name) => name !== "");
  const first = Number(process.env["GIT_CONFIG_COUNT"] ?? 0);
  const settings = names.flatMap((name, at) => [
    [`GIT_CONFIG_KEY_${first + at}`, name],
    [`GIT_CONFIG_VALUE_${first + at}`, name.endsWith(".required") ? "false" : ""],
  ]);
  return Object.fromEntries([["GIT_CONFIG_COUNT", String(first + names.length)], ...settings]) as NodeJS.ProcessEnv;
}

/** Git ends with 1 where nothing is found. */
function noneOf(error: unknown): string {
  if ((error as { code?: unknown }).code === 1) return "";
  throw error;
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
