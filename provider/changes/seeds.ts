import { createHash } from "node:crypto";
import { withRowEdits, type SeedDeclaration } from "../environment/schema.ts";
import { addFile, openFile } from "../files/files.ts";
import { tooManyRemovals } from "../reconcile/guards.ts";
import { summarize } from "../resources/rows/declared/declaration.ts";
import { editsOf, positionOf } from "../sources/edits.ts";
import { SourceError } from "../sources/read.ts";
import { placeOf } from "../sources/source.ts";
import { isPointer } from "./base/commits.ts";
import { orderedChanges, noTally, type Note, type Thing } from "./model/changeSet.ts";
import { stable } from "./model/values.ts";
import { settingsOf, thingOf, type Both, type Pair } from "./pairs.ts";
import { compareRows, countOf, UnreadBase, type RowChanges, type SeedSource } from "./rows.ts";
import type { Declared } from "./source.ts";

/** Properties of a seed that decide which rows it has. */
const rowSettings = ["key", "types", "references", "parent"] as const;

/** The verbs by which a file edits the rows of a source. */
const verbs = { additions: "rows+", changes: "rows~", removals: "rows-" } as const;

export interface ComparedSeed {
  thing?: Thing | undefined;
  problems: Note[];
}

/** How a seed changes: its settings, and its rows by natural key. */
export async function compareSeed({ base, head }: Both, pair: Pair<SeedDeclaration>): Promise<ComparedSeed> {
  const place = (path: readonly string[], isBase: boolean): string =>
    (isBase ? base : head).place(["seeds", isBase ? pair.keys.base : pair.keys.head, ...path]);
  const settings = settingsOf(
    pair.before ?? {},
    pair.after ?? {},
    ["rows", ...Object.values(verbs), "formerly"],
    (name, isBase) => place([name], isBase),
  );
  try {
    const rows = await rowsOf(pair, base, head).catch((error: unknown) => {
      if (!(error instanceof UnreadBase)) throw error;
      return unreadRows(`those of the base have a mistake: ${error.message.split("\n", 1).join()}`);
    });
    const changes = orderedChanges([...settings, ...(rows?.changes ?? [])]);
    const isTouched =
      rows !== undefined && (rows.notes.length > 0 || rows.tally.add + rows.tally.change + rows.tally.remove > 0);
    const own =
      thingOf("seed", pair, place([], !pair.after), changes) ??
      (isTouched ? untitled(pair, place([], false)) : undefined);
    return { thing: own && completed(own, pair, rows), problems: [] };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    const problems = error.message.split("\n").map((text) => ({ text }));
    return { thing: thingOf("seed", pair, place([], !pair.after), settings), problems };
  }
}

/** A seed of which nothing but rows changes, none of which may be shown. */
const untitled = ({ name }: Pair<SeedDeclaration>, place: string): Thing => ({
  kind: "seed",
  name,
  op: "change",
  place,
  changes: [],
  omitted: 0,
  notes: [],
  guards: [],
});

function completed(thing: Thing, { before, after }: Pair<SeedDeclaration>, rows: RowChanges | undefined): Thing {
  const notes = [...thing.notes, ...(rows?.notes ?? []), ...modeNotes(after ?? before, rows, after === undefined)];
  const isMoved = before && after && before.table !== after.table;
  const columns = rows?.columns && { columns: rows.columns };
  const counted = rows ? { rows: rows.tally, ...columns, omitted: rows.omitted } : {};
  return {
    ...thing,
    ...counted,
    ...(isMoved ? { op: "replace" as const } : {}),
    notes,
    guards: guardsOf(before, after, rows),
  };
}

/** Why a run would refuse this many removals, if the platform has what the base declares. */
function guardsOf(
  before: SeedDeclaration | undefined,
  after: SeedDeclaration | undefined,
  rows: RowChanges | undefined,
): string[] {
  if (!before || !after || !rows) return [];
  const { tally, matched } = rows;
  const removed = before.table === after.table ? (after.mode === "exact" && matched ? tally.remove : 0) : rows.before;
  if (before.table !== after.table && before.onDestroy === "retain") return [];
  const refusal = tooManyRemovals("rows", removed, rows.before, after.maxRemovals);
  return refusal === undefined ? [] : [refusal];
}

