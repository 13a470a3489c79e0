import { type RowData } from "../../platform/contract/values.ts";
import { describeNamed, readName } from "../pulumi/names.ts";
import { summarize, type Summary, type Keys } from "./declaration.ts";
import { rowDigester, type RowDigests } from "./digests.ts";
import { isOwning, type Seed, type SeedState } from "./inputs.ts";
import { SharedLock } from "./locks.ts";
import { RowSet } from "./rowSet.ts";
import { read } from "./source/read.ts";

/** That a seed of the run declares rows of a table: its declaration, not the rows. */
export interface RowClaim {
  urn: string;
  /** Kind and name for people: `seed "countries"`. */
  name: string;
  target: Seed;
  /** Digest of the source's content; undefined for a seed that was only announced. */
  digest?: string | undefined;
}

/** A seed that refers to rows of another one, known before it is checked. */
type RowReferrer = Pick<RowClaim, "name" | "target">;

/** Rows of a seed's last run that its source has no more. */
export interface Leaving {
  urn: string;
  /** Kind and name for people. */
  name: string;
  target: Seed;
  keys: RowSet;
  /** Labels that the seed wrote into them. */
  labels: readonly string[];
  /** Those of them that existed before, and that others made. */
  existing: RowSet;
  /** Those of them that stay on the platform for another seed of the program. */
  handedOver: RowSet;
}

/** Rows that leave a seed and that another one declares, which was checked after the first was compared. */
export interface LateRows {
  /** Of the seed that they leave. */
  urn: string;
  /** Of the seed that declares them: kind and name for people. */
  name: string;
  rows: number;
}

/** What somebody did by hand to rows of a seed, by the digests of its last run. */
export interface SeenEdits {
  /** The rows that were edited, as they are. */
  edited: RowSet;
  missing: RowSet;
}

/** Results of a seed's comparison that other seeds of the run depend on. */
export interface RowFindings {
  /** The rows that its source has no more; an empty set where it has all of them. */
  leaving: Omit<Leaving, "urn" | "name">;
  /** Tables whose rows are recreated: links to them have to follow. */
  renewed: string[];
}

/**
 * Which seeds of a run declare which rows. An engine knows a seed by its name in the program, the platform knows rows:
 * what one seed gives up another one may declare. All seeds of a run are checked by one process, each before it is
 * applied, and what left the program is deleted last.
 */
export class RowClaims {
  /** By table: read and written side by side, removed from alone. */
  readonly lock = new SharedLock();
  readonly #directory: string;
  readonly #checked = new Map<string, RowClaim>();
  readonly #announced = new Map<string, RowClaim>();
  readonly #referrers = new Map<string | undefined, RowReferrer[]>();
  readonly #leaving = new Map<string, Leaving>();
  readonly #removed: Keys[] = [];
  readonly #renewed = new Set<string>();
  readonly mayGrow: boolean;
  readonly #summaries = new Map<string, Summary>();
  readonly #had = new Map<string, { old: object; isReplaced: boolean }>();
  /** The tables of each seed, by the states that were seen. */
  readonly #tables = new Map<string, Set<string>>();
  /** Rows of seeds that were known late, until they are reported. */
  readonly late: LateRows[] = [];
  /** What was seen of each seed's rows before it is compared. */
  readonly seen = new Map<string | undefined, SeenEdits>();
  /** Seeds that are being applied, or would be in a preview. */
  readonly #begun = new Set<string>();

  /**
   * @param directory the program's folder, where sources are found
   * @param mayGrow whether seeds may come that nobody knows of yet
   */
  constructor(directory: string, mayGrow = false) {
    this.#directory = directory;
    this.mayGrow = mayGrow;
  }

  /** Notes what a seed declares, in place of what it declared before. */
  claim(urn: string, target: Seed, digest: string): void {
    this.#checked.set(urn, { urn, name: nameOf(urn), target, digest });
  }

