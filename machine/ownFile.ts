import { chmodSync, statSync } from "node:fs";

/** Removes the rights of all others to a file, which an earlier version may have left them. */
export function keepToOwner(file: string): void {
  try {
    const found = statSync(file);
    if (found.isFile() && (found.mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch {
    // It is not there, or it is another user's, who decides about it.
  }
}
