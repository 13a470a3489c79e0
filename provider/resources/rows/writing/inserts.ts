import { isOutcomeUnknown, isRefusal, isUndocumented, type ApiError } from "../../../contract/errors.ts";
import { withoutUndefined } from "../../../contract/values.ts";
import type { RowSet } from "../../../reconcile/rowSet.ts";
import { untilShown } from "../../model/shown.ts";
import { digesterFor } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { rowsOf, type RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";

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

/** Inserts rows, each exactly once: after a lost answer, reads the table to find out which of them are there. */
export class RowInserts {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  readonly #wanted: RowSet;
  readonly #links: Links;
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
   * each of them, `unseen` those that did not appear although they were sent several times, `inserted` all others.
   */
  async insert(batch: readonly NewRow[], report: Outcomes): Promise<void> {
    try {
      const unseen = new Set(await this.#once(batch));
      report.inserted(unseen.size === 0 ? batch : batch.filter((row) => !unseen.has(row)));
      report.unseen([...unseen]);
    } catch (error) {
      const [first] = batch;
      if (!first || !isRefusal(error)) throw error;
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        await this.insert(batch.slice(0, half), report);
        await this.insert(batch.slice(half), report);
      } else report.refused(first, error);
    }
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
