import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { isAbsent } from "../../../machine/failures.ts";
import { quote } from "../../messages/text.ts";
import type { OfflineContext } from "../model/resource.ts";
import { sealOf } from "./seals.ts";

/** Which resource something belongs to. */
const recordSchema = z.object({
  urn: z.string().regex(/^urn:pulumi:[^\s\p{Cc}]+$/u),
  id: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional(),
});
export type OwnerRecord = z.output<typeof recordSchema>;

/** As it stands in a file: one that this user of this machine did not write is not believed. */
const sealedRecord = recordSchema.extend({ seal: z.string() });

export type RecordPlace = Pick<OfflineContext, "directory" | "platform">;

/** Small files beside the state, each of one thing of a stack: no provider learns of resources that left the program. */
export interface Owners {
  /** The file of a thing of a URN's stack on a platform; undefined where none can be kept. */
  pathOf: (context: RecordPlace, urn: string, thing: string, create?: boolean) => Promise<string | undefined>;
  at: (path: string) => Promise<OwnerRecord | undefined>;
  write: (path: string, record: OwnerRecord) => Promise<void>;
  remove: (path: string) => Promise<void>;
}

/**
 * @param folder below .microapps
 * @param purposes keep seals of files' names and contents from being believed elsewhere
 */
export function ownersIn(folder: string, purposes: { name: string; content: string }): Owners {
  const sealFor = (path: string, { urn, id }: OwnerRecord): string | undefined =>
    sealOf(purposes.content, basename(path), urn, id);
  return {
    // A thing's name may be a secret, so its file is named by a digest that nobody else can make.
    pathOf: async ({ directory, platform }, urn, thing, create = false) => {
      const place = join(directory, ".microapps", folder);
      if (create) await mkdir(place, { recursive: true, mode: 0o700 });
      for (const each of [join(place, ".."), place]) if (!(await isPlain(each, "directory"))) return undefined;
      const [stack, project] = urn.split("::");
      const digest = sealOf(purposes.name, stack, project, platform, thing)?.slice(0, 32);
      return digest === undefined ? undefined : join(place, `${digest}.json`);
    },
    at: async (path) => {
      const text = await smallText(path);
      if (text === undefined) return undefined;
      try {
        const { seal, ...record } = sealedRecord.parse(JSON.parse(text));
        return seal === sealFor(path, record) ? record : undefined;
      } catch (error) {
        // Somebody else's: the next one who notes the thing replaces it.
        if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
        throw error;
      }
    },
    write: (path, record) => writeWhole(path, `${JSON.stringify({ ...record, seal: sealFor(path, record) })}\n`),
    remove: (path) => rm(path, { force: true }),
  };
}

/** A record is a convenience: a folder that can't be written must not be the end of a run. */
export async function leniently(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}

/** A file's content, or `otherwise` where there is no file. Throws for other errors: an unread record is not a missing one. */
export async function unlessAbsent<Found, Other>(reading: Promise<Found>, otherwise: Other): Promise<Found | Other> {
  try {
    return await reading;
  } catch (error) {
    if (isAbsent(error)) return otherwise;
    throw error;
  }
}

/** The error code of a file system. */
export const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;

/** True if a path is a file or folder itself: what a link leads to, or has a second name, is nobody's record. */
async function isPlain(path: string, kind: "file" | "directory"): Promise<boolean> {
  const found = await unlessAbsent(lstat(path), undefined);
  return (
    (kind === "file" ? found?.isFile() && found.nlink === 1 && found.size < 10_000 : found?.isDirectory()) ?? false
  );
}

const smallText = async (path: string): Promise<string | undefined> =>
  (await isPlain(path, "file")) ? unlessAbsent(readFile(path, "utf8"), undefined) : undefined;

/** Writes a file such that nobody sees a part of it. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(draft, text, { flag: "wx", mode: 0o600 });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Explains how to declare that the new resource is the former one. */
export function remedy(former: string, now: string): string {
  const [before, after] = [nameOf(former), nameOf(now)];
  const inFile = [former, now].every((urn) => (urn.split("::")[2] ?? "").startsWith("microapps:index:Environment$"));
  const [component, key] = split(before);
  const [newComponent, newKey] = split(after);
  if (inFile && component === newComponent) {
    return `If its key ${quote(key)} became ${quote(newKey)}, write formerly: [${key}] under ${quote(newKey)} in the environment file.`;
  }
  if (inFile && key === newKey) {
    return `If the Environment ${quote(component)} became ${quote(newComponent)}, give that one the option aliases: [{ name: ${quote(component)} }].`;
  }
  return `If ${quote(after)} is its new name in the program, give it the option aliases: [${quote(former)}].`;
}

export const nameOf = (urn: string): string => urn.split("::").at(-1) ?? urn;

function split(name: string): [component: string, key: string] {
  const at = name.lastIndexOf("/");
  return [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
}
