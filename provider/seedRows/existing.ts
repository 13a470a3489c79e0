import { formatCount } from "../../platform/messages/text.ts";
import type { RowDigests } from "../reconcile/digests.ts";
import { decodeLedger, encodeLedger, ledgerOf, maxListedRows, lastApplied, Sketch } from "../reconcile/ledger.ts";
import type { LiveRows, RowPlan } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import type { Leaving } from "./claims.ts";
import { indicesWithin, type Summary } from "./declaration.ts";
import type { SeedInputs, SeedState } from "./inputs.ts";
import { byOldKey, isReshaped } from "./live.ts";
import { existingIn } from "./state.ts";
import type { RowContext } from "./table.ts";
import type { Removal } from "./verify.ts";

// A row is ours when the ledger has it, or when it is exactly as declared and the account of this run made it: that settles
// rows of a killed run, of a batch that was stored in part, of a seed that was renamed or split, and of a row that moved. Rows
// of others that are exactly as declared are existing: they are kept, and never changed or deleted without `adopt: true`.

interface Run {
  inputs: SeedInputs;
  old: SeedState | undefined;
  summary: Summary;
}

type Indices = Pick<ReadonlySet<number>, "has">;

/** Wanted rows that the last run saw as existing, and that others than the account of this run have. */
export async function existingBefore(
  { directory }: RowContext,
  { inputs, old, summary: { rows } }: Run,
  live: LiveRows,
): Promise<Indices> {
  if (inputs.adopt || !old || existingIn(old) === undefined) return { has: () => false };
  const terms = isReshaped(old, inputs) ? (await byOldKey(old, inputs, directory))?.rows : rows;
  const existing = terms && listExistingAmong(existingIn(old), terms);
  // A seed that only updates owns no row, whoever made it.
  const isOfOthers = (index: number): boolean => inputs.mode === "updateOnly" || !live.areAllMine(index);
  return { has: (index) => isOfOthers(index) && (!existing || !terms || existing.has(terms.key(index))) };
}

/** What a run does about existing rows. */
interface ExistingRows {
  /** Those that left the source: they stay. */
  staying: readonly Removal[];
  /** How many the run met for the first time. */
  met: number;
  /** The text for the state, once a plan is carried out. */
  after: (ours: RowSet, isFailure: boolean) => string | undefined;
}

/**
 * @param handed rows that other seeds hand over, by their index
 * @param ofGivers those of them that existed before these seeds
 */
export function planExistingRows(
  { inputs, old, summary: { rows } }: Run,
  {
    plan,
    live,
    before,
    handed,
    ofGivers,
  }: { plan: RowPlan; live: LiveRows; before: Indices; handed: Indices; ofGivers: Indices },
): ExistingRows {
  if (inputs.adopt) return { staying: [], met: 0, after: () => undefined };
  // No run makes a row in this mode: whichever it meets is another's.
  const isOfOthers = inputs.mode === "updateOnly";
  const met = new Set<number>();
  for (let index = 0; plan.adopted > 0 && index < rows.length; index++) {
    if (plan.insert.has(index) || handed.has(index) || plan.last(rows.key(index)) !== undefined) continue;
    if (isOfOthers || !live.isMineAsWanted(index)) met.add(index);
  }
  const isExisting = (index: number): boolean =>
    !plan.insert.has(index) &&
    (before.has(index) || met.has(index) || (ofGivers.has(index) && !live.isMineAsWanted(index)));
  const after = (ours: RowSet, isFailure: boolean): string | undefined => {
    const existing = new RowSet();
    for (let index = 0; index < rows.length; index++)
      if (isExisting(index) && ours.has(rows.key(index))) existing.add(rows.key(index));
    return isFailure ? encodeExistingInFailure(existing, ours) : encodeExisting(existing);
  };
  const staying = old ? listExistingRemovals(old, plan.remove) : [];
  return { staying, met: isOfOthers ? 0 : met.size, after };
}

/** Existing rows among those to remove: of those whose record can't be read, all that the account of this run did not make. */
export function listExistingRemovals(state: SeedState, removals: RowPlan["remove"]): RowPlan["remove"] {
  if (state.adopt || existingIn(state) === undefined) return [];
  const existing = listExistingAmong(existingIn(state), removals);
  // A seed that only updates made none of its rows, whoever did.
  const isOfOthers = (isMine: boolean): boolean => state.mode === "updateOnly" || !isMine;
  return removals.filter(({ key, isMine }) => isOfOthers(isMine) && (existing?.has(key) ?? true));
}