  /** Notes what the last run left of a seed: its inputs, or better its state. */
  had(urn: string | undefined, old: object): void {
    const known = this.#had.get(urn ?? "");
    if (known && "ledger" in known.old && !("ledger" in old)) known.isReplaced = false;
    else this.#had.set(urn ?? "", { old, isReplaced: false });
  }

  /** Notes a check without inputs of the last run: the engine replaces its resource of this name. */
  begin(urn: string | undefined): void {
    const known = this.#had.get(urn ?? "");
    if (known) known.isReplaced = true;
  }

  /** Notes the state of a seed that is about to be read. */
  reads({ resourceUrn = "", table }: Pick<SeedState, "resourceUrn" | "table">): void {
    this.#tables.set(resourceUrn, (this.#tables.get(resourceUrn) ?? new Set()).add(table));
  }

  /**
   * True for a seed with states of two tables: a run was killed while it removed the rows of the former one, so those that
   * are missing there did not disappear. Engines read states side by side, in any order.
   */
  isMoving(urn: string | undefined): boolean {
    return urn !== undefined && (this.#tables.get(urn)?.size ?? 0) > 1;
  }

  /** Notes that a seed was made, or has left the program. */
  ended(urn: string | undefined): void {
    this.#had.delete(urn ?? "");
  }

  /** The former state of a seed that is being replaced. */
  replaced(urn: string | undefined): object | undefined {
    const known = this.#had.get(urn ?? "");
    return known?.isReplaced ? known.old : undefined;
  }

  /** What the last run left of a seed, as far as this one has seen it. */
  last(urn: string): object | undefined {
    return this.#had.get(urn)?.old;
  }

  /** The declaration of a seed in this run. */
  find(urn: string | undefined): RowClaim | undefined {
    return this.#checked.get(urn ?? "");
  }

  /** Notes what seeds of the program will declare that are not checked yet, and which will refer to rows of this one. */
  announce(
    urn: string | undefined,
    siblings: readonly (Seed & { urn: string })[] = [],
    referrers: readonly (Seed & { name: string })[] = [],
  ): void {
    for (const { urn, ...target } of siblings) this.#announced.set(urn, { urn, name: nameOf(urn), target });
    this.#referrers.set(
      urn,
      referrers.map(({ name, ...target }) => ({ name: nameOf(toSibling(urn, name)), target })),
    );
  }

  /** The seeds that will refer to rows of the one with this URN, as far as it was announced. */
  referrers(urn: string | undefined): readonly RowReferrer[] {
    return this.#referrers.get(urn) ?? [];
  }

  /** The rows of the seed are not known. */
  forget(urn: string | undefined): void {
    this.#checked.delete(urn ?? "");
  }

