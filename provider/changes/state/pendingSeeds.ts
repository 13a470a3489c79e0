import { nameBelow, type LogicalName } from "../../../sdk/logicalNames.ts";
import { isObject } from "../../contract/wire.ts";
import { formerKeys } from "../../environment/formerKeys.ts";
import { withRowEdits, type SeedDeclaration } from "../../environment/schema.ts";
import { canonical } from "../../reconcile/digests.ts";
import { tooManyRemovals } from "../../reconcile/guards.ts";
import { decodeLedger, type Ledger } from "../../reconcile/ledger.ts";
import { planOffline } from "../../reconcile/rows.ts";
import { keyOf, keysOf, summarize } from "../../resources/rows/declared/declaration.ts";
import { callsAhead } from "../../resources/rows/reports.ts";
import { seedRows } from "../../resources/seedRows.ts";
import { hasEdits, type RowEdits } from "../../sources/edits.ts";
import { read, SourceError } from "../../sources/read.ts";
import { noTally, orderedChanges, type Change, type Tally, type Thing } from "../model/changeSet.ts";
import { settingChanges, stable } from "../model/values.ts";
import { secretsOf, withFields } from "../seeds.ts";
import type { Declared } from "../source.ts";
import { opened, type StateResource } from "./state.ts";
import type { Found, Search } from "./stateSearch.ts";
import { applied, declaredSettings } from "./stateSettings.ts";

/** Rows of each kind that are named. */
const maxNamed = 1_000;

/** The pending changes of the rows. */
interface PendingRows {
  tally: Tally;
  changes: Change[];
  omitted: number;
  notes: string[];
  guards: string[];
  calls: number;
  isSealed?: boolean;
}

/** A seed as resources have it: what names other seeds of the file has their table and key. */
export function resolved(
  { formerly: _, ...declaration }: SeedDeclaration,
  declared: Declared,
): SeedDeclaration & RowEdits {
  const seed = withRowEdits(declaration);
  const target = (rows: { seed: string } | { table: string; key: string }): { table: string; key: string } => {
    if (!("seed" in rows)) return { table: rows.table, key: rows.key };
    const named = declared.declaration.seeds[rows.seed];
    return { table: named?.table ?? "", key: named?.key[0] ?? "" };
  };
  const references = Object.entries(seed.references ?? {}).map(([label, rows]) => [label, target(rows)] as const);
  return {
    ...seed,
    ...(seed.references ? { references: Object.fromEntries(references) } : {}),
    ...(seed.parent ? { parent: { ...target(seed.parent), by: seed.parent.by } } : {}),
  };
}

/** What is pending of a seed: its settings, and its rows against the ledger of the state. */
export async function pendingSeed(search: Search, root: LogicalName, key: string, declared: Declared): Promise<Found> {
  const declaration = declared.declaration.seeds[key];
  if (!declaration) return { calls: 0 };
  const path = ["seeds", key];
  const seed = resolved(declaration, declared);
  const state = search.find("SeedRows", nameBelow(root, key, formerKeys(declaration.formerly)));
  const settings = declaredSettings(seedRows, seed, ["rows"]);
  const fields = state ? applied(state, settings) : [];
  const rows = await rowsOf(state, seed, declared);
  const sealed = rows.isSealed === true ? { isSealed: true } : {};
  const changed = rows.tally.add + rows.tally.change + rows.tally.remove > 0;
  if (state && fields.length === 0 && !changed) {
    const [note] = rows.notes;
    return { calls: 0, ...(note === undefined ? {} : { unread: `${key}: ${note}` }), ...sealed };
  }
  const changes = settingChanges(fields, (name) => declared.place([...path, name]));
  const isReplaced = fields.some(({ name }) => settings.replacing.has(name));
  const thing: Thing = {
    kind: "seed",
    name: key,
    op: state ? (isReplaced ? "replace" : "change") : "add",
    place: declared.place(path),
    rows: rows.tally,
    changes: orderedChanges([...changes, ...rows.changes]),
    omitted: rows.omitted,
    notes: rows.notes,
    guards: rows.guards,
  };
  return { thing, calls: rows.calls, ...sealed };
}

