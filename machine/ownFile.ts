import { chmodSync, statSync } from "node:fs";

/** Takes from all others what rights they have to a file, as one of an earlier version may have given them. */
export function keepToOwner(file: string): void {
  try {
    const found = statSync(file);
    if (found.isFile() && (found.mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch {
    // It is not there, or it is another user's, who decides about it.
  }
}
