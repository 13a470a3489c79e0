import type { Row, RowData } from "../../../platform/contract/values.ts";
import { quote } from "../../../platform/messages/text.ts";
import type { Content } from "../../reconcile/digests.ts";
import { RowIndices } from "../../reconcile/rowIndices.ts";
import { untilShown } from "../../resources/model/lifecycle.ts";
import { digesterFor, type Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import type { Clearing } from "../kept/clearing.ts";
import { contentIn, type Scope } from "../kept/scope.ts";
import { room, rowsOf, type RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";
import { NumberedKeys } from "../live/numberedKeys.ts";
import { hasRows, oneByOne, page, rowsByID } from "../live/queries.ts";
import { differencesOf } from "./differences.ts";
import { Strays } from "./strays.ts";

/** Maximum of rows that are kept; of more, the last ones are examined and all are counted. */
const most = 10_000;

/** IDs that one query asks for, and that are asked for one by one. */
const ids = { together: 1_000, oneByOne: 10 };

/** Rows that a run wrote. */
export interface WrittenRows {
  /** By the index of the wanted row. */
  written: RowIndices;
  /** The row that was inserted alone, and looked at: it may be there twice. */
  first?: { index: number; id: string } | undefined;
  inserted: number;
  /** IDs of those that were there before. */
  changed: readonly string[];
  /** Rows that the table should have by now, ours and others. */
  inAll: number;
  /** Labels that the table was seen to have. */
  labels: ReadonlySet<string>;
  /** Rows of this account that the table had before the run, and that nobody wants; undefined for too many. */
  before: ReadonlySet<string> | undefined;
  /** Labels that were set to nothing, by the index of the row. */
  clear?: Clearing | undefined;
  scope?: Scope | undefined;
}

/** Differences between read and written rows. */
export interface ReadBackFindings {
  sentences: string[];
  isLabelLost: boolean;
  /** ID of a row that was inserted alone. */
  rowID?: string;
  /** Rows that are not there. */
  missing: RowIndices;
  /** Live content of rows that came back different. */
  found: ReadonlyMap<number, Content>;
}

/**
 * Reads back what was written, whatever the platform answered to it: all rows up to 10,000; of more the newest ones, with
 * the number of all.
 */
export async function readBack(
  context: RowContext,
  target: RowTarget,
  summary: Pick<Summary, "rows" | "labels">,
  links: Links,
  rows: WrittenRows,
): Promise<ReadBackFindings> {
  const { rows: wanted, labels } = summary;
  const { written, inserted, changed, inAll, labels: seen, clear, scope = { labels } } = rows;
  const { table, key } = target;
  const digester = digesterFor(target);
  const contentOf = contentIn(scope, target, wanted);
  const differing = new Map<number, RowData>();
  const found = new Map<number, Content>();
  const numbered = new NumberedKeys(key);
  const { before, first } = rows;
  const strays = await Strays.of(context, target, before, first);
  const isChanged = new Set<string>(changed);
  const missing = RowIndices.of(written);
  let keyless = 0;
  const look = (rows: readonly Row[]): void => {
    for (const row of rows) {
      const values = links.inSourceTerms(row);
      const digest = digester.key(values);
      if (digest === undefined) keyless++;
      const index = digest && wanted.find(digest);
      if (index === undefined) {
        numbered.observe(values);
        if (digest !== undefined) strays.observe(row, values);
      }
      if (digest === undefined || index === undefined || !(written.has(index) || index === first?.index)) continue;
      missing.delete(index);
      const content = contentOf(digest, values);
      if (!isChanged.has(row._id)) strays.met(index, row, wanted.hasContent(index, content));
      if (index === first?.index) continue;
      if (wanted.hasContent(index, content) || differing.size >= most) continue;
      differing.set(index, values);
      found.set(index, content);
    }
  };
  const lookAtChanged = async (): Promise<void> => {
    differing.clear();
    found.clear();
    for (let at = 0; at < Math.min(changed.length, most); at += ids.together)
      look((await rowsByID(context, table, changed.slice(at, at + ids.together))) ?? []);
  };
  await untilShown(context, lookAtChanged, () => differing.size === 0);
  if (first && written.size === 0) look(await page(context, table, 10, { optViewSort: { _id: -1 } }));
  const sought = { missing, written, inserted, changed, inAll, expected: wanted.length };
  const isProved = await seek(context, table, sought, look);
  if (missing.size === written.size && written.size > 0 && keyless > 0 && numbered.size === 0) {
    const sentences = [withoutKey(target)];
    return { sentences, isLabelLost: true, missing, found };
  }
  const unseen = isProved ? new RowIndices(0) : missing;
  const differences = await differencesOf(context, target, {
    differing,
    missing: unseen,
    numbered,
    strays,
    labels: seen,
    clear,
  });
  return { ...differences, sentences: [...differences.sentences, ...(await strays.remove())], found };
}

interface Sought extends Pick<WrittenRows, "written" | "inserted" | "changed" | "inAll"> {
  /** Shrinks with each look. */
  missing: RowIndices;
  expected: number;
}

/** Looks for written rows; answers whether they are proved to be there, which of very many is more than was looked at. */
async function seek(
  context: RowContext,
  table: string,
  { missing, written, inserted, changed, inAll, expected }: Sought,
  look: (rows: readonly Row[]) => void,
): Promise<boolean> {
  const newestShow = async (): Promise<boolean> => {
    if (missing.size > 0) look(await newest(context, table, missing.size));
    if (missing.size > 0 && inserted === 0) look(await oneByOne(context, changed.slice(0, ids.oneByOne)));
    if (written.size <= most) return missing.size === 0;
    return missing.size < written.size && (await hasRows(context, table, inAll));
  };
  const lookAtAll = async (): Promise<void> => {
    for await (const rows of rowsOf(context, table, expected)) {
      look(rows);
      if (missing.size === 0) return;
    }
  };
  if (await newestShow()) return true;
  await lookAtAll();
  if (missing.size === 0 || inserted === 0) return false;
  // Rows that are not shown yet come with a later look.
  if (await untilShown(context, newestShow, (isShown) => isShown)) return true;
  await lookAtAll();
  return false;
}

const withoutKey = ({ table, key }: RowTarget): string =>
  `table ${table} did not keep ${key.map(quote).join(" or ")}, the natural key, of the rows that were written: add the field to the table, or correct key (labels are case sensitive)`;

async function newest(context: RowContext, table: string, expected: number): Promise<Row[]> {
  const leave = await room.reading.enter(Math.min(expected, most), context.signal);
  try {
    return await page(context, table, most, { optViewSort: { _id: -1 } });
  } finally {
    leave();
  }
}
