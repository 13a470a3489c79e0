import { isOutcomeUnknown, isRefusal, isUndocumented, type ApiError } from "../../../platform/contract/errors.ts";
import { withoutUndefined } from "../../../platform/contract/values.ts";
import type { RowSet } from "../../reconcile/rowSet.ts";
import { untilShown } from "../../resources/model/lifecycle.ts";
import { digesterFor } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { rowsOf, type RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";
import { hasRows } from "../live/queries.ts";

/** A row that is to be inserted: where it stands in the source, and its JSON. */
export interface NewRow {
  index: number;
  line: number;
  text: string;
}

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
export class RowInserts {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  readonly #wanted: RowSet;
  readonly #links: Links;
  /** True when rows existed after an answer that did not count them. */
  #isTrusted = false;
  /** True once the platform kept rows of a batch that it refused: it inserts them one after the other. */
  #keepsParts = false;
  /** Rows that the table should have. */
  #total: number;

  constructor(context: RowContext, target: RowTarget, wanted: RowSet, links: Links, total: number) {
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
  async insert(batch: readonly NewRow[], report: Outcomes): Promise<void> {
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
      if (!isRefusal(error)) throw error;
      const left = await this.leftOf(batch);
      inserted(left);
      this.#keepsParts ||= left.length < batch.length;
      const [first] = left;
      if (!first) return;
      if (left.length === 1 && batch.length === 1) report.refused(first, error);
      else {
        // The row after those that were kept is the one that was refused.
        const part = this.#keepsParts ? 1 : Math.ceil(left.length / 2);
        await this.insert(left.slice(0, part), report);
        if (left.length > part) await this.insert(left.slice(part), report);
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
