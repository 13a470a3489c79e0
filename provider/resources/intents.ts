import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { ResourceError } from "./resource.ts";

/** What every intent tells: whose it is, and when it was begun (ISO 8601). */
export const anyIntent = z.object({ urn: z.string(), startedAt: z.string() });

const fileOf = (directory: string, urn: string): string =>
  join(directory, ".microapps", "intents", `${createHash("sha256").update(urn).digest("hex").slice(0, 32)}.json`);

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
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
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

/** Writes an intent such that it is on disk, whole, when this returns; tells its file. */
export async function writeIntent(
  directory: string,
  intent: z.output<typeof anyIntent> & Record<string, unknown>,
): Promise<string> {
  const path = fileOf(directory, intent.urn);
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
