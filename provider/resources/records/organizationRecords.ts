import { relative } from "node:path";
import { quote } from "../../messages/text.ts";
import type { OfflineContext, InputProblem } from "../model/resource.ts";
import { leniently, nameOf, ownersIn, remedy, type OwnerRecord, type RecordPlace } from "./owners.ts";

const owners = ownersIn("organizations", { name: "name", content: "organization" });

type PlaceOfRun = RecordPlace & Pick<OfflineContext, "organizationNames">;

/**
 * Finds out whether another organization of this stack has the name. Names are unique on the platform, and no provider learns
 * of resources that left the program; so a small file for each name keeps its owner. Without that file (in a fresh clone)
 * the platform refuses the name.
 */
export async function checkName(
  context: PlaceOfRun,
  { urn, name, isNew }: { urn: string; name: string; isNew: boolean },
): Promise<InputProblem[]> {
  const declared = context.organizationNames;
  declared.set(urn, name);
  if (!isNew) return [];
  const path = await owners.pathOf(context, urn, name);
  const found = path === undefined ? undefined : await owners.at(path);
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

const quotedName = (urn: string): string => quote(nameOf(urn));

/** Advice when a name is taken, perhaps by an organization of the stack itself, under its former name. */
export const takenHint =
  "If it is an organization of this stack that has another key now, say the former one: formerly: [<key>] beside the " +
  "new key in the environment file, or the option aliases in a program. Otherwise choose another name.";

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
export const noteName = (context: RecordPlace, { urn, name, id }: Known, isCertain = true): Promise<void> =>
  leniently(async () => {
    const path = urn === undefined || name === undefined ? undefined : await owners.pathOf(context, urn, name, true);
    if (path === undefined || urn === undefined) return;
    const before = await owners.at(path);
    const isSame = before !== undefined && (id === undefined || before.id === undefined || before.id === id);
    const record: OwnerRecord = { urn: isSame && !isCertain ? before.urn : urn };
    const known = id ?? (isSame ? before.id : undefined);
    if (known !== undefined) record.id = known;
    if (before?.urn === record.urn && before.id === record.id) return;
    await owners.write(path, record);
  });

/** Forgets the owner of a name that it no longer uses; keeps a new owner. */
export const forgetName = (context: PlaceOfRun, { urn, name, id }: Known): Promise<void> =>
  leniently(async () => {
    const path = urn === undefined || name === undefined ? undefined : await owners.pathOf(context, urn, name);
    const found = path === undefined ? undefined : await owners.at(path);
    if (path === undefined || !found) return;
    const isItsOwn =
      found.id === undefined ? found.urn === urn || !context.organizationNames.has(found.urn) : found.id === id;
    if (isItsOwn) await owners.remove(path);
  });
