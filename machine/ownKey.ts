import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOwn, findOwnFolder, pathOfOwnFolder } from "./ownFolder.ts";

/** The key that this process read last, with the identities of its file and folder then. */
let last: { path: string; identity: string; key: string } | undefined;

/**
 * Reads the key of this user on this machine, in hex; makes it on first use. Undefined where none can be kept. Seals are
 * made by the thousand, so the key is read again only once its file or folder is another one or has changed.
 */
export function readOwnKey(): string | undefined {
  const path = join(pathOfOwnFolder("state", "key", process.env), "key");
  if (last?.path === path && last.identity === identityOf(path)) return last.key;
  if (findOwnFolder("state", "key", process.env) === undefined) return undefined;
  const key = keyAt(path) ?? makeKey(path);
  const identity = identityOf(path);
  last = key === undefined || identity === undefined ? undefined : { path, identity, key };
  return key;
}

/** Distinguishes a file and its folder from others at their places, and from themselves after a change. */
function identityOf(path: string): string | undefined {
  const found = [dirname(path), path].map((each) => lstatSync(each, { bigint: true, throwIfNoEntry: false }));
  return found.every((one) => one !== undefined)
    ? found.map(({ dev, ino, ctimeNs }) => `${dev} ${ino} ${ctimeNs}`).join()
    : undefined;
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
