import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { z } from "zod";
import { quoted } from "../../messages/text.ts";
import type { OfflineContext, Problem } from "../model/resource.ts";
import { sealOf } from "./seals.ts";

/** Which resource an organization's name was last seen with. */
const recordSchema = z.object({
  urn: z.string().regex(/^urn:pulumi:[^\s\p{Cc}]+$/u),
  id: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional(),
});
type Record = z.output<typeof recordSchema>;

/** As it stands in a file: one that this user of this machine did not write is not believed. */
const sealedRecord = recordSchema.extend({ seal: z.string() });

type Place = Pick<OfflineContext, "directory" | "platform">;
type PlaceOfRun = Place & Pick<OfflineContext, "organizationNames">;

/**
 * Finds out whether another organization of this stack has the name. Names are unique on the platform, and no provider learns
 * of resources that left the program; so a small file for each name keeps its owner. Without that file (in a fresh clone)
 * the platform refuses the name.
 */
export async function checkName(
  context: PlaceOfRun,
  { urn, name, isNew }: { urn: string; name: string; isNew: boolean },
): Promise<Problem[]> {
  const declared = context.organizationNames;
  declared.set(urn, name);
  if (!isNew) return [];
  const path = await pathOf(context, urn, name);
  const found = path === undefined ? undefined : await recordAt(path);
  if (path === undefined || !found || found.urn === urn) return [];
  const now = declared.get(found.urn);
  if (now !== undefined && now !== name) return []; // this run gives it another name
  const whose = `${quotedName(found.urn)}${found.id === undefined ? "" : ` (${found.id})`}`;
  const reason =
    now === name
      ? `is that of organization ${whose}, too, and names are unique on the platform: choose another`
      : `is that of organization ${whose}, which this stack made, and names are unique on the platform. ` +
        `${remedy(found.urn, urn)} If that organization is gone from the platform, delete ${relative(context.directory, path)}.`;
  return [{ property: "name", reason }];
}

/** What to do when a name is taken that may be that of an organization of the stack itself, under its former name. */
export const takenHint =
  "If it is an organization of this stack that has another key now, say the former one: formerly: [<key>] beside the " +
  "new key in the environment file, or the option aliases in a program. Otherwise choose another name.";

/** Explains how to declare that the new resource is the former one. */
function remedy(former: string, now: string): string {
  const [before, after] = [nameOf(former), nameOf(now)];
  const inFile = [former, now].every((urn) => (urn.split("::")[2] ?? "").startsWith("microapps:index:Environment$"));
  const [component, key] = split(before);
  const [newComponent, newKey] = split(after);
  if (inFile && component === newComponent) {
    return `If its key ${quoted(key)} became ${quoted(newKey)}, write formerly: [${key}] under ${quoted(newKey)} in the environment file.`;
  }
  if (inFile && key === newKey) {
    return `If the Environment ${quoted(component)} became ${quoted(newComponent)}, give that one the option aliases: [{ name: ${quoted(component)} }].`;
  }
  return `If ${quoted(after)} is its new name in the program, give it the option aliases: [${quoted(former)}].`;
}

const nameOf = (urn: string): string => urn.split("::").at(-1) ?? urn;
const quotedName = (urn: string): string => quoted(nameOf(urn));

function split(name: string): [component: string, key: string] {
  const at = name.lastIndexOf("/");
  return [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
}

/** An organization as a state and the platform have it. */
interface Known {
  urn: string | undefined;
  name: string | undefined;
  id?: string;
}

/**
 * Notes whose an organization's name is. `urn` counts more than what was noted before, except after a read: a state may
 * have the URN that the resource had when it was last changed.
 */
export const noteName = (context: Place, { urn, name, id }: Known, isCertain = true): Promise<void> =>
  leniently(async () => {
    const path = urn === undefined || name === undefined ? undefined : await pathOf(context, urn, name, true);
    if (path === undefined || urn === undefined) return;
    const before = await recordAt(path);
    const isSame = before !== undefined && (id === undefined || before.id === undefined || before.id === id);
    const record: Record = { urn: isSame && !isCertain ? before.urn : urn };
    const known = id ?? (isSame ? before.id : undefined);
    if (known !== undefined) record.id = known;
    if (before?.urn === record.urn && before.id === record.id) return;
    await writeWhole(path, `${JSON.stringify({ ...record, seal: sealFor(path, record) })}\n`);
  });

/** Forgets the owner of a name that it no longer uses; keeps a new owner. */
export const forgetName = (context: PlaceOfRun, { urn, name, id }: Known): Promise<void> =>
  leniently(async () => {
    const path = urn === undefined || name === undefined ? undefined : await pathOf(context, urn, name);
    const found = path === undefined ? undefined : await recordAt(path);
    if (path === undefined || !found) return;
    const isItsOwn =
      found.id === undefined ? found.urn === urn || !context.organizationNames.has(found.urn) : found.id === id;
    if (isItsOwn) await rm(path, { force: true });
  });

/** A record is a convenience: a folder that can't be written must not be the end of a run. */
async function leniently(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
  }
}

/** What a file system says that it is. */
const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;

const folderOf = ({ directory }: Place): string => join(directory, ".microapps", "organizations");

/**
 * The file of a name in a stack on a platform; undefined where none can be kept. A name may be a secret, so it is called
 * by a digest that nobody else can make.
 */
async function pathOf(context: Place, urn: string, name: string, create = false): Promise<string | undefined> {
  const folder = folderOf(context);
  if (create) await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const each of [join(folder, ".."), folder]) if (!(await isPlain(each, "directory"))) return undefined;
  const [stack, project] = urn.split("::");
  const digest = sealOf("name", stack, project, context.platform, name)?.slice(0, 32);
  return digest === undefined ? undefined : join(folder, `${digest}.json`);
}

const sealFor = (path: string, { urn, id }: Record): string | undefined =>
  sealOf("organization", basename(path), urn, id);

async function recordAt(path: string): Promise<Record | undefined> {
  const text = await smallText(path);
  if (text === undefined) return undefined;
  try {
    const { seal, ...record } = sealedRecord.parse(JSON.parse(text));
    return seal === sealFor(path, record) ? record : undefined;
  } catch {
    return undefined; // somebody else's; the next one who notes the name replaces it
  }
}

/** Whether a path is a file or folder itself: what a link leads to is nobody's record. */
async function isPlain(path: string, kind: "file" | "directory"): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return (
    (kind === "file" ? found?.isFile() && found.nlink === 1 && found.size < 10_000 : found?.isDirectory()) ?? false
  );
}

const smallText = async (path: string): Promise<string | undefined> =>
  (await isPlain(path, "file")) ? readFile(path, "utf8").catch(() => undefined) : undefined;

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
