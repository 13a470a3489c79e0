import { createHash } from "node:crypto";
import { addFile } from "../files/files.ts";

/** A file that decides what an environment gets, relative to the folder of Pulumi.yaml. */
export interface CountedFile {
  path: string;
  /** True for secret rows: no digest of theirs alone is shown. */
  isSecret?: boolean;
}

/** Digests of files, full SHA-256. */
export interface FileDigests {
  /** The digest of each file that holds no secrets. */
  files: Record<string, string>;
  /** The digest of all files together. */
  content: string;
}

/** Digests files; marks those that can't be read instead. */
export async function digestsOf(project: string, counted: readonly CountedFile[]): Promise<FileDigests> {
  const files: Record<string, string> = {};
  const all = createHash("sha256");
  const byPath = new Map(counted.map((one) => [one.path, one]));
  for (const { path, isSecret = false } of [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const digest = createHash("sha256");
    const isRead = await addFile(digest, project, path);
    const hex = isRead ? digest.digest("hex") : createHash("sha256").digest("hex");
    all.update(JSON.stringify([path, isRead, hex]));
    if (!isSecret) files[path] = hex;
  }
  return { files, content: all.digest("hex") };
}
