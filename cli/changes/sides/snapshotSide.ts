import { createWriteStream, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isNotFound } from "../../../provider/contract/errors.ts";
import { withoutUndefined } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { things, type DeclaredThing } from "../../../provider/environment/things/things.ts";
import { toPlainValue } from "../../../provider/layers/document.ts";
import { Lookup } from "../../../provider/reconcile/references.ts";
import type { LinkDeclaration } from "../../../provider/resources/rows/declared/links.ts";
import type { RowContext } from "../../../provider/resources/rows/live/context.ts";
import { Links } from "../../../provider/resources/rows/live/links.ts";
import type { Declared } from "../model/source.ts";
import { placePeople, type PlatformOrganization } from "./platformPeople.ts";
import { SeedReader } from "./platformRows.ts";
import { declarationOf, SideError, type ReadSide } from "./sides.ts";

/** A platform of which everything can be listed. */
export interface ListedPlatform {
  context: RowContext;
  organizations: readonly PlatformOrganization[];
  tables: readonly { id: string; name: string | null; rows: number }[];
  /** Address of its first administrator, who is in each team that this account made. */
  administrator: string | undefined;
}

/**
 * Reads a platform in the words of a declaration: what that has is looked for by names of organizations and teams, IDs of
 * tables, natural keys and addresses, and written as an environment of its own. What it has not is named. Throws a SideError.
 */
export async function readPlatformSide(platform: ListedPlatform, like: Declared, shown: string): Promise<ReadSide> {
  if (!like.document) throw new SideError(`${like.file} breaks its own rules: mend it first`);
  const notes: string[] = [];
  const why: string[] = [];
  const content = toPlainValue(like.document.root) as Record<string, unknown>; // an environment is a map
  const root = realpathSync(mkdtempSync(join(tmpdir(), "microapps-snapshot-")));
  const remove = (): void => rmSync(root, { recursive: true, force: true });
  try {
    mkdirSync(join(root, ".git")); // the reader takes it for a repository, and reads nothing beyond it
    for (const name of ["rules", "extends"]) Reflect.deleteProperty(content, name);
    const people = placePeople(platform, content["organizations"]);
    notes.push(...people.notes);
    why.push(...people.why);
    const seeds: Record<string, unknown> = {};
    for (const thing of things(like.declaration).filter(({ kind }) => kind === "SeedRows"))
      await readSeed(thing, { platform, like, root, seeds, notes, why, content });
    nameOthers(platform, like, notes);
    if (Object.keys(like.declaration.apps).length > 0) why.push(`apps of ${shown} are not compared`);
    const file = "environment.yaml";
    const environment = { ...content, organizations: people.organizations, seeds };
    writeFileSync(join(root, file), JSON.stringify(environment), { mode: 0o600 }); // JSON is YAML
    const more = {
      notes: notes.map((note) => `${shown}: ${note}`),
      ...(why.length > 0 ? { why: why.join("; ") } : {}),
    };
    return { declared: { ...declarationOf(file, root, shown), place: () => shown }, isPlatform: true, ...more, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

interface SeedWork {
  platform: ListedPlatform;
  like: Declared;
  root: string;
  seeds: Record<string, unknown>;
  notes: string[];
  why: string[];
  content: Readonly<Record<string, unknown>>;
}

/** Writes the rows of one seed into a file of its own, and declares it as the other side does. */
async function readSeed(
  thing: DeclaredThing,
  { platform, like, root, seeds, notes, why, content }: SeedWork,
): Promise<void> {
  const [, name = ""] = thing.path;
  const all = isObject(content["seeds"]) ? content["seeds"] : {};
  const written = isObject(all[name]) ? all[name] : {};
  const seed = like.declaration.seeds[name];
  if (!seed) return;
  if (isObject(written["table"]) || isObject(written["key"])) {
    why.push(`the table of ${name} comes from the configuration, so its rows are not compared`);
    return;
  }
  const { context } = platform;
  const { references, parent } = thing.inputs as LinkDeclaration; // of a seed's thing
  const links = await Links.of(context, { table: seed.table, references, parent }, () => new Lookup());
  const reader = await SeedReader.of(name, like);
  const file = `rows-${Object.keys(seeds).length}.ndjson`;
  try {
    await pipeline(reader.lines(context, links), createWriteStream(join(root, file), { mode: 0o600 }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    notes.push(`there is no table ${seed.table}`);
  }
  notes.push(...reader.notes);
  if (reader.count === 0) return; // a seed without rows is none
  const rowLabels = ["rows", "rows+", "rows~", "rows-", "formerly", "references", "parent"];
  const settings = Object.entries(written).filter(([label]) => !rowLabels.includes(label));
  // By table and key: the seed that is named may have no rows.
  seeds[name] = { ...Object.fromEntries(settings), ...withoutUndefined({ references, parent }), source: file };
}

/** Names the tables with rows that no seed of the declaration has. */
function nameOthers({ tables }: ListedPlatform, { declaration }: Declared, notes: string[]): void {
  const known = new Set(Object.values(declaration.seeds).map(({ table }) => table));
  const others = tables.filter(({ id, rows }) => rows > 0 && !known.has(id)).map(({ id }) => id);
  if (others.length > 0) notes.push(`tables that the other side has no seed of are not compared: ${others.join(", ")}`);
}