const unknownRows = (...notes: string[]): PendingRows => ({
  tally: noTally(),
  changes: [],
  omitted: 0,
  notes,
  guards: [],
  calls: 0,
});

async function rowsOf(
  state: StateResource | undefined,
  seed: SeedDeclaration & RowEdits,
  declared: Declared,
): Promise<PendingRows> {
  const unread = seed.source === undefined ? undefined : declared.unread?.(seed.source);
  if (unread !== undefined) return unknownRows(`rows not compared: ${unread}`);
  try {
    if (!state) return await newRows(seed, declared);
    const { ledger, salt, rowCount } = state.values;
    if (typeof ledger !== "string") return unknownRows("rows not compared: the state has no ledger of them");
    const key = opened(salt);
    if (!key)
      return await withoutSalt(
        state,
        seed,
        declared,
        typeof rowCount === "number" ? rowCount : decodeLedger(ledger).count,
      );
    return await withLedger(
      state,
      seed,
      declared,
      decodeLedger(ledger),
      typeof key.value === "string" ? key.value : undefined,
    );
  } catch (error) {
    if (error instanceof SourceError) return unknownRows(`rows not compared: ${error.message.split("\n", 1).join()}`);
    if (error instanceof RangeError) return unknownRows(`rows not compared: ${error.message}`);
    throw error;
  }
}

async function newRows(seed: SeedDeclaration & RowEdits, declared: Declared): Promise<PendingRows> {
  const { rows } = await summarize(withFields(seed, declared), declared.folder);
  const add = rows.length;
  const calls = callsAhead(linksIn(seed), { insert: add, update: 0, remove: 0 }, 0);
  return { ...unknownRows(), tally: { ...noTally(), add }, omitted: add, calls };
}

/** The digests of the state can't be made again: what is left are its natural keys, where it has them, and numbers. */
async function withoutSalt(
  { values }: StateResource,
  seed: SeedDeclaration & RowEdits,
  { folder }: Declared,
  before: number,
): Promise<PendingRows> {
  const sealed = "not compared: the salt of the digests is encrypted in the state";
  const known = opened(values["keys"])?.value;
  const applied = opened(values["rows"])?.value;
  const isEdited = hasEdits(seed) || ["additions", "changes", "removals"].some((name) => values[name] !== undefined);
  const isSameKey = stable(values["key"]) === stable(seed.key);
  if (secretsOf(seed) !== "all" && isSameKey && isObject(applied) && !isEdited)
    return inClear(applied, seed, folder, before);
  const keys = await keysOf(seed, folder);
  if (secretsOf(seed) !== "all" && Array.isArray(known) && isSameKey) {
    const [was, is] = [new Set(known.map(String)), new Set(keys)];
    const added = keys.filter((each) => !was.has(each));
    const removed = seed.mode === "exact" ? [...was].filter((each) => !is.has(each)) : [];
    const tally = { ...noTally(), add: added.length, remove: removed.length };
    if (tally.add + tally.remove === 0) return { ...unknownRows(), isSealed: true };
    const refusal = tooManyRemovals("rows", removed.length, before, seed.maxRemovals);
    return {
      ...unknownRows(),
      isSealed: true,
      ...named(
        [
          ["remove", removed],
          ["add", added],
        ],
        tally,
      ),
      tally,
      guards: refusal === undefined ? [] : [refusal],
      calls: tally.remove + 3,
    };
  }
  const net = keys.length - before;
  if (net === 0) return { ...unknownRows(), isSealed: true };
  return unknownRows(
    `rows are ${sealed}; ${before} were applied and ${keys.length} are declared, ${Math.abs(net)} ${net > 0 ? "more" : "fewer"}`,
  );
}

