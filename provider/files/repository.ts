import { existsSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/**
 * The folder that a program's files may come from: the top of its Git repository; without one, the folder of its
 * Pulumi.yaml, else its own.
 */
export function rootOf(directory: string): string {
  const from = realpathSync(directory);
  return above(from, ".git") ?? above(from, "Pulumi.yaml") ?? above(from, "Pulumi.yml") ?? from;
}

function above(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Whether a place, by its true path, is in a folder. */
export const isIn = (root: string, place: string): boolean =>
  place === root || place.startsWith(root.endsWith(sep) ? root : root + sep);
