import { lstatSync, mkdirSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The folder for what Node has compiled; undefined where it might be somebody else's, who could plant code in it: Node's
 * own place is one that all users of the machine write to.
 */
export function compileCacheFolder(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const folder = join(environment["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "pulumi-microapps", "compiled");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    // Windows has no owners and modes of this kind; its folder of a user is the user's.
    const own = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
    return found.isDirectory() && own ? folder : undefined;
  } catch {
    return undefined; // then everything is compiled anew
  }
}

/** Compiles nothing twice, where there is a folder of one's own for it. */
export function compileOnce(): void {
  const folder = compileCacheFolder(process.env);
  // A Node of before 22.1 has no such cache.
  const { enableCompileCache } = module as Partial<typeof module>;
  if (folder !== undefined) enableCompileCache?.(folder);
}
