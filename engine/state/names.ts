import { lstatSync, realpathSync } from "node:fs";
import path from "node:path";
import { EngineError, messageOf, systemCode } from "../errors.ts";

// Names of projects and stacks become names of files and folders.

/** True if Pulumi accepts a name. One that begins with a period would be hidden, or lead out of its folder. */
export const isName = (text: string): boolean => /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/.test(text);

export const nameRule = "up to 100 letters, digits, hyphens, underscores and periods, and no period at the beginning";

/**
 * Joins a path below a folder. Throws when it leads out of the folder, by its names or by a symbolic link in any part of
 * it: a branch that somebody proposes may hold such links.
 */
export function within(folder: string, ...parts: readonly string[]): string {
  const place = path.join(folder, ...parts);
  if (!isBelow(path.resolve(folder), path.resolve(place))) throw leaving(place, folder);
  if (!isThere(folder)) return place;
  const root = realpathSync(folder);
  let there = place;
  while (!isThere(there)) there = path.dirname(there);
  try {
    if (isBelow(root, realpathSync(there))) return place;
  } catch (error) {
    // A link to what is not there yet would have it made there.
    if (systemCode(error) !== "ENOENT") throw new EngineError(`${there}: this can't be read: ${messageOf(error)}`);
  }
  throw leaving(place, folder);
}

const leaving = (place: string, folder: string): EngineError =>
  new EngineError(`${place}: this leads out of ${folder}, where all state is kept: nothing was read or changed there`);

const isBelow = (folder: string, place: string): boolean => place === folder || place.startsWith(folder + path.sep);

const isThere = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false }) !== undefined;
