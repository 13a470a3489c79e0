import { AsyncLocalStorage } from "node:async_hooks";
import type { Hash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname, join, posix, relative, resolve, sep } from "node:path";
import { isAbsent } from "../../machine/failures.ts";

// The single place that opens files a branch names. The branch's author chooses names, links, devices and sizes; the
// content may stand in a preview for everybody.

/** Why a file is not read, to stand after its name; it quotes nothing of the file. */
export class FileRefusal extends Error {}

/** Megabytes that a file may have. */
export const maxMegabytesOfLayer = 4;
export const maxMegabytesOfRows = 64;

/** Neither follows a link in the last place nor waits for who writes into a pipe; Windows has neither, and takes it for 0. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a file that a program in `directory` names, for whoever closes it. Throws a FileRefusal, or the error of a system
 * call where it is not there.
 */
export async function openFile(directory: string, name: string, megabytes = Infinity): Promise<FileHandle> {
  const root = rootOf(directory);
  const handle = await open(inside(root, resolve(directory, name)), flags);
  try {
    assertReadable(root, handle.fd, await handle.stat(), megabytes);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Adds the bytes of a file that a program in `directory` names to a digest, as a stream. False when it can't be read: why is
 * reported by the reader of its content.
 */
export async function addFile(digest: Hash, directory: string, name: string): Promise<boolean> {
  try {
    const file = await openFile(directory, name);
    for await (const chunk of file.createReadStream({ highWaterMark: 1024 * 1024 })) {
      digest.update(chunk as Buffer); // a stream without encoding gives buffers
    }
    return true;
  } catch (error) {
    if (error instanceof FileRefusal || (error as NodeJS.ErrnoException).code !== undefined) return false;
    throw error;
  }
}

/** The text of a file that a program in `directory` names. Throws as `openFile` does. */
export function readText(directory: string, name: string, megabytes: number): string {
  const root = rootOf(directory);
  const descriptor = openSync(inside(root, resolve(directory, name)), flags);
  try {
    assertReadable(root, descriptor, fstatSync(descriptor), megabytes);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a file that a program in `directory` names, or why it can't be read, to stand after its name. */
export function textOrReason(
  directory: string,
  name: string,
  megabytes: number,
): { text: string } | { reason: string } {
  try {
    return { text: readText(directory, name, megabytes) };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/**
 * The text of a file that a program in `directory` names, of a layer's size at most; undefined where there is none. Throws
 * where there is one that can't be read: what stands in it may decide something.
 */
export function textIfAny(directory: string, name: string): string | undefined {
  const found = textOrReason(directory, name, maxMegabytesOfLayer);
  if ("text" in found) return found.text;
  if (found.reason === absent) return undefined;
  throw new FileRefusal(`${name} can't be read, and it may decide what a run does: ${found.reason}`);
}

/** Why a file can't be read that is not there. */
export const absent = "there is no such file";

/** Why a file can't be read, without its path, which may be absolute. */
function reasonOf(error: unknown): string {
  if (error instanceof FileRefusal) return error.message;
  const { message } = error as NodeJS.ErrnoException; // reading a file throws nothing else
  return isAbsent(error) ? absent : message.replace(/, (open|lstat|realpath) .*$/, "");
}

/** The true path of a place, each part of which may have been a link. */
function inside(root: string, place: string): string {
  const found = realpathSync(place);
  if (!isIn(root, found)) throw leaving();
  // Its configuration may hold the credential of whoever cloned.
  if (relative(root, found).toLowerCase().split(sep).includes(".git"))
    throw new FileRefusal("it is in the folder of Git; name another");
  return found;
}

function assertReadable(root: string, descriptor: number, stats: Stats, megabytes: number): void {
  if (stats.isDirectory()) throw new FileRefusal("it is a folder; name the file in it");
  if (!stats.isFile()) throw new FileRefusal("it is a device, a pipe or a socket; name a file");
  if (stats.size > megabytes * 2 ** 20) {
    throw new FileRefusal(`it has more than ${megabytes} MB; split it, or keep rows in a .csv or .ndjson file`);
  }
  // A folder on the way may have become a link in between.
  if (process.platform === "linux" && !isIn(root, readlinkSync(`/proc/self/fd/${descriptor}`))) throw leaving();
}

const leaving = (): FileRefusal =>
  new FileRefusal(
    "it is outside of the repository (without Git, of the project's folder), by its name or by a symbolic link; keep it inside",
  );

/**
 * The folder that a program's files may come from: the top of its Git repository; without one, the folder of its
 * Pulumi.yaml, else its own.
 */
export function rootOf(directory: string): string {
  const from = realpathSync(directory);
  return above(from, ".git") ?? above(from, "Pulumi.yaml") ?? above(from, "Pulumi.yml") ?? from;
}

/** The nearest folder of a Pulumi.yaml, from a program's on upwards; the program's own where there is none. */
export const projectAbove = (folder: string): string => above(folder, "Pulumi.yaml", "Pulumi.yml") ?? folder;

function above(from: string, ...names: readonly string[]): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name)))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** True when a place, by its true path, is in a folder. */
export const isIn = (root: string, place: string): boolean =>
  place === root || place.startsWith(root.endsWith(sep) ? root : root + sep);

/** A path as Git and files name it, with slashes alone. */
export const toSlashes = (path: string): string => path.replaceAll("\\", "/");

/** The path of a file in the repository; `prefix` is the folder that names it, from the top on. */
export const pathInRepository = (prefix: string, file: string): string =>
  posix.join(toSlashes(prefix), toSlashes(file));

const marks = ["<<<<<<< ", ">>>>>>> "];

/** Advice about a conflict. */
export const conflict =
  "a merge left its conflict here: keep the lines of one side, and delete the marks (<<<<<<<, =======, >>>>>>>)";

/** True where the mark of a conflict stands at a place. */
export const isConflictAt = (text: string, at: number): boolean => marks.some((mark) => text.startsWith(mark, at));

/** Finds the first line that begins with the mark of a conflict, counted from 0; undefined where none does. */
export function findConflict(text: string): number | undefined {
  const found = marks.flatMap((mark) => {
    if (text.startsWith(mark)) return [0];
    const at = text.indexOf(`\n${mark}`);
    return at < 0 ? [] : [at + 1];
  });
  return found.length === 0 ? undefined : text.slice(0, Math.min(...found)).split("\n").length - 1;
}

/**
 * True when Git tracks a file with a unique name, such as a digest. Git itself is not run: in another person's
 * repository it may run their code.
 */
export function isTracked(file: string): boolean {
  const index = indexAbove(dirname(file));
  // An index of version 4 leaves out how a path begins, when the one before begins alike.
  return index !== undefined && readFileSync(index).includes(basename(file).slice(-20));
}

function indexAbove(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const git = join(folder, ".git");
    if (existsSync(git)) {
      const index = join(gitFolder(git, folder), "index");
      return existsSync(index) ? index : undefined;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** A second working tree, or a submodule, has a file with the path of its folder. */
function gitFolder(git: string, folder: string): string {
  if (statSync(git).isDirectory()) return git;
  const [, place = ""] = /^gitdir: (.*)$/m.exec(readFileSync(git, "utf8")) ?? [];
  return resolve(folder, place.trim());
}

const deadlines = new AsyncLocalStorage<AbortSignal>();

/** Work that took longer than it may. */
export class LateError extends Error {
  override readonly name = "LateError";
}

/** Does work in which readers of files end with a LateError once the signal is aborted. */
export const until = <Answer>(signal: AbortSignal, work: () => Answer): Answer => deadlines.run(signal, work);

/** Throws when the work that reads has taken too long. */
export function assertInTime(): void {
  if (deadlines.getStore()?.aborted === true) throw new LateError("it took longer than it may");
}
