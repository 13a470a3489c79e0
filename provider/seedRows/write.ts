import { messageOf } from "../../machine/failures.ts";
import { batches, inParallel } from "../../platform/client/lists.ts";
import {
  fieldKinds,
  type FieldType,
  maxRowsPerInsert,
  withoutUndefined,
  type RowData,
} from "../../platform/contract/values.ts";
import {
  ApiError,
  isConflict,
  isRefusal,
  orUndefinedIfNotFound,
  isOutcomeUnknown,
  isUndocumented,
  isAdvised,
} from "../../platform/contract/wire.ts";
import { printableLine, formatCount, quote, some } from "../../platform/messages/text.ts";
import type { RowDigests } from "../reconcile/digests.ts";
import type { Undone } from "../reconcile/ledger.ts";
import type { RowPlan } from "../reconcile/rows.ts";
import { RowIndices, type RowSet } from "../reconcile/rowSet.ts";
import { untilShown } from "../resources/model/lifecycle.ts";
import { typesToDeclare, RowMistakes } from "./cells.ts";
import { withoutIgnored, digesterFor, digesterOf, keysOf, keyOf, type Summary } from "./declaration.ts";
import type { Seed } from "./inputs.ts";
import { describeRefusedClearing, union, type Clearing, type Scope } from "./labels.ts";
import type { Links, LinkedRow } from "./links.ts";
import { read, SourceError } from "./source/read.ts";
import { listLinkedLabels, secretTextsIn, isHidden, placeOf } from "./source/source.ts";
import { room, ProgressRate, rowsOf, hasRows, oneByOne, rowsByID, rowsByIDs, type RowContext } from "./table.ts";
import { Proof, type Unproven, type NewRow, type SeenTable } from "./verify.ts";

/** Carries out a plan: inserts and updates, then removals. Failures are part of the answer; the rest is done. */
export async function applyPlan(
  context: RowContext,
  target: Seed,
  summary: Summary,
  links: Links,
  plan: RowPlan,
  steps: Steps = {},
): Promise<Applied> {
  const writer = new RowWriter(context, target, summary, links, plan, steps);
  // Nothing is sent as long as something refers to nowhere.
  if (listLinkedLabels(target).length > 0) await writer.checkLinks();
  const reasons: string[] = [];
  context.tables.changed(target.table);
  try {
    await writer.insertAll();
    await writer.updateAll();
    await writer.removeAll();
    await writer.verify();
  } catch (error) {
    reasons.push(reasonOf(error));
    if (error instanceof Stopped) await writer.verify();
  } finally {
    context.tables.changed(target.table);
  }
  const { failures, ...outcome } = await writer.outcome();
  return { ...outcome, failures: [...failures, ...reasons] };
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.code === "cancelled") return "the run was cancelled; the next one goes on";
  return messageOf(error);
}

/** Batches and single calls that are under way at a time; the client's own limiter may allow fewer. */
const concurrency = { batches: 4, calls: 16 };

/** After this many refusals of single rows, the rest is not tried. */
const maxRefused = 20;

type ChangedRow = PlannedRow & { id: string };

/** Writes the rows of one plan, and keeps track of the rest of it. */
class RowWriter {
  readonly #context: RowContext;
  readonly #target: Seed;
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

