import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { gitFlags, toGitEnvironment } from "../../files/git.ts";

/**
 * Works on a file as the last commit of its Git repository has it, in a copy in a folder of its own; undefined where
 * there is no repository, no such file in it, or no Git.
 * @param file relative to the folder, or absolute
 */
export async function readCommittedFile<Answer>(
  directory: string,
  file: string,
  work: (folder: string, name: string) => Promise<Answer>,
): Promise<Answer | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "microapps-"));
  try {
    const name = basename(file);
    return (await written(directory, file, join(folder, name))) ? await work(folder, name) : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function written(directory: string, file: string, copy: string): Promise<boolean> {
  const path = relative(directory, resolve(directory, file)).replaceAll("\\", "/");
  const git = spawn("git", [...gitFlags, "show", `HEAD:./${path}`], {
    cwd: directory,
    env: toGitEnvironment(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<boolean>((resolve) => {
    git.on("error", () => resolve(false)); // Git is not installed
    git.on("close", (status) => resolve(status === 0));
  });
  await pipeline(git.stdout, createWriteStream(copy, { mode: 0o600 }));
  return ended;
}
