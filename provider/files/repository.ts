import { existsSync, realpathSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";

/**
 * The folder that a program's files may come from: the top of its Git repository; without one, the folder of its
 * Pulumi.yaml, else its own.
 */
export function rootOf(directory: string): string {
  const from = realpathSync(directory);
  return above(from, ".git") ?? above(from, "Pulumi.yaml") ?? above(from, "Pulumi.yml") ?? from;
}

/** The nearest folder of a Pulumi.yaml, from a program's on upwards; the program's own where there is none. */
export const projectAbove = (folder: string): string => above(folder, "Pulumi.yaml", "Pulumi.yml") ?? folder;

function above(from: string, ...names: readonly string[]): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name)))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** True when a place, by its true path, is in a folder. */
export const isIn = (root: string, place: string): boolean =>
  place === root || place.startsWith(root.endsWith(sep) ? root : root + sep);

/** A path as Git and files name it, with slashes alone. */
export const toSlashes = (path: string): string => path.replaceAll("\\", "/");

/** The path of a file in the repository; `prefix` is the folder that names it, from the top on. */
export const pathInRepository = (prefix: string, file: string): string =>
  posix.join(toSlashes(prefix), toSlashes(file));