  constructor(context: RowContext, target: Seed, summary: Summary, links: Links, plan: RowPlan, steps: Steps) {
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
        const isKept = await this.#proof.tries(row, unproven).catch(async (error: unknown) => {
          if (!isConflict(error) || (await this.#inserts.leftOf([row])).length === 0) throw error;
          return this.#proof.tries(row, unproven);
        });
        this.#undone.delete(row.index);
        this.#inserts.count();
        this.#finished(1);
        if (!isKept && this.#inserted > 1) throw this.#stopped();
        return rows.slice(at + 1);
      } catch (error) {
        const values = JSON.parse(row.text) as RowData;
        this.#conceal(() => [values]);
        if (!isOfRow(error)) throw error;
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
      await onceMore(() => this.#context.client.updatemicroapprow(request, this.#context));
      this.#undone.delete(index);
      this.#finished(1);
    } catch (error) {
      this.#conceal(() => [data]);
      if (!isOfRow(error)) throw error;
      this.#refused({ index, line }, error, data, this.#clear.get(index));
    }
  }

  /** Removes a row; the others go on where the platform refuses to. */
  async #remove(rowID: string): Promise<void> {
    try {
      const answer = await orUndefinedIfNotFound(
        onceMore(() => this.#context.client.removemicroapprow({ rowID }, this.#context)),
      );
      this.#notFound ||= answer === undefined;
      this.#removals.delete(rowID);
      this.#removed++;
    } catch (error) {
      // A locked row is forbidden to most accounts.
      if (!isOfRow(error) && !(error instanceof ApiError && error.code === "forbidden")) throw error;
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

/** True when the platform refuses a row, for what it says or for what is there. */
const isOfRow = (error: unknown): error is ApiError => isRefusal(error) || isConflict(error);

/** Makes a call that changes nothing when it is repeated; after a conflict, such as with an edit at the same moment, once more. */
const onceMore = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
  call().catch((error: unknown) => {
    if (!isConflict(error)) throw error;
    return call();
  });

/** A row that a run is about to remove. */
export type Removal = RowDigests & { id: string };

/** Rows that stay on the platform, by the seed that declares them. */
export type HandedOverRows = ReadonlyMap<string, number>;

/** Result of a plan. */
interface Applied {
  undone: Required<Undone>;
  /** Rows that the platform refused, and labels that it lost, in sentences. */
  failures: string[];
  /** Rows that were to be removed and stay, since another seed declares them. */
  keptForOthers: HandedOverRows;
}

/** How a plan is carried out beside what other seeds do. */
export interface Steps {
  /** Labels that updates set to nothing. */
  clear?: Clearing;
  /** The labels by which rows are compared with those of the table. */
  scope?: Scope;
  /** The seed as it was when the digests of the removals were taken. */
  terms?: Seed;
  /** Lets other seeds remove rows of the table; called before the first removal. */
  release?: () => void;
  /** Takes out what seeds declare that were checked meanwhile. Nobody else works on the table then. */
  spare?: (removals: readonly Removal[]) => Promise<{ left: Removal[]; keptForOthers: HandedOverRows }>;
  /** How the table was read. */
  seen?: SeenTable;
  /** Where the seed has not written the table before: one row is tried first, and noted here until its key is seen. */
  unproven?: Unproven | undefined;
}

/** Ends a plan early; its message names the rest. */
class Stopped extends Error {}

type Target = Parameters<RowContext["client"]["insertWritten"]>[0];

/** How often a batch is sent whose rows do not appear. */
const maxAttempts = 3;

/** Callbacks for the rows of a batch, by their outcome. */
interface Outcomes {
  inserted: (rows: readonly NewRow[]) => void;
  unseen: (rows: readonly NewRow[]) => void;
  refused: (row: NewRow, error: ApiError) => void;
}

/** Inserts rows, each exactly once: after a refusal or a lost answer, reads the table to find out which of them are there. */
class RowInserts {
  readonly #context: RowContext;
  readonly #target: Seed;
  readonly #wanted: RowSet;
  readonly #links: Links;
  /** True when rows existed after an answer that did not count them. */
  #isTrusted = false;
  /** True once the platform kept rows of a batch that it refused: it inserts them one after the other. */
  #keepsParts = false;
  /** Rows that the table should have. */
  #total: number;

  constructor(context: RowContext, target: Seed, wanted: RowSet, links: Links, total: number) {
    this.#total = total;
    this.#context = context;
    this.#target = target;
    this.#wanted = wanted;
    this.#links = links;
  }

  /**
   * Inserts a batch. What the table lacks of a batch that is refused is halved until the rows that the platform refuses are
   * known: `refused` gets each of them, `unseen` those that did not appear although they were sent several times, `inserted`
   * all others.
   */
  async insert(batch: readonly NewRow[], report: Outcomes, isAgain = batch.length > 1): Promise<void> {
    const inserted = (left: readonly NewRow[]): void => {
      const missing = new Set(left);
      const done = missing.size === 0 ? batch : batch.filter((row) => !missing.has(row));
      this.#total += done.length;
      report.inserted(done);
    };
    try {
      const unseen = await this.#once(batch);
      inserted(unseen);
      report.unseen(unseen);
    } catch (error) {
      if (!isOfRow(error)) throw error;
      const left = await this.leftOf(batch);
      inserted(left);
      this.#keepsParts ||= left.length < batch.length;
      const [first] = left;
      if (!first) return;
      if (left.length === 1 && batch.length === 1 && (isAgain || !isConflict(error))) report.refused(first, error);
      else {
        // The row after those that were kept is the one that was refused.
        const part = this.#keepsParts ? 1 : Math.ceil(left.length / 2);
        await this.insert(left.slice(0, part), report, true);
        if (left.length > part) await this.insert(left.slice(part), report, true);
      }
    }
  }

  /** Those rows of a refused batch that the table lacks. */
  async leftOf(batch: readonly NewRow[]): Promise<readonly NewRow[]> {
    const { table } = this.#target;
    return (await hasRows(this.#context, table, this.#total)) ? batch : this.#notThere(batch);
  }

  /** Counts a row that was inserted alone. */
  count(): void {
    this.#total++;
  }

  /** Rows that did not appear. */
  async #once(batch: readonly NewRow[]): Promise<readonly NewRow[]> {
    const { report } = this.#context;
    const { table, viewers, teamViewers, userID, ignoreActionRules } = this.#target;
    const request = { microAppID: table, ...withoutUndefined({ viewers, teamViewers, userID, ignoreActionRules }) };
    let missing = batch;
    for (let attempt = 1; attempt <= maxAttempts && missing.length > 0; attempt++) {
      const texts = missing.map(({ text }) => text);
      let lost = 0; // rows that are known not to be there
      try {
        const inserted = await this.#sent(request, texts);
        if (inserted === missing.length || (inserted === undefined && this.#isTrusted)) return [];
        if (inserted !== undefined) {
          lost = missing.length - inserted;
          report.warning(`${table}: the platform inserted ${inserted} of ${missing.length} rows; looking which`);
        }
        this.#isTrusted = inserted === undefined;
      } catch (error) {
        if (!isOutcomeUnknown(error) || isUndocumented(error)) throw error;
        report.warning(`${table}: the answer to a batch of ${missing.length} rows was lost; looking which are there`);
      }
      const sent = missing;
      // A row that is there and not shown yet would be sent twice.
      missing = await untilShown(
        this.#context,
        () => this.#notThere(sent),
        (left) => left.length <= lost,
      );
    }
    return missing;
  }

  /** Sends rows; resolves to the number of inserted rows in the answer, if there is one. */
  async #sent(request: Target, texts: readonly string[]): Promise<number | undefined> {
    return (await this.#context.client.insertWritten(request, texts, this.#context)).inserted;
  }

  /** Those rows of a batch whose key the table lacks. */
  async #notThere(batch: readonly NewRow[]): Promise<NewRow[]> {
    const { table } = this.#target;
    const digester = digesterFor(this.#target);
    const left = new Map(batch.map((row) => [row.index, row]));
    for await (const page of rowsOf(this.#context, table, this.#wanted.length)) {
      for (const row of page) {
        const digest = digester.key(this.#links.inSourceTerms(row));
        const index = digest && this.#wanted.find(digest);
        if (index !== undefined) left.delete(index);
      }
    }
    return [...left.values()];
  }
}

/** A row of the source in its sent form, with its line. */
interface PlannedRow extends LinkedRow {
  index: number;
  line: number;
}

/** Those rows of a source that a plan writes; each reading goes through the source once. */
class PlannedRows {
  readonly #context: RowContext;
  readonly #target: Seed;
  readonly #rows: RowSet;
  readonly #links: Links;
  readonly #chosen: RowIndices;

  /** @param rows digests of all rows of the source, which must not change meanwhile */
  constructor(context: RowContext, target: Seed, rows: RowSet, links: Links, chosen: RowIndices) {
    this.#context = context;
    this.#target = target;
    this.#rows = rows;
    this.#links = links;
    this.#chosen = chosen;
  }

  /** The rows in blocks, `form` by `form`; those that it makes nothing of are passed over. */
  async *read<Form>(form: (row: PlannedRow) => Form | undefined): AsyncGenerator<Form[]> {
    const digesterFor = digesterOf(this.#target);
    let index = -1;
    let left = this.#chosen.size;
    const isChosen = (at: number): boolean => this.#chosen.has(at);
    for await (const block of left === 0 ? [] : read(this.#target, this.#context.directory, undefined, isChosen)) {
      const formed: Form[] = [];
      for (const { line, values } of block) {
        if (!this.#chosen.has(++index)) continue;
        left--;
        // The content holds the key as well.
        if (!this.#rows.hasContent(index, digesterFor(values).content(values))) {
          throw new SourceError(`${this.#place(line)}: the source changed while it was being applied; run up again`);
        }
        const one = form({ ...this.#links.link(values, line), index, line });
        if (one !== undefined) formed.push(one);
      }
      yield formed;
      if (left === 0) return;
    }
  }

  /** Throws when a row refers to one that does not exist. */
  async checkLinks(): Promise<void> {
    const rows = this.read(() => undefined);
    while (!(await rows.next()).done);
    await this.#links.check(
      (line) => this.#place(line),
      (label) => isHidden(this.#target, label),
    );
  }

  #place(line: number): string {
    return placeOf(this.#target, line);
  }
}

/** Rows of blocks, one by one. */
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

/** Forms in which a refused batch names the row, seen or likely: `rows.0: `, `rows[0].`. */
const place = /^(?:body\.)?(?:rows?[. ]?\[?\d+\]?|rowData)(?:[.:]\s*|\s+)/i;

/** Words by which a refusal names the type of the field (assumed: the platform documents none). */
const wordsOfTypes: readonly (readonly [RegExp, FieldType])[] = [
  [/checkbox|(list|array) of (texts|strings)/i, "checkbox"],
  [/\bdate\b|ISO ?8601/i, "date"],
  [/\bnumber\b|numeric/i, "number"],
  [/crossAppRow/i, "linked"],
  [/\blocation\b/i, "location"],
];

/** True when a sentence contains a label as words of its own. */
function isNamed(label: string, sentence: string): boolean {
  const letter = /[\p{L}\p{N}_]/u;
  for (let at = sentence.indexOf(label); at >= 0; at = sentence.indexOf(label, at + 1)) {
    const [before = "", after = ""] = [sentence[at - 1], sentence[at + label.length]];
    if (!letter.test(before) && !letter.test(after)) return true;
  }
  return false;
}

/** Rows that the platform refused one by one. */
export class RowRefusals {
  readonly #target: Seed;
  readonly #labels: readonly string[];
  readonly #advice = new Set<string>();
  readonly #found: { index: number; line: number; message: string; isQuoting: boolean }[] = [];

  /** @param labels those that the rows declare */
  constructor(target: Seed, labels: readonly string[]) {
    this.#target = target;
    this.#labels = labels;
  }

  get count(): number {
    return this.#found.length;
  }

  /**
   * @param message the platform's words
   * @param secrets texts of the row that nobody may read
   */
  add({ index, line }: { index: number; line: number }, message: string, secrets: readonly string[] = []): void {
    const isQuoting = secrets.some((text) => message.includes(text));
    this.#found.push({ index, line, message: printableLine(message).replace(place, ""), isQuoting });
  }

  /** Notes the advice of a refusal that is about the form of a request, and not about its row. */
  advise(refusal: ApiError): void {
    if (isAdvised(refusal)) this.#advice.add(refusal.hint);
  }

  /** Refusals, once for each label and reason, at the first row by its line and key; then advice. */
  async sentences(directory: string): Promise<string[]> {
    const { sensitive } = this.#target;
    const ascending = this.#found.toSorted((a, b) => a.index - b.index);
    const chosen = new Set(ascending.map(({ index }) => index));
    const reading = sensitive || chosen.size === 0 ? [] : keysOf(this.#target, directory, chosen);
    // oxlint-disable-next-line eslint-js/no-restricted-syntax -- the source may be gone: refusals without keys, rather than none
    const keys = await Promise.resolve(reading).catch(() => []);
    const mistakes = new RowMistakes((line) => placeOf(this.#target, line));
    for (const [at, { line, message, isQuoting }] of ascending.entries())
      mistakes.add({ line, key: keys[at], ...this.#sentence(message, isQuoting) });
    return [...mistakes.sentences(), ...this.#advice];
  }

  /** The platform's words, and what to write; not those about a secret row or cell, which may quote it. */
  #sentence(message: string, isQuoting: boolean): { text: string; about: string } {
    const { sensitive = false, secretLabels = [] } = this.#target;
    const isSecret = sensitive || isQuoting || secretLabels.some((one) => isNamed(one, message));
    const [label] = this.#labels.filter((one) => isNamed(one, message)).toSorted((a, b) => b.length - a.length);
    const [, type] = wordsOfTypes.find(([words]) => words.test(message)) ?? [];
    if (label === undefined || type === undefined) {
      const which = label === undefined || sensitive ? "the row" : label;
      const text = isSecret ? `the platform refused ${which}` : message;
      return { text, about: text };
    }
    const [is, write] = fieldKinds[type];
    const about = `${label} is ${is}: ${write}`;
    const remedy = write + typesToDeclare(this.#target, label, type);
    return { about, text: `${isSecret ? `${label} is ${is}` : message.replace(/\.$/, "")}: ${remedy}` };
  }
}

/** IDs that one query asks for, and removed rows that are looked for. */
const limits = { query: 1_000, rows: 10_000 };

/**
 * Looks for rows that the platform has answered to have removed; returns the IDs of those that are still there. Where no
 * query finds rows by their IDs, the whole table is read.
 * @param unsure true where one was not found by the ID that a list gave it
 */
async function findRemoved(
  context: RowContext,
  table: string,
  ids: readonly string[],
  unsure = false,
): Promise<Set<string>> {
  if (unsure) return rowsAmong(context, table, new Set(ids));
  const there = new Set<string>();
  const looked = ids.slice(0, limits.rows);
  for (let at = 0; at < looked.length; at += limits.query) {
    const found = await rowsByID(context, table, looked.slice(at, at + limits.query));
    if (!found) return rowsAmong(context, table, new Set(ids));
    for (const { _id } of found) there.add(_id);
  }
  return there;
}

/** Those of some IDs that rows of a table have. */
async function rowsAmong(context: RowContext, table: string, ids: ReadonlySet<string>): Promise<Set<string>> {
  const there = new Set<string>();
  for await (const rows of rowsOf(context, table, ids.size))
    for (const { _id } of rows) if (ids.has(_id)) there.add(_id);
  return there;
}

/** Calls that looking for removed rows takes. */
export const callsToFind = (removals: number): number => Math.ceil(Math.min(removals, limits.rows) / limits.query);

const stillThere = (table: string, ids: ReadonlySet<string>): string =>
  `${formatCount(ids.size, "row")} of table ${table} that the platform answered to have removed ${ids.size === 1 ? "is" : "are"} still there ` +
  `(rowID ${some([...ids], 5)}): run up again; if they stay, remove them on the platform, and if it shows changes late, set consistencySeconds`;

/** Names rows that the platform refuses to remove, by key and ID, once for each reason. */
async function describeRefusedRemovals(
  context: RowContext,
  { table, key, sensitive, secretLabels = [] }: Seed,
  refused: ReadonlyMap<string, ApiError>,
): Promise<string[]> {
  const reasons = Map.groupBy(refused.keys(), (id) => printableLine(refused.get(id)?.platformMessage ?? ""));
  const sentences: string[] = [];
  for (const [reason, ids] of reasons) {
    const first = ids.slice(0, 5);
    const rows = new Map((await oneByOne(context, first)).map((row) => [row._id, row]));
    const isSecret = sensitive === true || key.some((label) => secretLabels.includes(label));
    const named = first.map((id) => {
      const row = isSecret ? undefined : rows.get(id);
      return row ? `${quote(keyOf(key, row))} (rowID ${id})` : `rowID ${id}`;
    });
    const more = ids.length > first.length ? ` and ${ids.length - first.length} more` : "";
    sentences.push(`table ${table}: the platform does not remove ${named.join(", ")}${more}: ${reason}`);
  }
  return sentences;
}

/** Rows of one removal whose cells are kept: they are in memory. */
export const maxKept = 100_000;

/** Keeps the cells of rows that are about to be removed, where a seed may declare them that nobody knows of yet. */
export async function keepCells<Checked extends { left: readonly Removal[] }>(
  context: RowContext,
  table: string,
  removal: Checked,
): Promise<Checked> {
  const { rowClaims } = context;
  const ids = removal.left.map(({ id }) => id);
  if (!rowClaims.keepsCells || ids.length > maxKept) return removal;
  for await (const rows of rowsByIDs(context, table, ids)) rowClaims.keepCells(table, rows);
  return removal;
}

/** Gives rows the cells back that users wrote before another seed removed them in this run. */
class RestoredCells {
  readonly #context: RowContext;
  readonly #target: Seed;
  #restored = 0;

  constructor(context: RowContext, target: Seed) {
    this.#context = context;
    this.#target = target;
  }

  /** A new row in its sent form. */
  textOf(data: RowData, embeddingRowID: string | undefined): string {
    const removed = this.#context.rowClaims.cellsOf(this.#target, data);
    if (removed) this.#restored++;
    return JSON.stringify(newRow(removed ? { ...removed, ...data } : data, embeddingRowID));
  }

  report(): void {
    if (this.#restored === 0) return;
    this.#context.report.info(
      `${formatCount(this.#restored, "row")} of another seed got another ID and kept the cells that no seed declares: ` +
        `its update came before this seed was known. Seeds of one Environment know of each other, and such rows keep their IDs`,
    );
  }
}
