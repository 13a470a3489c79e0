import { inParallel } from "../../../client/parallel.ts";
import { ApiError, isOutcomeUnknown, isRefusal } from "../../../contract/errors.ts";
import { withoutUndefined, type RowData } from "../../../contract/values.ts";
import type { RowSet } from "../../../reconcile/rowSet.ts";
import { untilShown } from "../../model/shown.ts";
import { digesterFor } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";
import { seedRowsOf } from "../live/subTables/shownParents.ts";

/** A row that is to be inserted: where it stands in the source, and its JSON. */
export interface NewRow {
  index: number;
  line: number;
  text: string;
}

type Target = Parameters<RowContext["client"]["insertWritten"]>[0];

/** ID of the row below which a new one stands. */
export const parentIn = (text: string): string | undefined =>
  (JSON.parse(text) as { embeddingRowID?: string }).embeddingRowID; // RowWriter wrote it

/** How often a batch is sent whose rows do not appear. */
const maxAttempts = 3;

/** Single inserts that are under way at a time; the client's own limiter may allow fewer. */
const concurrency = 16;

/** Tables that were seen to take no batches, by the client that found it. */
const withoutBatches = new WeakMap<object, Set<string>>();

/** Callbacks for the rows of a batch, by their outcome. */
interface Outcomes {
  inserted: (rows: readonly NewRow[]) => void;
  unseen: (rows: readonly NewRow[]) => void;
  refused: (row: NewRow, error: ApiError) => void;
}

/** Inserts rows, each exactly once: after a lost answer, reads the table to find out which of them are there. */
export class RowInserts {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  readonly #wanted: RowSet;
  readonly #links: Links;
  /** True when a batch was taken: what is refused then are rows. */
  #takesBatches = false;
  /** True when rows existed after an answer that did not count them. */
  #isTrusted = false;

  constructor(context: RowContext, target: RowTarget, wanted: RowSet, links: Links) {
    this.#context = context;
    this.#target = target;
    this.#wanted = wanted;
    this.#links = links;
  }

  /**
   * Inserts a batch. A batch that is refused is halved until the rows that the platform refuses are known: `refused` gets
   * each of them, `unseen` those that did not appear although they were sent several times, `inserted` all others. A table
   * that takes no batches, seen by a row that it takes alone, gets one row at a time.
   */
  async insert(batch: readonly NewRow[], report: Outcomes): Promise<void> {
    if (this.#isSingle) return this.#singly(batch, report);
    try {
      const unseen = new Set(await this.#once(batch));
      this.#takesBatches = true;
      report.inserted(unseen.size === 0 ? batch : batch.filter((row) => !unseen.has(row)));
      report.unseen([...unseen]);
    } catch (error) {
      const [first] = batch;
      if (!first || !(isRefusal(error) || isOfEndpoint(error))) throw error;
      if (batch.length > 1 && isRefusal(error)) {
        const half = Math.ceil(batch.length / 2);
        await this.insert(batch.slice(0, half), report);
        await this.insert(batch.slice(half), report);
      } else if (this.#takesBatches || !(await this.#takesAlone(first, error, report))) {
        if (!isRefusal(error)) throw error;
        report.refused(first, error);
      } else await this.insert(batch.slice(1), report);
    }
  }

  /** Sends a row of a refused batch alone; resolves to false where it is refused as well. */
  async #takesAlone(row: NewRow, refusal: ApiError, outcomes: Outcomes): Promise<boolean> {
    const refused: unknown[] = [];
    const isTaken = await this.#singly([row], { ...outcomes, refused: (one) => void refused.push(one) }).then(
      () => refused.length === 0,
      (error: unknown) => {
        if (isOfEndpoint(error)) return false;
        throw error;
      },
    );
    const { table } = this.#target;
    if (isTaken && !this.#isSingle) {
      withoutBatches.set(this.#context.client, (withoutBatches.get(this.#context.client) ?? new Set()).add(table));
      this.#context.report.warning(
        `${table}: the platform takes this row alone and in no batch (${refusal.platformMessage}): rows are inserted one by one, ` +
          `which is slower. ${hintOfBatches}`,
      );
    }
    return isTaken;
  }

  /** True where rows are sent one by one. */
  get #isSingle(): boolean {
    const { client } = this.#context;
    return withoutBatches.get(client)?.has(this.#target.table) === true;
  }

  /** Inserts rows one by one. */
  async #singly(rows: readonly NewRow[], report: Outcomes): Promise<void> {
    const { client } = this.#context;
    const { table: microAppID, viewers, teamViewers, userID, ignoreActionRules } = this.#target;
    const options = withoutUndefined({ viewers, teamViewers, userID, ignoreActionRules });
    let missing = rows;
    for (let attempt = 1; attempt <= maxAttempts && missing.length > 0; attempt++) {
      const lost: NewRow[] = [];
      await inParallel(missing, concurrency, async (row) => {
        const { embeddingRowID, ...rowData } = JSON.parse(row.text) as RowData & { embeddingRowID?: string }; // RowWriter wrote it
        const request = { microAppID, rowData, ...options, ...withoutUndefined({ embeddingRowID }) };
        try {
          await client.insertmicroapprow(request, this.#context);
          report.inserted([row]);
        } catch (error) {
          if (isOutcomeUnknown(error) && error.code !== "cancelled") lost.push(row);
          else if (isRefusal(error)) report.refused(row, error);
          else throw error;
        }
      });
      if (lost.length > 0) this.#tellLost(lost.length);
      missing = lost.length === 0 ? [] : await untilShown(this.#context, () => this.#notThere(lost), isNone);
      report.inserted(lost.filter((row) => !missing.includes(row)));
    }
    report.unseen(missing);
  }

  #tellLost(count: number): void {
    const { table } = this.#target;
    this.#context.report.warning(`${table}: ${count} answers to single rows were lost; looking which rows are there`);
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
        if (!isOutcomeUnknown(error)) throw error;
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
    const parents = new Set(batch.flatMap(({ text }) => parentIn(text) ?? []));
    for await (const page of seedRowsOf(this.#context, table, this.#wanted.length, this.#links, parents)) {
      for (const row of page) {
        const digest = digester.key(this.#links.inSourceTerms(row));
        const index = digest && this.#wanted.find(digest);
        if (index !== undefined) left.delete(index);
      }
    }
    return [...left.values()];
  }
}

const isNone = (left: readonly unknown[]): boolean => left.length === 0;

/** True for a failure by which a platform may mean that it has no such endpoint, rather than the rows. */
const isOfEndpoint = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (["notImplemented", "notFound", "forbidden"].includes(error.code) || isNoPath(error)) &&
  !isOutcomeUnknown(error);

/** True for a server's own 404 or 405. */
const isNoPath = ({ code, status }: ApiError): boolean => code === "badAnswer" && (status === 404 || status === 405);

const hintOfBatches =
  "A profile with habits.batchInserts: no in microapps:profile sends none, as 'microapps verify' writes it.";