  /** The seeds that were checked; with a table, those of them that declare its rows. */
  checked(table?: string): RowClaim[] {
    return [...this.#checked.values()].filter(({ target }) => table === undefined || target.table === table);
  }

  /** The seeds that declare rows of a table, also those that are only announced; without that of one URN. */
  on(table: string, except?: string): RowClaim[] {
    return [...this.checked(table), ...this.coming(table)].filter(({ urn }) => urn !== except);
  }

  /** Those of them that are announced and not checked yet. */
  coming(table: string): RowClaim[] {
    const isComing = ({ urn, target }: RowClaim): boolean => target.table === table && !this.#checked.has(urn);
    return [...this.#announced.values()].filter(isComing);
  }

  /** Those of them that own their rows. */
  owning(table: string, except?: string): RowClaim[] {
    return this.on(table, except).filter(({ target }) => isOwning(target));
  }

  /** Notes that a seed is being applied, or would be now if this were no preview: what it removes is decided. */
  begins(urn: string | undefined): void {
    if (urn !== undefined) this.#begun.add(urn);
  }

  hasBegun(urn: string): boolean {
    return this.#begun.has(urn);
  }

  /** The rows of a claim, read again where they are not remembered. */
  async summary({ urn, target, digest }: RowClaim): Promise<Summary> {
    const known = this.#summaries.get(urn);
    if (known && (digest === undefined || known.digest === digest)) return known;
    const summary = await summarize(target, this.#directory);
    this.remember(urn, summary);
    return summary;
  }

  /** Remembers what was read of a seed. */
  remember(urn: string | undefined, summary: Summary): void {
    if (urn !== undefined) this.#summaries.set(urn, summary);
  }

  /** The earlier summary of a seed, if its content is still the same. */
  remembered(urn: string | undefined, digest: string | undefined): Summary | undefined {
    const known = this.#summaries.get(urn ?? "");
    return known?.digest === digest ? known : undefined;
  }

  /** Notes which rows a seed's source has no more; nothing when there are none. */
  leave(urn: string, leaving: RowFindings["leaving"]): void {
    if (leaving.keys.length === 0 || !isOwning(leaving.target)) this.#leaving.delete(urn);
    else this.#leaving.set(urn, { ...leaving, urn, name: nameOf(urn) });
  }

  /** Rows that other seeds of a table give up, as far as the run has seen them. */
  leaving(table: string, except?: string): Leaving[] {
    return [...this.#leaving].flatMap(([urn, one]) => (urn !== except && one.target.table === table ? [one] : []));
  }

  /** Rows that other seeds of a table give up and remove. */
  going(table: string, except?: string): Keys[] {
    return this.leaving(table, except).map(({ target, keys, handedOver }) => ({
      target,
      keys: RowSet.of(keys, ({ key }) => !handedOver.has(key)),
    }));
  }

  /** True if a seed gives up rows. */
  gives(urn: string): boolean {
    return this.#leaving.has(urn);
  }

  /** Notes rows that the run has removed. */
  removed(target: Seed, rows: Iterable<RowDigests>): void {
    this.#removed.push({ target, keys: RowSet.of(rows) });
  }

  /** Rows that the run has removed from a table. */
  removedFrom(table: string): Keys[] {
    return this.#removed.filter(({ target }) => target.table === table);
  }

  /** Notes that rows of a table were recreated, or will be: references to them have to follow. */
  renew(table: string): void {
    this.#renewed.add(table);
  }

  isRenewed(table: string): boolean {
    return this.#renewed.has(table);
  }
}

const nameOf = (urn: string): string => describeNamed(readName(urn));

/** The URN of a seed beside another one. */
const toSibling = (urn = "", name: string): string => [...urn.split("::").slice(0, 3), name].join("::");

/** Answers whether a set of keys of one label has one, given as text. */
export function holderOfKeys(
  { key: [label = ""], salt, forms }: Pick<Seed, "key" | "salt" | "forms">,
  keys: RowSet,
): (text: string) => boolean {
  const digester = rowDigester({ key: [label], labels: [], salt, forms });
  return (text) => {
    const digest = digester.key({ [label]: text });
    return digest !== undefined && keys.has(digest);
  };
}

/** Returns a test for values: true when a row of the seed has the value in that label. */
export async function holderOf(
  claims: RowClaims,
  claim: RowClaim,
  label: string,
  directory: string,
): Promise<(text: string) => boolean> {
  const { target } = claim;
  if (target.key.length === 1 && target.key[0] === label) {
    return holderOfKeys(target, (await claims.summary(claim)).rows);
  }
  const digester = rowDigester({ key: [label], labels: [] });
  const values = new RowSet();
  for await (const row of readDeclaredRows(target, directory)) {
    const digest = digester.key(row.values);
    if (digest) values.add(digest);
  }
  return holderOfKeys({ key: [label] }, values);
}

/** The rows of a declaration, each with its line. */
export async function* readDeclaredRows(
  target: Seed,
  directory: string,
): AsyncGenerator<{ line: number; values: RowData }> {
  for await (const block of read(target, directory)) yield* block;
}
