import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { gitFlags, runGit, toGitEnvironment } from "../../../provider/files/git.ts";

/** Why nothing is read from Git, in one sentence. */
export class CommitError extends Error {
  override readonly name = "CommitError";
}

/** The commit that a name stands for. */
export async function commitOf(root: string, ref: string): Promise<string> {
  try {
    return (await runGit(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`)).trim();
  } catch (error) {
    if (isMissing(error)) throw new CommitError("git is not installed, so the base can't be read");
    if (await isShallow(root)) throw new CommitError(`there is no commit "${ref}" here, since ${deepen}`);
    throw new CommitError(`there is no commit "${ref}" in this clone: fetch it, or name another one`);
  }
}

/** Why a commit may be missing in a shallow clone, and what to do. */
export const deepen =
  'this clone has a part of the history: fetch the rest ("git fetch --unshallow"; in a pipeline: fetch-depth: 0)';

export async function isShallow(root: string): Promise<boolean> {
  return (await runGit(root, "rev-parse", "--is-shallow-repository")).trim() === "true";
}

/** Where a branch began, and how many commits of the base it lacks. */
export async function forkOf(root: string, base: string): Promise<{ commit: string; behind: number }> {
  try {
    const commit = (await runGit(root, "merge-base", base, "HEAD")).trim();
    const behind = Number((await runGit(root, "rev-list", "--count", `${commit}..${base}`)).trim());
    return { commit, behind };
  } catch {
    // A shallow clone does not have it, nor does a branch without a commit: then the base itself is all there is.
    return { commit: base, behind: 0 };
  }
}

/** Writes a blob into a file of its own. */
export async function writeBlob(root: string, id: string, file: string): Promise<void> {
  const child = spawn("git", [...gitFlags, "cat-file", "--batch"], {
    cwd: root,
    env: toGitEnvironment(),
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve());
  });
  child.stdin.end(`${id}\n`);
  await Promise.all([pipeline(child.stdout, new BlobContent(), createWriteStream(file, { mode: 0o600 })), ended]);
}

/** The content in what `cat-file --batch` answers: `<id> blob <size>`, the content, a line feed. */
class BlobContent extends Transform {
  #begun = Buffer.alloc(0);
  #left: number | undefined;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let bytes = chunk;
    if (this.#left === undefined) {
      this.#begun = Buffer.concat([this.#begun, chunk]);
      const end = this.#begun.indexOf(0x0a);
      if (end < 0) {
        done();
        return;
      }
      const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(this.#begun.toString("latin1", 0, end)) ?? [];
      if (size === undefined) {
        done(
          new CommitError("a file of the base is not in this clone, which has a part of the history: fetch the rest"),
        );
        return;
      }
      this.#left = Number(size);
      bytes = this.#begun.subarray(end + 1);
    }
    const content = bytes.subarray(0, this.#left);
    this.#left -= content.length;
    done(null, content);
  }
}

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";

/** True if a file, by how it begins, is what Git LFS leaves in its place. */
export const isPointer = (start: string): boolean => start.startsWith("version https://git-lfs.github.com/spec/");
