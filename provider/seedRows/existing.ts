import { formatCount } from "../../platform/messages/text.ts";
import type { Digest } from "../reconcile/digests.ts";
import type { LiveRows, RowPlan } from "../reconcile/rows.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import type { KeptState, SeedInputs, SeedState } from "./inputs.ts";

// A row is ours when the ledger has it, or when it is exactly as declared and the account of this run made it: that settles
// rows of a killed run, of a batch that was stored in part, of a seed that was renamed or split, and of a row that moved. Rows
// of others that are exactly as declared are existing: they are kept, and never changed or deleted without `adopt: true`. A
// state lists them, since the next run may be of another account.

/** Rows that a state lists, 44 KB, and an error can carry, 1.4 KB. Of more all count that the account of a run did not make. */
const most = { inState: 4_096, inFailure: 128 };

/** Answers which rows a state says to have existed before, by their keys. */
export function existingIn({ existing, found, adopt }: Partial<KeptState & SeedInputs>): (key: Digest) => boolean {
  const text = adopt ? undefined : (existing ?? found);
  if (text === undefined) return () => false;
  const [kind, version, encoded = ""] = text.split(":");
  // A sketch of an earlier version, or rows that nothing lists: those that others made.
  if (kind !== "keys" && kind !== "made") return () => true;
  const bytes = Buffer.from(encoded, "base64");
  if (version !== "1" || bytes.length % 8 !== 0)
    throw new RangeError("what the state says of existing rows is damaged, or of a newer version: update the package");
  const keys = new RowSet();
  for (let at = 0; at < bytes.length; at += 8)
    keys.add({ high: bytes.readUInt32LE(at), low: bytes.readUInt32LE(at + 4) });
  return (key) => keys.has(key) === (kind === "keys");
}

/** The text of these keys for a state. */
function textOf(keys: readonly Digest[], isFailure: boolean): string | undefined {
  if (keys.length === 0) return undefined;
  if (keys.length > (isFailure ? most.inFailure : most.inState)) return "made:1:";
  const bytes = Buffer.alloc(keys.length * 8);
  for (const [index, { high, low }] of keys.entries()) {
    bytes.writeUInt32LE(high, index * 8);
    bytes.writeUInt32LE(low, index * 8 + 4);
  }
  return `keys:1:${bytes.toString("base64")}`;
}

/** Existing rows among those that a run would remove; whoever made them, a seed that only updates made none. */
export function existingRemovals(state: SeedState, removals: RowPlan["remove"]): RowPlan["remove"] {
  const isExisting = existingIn(state);
  return removals.filter(({ key, isMine }) => (state.mode === "updateOnly" || !isMine) && isExisting(key));
}

type Indices = Pick<ReadonlySet<number>, "has">;

/** What a run does about wanted rows that others made. */
export class ExistingRows {
  readonly #isExisting: (index: number) => boolean;
  readonly #rows: RowSet;
  /** How many the run met for the first time. */
  readonly met: number;

  /**
   * @param before those that the last run saw
   * @param handed rows that other seeds hand over, and `ofGivers` those of them that existed before these seeds
   */
  constructor(
    { adopt, mode }: SeedInputs,
    rows: RowSet,
    {
      plan,
      live,
      before,
      handed,
      ofGivers,
    }: Record<"before" | "handed" | "ofGivers", Indices> & {
      plan: RowPlan;
      live: LiveRows;
    },
  ) {
    // No run makes a row in this mode: whichever it meets is another's.
    const isOfOthers = (index: number): boolean => mode === "updateOnly" || !live.isMineAsWanted(index);
    const other = new Set(plan.adoptNeeded.map(({ wanted }) => wanted));
    const isMet = (index: number): boolean =>
      plan.adopted > 0 &&
      !other.has(index) &&
      !handed.has(index) &&
      plan.last(rows.key(index)) === undefined &&
      isOfOthers(index);
    this.#rows = rows;
    this.#isExisting = (index) =>
      !adopt &&
      !plan.insert.has(index) &&
      (before.has(index) || isMet(index) || (ofGivers.has(index) && !live.isMineAsWanted(index)));
    let met = 0;
    if (plan.adopted > 0 && !adopt && mode !== "updateOnly")
      for (let index = 0; index < rows.length; index++) if (!plan.insert.has(index) && isMet(index)) met++;
    this.met = met;
  }

  /** The text for the state, once a plan is carried out. */
  after(ours: RowSet, isFailure: boolean): string | undefined {
    const keys: Digest[] = [];
    for (let index = 0; index < this.#rows.length && keys.length <= most.inState; index++)
      if (this.#isExisting(index) && ours.has(this.#rows.key(index))) keys.push(this.#rows.key(index));
    return textOf(keys, isFailure);
  }
}

/** Says which rows a run met that others made. */
export const metMessage = (table: string, met: number, showsMakers: boolean): string =>
  showsMakers
    ? `table ${table}: ${formatCount(met, "row")} ${met === 1 ? "is" : "are"} as declared and existed before: others made ${met === 1 ? "it" : "them"}, so ${met === 1 ? "it is" : "they are"} kept, and never changed or deleted. To own ${met === 1 ? "it" : "them"}, set adopt: true`
    : `table ${table}: this platform does not show who made a row, so ${formatCount(met, "row")} that ${met === 1 ? "is" : "are"} as declared ${met === 1 ? "counts" : "count"} as made by others. To own ${met === 1 ? "it" : "them"}, set adopt: true`;
