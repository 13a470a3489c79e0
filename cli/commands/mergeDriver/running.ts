import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { EngineError, oneLine } from "../../../engine/index.ts";
import { projectAbove, rootOf } from "../../../provider/files/repository.ts";
import { mergeFile } from "../../mergeDriver/driver.ts";
import { installDriver } from "../../mergeDriver/install.ts";

interface DriverWords {
  base: string;
  ours: string;
  theirs: string;
  path: string;
  size: string | undefined;
}

/** Merges one file for Git, and ends as Git wants it: 0 merged, 1 with conflicts, above 128 not at all. */
export async function runDriver({ base, ours, theirs, path: name, size }: DriverWords): Promise<void> {
  // Git starts a driver at the top of the working tree.
  const root = rootOf(".");
  const marks = { size: Number(size) > 0 ? Number(size) : 7, ours: "ours", theirs: "theirs" };
  const { status, note } = await mergeFile({ root, base, ours, theirs, path: name, marks });
  if (note !== undefined) process.stderr.write(`${oneLine(note)}\n`);
  process.exitCode = status;
}

/** Installs the driver in the clone of the folder. */
export async function runInstall({ cwd = "." }: { cwd?: string }): Promise<void> {
  const folder = realpathSync(path.resolve(cwd));
  const root = rootOf(folder);
  if (!existsSync(path.join(root, ".git"))) throw new EngineError(`${folder} is in no Git repository`);
  const project = path.relative(root, projectAbove(folder)).replaceAll("\\", "/");
  const [node, script = ""] = process.argv;
  const { added } = await installDriver(root, project, [node ?? "node", path.resolve(script)]);
  const lines = [
    ...added.map((line) => `.gitattributes: ${line}`),
    added.length > 0 ? "commit .gitattributes; each clone needs 'microapps merge-driver install' once" : "",
    "Git merges rows by their natural key in this clone",
  ];
  process.stdout.write(lines.flatMap((line) => (line === "" ? [] : `${line}\n`)).join(""));
}
