import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { finishedAppLink, appIDIn } from "../contract/apps.ts";
import { ResourceError } from "./resource.ts";

const intent = z.object({
  urn: z.string(),
  userEmail: z.string(),
  promptDigest: z.string(), // the prompt itself may be secret
  startedAt: z.string(),
  link: z
    .string()
    .refine(
      (link) => finishedAppLink(link) !== undefined,
      "must be a link to an app, such as …/workspace/apps/<app_id>",
    )
    .optional(),
});

/** What is about to be done and cannot be read back from the platform: on disk before the call. */
export type Intent = z.output<typeof intent>;

const fileOf = (directory: string, urn: string): string =>
  join(directory, ".microapps", "intents", `${createHash("sha256").update(urn).digest("hex").slice(0, 32)}.json`);

/** The intent of a resource that an earlier run left, with its file for people; undefined when there is none. */
export async function readIntent(directory: string, urn: string): Promise<(Intent & { file: string }) | undefined> {
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
    return { ...intent.parse(JSON.parse(text)), file };
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ResourceError(
      `the intent file ${file} is broken (${reason}). Correct it, or delete it when no app was generated.`,
    );
  }
}

/** The form in which an intent remembers a prompt. White space does not count. */
export const promptDigest = (prompt: string): string =>
  createHash("sha256").update(words(prompt)).digest("hex").slice(0, 32);

/** A prompt without the white space that does not count. */
export const words = (prompt: string): string => prompt.trim().replaceAll(/\s+/g, " ");

/** Writes an intent such that it is on disk, whole, when this returns; tells its file. */
export async function writeIntent(directory: string, intent: Intent): Promise<string> {
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

/** Removes the intent of a resource; with an app ID only when it is about that app. */
export async function forgetIntent(directory: string, urn: string, appID?: string): Promise<void> {
  if (appID !== undefined) {
    const found = await readIntent(directory, urn);
    if (found?.link === undefined || appIDIn(found.link) !== appID) return;
  }
  await rm(fileOf(directory, urn), { force: true });
}
