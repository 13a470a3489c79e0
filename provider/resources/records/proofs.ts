import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findOwnFolder } from "../../../machine/ownFolder.ts";

/** Most proofs that are kept; beyond, the older half goes. */
const maxKept = 1_000;

/**
 * True when the thing was proven before and need not be read again. Proofs stand in this user's cache, by a digest of
 * all that they depend on; in a state they would be visible, and differ with the order of a run.
 */
export function isProven(digest: string): boolean {
  const folder = folderOfProofs();
  return folder !== undefined && statSync(join(folder, digest), { throwIfNoEntry: false }) !== undefined;
}

/** Remembers that it was found to be in order. Where nothing can be kept, it is read again. */
export function noteProven(digest: string): void {
  const folder = folderOfProofs();
  if (folder === undefined) return;
  try {
    writeFileSync(join(folder, digest), "", { mode: 0o600 });
    const kept = readdirSync(folder);
    if (kept.length > maxKept) forgetOldest(folder, kept);
  } catch {
    // The disk is full, or another process tidies up.
  }
}

function forgetOldest(folder: string, names: readonly string[]): void {
  const writtenAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const paths = names.map((name) => join(folder, name)).map((path) => ({ path, time: writtenAt(path) }));
  const oldest = paths.toSorted((a, b) => a.time - b.time).slice(0, names.length - maxKept / 2);
  for (const { path } of oldest) rmSync(path, { force: true });
}

const folderOfProofs = (): string | undefined => findOwnFolder("cache", "proofs", process.env);
