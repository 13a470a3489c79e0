import { messageOf } from "../../machine/failures.ts";
import { batches, inParallel } from "../../platform/client/lists.ts";
import { maxRowsPerInsert, withoutUndefined, type Row, type RowData } from "../../platform/contract/values.ts";
import {
  isConflict,
  ApiError,
  isOutcomeUnknown,
  isUndocumented,
  isRefusal,
  isAdvised,
} from "../../platform/contract/wire.ts";
import { printableLine, formatCount, some, quote } from "../../platform/messages/text.ts";
import { untilShown } from "../resources/lifecycle.ts";
import type { Context } from "../resources/resource.ts";
import { RowMistakes } from "./cells.ts";
import { digesterOf, keyOf, keysOf, withoutIgnored, type Summary } from "./declaration.ts";
import type { Seed } from "./inputs.ts";
import type { Undone } from "./ledger.ts";
import type { LinkedRow, Links } from "./links.ts";
import { union } from "./live.ts";
import type { RowPlan } from "./plan.ts";
import { RowIndices } from "./rowSet.ts";
import { read, SourceError } from "./source/read.ts";
import { formatOf, listLinkedLabels, placeOf, secretTextsIn } from "./source/source.ts";
import { hasRows, oneByOne, ProgressRate, removeRow, room, rowsByID, rowsOf } from "./table.ts";
import {
  findByKeys,
  tryFirstRow,
  verifyWritten,
  type HandedOverRows,
  type NewRow,
  type Removal,
  type Steps,
  type Writing,
} from "./verify.ts";

/** Batches and single calls that are under way at a time; the client's own limiter may allow fewer. */
const concurrency = { batches: 4, calls: 16 };

/** After so many refusals of single rows the rest is not tried; so often a batch is sent whose rows do not appear. */
const limits = { refused: 20, attempts: 3 };

/** Result of a plan. */
interface Applied {
  undone: Required<Undone> & { wanted: RowIndices };
  /** Rows that were sent, but for those that the platform refused. */
  sent: RowIndices;
  /** Rows that the platform refused, and labels that it lost, in sentences. */
  failures: string[];
  /** Rows that were to be removed and stay, since another seed declares them. */
  keptForOthers: HandedOverRows;
}

/** Ends a plan early, when too much of it was refused; its message names the rest. */
class Stopped extends Error {}

/** Carries out a plan: inserts and updates, then removals. Failures are part of the answer; the rest is done. */
export async function applyPlan(
  context: Context,
  seed: Seed,
  summary: Summary,
  links: Links,
  plan: RowPlan,
  steps: Steps = {},
): Promise<Applied> {
  const chosen = RowIndices.of(plan.insert);
  for (const { wanted } of plan.update) chosen.add(wanted);
  const none = (): RowIndices => new RowIndices(summary.rows.length);
  const rows = { chosen, undone: RowIndices.of(chosen), sent: none(), looked: none() };
  const seen = { removed: 0, first: undefined, sentences: [], found: new Map() };
  const writer = new RowWriter({ context, seed, summary, links, plan, steps, ...rows, ...seen });
  // Nothing is sent as long as something refers to nowhere.
  if (listLinkedLabels(seed).length > 0) await writer.checkLinks();
  const reasons: string[] = [];
  context.tables.changed(seed.table);
  try {
    await writer.insertAll();
    await writer.updateAll();
    await writer.removeAll();
    await writer.verify();
  } catch (error) {
    const isCancelled = error instanceof ApiError && error.code === "cancelled";
    reasons.push(isCancelled ? "the run was cancelled; the next one goes on" : messageOf(error));
    if (error instanceof Stopped) await writer.verify();
  } finally {
    context.tables.changed(seed.table);
  }
  return writer.outcome(reasons);
}

/** A row of the source in its sent form, with its line. */
interface PlannedRow extends LinkedRow {
  index: number;
  line: number;
}

/** Writes the rows of one plan, and keeps track of the rest of it. */
class RowWriter {
  readonly #run: Writing;
  /** Rows that are updated: wanted row → ID of the live one. */
  readonly #updates: ReadonlyMap<number, string>;
  readonly #removals: Map<string, Removal>;
  readonly #refusals: RowRefusals;
  readonly #rate: ProgressRate;
  #kept: HandedOverRows = new Map();
  /** Rows that did not appear although they were sent several times: the next look tells. */
  readonly #unseen: number[] = [];
  /** Rows that the table should have. */
  #total: number;
  /** True when rows existed after an answer that did not count them. */
  #isTrusted = false;
  /** True once the platform kept rows of a batch that it refused: it inserts them one after the other. */
  #keepsParts = false;

