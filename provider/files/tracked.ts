import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/**
 * True when Git tracks a file with a unique name, such as a digest. Git itself is not run: in another person's
 * repository it may run their code.
 */
export function isTracked(file: string): boolean {
  const index = indexAbove(dirname(file));
  // An index of version 4 leaves out how a path begins, when the one before begins alike.
  return index !== undefined && readFileSync(index).includes(basename(file).slice(-20));
}

function indexAbove(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const git = join(folder, ".git");
    if (existsSync(git)) {
      const index = join(gitFolder(git, folder), "index");
      return existsSync(index) ? index : undefined;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** A second working tree, or a submodule, has a file with the path of its folder. */
function gitFolder(git: string, folder: string): string {
  if (statSync(git).isDirectory()) return git;
  const [, place = ""] = /^gitdir: (.*)$/m.exec(readFileSync(git, "utf8")) ?? [];
  return resolve(folder, place.trim());
}
