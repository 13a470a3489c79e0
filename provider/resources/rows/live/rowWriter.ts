import { batches } from "../../../client/lists/batches.ts";
import { inParallel } from "../../../client/parallel.ts";
import { isRefusal, orUndefinedIfNotFound, ApiError } from "../../../contract/errors.ts";
import { maxRowsPerInsert } from "../../../contract/rows.ts";
import { type RowData, withoutUndefined } from "../../../contract/values.ts";
import { isObject } from "../../../contract/wire.ts";
import type { RowDigests } from "../../../reconcile/digests.ts";
import { RowIndices } from "../../../reconcile/rowIndices.ts";
import type { RowPlan, Undone } from "../../../reconcile/rows.ts";
import { secretTextsIn } from "../../../sources/source.ts";
import type { Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { refusedClearing, type Clearing } from "../kept/clearing.ts";
import { union } from "../kept/scope.ts";
import { room, type RowContext } from "./context.ts";
import { RowInserts, type NewRow } from "./inserts.ts";
import type { Links } from "./links.ts";
import { lostLabels } from "./lostLabels.ts";
import { PlannedRows, type PlannedRow } from "./plannedRows.ts";
import { ProgressRate } from "./progressRate.ts";
import { RowRefusals } from "./refusals.ts";

/** Batches and single calls that are under way at a time; the client's own limiter may allow fewer. */
const concurrency = { batches: 4, calls: 16 };

/** After this many refusals of single rows, the rest is not tried. */
const maxRefused = 20;

/** A row that a run is about to remove. */
export type Removal = RowDigests & { id: string };

/** Rows that stay on the platform, by the seed that declares them. */
export type Spared = ReadonlyMap<string, number>;

/** How a plan is carried out beside what other seeds do. */
export interface Steps {
  /** Rows to recreate: wanted row → ID of the old one, which is removed right before. */
  recreate?: ReadonlyMap<number, string>;
  /** Labels that updates set to nothing. */
  clear?: Clearing;
  /** The seed as it was when the digests of the removals were taken. */
  terms?: RowTarget;
  /** Lets other seeds remove rows of the table; called before the first removal. */
  release?: () => void;
  /** Takes out what seeds declare that were checked meanwhile. Nobody else works on the table then. */
  spare?: (removals: readonly Removal[]) => Promise<{ left: Removal[]; spared: Spared }>;
}

type ChangedRow = PlannedRow & { id: string };

/** Writes the rows of one plan, and keeps track of the rest of it. */
export class RowWriter {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  readonly #summary: Summary;
  readonly #links: Links;
  readonly #steps: Steps;
  readonly #recreate: ReadonlyMap<number, string>;
  /** Rows that are updated: wanted row → ID of the live one. */
  readonly #updates: ReadonlyMap<number, string>;
  readonly #clear: Clearing;
  readonly #labels: string[];
  readonly #removals: Map<string, Removal>;
  readonly #inserted: number;
  readonly #chosen: RowIndices;
  readonly #source: PlannedRows;
  readonly #inserts: RowInserts;
  readonly #refusals: RowRefusals;
  readonly #lost: string[] = [];
  #rate: ProgressRate;
  readonly #undone: RowIndices;
  readonly #lacking: RowIndices;
  #spared: Spared = new Map();

  constructor(context: RowContext, target: RowTarget, summary: Summary, links: Links, plan: RowPlan, steps: Steps) {
    const { rows, labels } = summary;
    this.#context = context;
    this.#target = target;
    this.#summary = summary;
    this.#links = links;
    this.#steps = steps;
    const recreate = steps.recreate ?? new Map<number, string>();
    this.#recreate = recreate;
    this.#updates = new Map(plan.update.flatMap(({ wanted, id }) => (recreate.has(wanted) ? [] : [[wanted, id]])));
    this.#removals = new Map(plan.remove.map((row) => [row.id, row]));
    this.#inserted = plan.insert.size + recreate.size;
    this.#chosen = new RowIndices(rows.length);
    this.#undone = new RowIndices(rows.length);
    this.#lacking = new RowIndices(rows.length);
    for (const indices of [plan.insert, this.#updates.keys(), recreate.keys()]) {
      for (const index of indices) {
        this.#chosen.add(index);
        this.#undone.add(index);
      }
    }
    this.#source = new PlannedRows(context, target, rows, links, this.#chosen);
    this.#inserts = new RowInserts(context, target, rows, links);
    this.#clear = steps.clear ?? new Map<number, readonly string[]>();
    this.#labels = union(labels, ...this.#clear.values());
    this.#refusals = new RowRefusals(target, this.#labels);
    this.#rate = this.#startRate();
  }

  /** Throws when a row refers to one that does not exist. */
  async checkLinks(): Promise<void> {
    await this.#source.checkLinks();
    this.#rate = this.#startRate();
  }

  /** Inserts new and recreated rows. */
  async insertAll(): Promise<void> {
    if (this.#inserted === 0) return;
    const recreated = this.#recreate.size > 0;
    const { limits } = this.#context.manner;
    // Recreates few rows at a time, so that a killed run leaves few of them missing.
    const maxRows = recreated ? Math.max(1, Math.floor(this.#summary.rows.length / 20)) : maxRowsPerInsert;
    const added = this.#source.read<NewRow>(({ index, line, data, embeddingRowID }) =>
      this.#updates.has(index) ? undefined : { index, line, text: JSON.stringify(newRow(data, embeddingRowID)) },
    );
    const size = Math.min(maxRows, limits.maximumBatch ?? maxRowsPerInsert, maxRowsPerInsert);
    const texts = batches(added, { text: ({ text }) => text, maxRows: size });
    const enter = () => room.writing.enter(Math.min(size, this.#inserted), this.#context.signal);
    await inParallel(this.#tried(texts), concurrency.batches, (batch) => this.#insert(batch), enter);
  }

  /** Updates what has changed, row by row. */
  async updateAll(): Promise<void> {
    if (this.#updates.size === 0) return;
    const changed = this.#source.read<ChangedRow>((row) => {
      const id = this.#updates.get(row.index);
      const nothing = Object.fromEntries((this.#clear.get(row.index) ?? []).map((label) => [label, null]));
      return id === undefined ? undefined : { ...row, id, data: { ...row.data, ...nothing } };
    });
    await inParallel(each(changed), concurrency.calls, (row) => this.#update(row));
  }

  /** Removes what the source has no more, but for what another seed declares by now. */
  async removeAll(): Promise<void> {
    if (this.#removals.size === 0) return;
    const { release, spare, terms = this.#target } = this.#steps;
    release?.();
    await this.#context.rowClaims.lock.exclusive(this.#target.table, async () => {
      const checked = await spare?.([...this.#removals.values()]);
      if (checked) {
        this.#spared = checked.spared;
        const left = new Set(checked.left.map(({ id }) => id));
        for (const id of this.#removals.keys()) if (!left.has(id)) this.#removals.delete(id);
      }
      this.#context.rowClaims.removed(terms, this.#removals.values());
      await inParallel([...this.#removals.keys()], concurrency.calls, async (rowID) => {
        await this.#remove(rowID);
        this.#removals.delete(rowID);
        this.#finished(1);
      });
    });
  }

  /** Looks for labels that the platform lost, where everything else went well. */
  async verify(): Promise<void> {
    if (this.#lost.length + this.#refusals.count === 0) await this.#loses([...this.#updates.values()]);
  }

  /** What is not done, what stays for others, and what failed, in sentences. */
  async outcome(): Promise<{ undone: Required<Undone>; spared: Spared; failures: string[] }> {
    const undone = { wanted: this.#undone, removals: [...this.#removals.values()], lacking: this.#lacking };
    const refused = await this.#refusals.sentences(this.#context.directory);
    return { undone, spared: this.#spared, failures: [...refused, ...this.#lost] };
  }

  /**
   * Batches after the first one, which is sent and looked at before a second one: a million rows would lose a label too.
   * No generator, since that keeps each batch until it has the next one.
   */
  #tried(source: AsyncGenerator<NewRow[]>): AsyncIterable<NewRow[]> {
    let isFirst = true;
    const next = async (): Promise<IteratorResult<NewRow[]>> => {
      if (isFirst) await this.#insertFirst(source);
      isFirst = false;
      return source.next();
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: () => source.return(undefined) }) };
  }

  async #insertFirst(source: AsyncGenerator<NewRow[]>): Promise<void> {
    const first = await source.next();
    if (first.done) return;
    await this.#insert(first.value);
    if (this.#inserted > first.value.length && (await this.#loses())) throw new Stopped("the other rows were not sent");
  }

  async #insert(batch: readonly NewRow[]): Promise<void> {
    await inParallel(batch, concurrency.calls, async ({ index }) => {
      const old = this.#recreate.get(index);
      if (old === undefined) return;
      await this.#remove(old);
      this.#lacking.add(index);
    });
    try {
      await this.#inserts.insert(batch, {
        inserted: (done) => {
          for (const { index } of done) {
            this.#undone.delete(index);
            this.#lacking.delete(index);
          }
          this.#finished(done.length);
        },
        refused: (row, error) => {
          const values = JSON.parse(row.text) as RowData;
          this.#conceal(() => [values]);
          this.#refused(row, error, values);
        },
      });
    } catch (error) {
      this.#conceal(() => batch.map(({ text }) => JSON.parse(text) as RowData));
      throw error;
    }
  }

  async #update({ id, index, line, data, embeddingRowID }: ChangedRow): Promise<void> {
    const { table, userID, ignoreActionRules } = this.#target;
    const request = { rowID: id, rowData: data, microAppID: table };
    try {
      await this.#assertClearable(id, data);
      const options = withoutUndefined({ embeddingRowID, userID, ignoreActionRules });
      await this.#context.client.updatemicroapprow({ ...request, ...options }, this.#context);
      this.#undone.delete(index);
      this.#finished(1);
    } catch (error) {
      this.#conceal(() => [data]);
      if (!isRefusal(error)) throw error;
      this.#refused({ index, line }, error, data, this.#clear.get(index));
    }
  }

  /** Throws where a link is to be cleared that the platform would keep. */
  async #assertClearable(rowID: string, data: RowData): Promise<void> {
    const { client, manner } = this.#context;
    const cleared = Object.keys(data).filter((label) => data[label] === null);
    if (manner.habits.linkNull === "clears" || cleared.length === 0) return;
    const { currentRow = {} } = await client.microappdataRow({ rowID }, this.#context);
    const isLink = (value: unknown): boolean => isObject(value) && "crossAppRowID" in value;
    const kept = cleared.filter((label) => isLink((currentRow as RowData)[label]));
    if (kept.length === 0) return;
    const message =
      `this platform keeps a link that is set to nothing (linkNull): ${kept.join(", ")} would go on linking, and each ` +
      `up would try again. Link another row, or remove this one`;
    throw new ApiError({ code: "invalidRequest", endpoint: "updatemicroapprow", message });
  }

  async #remove(rowID: string): Promise<void> {
    await orUndefinedIfNotFound(this.#context.client.removemicroapprow({ rowID }, this.#context));
  }

  /** Whether the platform lost labels of rows that were written. */
  async #loses(changed: readonly string[] = []): Promise<boolean> {
    const written = { written: this.#chosen, inserted: this.#inserted, changed, cleared: this.#clear };
    const summary = { rows: this.#summary.rows, labels: this.#labels };
    const sentences = await lostLabels(this.#context, this.#target, summary, this.#links, written);
    this.#lost.push(...sentences);
    return sentences.length > 0;
  }

  #refused(row: { index: number; line: number }, error: ApiError, values: RowData, cleared?: readonly string[]): void {
    const message = error.platformMessage + refusedClearing(cleared);
    this.#refusals.add(row, message, secretTextsIn(this.#target, values));
    if (this.#refusals.count >= maxRefused) throw new Stopped("further rows were not tried");
  }

  /** The platform may repeat what it refuses. */
  #conceal(rows: () => RowData[]): void {
    const { sensitive, secretLabels = [] } = this.#target;
    if (sensitive) this.#context.hide(rows());
    else if (secretLabels.length > 0) this.#context.hide(rows().map((row) => secretTextsIn(this.#target, row)));
  }

  #startRate(): ProgressRate {
    return new ProgressRate("rows written", this.#context.now, this.#chosen.size + this.#removals.size);
  }

  #finished(count: number): void {
    this.#context.report.status(`${this.#target.table}: ${this.#rate.add(count)}`);
  }
}

/** Ends a plan early; its message names the rest. */
class Stopped extends Error {}

async function* each<One>(blocks: AsyncIterable<One[]>): AsyncGenerator<One> {
  for await (const block of blocks) yield* block;
}

/** A row that is new has nothing to clear. */
function newRow(data: RowData, embeddingRowID: string | undefined): RowData {
  const values = Object.values(data).includes(null)
    ? Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
    : data;
  return embeddingRowID === undefined ? values : { ...values, embeddingRowID };
}