  constructor(run: Writing) {
    const { context, seed, summary, plan, steps, chosen } = run;
    this.#run = run;
    this.#updates = new Map(plan.update.map(({ wanted, id }) => [wanted, id]));
    this.#removals = new Map(plan.remove.map((row) => [row.id, row]));
    this.#rate = new ProgressRate("rows written", context.now, chosen.size + plan.remove.length);
    this.#total = steps.seen?.total ?? 0;
    this.#refusals = new RowRefusals(seed, union(summary.labels, ...(steps.clear?.values() ?? [])));
  }

  /** Throws when a row refers to one that does not exist. */
  async checkLinks(): Promise<void> {
    const rows = this.#planned(() => undefined);
    while (!(await rows.next()).done);
    await this.#run.links.check();
  }

  /** Inserts new rows: a million of them would lose a label too, so the first batch is looked at before a second one. */
  async insertAll(): Promise<void> {
    const { context, plan, steps } = this.#run;
    if (plan.insert.size === 0) return;
    const added = this.#planned<NewRow>(({ index, line, data, embeddingRowID }) =>
      plan.insert.has(index) ? { index, line, text: JSON.stringify(newRow(data, embeddingRowID)) } : undefined,
    );
    const size = Math.min(context.dialect.limits.maximumBatch ?? maxRowsPerInsert, maxRowsPerInsert);
    const texts = batches(added, { text: ({ text }) => text, maxRows: size, firstRows: steps.unproven ? 1 : size });
    const enter = () => room.writing.enter(Math.min(size, plan.insert.size), context.signal);
    const leave = await enter();
    try {
      await this.#insertFirst(texts);
    } catch (error) {
      await texts.return(); // closes the source
      throw error;
    } finally {
      leave();
    }
    await inParallel(texts, concurrency.batches, (batch) => this.#insert(batch), enter);
  }

