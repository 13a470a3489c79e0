import { createHash } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { z } from "zod";
import { isTracked } from "../files/tracked.ts";
import { ResourceError } from "./resource.ts";

/** What every intent tells: whose it is, and when it was begun (ISO 8601). */
export const anyIntent = z.object({ urn: z.string(), startedAt: z.string() });

const folder = join(".microapps", "intents");

const fileOf = (directory: string, urn: string): string =>
  join(directory, folder, `${createHash("sha256").update(urn).digest("hex").slice(0, 32)}.json`);

/**
 * What a resource was about to do in an earlier run and can't be read back from the platform, with its file for people;
 * undefined when there is none.
 */
export async function readIntent<Schema extends typeof anyIntent>(
  directory: string,
  urn: string,
  schema: Schema,
): Promise<(z.output<Schema> & { file: string }) | undefined> {
  const path = fileOf(directory, urn);
  const file = relative(directory, path);
  await refuseLinks(directory, file);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // reading a file throws nothing else
    if (code === "ENOENT") return undefined;
    throw error;
  }
  if (isTracked(path)) {
    throw new ResourceError(
      `the intent file ${file} is tracked by Git, so others may have written it: nothing was done. It belongs to one ` +
        `working copy: remove it from the repository (git rm --cached), and keep .microapps in .gitignore.`,
    );
  }
  try {
    return { ...schema.parse(JSON.parse(text)), file };
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ResourceError(
      `the intent file ${file} is broken (${reason}). Correct it, or delete it when what it is about was not done.`,
    );
  }
}

/** The intents of this working copy that have a form, whose ever they are; what is broken is nobody's here. */
export async function intentsOf<Schema extends typeof anyIntent>(
  directory: string,
  schema: Schema,
): Promise<(z.output<Schema> & { file: string })[]> {
  await refuseLinks(directory, folder);
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(() => []); // none yet
  const found = entries.map(async (entry) => {
    const file = join(folder, entry.name);
    if (!entry.isFile() || !file.endsWith(".json") || isTracked(join(directory, file))) return [];
    const text = await readFile(join(directory, file), "utf8").catch(() => ""); // settled meanwhile
    const intent = schema.safeParse(parsed(text));
    return intent.success ? [{ ...intent.data, file }] : [];
  });
  return (await Promise.all(found)).flat();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Throws when a part of the way to a file is a symbolic link, which a branch may have brought along. */
async function refuseLinks(directory: string, file: string): Promise<void> {
  let part = directory;
  for (const name of file.split(sep)) {
    part = join(part, name);
    const found = await lstat(part).catch(() => undefined); // what is not there is no link
    if (!found?.isSymbolicLink()) continue;
    throw new ResourceError(
      `${relative(directory, part)} is a symbolic link, so what stands behind it may be anybody's: nothing was done. ` +
        `Remove the link.`,
    );
  }
}

/** Writes an intent such that it is on disk, whole, when this returns; tells its file. */
export async function writeIntent(
  directory: string,
  intent: z.output<typeof anyIntent> & Record<string, unknown>,
): Promise<string> {
  const path = fileOf(directory, intent.urn);
  await refuseLinks(directory, relative(directory, path));
  await mkdir(join(path, ".."), { recursive: true });
  const draft = `${path}.${process.pid}`;
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(intent, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  return relative(directory, path);
}

/** Removes the intent of a resource. */
export const forgetIntent = (directory: string, urn: string): Promise<void> =>
  rm(fileOf(directory, urn), { force: true });
