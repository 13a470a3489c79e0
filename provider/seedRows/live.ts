import type { RowData, Row } from "../../platform/contract/values.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { ResourceError } from "../resources/common.ts";
import type { Context } from "../resources/resource.ts";
import { hasValue } from "./cells.ts";
import { digesterFor, summarize, type Summary } from "./declaration.ts";
import { another, canonical, type Content, type Digest, type RowDigester } from "./digests.ts";
import type { Seed, SeedInputs, SeedState } from "./inputs.ts";
import { addRow, type Ledger } from "./ledger.ts";
import { Links } from "./links.ts";
import { recogniseRows, type Recognised, type RowPlan, type SeenRow, LiveRows } from "./plan.ts";
import { RowSet } from "./rowSet.ts";
import { SourceError } from "./source/read.ts";
import { lastSource } from "./state.ts";
import { rowsOf, ProgressRate } from "./table.ts";

/** Labels that leave rows: wanted row → labels to clear there. */
export type Clearing = ReadonlyMap<number, readonly string[]>;

export const union = (...lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();

/**
 * By which labels the rows of a seed are compared with those of the platform, and what is cleared there. In mode `exact` a
 * seed answers for the labels that its rows declare now and for those of the last run, which it takes back where they are not
 * declared any more. In any other mode a row's own labels alone count. A row that left the source is compared by the labels
 * of the last run, and one that another seed hands over also by those that this one wrote. What others write is never compared.
 */
export class Comparison {
  /** All labels that the seed answers for. */
  readonly labels: readonly string[];
  readonly #seed: Seed;
  readonly #wanted: RowSet;
  /** Lists of labels by one of which a row is as wanted, whatever it has under the others. */
  readonly #formsOf: ((index: number) => readonly (readonly string[])[]) | undefined;
  /** The labels of a row that has others than `labels`. */
  readonly #ownOf: (index: number | undefined) => readonly string[] | undefined;
  /** Labels that may have to be cleared in some row, and which rows of the platform have a value there. */
  readonly #clearable: readonly string[];
  readonly #filled = new Map<string, readonly string[]>();
  readonly #lists = new Map<string, readonly string[]>();
  readonly #digesters = new Map<readonly string[], RowDigester>();
  readonly #handed: Clearing;
  readonly #rowLabels: Summary["rowLabels"] | undefined;

  private constructor(
    seed: Seed,
    wanted: RowSet,
    labels: readonly string[],
    more: {
      formsOf?: (index: number) => readonly (readonly string[])[];
      ownOf?: (index: number | undefined) => readonly string[] | undefined;
      clearable?: readonly string[];
      handed?: Clearing;
      rowLabels?: Summary["rowLabels"];
    } = {},
  ) {
    this.#seed = seed;
    this.#wanted = wanted;
    this.labels = labels;
    this.#formsOf = more.formsOf;
    this.#ownOf = more.ownOf ?? (() => undefined);
    this.#clearable = more.clearable ?? [];
    this.#handed = more.handed ?? new Map();
    this.#rowLabels = more.rowLabels;
  }

  /** @param handed labels that other seeds wrote into rows that they hand over, by the index of the row */
  static of(
    seed: SeedInputs,
    { rows, labels, rowLabels }: Summary,
    old: SeedState | undefined,
    handed: Clearing,
  ): Comparison {
    const { mode, parent, ignoreLabels = [] } = seed;
    const managed = (...lists: readonly (readonly string[])[]): string[] =>
      union(...lists).filter((label) => !ignoreLabels.includes(label));
    const all = managed(labels, old?.labels ?? []);
    // A label that left the source is compared with its last applied values.
    const before = old && !isSame(old.labels, all) ? old.labels : undefined;
    if (mode !== "exact") {
      if (isSame(rowLabels.common, all) && !before) return new Comparison(seed, rows, all);
      const ownOf = (index: number | undefined) => (index === undefined ? before : undefined);
      return new Comparison(seed, rows, all, { ownOf, formsOf: (index) => [rowLabels.at(index)] });
    }
    const taken = new Map([...handed].map(([index, more]) => [index, managed(all, more)]));
    const ownOf = (index: number | undefined) => (index === undefined ? before : taken.get(index));
    // The column that names the parent row is no field.
    const kept = [...rowLabels.common, parent?.by, old?.parent?.by];
    const clearable = managed(all, ...handed.values()).filter((label) => !kept.includes(label));
    return new Comparison(seed, rows, all, { ownOf, clearable, handed, rowLabels });
  }

  /** As the last run compared its rows. */
  static ofState(state: SeedState, wanted: RowSet): Comparison {
    const { labels, labelSets } = state;
    return new Comparison(state, wanted, labels, labelSets && { formsOf: () => labelSets });
  }

  /** The content of a row of the platform, by the labels that count for it. */
  content(key: Digest, values: RowData): Content {
    const index = this.#wanted.find(key);
    for (const labels of index === undefined ? [] : (this.#formsOf?.(index) ?? [])) {
      const content = this.#by(labels).content(values);
      if (this.#wanted.hasContent(index ?? -1, content)) return content;
    }
    return this.#by(this.#ownOf(index) ?? this.labels).content(values);
  }

  #by(labels: readonly string[]): RowDigester {
    const digester = this.#digesters.get(labels) ?? digesterFor(this.#seed, labels);
    this.#digesters.set(labels, digester);
    return digester;
  }

  /** Notes under which of the labels that not every row declares a row of the platform has a value. */
  observe(id: string, values: RowData): void {
    if (this.#clearable.length === 0) return;
    const filled = this.#clearable.filter((label) => hasValue(values[label]));
    if (filled.length === 0) return;
    const name = filled.join("\n"); // most rows have the same ones, and the same list
    const list = this.#lists.get(name) ?? filled;
    this.#lists.set(name, list);
    this.#filled.set(id, list);
  }

  /** Cells that the updates of a plan clear. */
  clearedBy({ update }: Pick<RowPlan, "update">): Clearing {
    const clearing = new Map<number, readonly string[]>();
    for (const { wanted, id } of update) {
      const own = this.#rowLabels?.at(wanted) ?? [];
      const counts = (label: string) => this.labels.includes(label) || this.#handed.get(wanted)?.includes(label);
      const cleared = this.#filled.get(id)?.filter((label) => !own.includes(label) && counts(label)) ?? [];
      if (cleared.length > 0) clearing.set(wanted, cleared);
    }
    return clearing;
  }
}

const isSame = (one: readonly string[], all: readonly string[]): boolean =>
  one.length === all.length && one.every((label) => all.includes(label));

/** How many rows lose each label. */
export function clearedCounts(clearing: Clearing): [label: string, rows: number][] {
  const counts = new Map<string, number>();
  for (const label of [...clearing.values()].flat().sort()) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts];
}

/** `; cleared Extra in 3 rows`, empty for nothing. */
export function describeCleared(clearing: Clearing): string {
  const parts = clearedCounts(clearing).map(([label, rows]) => `${label} in ${formatCount(rows, "row")}`);
  return parts.length === 0 ? "" : `; cleared ${parts.join(", ")}`;
}

/**
 * Answers whether the account of this run made a row: a row's `userID` is its creator. Never of a seed that names another
 * creator, nor where the platform shows none.
 */
export async function makerOf({ client }: Context, { userID }: Seed): Promise<(row: Row) => boolean> {
  if (userID !== undefined) return () => false;
  const account = await client.callerID();
  return (row) => row.userID !== undefined && row.userID === account;
}

/** What the rows of a table are compared with. */
export interface Compared {
  rows: RowSet;
  links: Links;
  comparison: Comparison;
  ledger: Ledger;
  /** Rows that the last run sent and did not see: those that are there now are ours, and added to the ledger. */
  unseen?: RowSet | undefined;
}

/** A row of the table that has a key: its values in the words of the source, and the wanted row that it matches. */
export interface ObservedRow {
  id: string;
  index: number | undefined;
  values: RowData;
  /** True where it is as wanted; false also for a link to a row that is not there. */
  isAsWanted: boolean;
  isDangling: boolean;
}

/** Reads the rows of a table into digests; `observe` gets each one that has a key. */
export async function readLiveRows(
  context: Context,
  seed: Seed,
  { rows: wanted, links, comparison, ledger, unseen }: Compared,
  observe?: (row: ObservedRow) => void,
): Promise<LiveRows> {
  const { table } = seed;
  const digester = digesterFor(seed);
  const live = new LiveRows(wanted, ledger);
  const isMine = await makerOf(context, seed);
  const shown = new RowSet();
  for await (const page of rowsRead(context, table, Math.max(wanted.length, ledger.count))) {
    if (live.total === 0) for (const row of page.slice(0, 100)) for (const label in row) live.labels.add(label);
    live.showsMakers ||= page.some(({ userID }) => userID !== undefined);
    for (const row of page) {
      live.namesParents ||= !!row.embeddingRowID;
      const values = links.inSourceTerms(row);
      const key = digester.key(values);
      const isDangling = links.isDangling(row);
      const there = key && comparison.content(key, values);
      const content = there && (isDangling ? another(there) : there); // it may say the same, and still leads nowhere
      const isOwn = isMine(row);
      if (isOwn && key && content && unseen?.has(key) && shown.add(key) === undefined) addRow(ledger, { key, content });
      const index = live.add(row._id, key && content && { key, content }, isDangling, isOwn);
      if (isDangling && isOwn && index !== undefined && there && wanted.hasContent(index, there))
        live.unlinked.add(index);
      if (index !== undefined) comparison.observe(row._id, values);
      const isAsWanted = index !== undefined && content !== undefined && wanted.hasContent(index, content);
      if (key) observe?.({ id: row._id, index, values, isAsWanted, isDangling });
    }
  }
  if (links.by !== undefined && ledger.count > 0 && live.total > 0 && !live.namesParents)
    throw new ResourceError(parentsAreHidden(table, links.by));
  return live;
}

/** The rows of a table, with progress. */
async function* rowsRead(context: Context, table: string, expected: number): AsyncGenerator<Row[]> {
  const rate = new ProgressRate("rows read", context.now);
  for await (const page of rowsOf(context, table, expected)) {
    yield page;
    context.report.status(`${table}: ${rate.add(page.length)}`);
  }
}

/** The reason why no seed can keep rows below others on a platform that does not name these. */
export const parentsAreHidden = (table: string, by: string): string =>
  `table ${table} does not show below which row each of its rows stands (embeddingRowID): rows with a parent (by ${by}) can't be compared there, and none is sent, changed or removed. ` +
  `Ask the platform's operator to show it in the table's rows; or declare no parent, and link the rows to a row of the other table (references) instead`;

const linking = ({ references, parent }: Seed): string | undefined => canonical([references ?? {}, parent ?? null]);

/** True when links are named by other labels than in the last run. */
export const isRelinked = (old: Seed, inputs: Seed): boolean => linking(old) !== linking(inputs);

/** True when the key labels, the links, or the keys of linked rows differ from those of the last run. */
export const isReshaped = (old: Seed, inputs: Seed): boolean =>
  isRelinked(old, inputs) || canonical(old.key) !== canonical(inputs.key);

/** The declaration of this run with the key labels and links of the last one. */
export const inOldTerms = <One extends Seed>({ key, references, parent }: Seed, inputs: One): One => ({
  ...inputs,
  ...{ key, references, parent },
});

/** The rows of this run by the key of the last one; undefined when that key is no longer unique. */
export async function byOldKey(old: Seed, inputs: Seed, directory: string): Promise<Summary | undefined> {
  try {
    // A link that is no more need not be among the labels.
    return await summarize(inOldTerms(old, inputs), directory, false);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

/** Reads the table and recognises our rows by the key of the last run; undefined where it can't be proved which they are. */
export async function readReshapedRows(
  context: Context,
  inputs: Seed,
  old: SeedState,
  { rows: wanted, links, comparison, ledger, unseen }: Compared,
  observe: (row: Pick<ObservedRow, "id" | "index" | "values">) => void,
): Promise<Recognised | undefined> {
  // Rows that the last run linked to may have been removed.
  const oldLinks = await Links.of(context, old, true);
  const before = digesterFor(old, old.labels);
  const now = digesterFor(inputs, comparison.labels);
  const seen: SeenRow[] = [];
  const isMine = await makerOf(context, inputs);
  const shown = new RowSet();
  for await (const page of rowsRead(context, inputs.table, ledger.count)) {
    for (const row of page) {
      const [was, is] = [oldLinks.inSourceTerms(row), links.inSourceTerms(row)];
      const [oldKey, key] = [before.key(was), now.key(is)];
      const content = now.content(is);
      if (isMine(row) && oldKey && unseen?.has(oldKey) && shown.add(oldKey) === undefined)
        addRow(ledger, { key: oldKey, content: before.content(was) });
      comparison.observe(row._id, is);
      if (key) observe({ id: row._id, index: wanted.find(key), values: is });
      seen.push({
        id: row._id,
        before: oldKey && { key: oldKey, content: before.content(was) },
        dangling: oldLinks.isDangling(row),
        isMine: isMine(row),
        now: { key, content: links.isDangling(row) ? another(content) : content },
      });
    }
  }
  const sameRows = (await byOldKey(old, inputs, context.directory))?.rows;
  const source = ledger.kind === "list" ? undefined : (await lastSource(context, old))?.rows;
  const near = ledger.kind === "list" ? [] : [source, sameRows].filter((rows) => rows !== undefined);
  return recogniseRows(seen, wanted, sameRows, ledger, near);
}

/**
 * The rows as the last run compared them, where more labels are left to others now; undefined where a label is taken back,
 * which the platform alone shows.
 */
export async function inLastLabels(old: Seed, inputs: Seed, directory: string): Promise<Summary | undefined> {
  const { ignoreLabels = [] } = old;
  return ignoreLabels.every((label) => inputs.ignoreLabels?.includes(label))
    ? summarize({ ...inputs, ignoreLabels, expect: undefined }, directory)
    : undefined;
}
