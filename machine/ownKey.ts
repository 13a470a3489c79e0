import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOwn, ownFolder } from "./ownFolder.ts";

/**
 * A key that this user of this machine alone has, in hex; made when it is first asked for. Undefined where none can be
 * kept.
 */
export function ownKey(): string | undefined {
  const folder = ownFolder("state", "key", process.env);
  if (folder === undefined) return undefined;
  const path = join(folder, "key");
  return keyAt(path) ?? makeKey(path);
}

function makeKey(path: string): string | undefined {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(draft, randomBytes(32).toString("hex"), { flag: "wx", mode: 0o600 });
    // Of two who do this at the same time one is first, unless what is there is no key.
    if (lstatSync(path, { throwIfNoEntry: false })) renameSync(draft, path);
    else linkSync(draft, path);
  } catch {
    // Another one was first, or nothing can be kept there: what is there now tells.
  } finally {
    rmSync(draft, { force: true });
  }
  return keyAt(path);
}

function keyAt(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || !isOwn(found)) return undefined;
  const text = readFileSync(path, "utf8");
  return /^[0-9a-f]{64}$/.test(text) ? text : undefined;
}
