import { lstatSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a user's files of a kind are kept (XDG Base Directory Specification). */
const places = {
  cache: { variable: "XDG_CACHE_HOME", otherwise: ".cache" },
  state: { variable: "XDG_STATE_HOME", otherwise: ".local/state" },
};

/**
 * A folder of this package for what this user keeps; undefined where there can be none, or it might be somebody else's.
 */
export function ownFolder(kind: keyof typeof places, name: string, environment: Environment): string | undefined {
  const { variable, otherwise } = places[kind];
  try {
    const folder = join(environment[variable] || join(homedir(), otherwise), "pulumi-microapps", name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && isOwn(found) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Whether only this user reaches it. Windows has no owners and modes of this kind; its folder of a user is the user's. */
export const isOwn = ({ uid, mode }: { uid: number; mode: number }): boolean =>
  process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