/** Rows that the program itself has stand in the state as they were applied, by their natural key. */
async function inClear(
  applied: Readonly<Record<string, unknown>>,
  seed: SeedDeclaration & RowEdits,
  folder: string,
  before: number,
): Promise<PendingRows> {
  const was = new Map(Object.entries(applied).map(([key, row]) => [key, canonical(row)]));
  const changed: string[] = [];
  const added: string[] = [];
  let same = 0;
  for await (const block of read(seed, folder)) {
    for (const { values } of block) {
      const key = keyOf(seed.key, values);
      if (!was.has(key)) added.push(key);
      else if (was.get(key) === canonical(values)) same++;
      else changed.push(key);
      was.delete(key);
    }
  }
  const removed = seed.mode === "exact" ? [...was.keys()] : [];
  const [add, change] = [added, seed.mode === "insertOnly" ? [] : changed];
  const tally = { add: add.length, change: change.length, remove: removed.length, same };
  const lists = [
    ["remove", removed],
    ["change", change],
    ["add", add],
  ] as const;
  const refusal = tooManyRemovals("rows", removed.length, before, seed.maxRemovals);
  const calls = callsAhead(
    linksIn(seed),
    { insert: add.length, update: change.length, remove: removed.length },
    before,
  );
  return { ...unknownRows(), ...named(lists, tally), tally, guards: refusal === undefined ? [] : [refusal], calls };
}

/** The links of a seed whose references are resolved. */
const linksIn = (seed: SeedDeclaration & RowEdits): Parameters<typeof callsAhead>[0] =>
  seed as Parameters<typeof callsAhead>[0];

async function withLedger(
  { values }: StateResource,
  seed: SeedDeclaration & RowEdits,
  declared: Declared,
  ledger: Ledger,
  salt: string | undefined,
): Promise<PendingRows> {
  const isReshaped = (["key", "references", "parent"] as const).some(
    (name) => stable(values[name] ?? null) !== stable(seed[name] ?? null),
  );
  if (isReshaped)
    return unknownRows(
      "what tells the rows apart, or what they refer to, changes: which rows that changes is seen on the platform",
    );
  const declaration = { ...withFields(seed, declared), ...(salt === undefined || salt === "" ? {} : { salt }) };
  const { rows } = await summarize(declaration, declared.folder);
  const plan = planOffline(rows, ledger, seed.mode);
  if (!plan.exact) {
    return unknownRows(
      `more than ${plan.moreThan} rows are added, changed or removed, ${plan.net >= 0 ? "+" : ""}${plan.net} in all`,
    );
  }
  const { insert, update, remove, unchanged, change } = plan;
  const tally = { add: insert, change: update, remove, same: unchanged };
  const refusal = tooManyRemovals("rows", remove, ledger.count, seed.maxRemovals);
  const guards = refusal === undefined ? [] : [refusal];
  const calls = insert + update + remove === 0 ? 0 : callsAhead(linksIn(seed), plan, ledger.count);
  if (secretsOf(seed) === "all") return { ...unknownRows(), tally, omitted: insert + update + remove, guards, calls };
  const namesOf = async (indices: readonly number[]): Promise<string[]> =>
    indices.length === 0 ? [] : keysOf(seed, declared.folder, new Set(indices));
  const last = opened(values["keys"])?.value;
  const missing = change.removed.flatMap(({ key }) => {
    const at = ledger.kind === "list" ? ledger.rows.find(key) : undefined;
    return Array.isArray(last) && at !== undefined ? [String(last[at])] : [];
  });
  const names = [
    ["remove", remove > 0 ? missing.slice(0, maxNamed) : []],
    ["change", update > 0 ? await namesOf(change.changed.slice(0, maxNamed)) : []],
    ["add", insert > 0 ? await namesOf(change.added.first(maxNamed)) : []],
  ] as const;
  return { ...unknownRows(), ...named(names, tally), tally, guards, calls };
}

function named(
  names: readonly (readonly [op: Change["op"], keys: readonly string[]])[],
  { add, change, remove }: Tally,
): Pick<PendingRows, "changes" | "omitted"> {
  const changes = names.flatMap(([op, keys]) =>
    keys.slice(0, maxNamed).map((name): Change => ({ kind: "row", op, name, fields: [] })),
  );
  return { changes, omitted: add + change + remove - changes.length };
}
