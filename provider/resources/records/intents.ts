import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { z } from "zod";
import { isAbsent } from "../../../machine/failures.ts";
import { isTracked } from "../../files/tracked.ts";
import { ResourceError } from "../model/resource.ts";
import { sealOf } from "./seals.ts";

/** Fields of every intent: whose it is, and when it was begun (ISO 8601). */
export const anyIntent = z.object({ urn: z.string(), startedAt: z.string() });

const folder = join(".microapps", "intents");

const fileOf = (directory: string, urn: string): string =>
  join(directory, folder, `${createHash("sha256").update(urn).digest("hex").slice(0, 32)}.json`);

/** An intent that was found: its file, for people, and whether this user of this machine wrote it. */
interface Found {
  file: string;
  isSealed: boolean;
}

/**
 * A resource's intent of an earlier run, which can't be read back from the platform; undefined when there is none. Call
 * `refuseUnsealed` before believing it.
 */
export async function readIntent<Schema extends typeof anyIntent>(
  directory: string,
  urn: string,
  schema: Schema,
): Promise<(z.output<Schema> & Found) | undefined> {
  const file = relative(directory, fileOf(directory, urn));
  const text = await textOf(directory, file);
  if (text === undefined) return undefined;
  const [record, intent] = parsed(file, text, schema);
  return { ...intent, file, isSealed: intent.urn === urn && isSealed(record) };
}

/** Throws when others may have written an intent. */
export function refuseUnsealed({ file, isSealed }: Found): void {
  if (isSealed) return;
  throw new ResourceError(
    `the intent file ${file} does not have the seal of this user on this machine, so others may have written it: ` +
      `nothing was done. Read it: if it is yours, from an earlier version or another machine, look on the platform ` +
      `whether what it tells was done. Then delete it, and run up again.`,
  );
}

/** The text of an intent file; undefined when there is none. Throws when a branch may have brought it along. */
async function textOf(directory: string, file: string): Promise<string | undefined> {
  await refuseLinks(directory, file);
  const path = join(directory, file);
  let text: string;
  try {
    await refuseSecondNames(path, file);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  if (isTracked(path)) {
    throw new ResourceError(
      `the intent file ${file} is tracked by Git, so others may have written it: nothing was done. It belongs to one ` +
        `working copy: remove it from the repository (git rm --cached), and keep .microapps in .gitignore.`,
    );
  }
  return text;
}

/** Throws when a file has another name elsewhere: whoever has that one writes here, too. */
async function refuseSecondNames(path: string, file: string): Promise<void> {
  const { nlink } = await lstat(path);
  if (nlink < 2) return;
  throw new ResourceError(
    `the intent file ${file} is a hard link, so others may write it: nothing was done. Copy it, delete it and put the ` +
      `copy in its place if it is yours.`,
  );
}

/** Parses an intent: all of its fields, and those of the schema. */
function parsed<Schema extends z.ZodType>(
  file: string,
  text: string,
  schema: Schema,
): [SealedFields, z.output<Schema>] {
  try {
    const record: unknown = JSON.parse(text);
    return [z.looseObject({}).parse(record), schema.parse(record)];
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ResourceError(
      `the intent file ${file} is broken (${reason}). Correct it, or delete it when what it is about was not done.`,
    );
  }
}

type SealedFields = Readonly<Record<string, unknown>>;

/** The seal of an intent, in whatever order its parts stand. */
const sealFor = ({ seal: _, ...fields }: SealedFields): string | undefined =>
  sealOf(
    "intent",
    Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * True when this user's runs wrote it. The link is exempt: a person may have added one that the platform never
 * returned.
 */
function isSealed({ seal, ...fields }: SealedFields): boolean {
  if (typeof seal !== "string") return false;
  const { link: _, ...withoutLink } = fields;
  return seal === sealFor(fields) || seal === sealFor(withoutLink);
}

/** Throws when a part of the way to a file is a symbolic link, which a branch may have brought along. */
async function refuseLinks(directory: string, file: string): Promise<void> {
  let part = directory;
  for (const name of file.split(sep)) {
    part = join(part, name);
    const found = await unlessAbsent(lstat(part), undefined); // what is not there is no link
    if (!found?.isSymbolicLink()) continue;
    throw new ResourceError(
      `${relative(directory, part)} is a symbolic link, so what stands behind it may be anybody's: nothing was done. ` +
        `Remove the link.`,
    );
  }
}

/** Writes an intent such that it is on disk, whole, when this returns; answers its file. */
export async function writeIntent(
  directory: string,
  intent: z.output<typeof anyIntent> & Record<string, unknown>,
): Promise<string> {
  const path = fileOf(directory, intent.urn);
  await refuseLinks(directory, relative(directory, path));
  await mkdir(join(path, ".."), { recursive: true });
  await refuseLinks(directory, relative(directory, path)); // of what was made meanwhile, too
  const draft = `${path}.${randomBytes(6).toString("hex")}`; // nobody can put a link there before
  const file = await open(draft, "wx", 0o600);
  try {
    const fields = JSON.parse(JSON.stringify(intent)) as SealedFields; // as it will be read
    await file.writeFile(`${JSON.stringify({ ...fields, seal: sealFor(fields) }, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path).catch(async (error: unknown) => {
    await rm(draft, { force: true });
    throw error;
  });
  return relative(directory, path);
}

/** Removes the intent of a resource. */
export const forgetIntent = (directory: string, urn: string): Promise<void> =>
  rm(fileOf(directory, urn), { force: true });

/** A file's content, or `otherwise` where there is no file. Throws for other errors: an unread record is not a missing one. */
async function unlessAbsent<Found, Other>(reading: Promise<Found>, otherwise: Other): Promise<Found | Other> {
  try {
    return await reading;
  } catch (error) {
    if (isAbsent(error)) return otherwise;
    throw error;
  }
}
