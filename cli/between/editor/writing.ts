import {
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { messageOf } from "../../../machine/failures.ts";
import { whyUnwritable } from "../../../machine/ownFile.ts";
import { FileRefusal, isIn, openFile, rootOf } from "../../../provider/files/files.ts";
import { isIgnored } from "../../../provider/files/git.ts";
import { DataRefusal } from "../../report/environments.ts";
import type { EditedFile } from "./edits.ts";
import { EditRefusal } from "./text.ts";

/** Megabytes that an edited file may have: it is edited as a whole. */
export const maxMegabytesOfEdited = 256;

/**
 * The bytes of a file that is to be edited, for `planEdits`; undefined where there is none yet. Throws an EditRefusal for
 * what is never written: through a link, out of the repository, in Git's folder, what Git ignores.
 */
export async function readToEdit(
  directory: string,
  name: string,
  megabytes = maxMegabytesOfEdited,
): Promise<Buffer | undefined> {
  const { isThere } = await assertEditable(directory, name);
  if (!isThere) return undefined;
  try {
    const file = await openFile(directory, name, megabytes);
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof FileRefusal ? new EditRefusal(error.message) : error;
  }
}

async function assertEditable(directory: string, name: string): Promise<{ path: string; isThere: boolean }> {
  const root = rootOf(directory);
  const path = resolve(realpathSync(directory), name);
  if (!isIn(root, path)) throw new EditRefusal("is outside of the repository: it is not edited");
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  const anchor = isThere ? path : dirname(path);
  if (!isThere && !statSync(anchor, { throwIfNoEntry: false })?.isDirectory())
    throw new EditRefusal("lies in a folder that is not there");
  if (realpathSync(anchor) !== anchor || isBrokenLink(path, isThere))
    throw new EditRefusal("is reached by a symbolic link: name the file itself");
  const place = relative(root, path);
  if (place.toLowerCase().split(sep).includes(".git"))
    throw new EditRefusal("is in the folder of Git: it is not edited");
  if (await isIgnored(root, place).catch(refuseUnknown))
    throw new EditRefusal("is ignored by Git, so nobody would see the edit: it is not edited");
  return { path, isThere };
}

function refuseUnknown(error: unknown): never {
  throw new EditRefusal(`is not edited: Git does not say whether it ignores the file (${messageOf(error)})`);
}

const isBrokenLink = (path: string, isThere: boolean): boolean =>
  !isThere && lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * Writes edited files: each beside its place, and read again; all are renamed only then. A kill leaves each file whole, old
 * or new. Throws a DataRefusal, or an EditRefusal.
 */
export async function writeFiles(directory: string, files: readonly EditedFile[]): Promise<void> {
  const drafts: { draft: string; path: string; file: string }[] = [];
  try {
    for (const { file, before, after } of files) {
      const { path } = await assertEditable(directory, file);
      const why = whyUnwritable(path);
      if (why !== undefined) throw new DataRefusal(`${file} can't be written: ${why}`);
      assertUnchanged(path, file, before);
      const draft = join(dirname(path), `.${basename(path)}.microapps.tmp`);
      rmSync(draft, { force: true }); // a process that was killed left it
      drafts.push({ draft, path, file });
      const mode = before ? statSync(path).mode & 0o777 : 0o666;
      writeFileSync(draft, after, { flag: "wx", mode, flush: true });
      if (!readFileSync(draft).equals(after)) throw new DataRefusal(`${file} was not written as it should be`);
    }
    files.forEach(({ file, before }, index) => assertUnchanged(drafts[index]?.path ?? file, file, before));
    renameAll(drafts);
  } catch (error) {
    for (const { draft } of drafts) rmSync(draft, { force: true });
    throw error;
  }
}

function assertUnchanged(path: string, file: string, before: Buffer | undefined): void {
  const now = existsSync(path) ? readFileSync(path) : undefined;
  if (before ? now?.equals(before) !== true : now)
    throw new DataRefusal(`${file} was changed by somebody else in the meantime: nothing was written; try again`);
}

function renameAll(drafts: readonly { draft: string; path: string; file: string }[]): void {
  const written: string[] = [];
  for (const { draft, path, file } of drafts) {
    try {
      renameSync(draft, path);
    } catch (error) {
      const others = written.length === 0 ? "" : `; written are ${written.join(", ")}`;
      throw new DataRefusal(`${file} can't be written: ${messageOf(error)}${others}`);
    }
    written.push(file);
  }
}