  /** Updates what has changed, row by row. */
  async updateAll(): Promise<void> {
    const { context, seed, steps, undone } = this.#run;
    if (this.#updates.size === 0) return;
    const { table, userID, ignoreActionRules } = seed;
    const changed = this.#planned((row) => (this.#updates.has(row.index) ? row : undefined));
    await inParallel(each(changed), concurrency.calls, async (row) => {
      const { index, embeddingRowID } = row;
      const cleared = steps.clear?.get(index);
      const nothing = Object.fromEntries(cleared?.map((label) => [label, null]) ?? []);
      const rowData = withoutIgnored(seed, { ...row.data, ...nothing });
      const options = withoutUndefined({ embeddingRowID, userID, ignoreActionRules });
      const request = { rowID: this.#updates.get(index) ?? "", rowData, microAppID: table, ...options };
      try {
        await onceMore(() => context.client.updatemicroapprow(request, context));
        undone.delete(index);
        this.#finished(1);
      } catch (error) {
        this.#conceal(() => [rowData]);
        if (!isOfOneRow(error)) throw error;
        this.#refused(row, error, rowData, cleared);
      }
    });
  }

  /** Removes what the source has no more, but for what another seed declares by now. */
  async removeAll(): Promise<void> {
    if (this.#removals.size === 0) return;
    const { context, seed, steps, sentences } = this.#run;
    const { rowClaims, signal } = context;
    steps.release?.();
    const remove = async (): Promise<void> => {
      const checked = await steps.spare?.([...this.#removals.values()]);
      if (checked) {
        this.#kept = checked.keptForOthers;
        const left = new Set(checked.left);
        for (const [id, row] of this.#removals) if (!left.has(row)) this.#removals.delete(id);
      }
      if (this.#removals.size > 0) context.assertAlone();
      rowClaims.removed(steps.terms ?? seed, this.#removals.values());
      const removals = new Map(this.#removals);
      const stuck = new Map<string, ApiError>();
      let isUnsure = false; // a row that was just read was not found: IDs may be spelled otherwise in lists
      await inParallel([...removals.keys()], concurrency.calls, async (rowID) => {
        try {
          isUnsure ||= (await onceMore(() => removeRow(context, rowID))) === undefined;
          this.#removals.delete(rowID);
          this.#run.removed++;
        } catch (error) {
          if (!isOfOneRow(error)) throw error;
          stuck.set(rowID, error);
          if (stuck.size >= limits.refused) throw new Stopped("further rows were not removed");
        }
        this.#finished(1);
      });
      const gone = [...removals.keys()].filter((id) => !this.#removals.has(id));
      const look = () => findRemoved(context, seed.table, gone, isUnsure);
      const there = await untilShown(context, look, ({ size }) => size === 0);
      for (const [id, row] of removals) if (there.has(id)) this.#removals.set(id, row);
      if (there.size > 0) sentences.push(stillThere(seed.table, there));
      sentences.push(...(await describeRefusedRemovals(context, seed, stuck)));
    };
    await rowClaims.lock.exclusive(seed.table, remove, signal);
  }

  /** Reads back what was written since the last look; true if the table keeps it. */
  async verify(): Promise<boolean> {
    const { undone } = this.#run;
    for (const index of this.#unseen.splice(0)) undone.delete(index);
    return verifyWritten(
      this.#run,
      [...this.#updates].flatMap(([at, id]) => (undone.has(at) ? [] : id)),
    );
  }

  /** Undone steps, rows kept for others, and failures, in sentences. */
  async outcome(reasons: readonly string[]): Promise<Applied> {
    const { context, undone: wanted, found, sentences, sent } = this.#run;
    const refused = await this.#refusals.sentences(context.directory);
    return {
      undone: { wanted, removals: [...this.#removals.values()], found },
      sent,
      keptForOthers: this.#kept,
      failures: [...refused, ...sentences, ...reasons],
    };
  }

  /** Those rows of the source that the plan writes, in blocks, `form` by `form`; those that it makes nothing of are passed over. */
  async *#planned<Form>(form: (row: PlannedRow) => Form | undefined): AsyncGenerator<Form[]> {
    const { context, seed, summary, links, chosen } = this.#run;
    const digesterIn = digesterOf(seed);
    let index = -1;
    let left = chosen.size;
    const isChosen = (at: number): boolean => chosen.has(at);
    for await (const block of left === 0 ? [] : read(seed, context.directory, undefined, isChosen)) {
      const formed: Form[] = [];
      for (const { line, values } of block) {
        if (!chosen.has(++index)) continue;
        left--;
        // The content holds the key as well.
        if (!summary.rows.hasContent(index, digesterIn(values).content(values))) {
          throw new SourceError(`${placeOf(seed, line)}: the source changed while it was being applied; run up again`);
        }
        const one = form({ ...links.link(values, line), index, line });
        if (one !== undefined) formed.push(one);
      }
      yield formed;
      if (left === 0) return;
    }
  }

  /** Inserts the first batch, and looks at it; of a table that the seed has not written before, the first row alone. */
  async #insertFirst(source: AsyncGenerator<NewRow[]>): Promise<void> {
    let isUnproven = this.#run.steps.unproven !== undefined;
    let left = this.#run.plan.insert.size;
    for (let rows: readonly NewRow[] = []; rows.length === 0;) {
      const next = await source.next();
      if (next.done) return;
      rows = next.value;
      left -= rows.length;
      if (isUnproven) {
        const rest = await this.#tryOne(rows);
        isUnproven = rest === undefined;
        rows = rest ?? [];
      }
      if (rows.length > 0) await this.#insert(rows);
    }
    if (left > 0 && !(await this.verify())) throw new Error(notSent);
  }

  /** Inserts the first row that the platform takes, alone; answers those after it, undefined where it takes none. */
  async #tryOne(rows: readonly NewRow[]): Promise<readonly NewRow[] | undefined> {
    for (const [at, row] of rows.entries()) {
      let isKept = true;
      try {
        isKept = await tryFirstRow(this.#run, row).catch(async (error: unknown) => {
          if (!isConflict(error) || (await this.#lackedOf([row])).length === 0) throw error;
          return tryFirstRow(this.#run, row);
        });
      } catch (error) {
        this.#conceal(() => [valuesOf(row)]);
        if (!isOfRow(error)) throw error;
        if ((await this.#lackedOf([row])).length > 0) {
          this.#refused(row, error, valuesOf(row));
          continue;
        }
      }
      this.#inserted([row]);
      if (!isKept && this.#run.plan.insert.size > 1) throw new Error(notSent);
      return rows.slice(at + 1);
    }
    return undefined;
  }

  /**
   * Inserts a batch, each row exactly once: after a refusal or a lost answer the table is read. What it lacks of a batch that
   * is refused is halved until the rows that the platform refuses are known.
   * @param isAgain true for rows that were sent before: one that is in conflict is sent twice
   */
  async #insert(batch: readonly NewRow[], isAgain = batch.length > 1): Promise<void> {
    try {
      const unseen = await this.#send(batch);
      this.#inserted(batch, unseen);
      this.#unseen.push(...unseen.map(({ index }) => index));
    } catch (error) {
      this.#conceal(() => batch.map(valuesOf));
      if (!isOfRow(error)) throw error;
      const left = await this.#lackedOf(batch);
      for (const { index } of left) this.#run.sent.delete(index);
      this.#inserted(batch, left);
      this.#keepsParts ||= left.length < batch.length;
      const [first] = left;
      if (!first) return;
      if (batch.length === 1 && (isAgain || !isConflict(error))) {
        this.#refused(first, error, valuesOf(first));
        return;
      }
      // The row after those that were kept is the one that was refused.
      const part = this.#keepsParts ? 1 : Math.ceil(left.length / 2);
      await this.#insert(left.slice(0, part), true);
      if (left.length > part) await this.#insert(left.slice(part), true);
    }
  }

  /** Sends a batch until its rows appear; answers those that did not. */
  async #send(batch: readonly NewRow[]): Promise<readonly NewRow[]> {
    const { context, seed } = this.#run;
    const { table, viewers, teamViewers, userID, ignoreActionRules } = seed;
    const request = { microAppID: table, ...withoutUndefined({ viewers, teamViewers, userID, ignoreActionRules }) };
    let missing = batch;
    for (let attempt = 1; attempt <= limits.attempts && missing.length > 0; attempt++) {
      const sent = missing;
      for (const { index } of sent) this.#run.sent.add(index);
      let lost = 0; // rows that are known not to be there
      try {
        const texts = sent.map(({ text }) => text);
        const { inserted } = await context.client.insertWritten(request, texts, context);
        if (inserted === sent.length || (inserted === undefined && this.#isTrusted)) return [];
        if (inserted !== undefined) {
          lost = sent.length - inserted;
          context.report.warning(`${table}: the platform inserted ${inserted} of ${sent.length} rows; looking which`);
        }
        this.#isTrusted = inserted === undefined;
      } catch (error) {
        const isNotSent = error instanceof ApiError && error.code === "cancelled" && !isOutcomeUnknown(error);
        if (isNotSent && attempt === 1) for (const { index } of sent) this.#run.sent.delete(index);
        if (!isOutcomeUnknown(error) || isUndocumented(error)) throw error;
        context.report.warning(
          `${table}: the answer to a batch of ${sent.length} rows was lost; looking which are there`,
        );
      }
      // A row that is there and not shown yet would be sent twice.
      missing = await untilShown(
        context,
        () => this.#notThere(sent),
        (left) => left.length <= lost,
      );
    }
    return missing;
  }

  /** Notes rows of a batch as inserted, but for those that are left. */
  #inserted(batch: readonly NewRow[], left: readonly NewRow[] = []): void {
    const missing = new Set(left);
    for (const row of batch) if (!missing.has(row)) this.#run.undone.delete(row.index);
    this.#total += batch.length - missing.size;
    this.#finished(batch.length - missing.size);
  }

  /** Those rows of a refused batch that the table lacks. */
  async #lackedOf(batch: readonly NewRow[]): Promise<readonly NewRow[]> {
    const { context, seed } = this.#run;
    return (await hasRows(context, seed.table, this.#total)) ? batch : this.#notThere(batch);
  }

  /** Those rows of a batch whose key the table lacks. */
  async #notThere(batch: readonly NewRow[]): Promise<NewRow[]> {
    const there = await findByKeys(this.#run, new Set(batch.map(({ index }) => index)));
    return batch.filter(({ index }) => !there.has(index));
  }

  #refused(row: { index: number; line: number }, error: ApiError, values: RowData, cleared?: readonly string[]): void {
    this.#run.sent.delete(row.index);
    const left =
      cleared === undefined
        ? ""
        : `. ${cleared.join(", ")} was to be cleared, since the row does not declare it any more: where the platform requires it, declare it again`;
    this.#refusals.add(row, error.platformMessage + left, secretTextsIn(this.#run.seed, values));
    this.#refusals.advise(error);
    if (this.#refusals.count >= limits.refused) throw new Stopped("further rows were not tried");
  }

  /** The platform may repeat what it refuses. */
  #conceal(rowsOf: () => RowData[]): void {
    const { context, seed } = this.#run;
    if (seed.sensitive) context.hide(rowsOf());
    else if ((seed.secretLabels ?? []).length > 0) context.hide(rowsOf().map((row) => secretTextsIn(seed, row)));
  }

  #finished(count: number): void {
    const { context, seed } = this.#run;
    context.report.status(`${seed.table}: ${this.#rate.add(count)}`);
  }
}

const notSent = "the other rows were not sent";

/** True when the platform refuses a row, for what it says or for what is there. */
const isOfRow = (error: unknown): error is ApiError => isRefusal(error) || isConflict(error);

/** The same of a row that is there: a locked one is forbidden to most accounts, and the others go on. */
const isOfOneRow = (error: unknown): error is ApiError =>
  isOfRow(error) || (error instanceof ApiError && error.code === "forbidden");

/** Makes a call that changes nothing when it is repeated; after a conflict, such as with an edit at the same moment, once more. */
const onceMore = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
  call().catch((error: unknown) => {
    if (!isConflict(error)) throw error;
    return call();
  });

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

const valuesOf = ({ text }: NewRow): RowData => JSON.parse(text) as RowData; // as it was written

/** Forms in which a refused batch names the row, seen or likely: `rows.0: `, `rows[0].`. */
const place = /^(?:body\.)?(?:rows?[. ]?\[?\d+\]?|rowData)(?:[.:]\s*|\s+)/i;

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
    const { source = "", types = {}, sensitive, secretLabels = [] } = this.#target;
    if (formatOf(source) !== ".csv" || sensitive || !/number|date|boolean|checkbox|list|type/i.test(message)) return;
    const label = this.#labels.find((one) => isNamed(one, message) && !(one in types) && !secretLabels.includes(one));
    if (label) this.#advice.add(`The cells of a CSV are text: if ${label} is not, declare its type in types.`);
  }

  /** Notes the advice of a refusal that is about the form of a request, and not about its row. */
  advise(refusal: ApiError): void {
    if (isAdvised(refusal)) this.#advice.add(refusal.hint);
    if (refusal.code === "forbidden")
      this.#advice.add("Unlock the row on the platform if it is locked there, or use an account that may change it.");
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
      mistakes.add({ line, key: keys[at], text: this.#sentence(message, isQuoting) });
    return [...mistakes.sentences(), ...this.#advice];
  }

  /** The platform's words; not those about a secret row or cell, which may quote it. */
  #sentence(message: string, isQuoting: boolean): string {
    const { sensitive = false, secretLabels = [] } = this.#target;
    const isSecret = sensitive || isQuoting || secretLabels.some((one) => isNamed(one, message));
    if (!isSecret) return message;
    const [label] = this.#labels.filter((one) => isNamed(one, message)).toSorted((a, b) => b.length - a.length);
    return `the platform refused ${label === undefined || sensitive ? "the row" : label}`;
  }
}

/** IDs that one query asks for, and removed rows that are looked for. */
const maxRemoved = { query: 1_000, rows: 10_000 };

/**
 * Looks for rows that the platform has answered to have removed; returns the IDs of those that are still there. Where no
 * query finds rows by their IDs, the whole table is read.
 * @param isUnsure true where one was not found by the ID that a list gave it
 */
async function findRemoved(
  context: Context,
  table: string,
  ids: readonly string[],
  isUnsure: boolean,
): Promise<Set<string>> {
  const asked = new Map(ids.map((id) => [id.toLowerCase(), id])); // another list may spell them in another case
  const there = new Set<string>();
  const see = (rows: readonly Row[]): void => {
    for (const { _id } of rows) {
      const id = asked.get(_id.toLowerCase());
      if (id !== undefined) there.add(id);
    }
  };
  for (let at = 0; !isUnsure && at < Math.min(ids.length, maxRemoved.rows); at += maxRemoved.query) {
    const found = await rowsByID(context, table, ids.slice(at, at + maxRemoved.query));
    isUnsure = found === undefined;
    see(found ?? []);
  }
  if (isUnsure) for await (const rows of rowsOf(context, table, ids.length)) see(rows);
  return there;
}

const stillThere = (table: string, ids: ReadonlySet<string>): string =>
  `${formatCount(ids.size, "row")} of table ${table} that the platform answered to have removed ${ids.size === 1 ? "is" : "are"} still there ` +
  `(rowID ${some([...ids], 5)}): run up again; if they stay, remove them on the platform, and if it shows changes late, set consistencySeconds`;

/** Names rows that the platform refuses to remove, by key and ID, once for each reason. */
async function describeRefusedRemovals(
  context: Context,
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
