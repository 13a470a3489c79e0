import { orUndefinedIfNotFound } from "../../../platform/contract/errors.ts";
import type { Row, RowData } from "../../../platform/contract/values.ts";
import { formatCount, quote, some } from "../../../platform/messages/text.ts";
import { canonical, keyText } from "../../reconcile/digests.ts";
import { keyOf } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { RowContext } from "../live/context.ts";
import { makerOf } from "../live/liveRows.ts";

/** Rows that are kept in memory. */
const most = 10_000;

interface Stray {
  id: string;
  values: RowData;
}

/** Rows that this run made beside those that it wanted: with keys that the table keeps otherwise, and second ones. */
export class Strays {
  readonly #context: RowContext;
  readonly #target: RowTarget;
  readonly #before: ReadonlySet<string> | undefined;
  readonly #isMine: (row: Row) => boolean;
  /** The first row that was seen of each wanted one. */
  readonly #ids = new Map<number, string>();
  readonly #candidates = new Map<string, Stray>();
  readonly #twins = new Map<string, boolean>();
  readonly #misnamed = new Set<string>();

  private constructor(
    context: RowContext,
    target: RowTarget,
    before: ReadonlySet<string> | undefined,
    isMine: (row: Row) => boolean,
  ) {
    this.#context = context;
    this.#target = target;
    this.#before = before;
    this.#isMine = isMine;
  }

  /** @param before rows of this account that were there before with other keys; undefined for more than are known */
  static async of(
    context: RowContext,
    target: RowTarget,
    before: ReadonlySet<string> | undefined,
    first: { index: number; id: string } | undefined,
  ): Promise<Strays> {
    const strays = new Strays(context, target, before, await makerOf(context, target));
    if (first) strays.#ids.set(first.index, first.id);
    return strays;
  }

  /** Takes in a row with a key that nobody wants. */
  observe(row: Row, values: RowData): void {
    if (this.#before?.has(row._id) === false && this.#isMine(row) && this.#candidates.size < most)
      this.#candidates.set(row._id, { id: row._id, values });
  }

  /** Takes in a row that was inserted; `isAsSent` is true of one that says what was sent. */
  met(index: number, row: Row, isAsSent: boolean): void {
    const first = this.#ids.get(index);
    if (first === undefined) this.#ids.set(index, row._id);
    else if (first !== row._id) this.#twins.set(row._id, isAsSent && this.#isMine(row));
  }

  /** The key that the table made of a row's; undefined where it made none. */
  keyOf(sent: RowData): string | undefined {
    const found = [...this.#candidates.values()].filter(({ values }) =>
      Object.keys(sent).every((label) => isLike(sent[label], values[label])),
    );
    const [one, ...more] = found;
    if (!one || more.length > 0) return undefined;
    this.#misnamed.add(one.id);
    return keyOf(this.#target.key, one.values);
  }

  /** Takes those away that are certainly of this run, and describes the others. */
  async remove(): Promise<string[]> {
    const { client, report, ...call } = this.#context;
    const { table } = this.#target;
    const own = [...this.#twins].flatMap(([id, isOwn]) => (isOwn ? id : []));
    const left = [...this.#twins.keys()].filter((id) => !own.includes(id));
    for (const rowID of [...own, ...this.#misnamed])
      await orUndefinedIfNotFound(client.removemicroapprow({ rowID }, call));
    if (own.length > 0)
      report.warning(
        `table ${table}: the platform kept ${formatCount(own.length, "row")} twice; the second ones were removed again`,
      );
    if (left.length === 0) return [];
    return [
      `table ${table} has rows twice that were sent once (rowID ${some(left, 5)}), and nothing shows who made them: remove those that should not be there`,
    ];
  }
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };
const decomposed = (text: string): string =>
  text
    .replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (_, name: string) => entities[name] ?? "")
    .normalize("NFKD")
    .trim();

/** True if a table may have made one text of the other: in another Unicode form, cut, escaped or trimmed. */
function isLike(sent: unknown, found: unknown): boolean {
  const [one, other] = [keyText(sent), keyText(found)];
  if (one === undefined || other === undefined) return canonical(sent) === canonical(found);
  const [whole, part] = [decomposed(one), decomposed(other)];
  return part !== "" && whole.startsWith(part);
}

/** Describes a key that a table keeps otherwise. */
export const keptOtherwise = (key: string, kept: string): string =>
  `the table keeps the key ${quote(key)} as ${quote(kept)}: write it so; the row was taken away again`;
