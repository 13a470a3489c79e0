import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a user's files are kept, by kind (XDG Base Directory Specification). */
const places = {
  cache: { variable: "XDG_CACHE_HOME", otherwise: ".cache" },
  state: { variable: "XDG_STATE_HOME", otherwise: ".local/state" },
};

/** Makes a folder for this user's files; undefined where there can be none, or others can reach it. */
export function ownFolder(kind: keyof typeof places, name: string, environment: Environment): string | undefined {
  const { variable, otherwise } = places[kind];
  try {
    const folder = join(environment[variable] || join(homedir(), otherwise), "pulumi-microapps", name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    return found.isDirectory() && isOwn(found) && isWayOwn(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Whether nobody but this user and the system's can put another folder in the place of one on the way. */
function isWayOwn(folder: string): boolean {
  if (process.getuid === undefined) return true;
  const sticky = 0o1000; // others remove only what is theirs
  for (let above = dirname(realpathSync(folder)); ; above = dirname(above)) {
    const { uid, mode } = lstatSync(above);
    if (uid !== process.getuid() && uid !== 0) return false;
    if ((mode & 0o022) !== 0 && (mode & sticky) === 0) return false;
    if (dirname(above) === above) return true;
  }
}

/** Whether only this user can reach it; always on Windows, which has no such modes. */
export const isOwn = ({ uid, mode }: { uid: number; mode: number }): boolean =>
  process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