/** Rows that existed before a seed that hands them over, by their index in the source of the one that declares them now. */
export async function listExistingOfGivers(
  directory: string,
  inputs: SeedInputs,
  givers: readonly Omit<Leaving, "urn" | "name">[],
): Promise<ReadonlySet<number>> {
  const all = givers.map(({ target, existing }) => ({ target, keys: existing }));
  return new Set((await indicesWithin(all, inputs, directory)).keys());
}

/** Says which rows a run met that others made. */
export const metMessage = (table: string, met: number, showsMakers: boolean): string =>
  showsMakers
    ? `table ${table}: ${formatCount(met, "row")} ${met === 1 ? "is" : "are"} as declared and existed before: others made ${met === 1 ? "it" : "them"}, so ${met === 1 ? "it is" : "they are"} kept, and never changed or deleted. To own ${met === 1 ? "it" : "them"}, set adopt: true`
    : `table ${table}: this platform does not show who made a row, so ${formatCount(met, "row")} that ${met === 1 ? "is" : "are"} as declared ${met === 1 ? "counts" : "count"} as made by others. To own ${met === 1 ? "it" : "them"}, set adopt: true`;

/** Kinds of lists: existing rows, or all others. */
const [existing, others] = ["keys", "made"];

/** Rows that an error carries: 1.4 KB. */
const maxInFailure = 128;

/** Rows by their keys alone. */
function keysIn(rows: Iterable<RowDigests>): RowSet {
  const keys = new RowSet();
  for (const { key } of rows) keys.add(key);
  return keys;
}

/**
 * Text for the state of the keys of rows that existed before and that others made; undefined for none. Eight bytes a row, of
 * up to 4,096; of more a sketch, which a ledger of up to 20,000 rows leaves room for.
 */
export function encodeExisting(rows: Iterable<RowDigests>): string | undefined {
  const keys = keysIn(rows);
  if (keys.length === 0) return undefined;
  if (keys.length <= RowSet.whole) return listOf(existing, keys);
  const small = { kind: "sketch" as const, count: keys.length, sketch: Sketch.of(4_000, keys) };
  return encodeLedger(keys.length > maxListedRows ? ledgerOf(keys) : small);
}

/**
 * The same for a state that an error has to carry: few rows are listed, existing ones or all others. Otherwise all count as
 * existing that the account of the next run did not make: they stay, and nothing is lost.
 */
export function encodeExistingInFailure(rows: RowSet, ours: RowSet): string | undefined {
  if (rows.length === 0) return undefined;
  if (rows.length <= maxInFailure) return listOf(existing, rows);
  const rest = RowSet.of(ours, ({ key }) => !rows.has(key));
  return listOf(others, rest.length <= maxInFailure ? rest : new RowSet());
}

function listOf(kind: string, keys: RowSet): string {
  const bytes = Buffer.alloc(keys.length * 8);
  for (let index = 0; index < keys.length; index++) {
    const { high, low } = keys.key(index);
    bytes.writeUInt32LE(high, index * 8);
    bytes.writeUInt32LE(low, index * 8 + 4);
  }
  return `${kind}:1:${bytes.toString("base64")}`;
}

/** The list in a text; undefined for a sketch. Throws a RangeError when it is neither. */
function listIn(text: string): { kind: string; keys: RowSet } | undefined {
  const [kind = "", version, encoded = ""] = text.split(":");
  if (kind !== existing && kind !== others) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (version !== "1" || bytes.length % 8 !== 0) {
    throw new RangeError("what the state says of existing rows is damaged, or of a newer version: update the package");
  }
  const keys = new RowSet();
  for (let at = 0; at < bytes.length; at += 8)
    keys.add({ high: bytes.readUInt32LE(at), low: bytes.readUInt32LE(at + 4) });
  return { kind, keys };
}

/**
 * The existing ones among the rows; undefined when that is unknown: a sketch yields them when the rows are nearly the ones
 * it was made of.
 */
export function listExistingAmong(text: string | undefined, rows: Iterable<RowDigests>): RowSet | undefined {
  if (text === undefined) return new RowSet();
  const list = listIn(text);
  if (list) return RowSet.of(rows, ({ key }) => list.keys.has(key) === (list.kind === existing));
  const keys = keysIn(rows);
  const proof = lastApplied(decodeLedger(text), [keys], keys);
  return proof && RowSet.of(keys, ({ key }) => proof.last(key) !== undefined);
}
