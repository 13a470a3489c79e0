import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOwn, findOwnFolder } from "./ownFolder.ts";

/** Reads the key of this user on this machine, in hex; makes it on first use. Undefined where none can be kept. */
export function readOwnKey(): string | undefined {
  const folder = findOwnFolder("state", "key", process.env);
  if (folder === undefined) return undefined;
  const path = join(folder, "key");
  return keyAt(path) ?? makeKey(path);
}

function makeKey(path: string): string | undefined {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(draft, randomBytes(32).toString("hex"), { flag: "wx", mode: 0o600 });
    // The first of two processes wins, unless the existing file holds no key.
    if (lstatSync(path, { throwIfNoEntry: false })) renameSync(draft, path);
    else linkSync(draft, path);
  } catch {
    // Another process was first, or nothing can be kept there: the file shows which.
  } finally {
    rmSync(draft, { force: true });
  }
  return keyAt(path);
}

function keyAt(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || !isOwn(found) || found.nlink > 1) return undefined;
  const text = readFileSync(path, "utf8");
  return /^[0-9a-f]{64}$/.test(text) ? text : undefined;
}
