import { existsSync, lstatSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { openFile } from "../../../provider/files/files.ts";
import { isPointer } from "./commits.ts";

/** Why a file of the working tree is not read although it is there: something on its way is no file or folder of this repository. */
export function detourTo(root: string, folder: string, file: string): string | undefined {
  const parts = relative(root, resolve(folder, file)).replaceAll("\\", "/").split("/");
  for (let length = 1; length <= parts.length; length++) {
    const above = parts.slice(0, length).join("/");
    const place = join(root, above);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      return `${above} is a symbolic link: it is not followed`;
    }
    if (existsSync(join(place, ".git"))) return `${above} is a submodule: it is not read`;
  }
  return undefined;
}

/** Sources that are what Git LFS leaves in place of a file. */
export async function pointersIn(folder: string, sources: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const source of new Set(sources)) {
    if (isPointer(await startOf(folder, source)))
      found.set(source, `${source} is a pointer of Git LFS: fetch the file with "git lfs pull"`);
  }
  return found;
}

async function startOf(folder: string, source: string): Promise<string> {
  try {
    const file = await openFile(folder, source);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(100), 0, 100, 0);
      return buffer.toString("latin1", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return ""; // the file's reader reports the reason
  }
}