/** Notes where the platform will differ from the counts. */
function modeNotes(seed: SeedDeclaration | undefined, rows: RowChanges | undefined, isRemoved: boolean): string[] {
  if (!seed || !rows) return [];
  const { change, remove } = rows.tally;
  if (isRemoved) return seed.onDestroy === "retain" ? ['onDestroy is "retain": the rows stay on the platform'] : [];
  return [
    ...(seed.mode !== "exact" && remove > 0
      ? [`mode is "${seed.mode}": rows that leave the source stay on the platform`]
      : []),
    ...(seed.mode === "insertOnly" && change > 0 ? ['mode is "insertOnly": rows that are there are not changed'] : []),
  ];
}

/** How the rows change; undefined when they can't have. */
async function rowsOf(
  { before, after, keys }: Pair<SeedDeclaration>,
  base: Declared,
  head: Declared,
): Promise<RowChanges | undefined> {
  const sides = {
    base: before && sourceOf(before, base, keys.base),
    head: after && sourceOf(after, head, keys.head),
  };
  const unread =
    (sides.base && base.unread?.(sides.base.seed.source ?? "")) ??
    (sides.head?.seed.source === undefined ? undefined : head.unread?.(sides.head.seed.source)) ??
    (await pointerIn(sides.head));
  if (unread !== undefined) return unreadRows(unread);
  if (sides.base && sides.head) {
    if (await isSame(sides.base, sides.head)) return undefined;
    await summarize(withFields(sides.head.seed, head), head.folder);
    return compareRows(sides.base, sides.head);
  }
  if (sides.head) await summarize(withFields(sides.head.seed, head), head.folder);
  const only = sides.head ?? sides.base;
  if (!only) return undefined;
  const count = await countOf(only); // of the head, it was read just now without a mistake
  const tally = { ...noTally(), [sides.head ? "add" : "remove"]: count };
  // A new seed has its rows in the same change, a former one in the base: they are not listed once more.
  return { changes: [], tally, before: sides.head ? 0 : count, matched: true, omitted: count, notes: [] };
}

/** Changes of rows that were not compared, with the reason. */
const unreadRows = (why: string): RowChanges => ({
  changes: [],
  tally: noTally(),
  before: 0,
  matched: false,
  omitted: 0,
  notes: [`rows not compared: ${why}`],
});

/** Whether a source is what Git LFS leaves in place of a file. */
async function pointerIn(side: SeedSource | undefined): Promise<string | undefined> {
  const source = side?.seed.source;
  if (!side || source === undefined) return undefined;
  const start = await startOf(side.folder, source);
  return isPointer(start) ? `${source} is a pointer of Git LFS: fetch the file with "git lfs pull"` : undefined;
}

/** The labels of a seed that nobody may read. */
export function secretsOf(seed: SeedDeclaration): SeedSource["secret"] {
  if (seed.sensitive) return "all";
  return new Set(seed.secretLabels);
}

const sourceOf = (declared: SeedDeclaration, { folder, place }: Declared, key: string): SeedSource => {
  const seed = withRowEdits(declared);
  return {
    seed,
    folder,
    secret: secretsOf(seed),
    place: (line) => {
      const edit = positionOf(line);
      if (edit) return place(["seeds", key, verbs[edit.list], edit.index]);
      return seed.source === undefined ? place(["seeds", key, "rows", line - 1]) : placeOf(seed, line);
    },
  };
};

/** A seed with the types of its table's fields, where the file has them. */
export function withFields(
  seed: SeedDeclaration,
  { declaration }: Declared,
): SeedDeclaration & { fields?: Declared["declaration"]["fields"][string] } {
  const fields = declaration.fields[seed.table];
  return fields ? { ...seed, fields } : seed;
}

/** Whether two seeds have the same rows in the same words, which need not be read then. */
async function isSame(one: SeedSource, other: SeedSource): Promise<boolean> {
  const settings = ({ seed }: SeedSource): string =>
    stable([...rowSettings.map((name) => seed[name] ?? null), editsOf(seed)]);
  if (settings(one) !== settings(other)) return false;
  const [first, second] = [one.seed, other.seed];
  if (first.rows || second.rows) return stable(first.rows) === stable(second.rows);
  if (first.source === undefined || second.source === undefined) return false;
  const [a, b] = [await digestOf(one.folder, first.source), await digestOf(other.folder, second.source)];
  return a !== undefined && a === b;
}

async function startOf(folder: string, source: string): Promise<string> {
  try {
    const file = await openFile(folder, source);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(100), 0, 100, 0);
      return buffer.toString("latin1", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return "";
  }
}

async function digestOf(folder: string, source: string): Promise<string | undefined> {
  const digest = createHash("sha256");
  return (await addFile(digest, folder, source)) ? digest.digest("hex") : undefined;
}
