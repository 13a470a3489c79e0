import { batches } from "../../../platform/client/lists/batches.ts";
import { inParallel } from "../../../platform/client/parallel.ts";
import { ApiError, isRefusal, orUndefinedIfNotFound } from "../../../platform/contract/errors.ts";
import { maxRowsPerInsert } from "../../../platform/contract/rows.ts";
import { type RowData, withoutUndefined } from "../../../platform/contract/values.ts";
import { RowIndices } from "../../reconcile/rowIndices.ts";
import type { RowPlan } from "../../reconcile/rows.ts";
import { untilShown } from "../../resources/model/lifecycle.ts";
import { withoutIgnored, type Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { describeRefusedClearing, type Clearing } from "../kept/clearing.ts";
import { union } from "../kept/scope.ts";
import { room, type RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";
import { ProgressRate } from "../live/progressRate.ts";
import { secretTextsIn } from "../source/source.ts";
import type { Unproven } from "./firstRow.ts";
import { RowInserts, type NewRow } from "./inserts.ts";
import { each, PlannedRows, type PlannedRow } from "./plannedRows.ts";
import { Proof } from "./proof.ts";
import { RowRefusals } from "./refusals.ts";
import { describeRefusedRemovals, findRemoved, stillThere } from "./removed.ts";
import { RestoredCells } from "./restoredCells.ts";
import { Stopped, type Applied, type Removal, type HandedOverRows, type Steps } from "./steps.ts";

/** Batches and single calls that are under way at a time; the client's own limiter may allow fewer. */
const concurrency = { batches: 4, calls: 16 };

/** After this many refusals of single rows, the rest is not tried. */
const maxRefused = 20;

type ChangedRow = PlannedRow & { id: string };

/** Writes the rows of one plan, and keeps track of the rest of it. */
export class RowWriter {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  readonly #steps: Steps;
  /** Rows that are updated: wanted row → ID of the live one. */
  readonly #updates: ReadonlyMap<number, string>;
  readonly #clear: Clearing;
  readonly #removals: Map<string, Removal>;
  readonly #inserted: number;
  readonly #chosen: RowIndices;
  readonly #source: PlannedRows;
  readonly #inserts: RowInserts;
  readonly #refusals: RowRefusals;
  readonly #proof: Proof;
  #rate: ProgressRate;
  readonly #undone: RowIndices;
  #kept: HandedOverRows = new Map();
  readonly #unseen: number[] = [];
  #sent = 0;
  #removed = 0;
  #isStopped = false;
  /** True when a row that was just read was not found: IDs may be spelled otherwise in lists. */
  #notFound = false;
  /** Rows that the platform refused to remove. */
  readonly #stuck = new Map<string, ApiError>();

  constructor(context: RowContext, target: RowTarget, summary: Summary, links: Links, plan: RowPlan, steps: Steps) {
    const { rows, labels } = summary;
    this.#context = context;
    this.#target = target;
    this.#steps = steps;
    this.#updates = new Map(plan.update.map(({ wanted, id }) => [wanted, id]));
    this.#removals = new Map(plan.remove.map((row) => [row.id, row]));
    this.#inserted = plan.insert.size;
    this.#chosen = new RowIndices(rows.length);
    this.#undone = new RowIndices(rows.length);
    for (const indices of [plan.insert, this.#updates.keys()]) {
      for (const index of indices) {
        this.#chosen.add(index);
        this.#undone.add(index);
      }
    }
    this.#source = new PlannedRows(context, target, rows, links, this.#chosen);
    this.#inserts = new RowInserts(context, target, rows, links, steps.seen?.total ?? 0);
    this.#clear = steps.clear ?? new Map<number, readonly string[]>();
    const missing = (index: number): unknown => this.#undone.add(index);
    this.#proof = new Proof(context, target, summary, links, { ...steps, seen: steps.seen, missing });
    this.#refusals = new RowRefusals(target, union(labels, ...this.#clear.values()));
    this.#rate = this.#startRate();
  }

  /** Throws when a row refers to one that does not exist. */
  async checkLinks(): Promise<void> {
    await this.#source.checkLinks();
    this.#rate = this.#startRate();
  }

  /** Inserts new rows. */
  async insertAll(): Promise<void> {
    if (this.#inserted === 0) return;
    const { limits } = this.#context.dialect;
    const restored = new RestoredCells(this.#context, this.#target);
    const added = this.#source.read<NewRow>(({ index, line, data, embeddingRowID }) =>
      this.#updates.has(index) ? undefined : { index, line, text: restored.textOf(data, embeddingRowID) },
    );
    const size = Math.min(limits.maximumBatch ?? maxRowsPerInsert, maxRowsPerInsert);
    const firstRows = this.#steps.unproven ? 1 : size;
    const texts = batches(added, { text: ({ text }) => text, maxRows: size, firstRows });
    const enter = () => room.writing.enter(Math.min(size, this.#inserted), this.#context.signal);
    await inParallel(this.#tried(texts), concurrency.batches, (batch) => this.#insert(batch), enter);
    restored.report();
  }

  /** Updates what has changed, row by row. */
  async updateAll(): Promise<void> {
    if (this.#updates.size === 0) return;
    const changed = this.#source.read<ChangedRow>((row) => {
      const id = this.#updates.get(row.index);
      const nothing = Object.fromEntries(this.#clear.get(row.index)?.map((label) => [label, null]) ?? []);
      const data = withoutIgnored(this.#target, { ...row.data, ...nothing });
      return id === undefined ? undefined : { ...row, id, data };
    });
    await inParallel(each(changed), concurrency.calls, (row) => this.#update(row));
  }

  /** Removes what the source has no more, but for what another seed declares by now. */
  async removeAll(): Promise<void> {
    if (this.#removals.size === 0) return;
    const { release, spare, terms = this.#target } = this.#steps;
    release?.();
    const { rowClaims, signal } = this.#context;
    const remove = async (): Promise<void> => {
      const checked = await spare?.([...this.#removals.values()]);
      if (checked) {
        this.#kept = checked.keptForOthers;
        const left = new Set(checked.left.map(({ id }) => id));
        for (const id of this.#removals.keys()) if (!left.has(id)) this.#removals.delete(id);
      }
      if (this.#removals.size > 0) this.#context.assertAlone();
      rowClaims.removed(terms, this.#removals.values());
      const removals = new Map(this.#removals);
      await inParallel([...removals.keys()], concurrency.calls, async (rowID) => {
        await this.#remove(rowID);
        this.#finished(1);
      });
      const gone = [...removals.keys()].filter((id) => !this.#removals.has(id));
      const look = () => findRemoved(this.#context, this.#target.table, gone, this.#notFound);
      const there = await untilShown(this.#context, look, ({ size }) => size === 0);
      for (const [id, row] of removals) if (there.has(id)) this.#removals.set(id, row);
      if (there.size > 0) this.#proof.sentences.push(stillThere(this.#target.table, there));
      this.#proof.sentences.push(...(await describeRefusedRemovals(this.#context, this.#target, this.#stuck)));
    };
    await rowClaims.lock.exclusive(this.#target.table, remove, signal);
  }

  /** Reads back what was written. */
  async verify(): Promise<void> {
    if (!this.#isStopped) await this.#looks([...this.#updates].flatMap(([at, id]) => (this.#undone.has(at) ? [] : id)));
  }

  /** Undone steps, rows kept for others, and failures, in sentences. */
  async outcome(): Promise<Applied> {
    const undone = { wanted: this.#undone, removals: [...this.#removals.values()] };
    const { sentences, found } = this.#proof;
    const refused = await this.#refusals.sentences(this.#context.directory);
    return { undone: { ...undone, found }, keptForOthers: this.#kept, failures: [...refused, ...sentences] };
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
    let { unproven } = this.#steps;
    let rows: readonly NewRow[] = [];
    while (rows.length === 0) {
      const next = await source.next();
      if (next.done) return;
      this.#sent += next.value.length;
      rows = next.value;
      if (!unproven) continue;
      const rest = await this.#tryOne(rows, unproven);
      if (rest) unproven = undefined;
      rows = rest ?? [];
    }
    await this.#insert(rows);
    if (this.#inserted > this.#sent && !(await this.#looks())) throw this.#stopped();
  }

  /** Inserts the first row that the platform takes, alone; answers those after it, undefined where it takes none. */
  async #tryOne(rows: readonly NewRow[], unproven: Unproven): Promise<readonly NewRow[] | undefined> {
    for (const [at, row] of rows.entries()) {
      try {
        const isKept = await this.#proof.tries(row, unproven);
        this.#undone.delete(row.index);
        this.#inserts.count();
        this.#finished(1);
        if (!isKept && this.#inserted > 1) throw this.#stopped();
        return rows.slice(at + 1);
      } catch (error) {
        const values = JSON.parse(row.text) as RowData;
        this.#conceal(() => [values]);
        if (!isRefusal(error)) throw error;
        if ((await this.#inserts.leftOf([row])).length > 0) this.#refused(row, error, values);
        else {
          this.#undone.delete(row.index);
          this.#inserts.count();
          return rows.slice(at + 1);
        }
      }
    }
    return undefined;
  }

  #stopped(): Stopped {
    this.#isStopped = true;
    return new Stopped("the other rows were not sent");
  }

  async #insert(batch: readonly NewRow[]): Promise<void> {
    try {
      await this.#inserts.insert(batch, {
        inserted: (done) => {
          for (const { index } of done) this.#undone.delete(index);
          this.#finished(done.length);
        },
        unseen: (rows) => void this.#unseen.push(...rows.map(({ index }) => index)),
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
    try {
      const options = withoutUndefined({ embeddingRowID, userID, ignoreActionRules });
      const request = { rowID: id, rowData: data, microAppID: table, ...options };
      await this.#context.client.updatemicroapprow(request, this.#context);
      this.#undone.delete(index);
      this.#finished(1);
    } catch (error) {
      this.#conceal(() => [data]);
      if (!isRefusal(error)) throw error;
      this.#refused({ index, line }, error, data, this.#clear.get(index));
    }
  }

  /** Removes a row; the others go on where the platform refuses to. */
  async #remove(rowID: string): Promise<void> {
    try {
      const answer = await orUndefinedIfNotFound(this.#context.client.removemicroapprow({ rowID }, this.#context));
      this.#notFound ||= answer === undefined;
      this.#removals.delete(rowID);
      this.#removed++;
    } catch (error) {
      // A locked row is forbidden to most accounts.
      const isOfRow = isRefusal(error) || (error instanceof ApiError && error.code === "forbidden");
      if (!isOfRow) throw error;
      this.#stuck.set(rowID, error);
      if (this.#stuck.size >= maxRefused) throw new Stopped("further rows were not removed");
    }
  }

  /** True if the table keeps what was written so far. */
  #looks(changed: readonly string[] = []): Promise<boolean> {
    for (const index of this.#unseen.splice(0)) this.#undone.delete(index);
    const written = RowIndices.of(this.#chosen);
    for (const index of this.#undone) written.delete(index);
    const inserted = written.size - changed.length;
    return this.#proof.looks(written, inserted, changed, inserted - this.#removed);
  }

  #refused(row: { index: number; line: number }, error: ApiError, values: RowData, cleared?: readonly string[]): void {
    const secrets = secretTextsIn(this.#target, values);
    this.#refusals.add(row, error.platformMessage + describeRefusedClearing(cleared), secrets);
    this.#refusals.advise(error);
    if (this.#refusals.count >= maxRefused) throw new Stopped("further rows were not tried");
  }

  /** The platform may repeat what it refuses. */
  #conceal(rows: () => RowData[]): void {
    const { sensitive, secretLabels = [] } = this.#target;
    if (sensitive) this.#context.hide(rows());
    else if (secretLabels.length > 0) this.#context.hide(rows().map((row) => secretTextsIn(this.#target, row)));
  }

  readonly #startRate = () =>
    new ProgressRate("rows written", this.#context.now, this.#chosen.size + this.#removals.size);

  #finished(count: number): void {
    this.#context.report.status(`${this.#target.table}: ${this.#rate.add(count)}`);
  }
}
