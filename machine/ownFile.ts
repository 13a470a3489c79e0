import { accessSync, chmodSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";

/** Removes the rights of all others to a file, which an earlier version may have left them. */
export function keepToOwner(file: string): void {
  try {
    const found = statSync(file);
    if (found.isFile() && (found.mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch {
    // It is not there, or it is another user's, who decides about it.
  }
}

const found = (path: string) => statSync(path, { throwIfNoEntry: false });

/** Why no file can be written at a place; undefined where it can. With `makesFolders` those above are made later. */
export function whyUnwritable(file: string, { makesFolders = false } = {}): string | undefined {
  if (found(file)?.isDirectory()) return "it is a folder; name the file in it";
  let folder = dirname(file);
  while (makesFolders && !found(folder)) folder = dirname(folder);
  const above = found(folder);
  if (!above) return `there is no folder ${folder}`;
  if (!above.isDirectory()) return `${folder} is not a folder`;
  try {
    accessSync(found(file) ? file : folder, constants.W_OK);
    return undefined;
  } catch {
    return "this user may not write there";
  }
}
