import { lstatSync, mkdirSync, realpathSync, type Stats } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { whyRefused } from "./failures.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a user's files are kept, by kind (XDG Base Directory Specification). */
const places = {
  cache: { variable: "XDG_CACHE_HOME", otherwise: ".cache" },
  state: { variable: "XDG_STATE_HOME", otherwise: ".local/state" },
};

type Kind = keyof typeof places;

/** Makes a folder for this user's files; undefined where there can be none, or others can reach it. */
export function findOwnFolder(kind: Kind, name: string, environment: Environment): string | undefined {
  const { folder, reason } = makeOwnFolder(kind, name, environment);
  return reason === undefined ? folder : undefined;
}

/** Makes a folder for this user's files; `reason` explains why it can't be used. */
export function makeOwnFolder(
  kind: Kind,
  name: string,
  environment: Environment,
): { folder: string; reason: string | undefined } {
  const folder = pathOfOwnFolder(kind, name, environment);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folder, reason: whyNotOwn(folder, lstatSync(folder)) ?? whyNotSafe(folder) };
  } catch (error) {
    return { folder, reason: whyRefused(error) };
  }
}

/** The path of such a folder, whether there is one or not. */
export const pathOfOwnFolder = (kind: Kind, name: string, environment: Environment): string =>
  join(homeOf(kind, environment), "pulumi-microapps", name);

/** A relative path would be another folder for each process: the specification has such a one ignored. */
function homeOf(kind: Kind, environment: Environment): string {
  const { variable, otherwise } = places[kind];
  const named = environment[variable] ?? "";
  return isAbsolute(named) ? named : join(homedir(), otherwise);
}

/** Why a folder is not this user's alone; undefined when it is. */
export function whyNotOwn(folder: string, found: Stats): string | undefined {
  if (!found.isDirectory()) return `${folder} is not a folder`;
  return isOwn(found) ? undefined : `${folder} is open to other users (it needs this user as its owner, and mode 0700)`;
}

/** Why others than this user and the system could put something else in the place of what stands on the way. */
function whyNotSafe(folder: string): string | undefined {
  const own = dirname(folder);
  if (!lstatSync(own).isDirectory()) return `${own} is not a folder`;
  const { getuid } = process;
  if (getuid === undefined) return undefined;
  const way = [folder, realpathSync(folder)].flatMap(foldersAbove); // a link may be replaced, and what it leads to
  const unsafe = way.find((each) => !isSafe(lstatSync(each), getuid()));
  return unsafe === undefined ? undefined : `other users may write to ${unsafe}`;
}

function isSafe(found: Stats, user: number): boolean {
  const sticky = 0o1000; // others remove only what is theirs
  const isOpen = !found.isSymbolicLink() && (found.mode & 0o022) !== 0 && (found.mode & sticky) === 0;
  return (found.uid === user || found.uid === 0) && !isOpen;
}

const foldersAbove = (path: string): string[] =>
  dirname(path) === path ? [] : [dirname(path), ...foldersAbove(dirname(path))];

/** True if only this user can reach it; always on Windows, which has no such modes. */
export const isOwn = ({ uid, mode }: { uid: number; mode: number }): boolean =>
  process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);

/**
 * Compiles nothing twice, nor do the processes that are started from here, where there is a folder of one's own for it:
 * into one that others write to, as Node's own place, they could plant code.
 */
export function compileOnce(): void {
  if (process.env["NODE_COMPILE_CACHE"] !== undefined) return;
  const folder = findOwnFolder("cache", "compiled", process.env);
  // A Node of before 22.1 has no such cache.
  const { enableCompileCache } = module as Partial<typeof module>;
  if (folder === undefined) return;
  enableCompileCache?.(folder);
  process.env["NODE_COMPILE_CACHE"] = folder;
}
