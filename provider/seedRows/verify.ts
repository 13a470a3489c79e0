import { messageOf } from "../../machine/failures.ts";
import { nearest } from "../../machine/spelling.ts";
import { withoutUndefined, type Row, type RowData } from "../../platform/contract/values.ts";
import { isOutcomeUnknown, isUndocumented, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import { besideAlike, formatCount, quote, some } from "../../platform/messages/text.ts";
import { canonical, keyText, type Content } from "../reconcile/digests.ts";
import type { RowPlan } from "../reconcile/rows.ts";
import { RowIndices } from "../reconcile/rowSet.ts";
import { untilShown } from "../resources/model/lifecycle.ts";
import { ResourceError } from "../resources/model/resource.ts";
import { comparing, shown, typeThatEquals, RowMistakes } from "./cells.ts";
import { digesterFor, keyOf, withoutIgnored, type Summary } from "./declaration.ts";
import type { Seed } from "./inputs.ts";
import { contentIn, type Clearing, type Scope } from "./labels.ts";
import type { Links } from "./links.ts";
import { parentsAreHidden, makerOf } from "./live.ts";
import { read } from "./source/read.ts";
import { isHidden, placeOf } from "./source/source.ts";
import { rowsOf, rowsByID, room, hasRows, oneByOne, page, type RowContext } from "./table.ts";

/** How the table was before a run. */
export interface SeenTable {
  /** Rows that it had, ours and others. */
  total: number;
  labels: ReadonlySet<string>;
  /** Rows of this account with keys that nobody wants; undefined for too many. */
  mineBeside: ReadonlySet<string> | undefined;
}

/** A row that is to be inserted: where it stands in the source, and its JSON. */
export interface NewRow {
  index: number;
  line: number;
  text: string;
}

/** A run's knowledge of the rows that it wrote: which of them the platform has, and in what form. */
export class Proof {
  /** Differences found so far. */
  readonly sentences: string[] = [];
  /** Content that rows have there which is not what was sent. */
  readonly found = new Map<number, Content>();
  readonly #read: (
    written: Omit<Parameters<typeof readBack>[4], "labels" | "before" | "clear" | "scope">,
  ) => Promise<ReadBackFindings>;
  readonly #try: (row: NewRow, table: NewTable) => Promise<ReadBackFindings>;
  readonly #seen: SeenTable;
  /** Rows that were looked at. */
  readonly #looked: RowIndices;
  /** The row that was inserted alone, until others were looked at. */
  #first: { index: number; id: string } | undefined;
  readonly #missing: (index: number) => unknown;

  /** @param missing gets each row that is not there although the platform answered that it is */
  constructor(
    context: RowContext,
    target: Seed,
    summary: Summary,
    links: Links,
    {
      seen = { total: 0, labels: new Set(), mineBeside: new Set() },
      missing,
      ...how
    }: { seen: SeenTable | undefined; missing: (index: number) => unknown } & Pick<WrittenRows, "clear" | "scope">,
  ) {
    this.#seen = seen;
    this.#missing = missing;
    this.#looked = new RowIndices(summary.rows.length);
    this.#read = (written) =>
      readBack(context, target, summary, links, { ...written, ...how, labels: seen.labels, before: seen.mineBeside });
    this.#try = (row, table) => tryRow(context, target, summary, links, row, table);
  }

  /** Inserts one row alone; answers whether the table keeps its labels. Throws when it does not keep the natural key. */
  async tries(row: NewRow, unproven: NewTable["unproven"]): Promise<boolean> {
    const findings = await this.#try(row, { unproven, labels: this.#seen.labels });
    this.#looked.add(row.index);
    if (findings.rowID !== undefined) this.#first = { index: row.index, id: findings.rowID };
    return this.#takes(findings);
  }

  /**
   * Looks at rows that were written since the last look; answers whether the table keeps all of them with their labels.
   * @param more rows that the table has by now more than before
   */
  async looks(written: RowIndices, inserted: number, changed: readonly string[], more: number): Promise<boolean> {
    for (const index of this.#looked) written.delete(index);
    const first = this.#first;
    if (written.size === 0 && !first) return true;
    this.#first = undefined;
    const findings = await this.#read({ written, first, inserted, changed, inAll: this.#seen.total + more });
    for (const index of written) this.#looked.add(index);
    return this.#takes(findings);
  }

  #takes({ sentences, isLabelLost, missing, found }: ReadBackFindings): boolean {
    this.sentences.push(...sentences);
    for (const [index, content] of found) this.found.set(index, content);
    for (const index of missing) this.#missing(index);
    return !isLabelLost && missing.size === 0;
  }
}

/** How often the first row is sent whose answer is lost. */
const maxAttempts = 3;

/** Rows that are known by the IDs of their answers alone, until their natural key is seen on the platform. */
export interface Unproven {
  add: (rowID: string) => void;
  delete: (rowID: string) => void;
}

/** A table that a seed has not written before, as it was seen. */
interface NewTable {
  unproven: Unproven;
  /** Labels that the table was seen to have. */
  labels: ReadonlySet<string>;
}

/**
 * Inserts one row alone and reads it back by its ID: a table that does not keep the natural key would take all rows, and
 * nobody would know them again. Throws when it did not keep the key; the row is taken away then.
 */
async function tryRow(
  context: RowContext,
  target: Seed,
  { rows: wanted, labels }: Pick<Summary, "rows" | "labels">,
  links: Links,
  row: NewRow,
  { unproven, labels: seen }: NewTable,
): Promise<ReadBackFindings> {
  const { table } = target;
  const digester = digesterFor(target, labels);
  const rowID = await inserted(context, target, links, row);
  unproven.add(rowID);
  let listed: Row | undefined;
  const look = async (): Promise<Row | undefined> => {
    listed = links.by === undefined ? undefined : (await rowsByID(context, table, [rowID]))?.[0];
    return listed ?? rowOf(context, table, rowID);
  };
  const found = await untilShown(context, look, (row) => row !== undefined);
  if (!found) {
    throw new ResourceError(
      `table ${table}: the platform answered that it inserted the first row (rowID ${rowID}), and reading it finds nothing; ` +
        `nothing else was sent. Run up again: it looks for that row first. If this persists, the platform does not keep rows`,
    );
  }
  const isBelow =
    links.by === undefined || listed?.embeddingRowID || (await rowIn(context, table, rowID))?.embeddingRowID;
  if (!isBelow) throw await triedInVain(context, { rowID, unproven }, [parentsAreHidden(table, links.by)]);
  const dropped = describeDropped(target, found);
  if (dropped !== undefined) throw await triedInVain(context, { rowID, unproven }, [dropped]);
  const values = links.inSourceTerms(found);
  const index = new RowIndices(wanted.length);
  const digest = digester.key(values);
  const isKept = digest !== undefined && wanted.find(digest) === row.index;
  const content = digester.content(values);
  const none = { rowID, sentences: [], isLabelLost: false, missing: index, found: new Map() };
  if (isKept && wanted.hasContent(row.index, content)) {
    unproven.delete(rowID);
    return none;
  }
  const differing = new Map([[row.index, values]]);
  const differences = await differencesOf(context, target, {
    ...{ differing, missing: index, labels: seen },
  });
  if (isKept) {
    unproven.delete(rowID);
    return { ...differences, rowID, found: new Map([[row.index, content]]) };
  }
  const reasons =
    differences.sentences.length > 0 ? differences.sentences : [`table ${table} did not keep the natural key`];
  throw await triedInVain(context, { rowID, unproven }, reasons);
}

/** Describes who may not see a row, or did not make it, as it was declared; undefined for a row that shows no other. */
function describeDropped({ table, viewers, teamViewers, userID }: Seed, row: Row): string | undefined {
  const lacks = (named: readonly string[] = [], shown: readonly unknown[] | null | undefined): boolean =>
    Array.isArray(shown) && named.some((one) => !shown.includes(one));
  const settings = [
    ...(lacks(viewers, row.viewers) ? ["viewers"] : []),
    ...(lacks(teamViewers, row.teamViewers) ? ["teamViewers"] : []),
    ...(userID !== undefined && row.userID && row.userID !== userID ? ["userID"] : []),
  ];
  if (settings.length === 0) return undefined;
  return `table ${table}: the platform did not keep ${settings.join(" and ")} of the row, so others than declared may see it; correct the IDs, or leave ${settings.join(" and ")} out`;
}

/** Takes the first row away; answers why it can't stay. */
async function triedInVain(
  context: RowContext,
  { rowID, unproven }: { rowID: string; unproven: Unproven },
  reasons: readonly string[],
): Promise<ResourceError> {
  const away = await takenAway(context, rowID, unproven);
  return new ResourceError(`${reasons.join("\n")}\nThe first row was tried alone: ${away}, and nothing else was sent`);
}

async function takenAway({ client, ...call }: RowContext, rowID: string, unproven: Unproven): Promise<string> {
  try {
    await orUndefinedIfNotFound(client.removemicroapprow({ rowID }, call));
    unproven.delete(rowID);
    return "it was taken away again";
  } catch (error) {
    return `it could not be taken away again (rowID ${rowID}: ${messageOf(error)}), which the next up or destroy does`;
  }
}

/** Inserts a row and answers its ID; where the answer is lost, finds it by its key. */
async function inserted(context: RowContext, target: Seed, links: Links, { text }: NewRow): Promise<string> {
  const { client, report } = context;
  const { table, viewers, teamViewers, userID, ignoreActionRules } = target;
  const { embeddingRowID, ...rowData } = JSON.parse(text) as RowData & { embeddingRowID?: string }; // RowWriter wrote it
  const options = withoutUndefined({ embeddingRowID, viewers, teamViewers, userID, ignoreActionRules });
  for (let attempt = 1; ; attempt++) {
    try {
      return (await client.insertmicroapprow({ microAppID: table, rowData, ...options }, context)).rowID;
    } catch (error) {
      if (!isOutcomeUnknown(error) || error.code === "cancelled" || isUndocumented(error)) throw error;
      report.warning(`${table}: the answer to the first row was lost; looking whether it is there`);
      const look = () => rowLike(context, target, links, rowData, embeddingRowID);
      const found = await untilShown(context, look, (rowID) => rowID !== undefined);
      if (found !== undefined) return found;
      if (attempt === maxAttempts) throw error;
    }
  }
}

/** ID of the row with the key of one that was sent. Throws where a row without a key may be what became of it. */
async function rowLike(
  context: RowContext,
  { table, key }: Seed,
  links: Links,
  sent: RowData,
  parent: string | undefined,
): Promise<string | undefined> {
  const others = Object.keys(sent).filter((label) => !key.includes(label) && canonical(sent[label]) !== undefined);
  const isSame = (row: RowData, values: RowData, label: string): boolean =>
    canonical(row[label]) === canonical(sent[label]) || keyText(values[label]) === keyText(sent[label]);
  for await (const page of rowsOf(context, table, 1)) {
    for (const row of page) {
      if (parent !== undefined && row.embeddingRowID !== parent) continue;
      const values = links.inSourceTerms(row);
      if (key.every((label) => isSame(row, values, label))) return row._id;
      const isKeyless = key.some((label) => keyText(values[label]) === undefined);
      if (!isKeyless || others.length === 0 || !others.every((label) => isSame(row, values, label))) continue;
      throw new ResourceError(
        `table ${table}: the answer to the first row was lost, and row ${row._id} is like it and has no ${key.map(quote).join(" and no ")}, ` +
          `the natural key; nothing else was sent. If that row is of this run, remove it by hand; correct key (labels are case sensitive)`,
      );
    }
  }
  return undefined;
}

/** A row by its ID; undefined also where a platform finds rows by their IDs in no query. */
export async function rowByID(context: RowContext, table: string, rowID: string): Promise<Row | undefined> {
  // In the form in which tables are read: that of a single row may be another one.
  const found = (await rowsByID(context, table, [rowID]))?.find(({ _id }) => _id === rowID);
  if (found) return found;
  const { currentRow } = (await orUndefinedIfNotFound(context.client.microappdataRow({ rowID }, context))) ?? {};
  return currentRow?._id === undefined ? undefined : currentRow; // the row that was asked for, however its ID is spelled
}

/** A row by its ID, if need be by looking through the table. */
const rowOf = async (context: RowContext, table: string, rowID: string): Promise<Row | undefined> =>
  (await rowByID(context, table, rowID)) ?? rowIn(context, table, rowID);

/** A row by its ID, as the whole table shows it. */
async function rowIn(context: RowContext, table: string, rowID: string): Promise<Row | undefined> {
  for await (const rows of rowsOf(context, table, 1)) {
    const row = rows.find(({ _id }) => _id === rowID);
    if (row) return row;
  }
  return undefined;
}

/** Maximum of rows that are kept; of more, the last ones are examined and all are counted. */
const most = 10_000;

/** IDs that one query asks for, and that are asked for one by one. */
const ids = { together: 1_000, oneByOne: 10 };

/** Rows that a run wrote. */
interface WrittenRows {
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
interface ReadBackFindings {
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
async function readBack(
  context: RowContext,
  target: Seed,
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

const withoutKey = ({ table, key }: Seed): string =>
  `table ${table} did not keep ${key.map(quote).join(" or ")}, the natural key, of the rows that were written: add the field to the table, or correct key (labels are case sensitive)`;

async function newest(context: RowContext, table: string, expected: number): Promise<Row[]> {
  const leave = await room.reading.enter(Math.min(expected, most), context.signal);
  try {
    return await page(context, table, most, { optViewSort: { _id: -1 } });
  } finally {
    leave();
  }
}

/** Rows that are kept in memory. */
const maxStrays = 10_000;

interface Stray {
  id: string;
  values: RowData;
}

/** Rows that this run made beside those that it wanted: with keys that the table keeps otherwise, and second ones. */
class Strays {
  readonly #context: RowContext;
  readonly #target: Seed;
  readonly #before: ReadonlySet<string> | undefined;
  readonly #isMine: (row: Row) => boolean;
  /** The first row that was seen of each wanted one. */
  readonly #ids = new Map<number, string>();
  readonly #candidates = new Map<string, Stray>();
  readonly #twins = new Map<string, boolean>();
  readonly #misnamed = new Set<string>();

  private constructor(
    context: RowContext,
    target: Seed,
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
    target: Seed,
    before: ReadonlySet<string> | undefined,
    first: { index: number; id: string } | undefined,
  ): Promise<Strays> {
    const strays = new Strays(context, target, before, await makerOf(context, target));
    if (first) strays.#ids.set(first.index, first.id);
    return strays;
  }

  /** Takes in a row with a key that nobody wants. */
  observe(row: Row, values: RowData): void {
    if (this.#before?.has(row._id) === false && this.#isMine(row) && this.#candidates.size < maxStrays)
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
const keptOtherwise = (key: string, kept: string): string =>
  `the table keeps the key ${quote(key)} as ${quote(kept)}${besideAlike(key, kept)}: write it so; the row was taken away again`;

/** Rows that a message names. */
const maxNamed = 20;

/** Live content that differs from the written rows, by the index of the wanted row. */
interface SeenDifference {
  /** Rows that came back otherwise. */
  differing: ReadonlyMap<number, RowData>;
  /** Rows that were not seen. */
  missing: RowIndices;
  numbered?: NumberedKeys;
  strays?: Strays;
  /** Labels that the table was seen to have. */
  labels: ReadonlySet<string>;
  /** Labels that were set to nothing. */
  clear?: Clearing | undefined;
}

/** How rows differ from what was written. */
interface Differences {
  /** With row, label, what was sent and what was found, and what to do. */
  sentences: string[];
  /** True if the table lacks a label. */
  isLabelLost: boolean;
  /** Rows that are not there. */
  missing: RowIndices;
}

/** Compares rows with what was written of them; reads the source up to the last of them. */
async function differencesOf(
  { directory }: { directory: string },
  target: Seed,
  { differing, missing: unseen, numbered, strays, labels, clear }: SeenDifference,
): Promise<Differences> {
  const cells = new RowMistakes((line) => placeOf(target, line));
  const missing = RowIndices.of(unseen);
  const named: string[] = [];
  let misnamed = 0;
  let isLabelLost = false;
  let left = differing.size + unseen.size;
  let index = -1;
  for await (const block of left === 0 ? [] : read(target, directory)) {
    for (const { line, values: all } of block) {
      const values = withoutIgnored(target, all);
      index++;
      if (!unseen.has(index) && !differing.has(index)) continue;
      left--;
      const found = differing.get(index) ?? numbered?.madeOf(values);
      const key = target.sensitive ? undefined : keyOf(target.key, values);
      if (found) {
        missing.delete(index);
        const nothing = (clear?.get(index) ?? []).map((label) => [label, null] as const);
        const sent: RowData = { ...values, ...Object.fromEntries<null>(nothing) };
        for (const { label, ...cell } of cellsThatDiffer(target, sent, found, labels)) {
          isLabelLost ||= cell.isLost;
          cells.add({ line, key, ...cell });
        }
        continue;
      }
      const kept = strays?.keyOf(values);
      if (kept !== undefined) {
        misnamed++;
        const text = key === undefined ? "the table keeps the key otherwise" : keptOtherwise(key, kept);
        cells.add({ line, key, text, about: text });
      } else if (named.length < maxNamed) {
        named.push(key === undefined ? placeOf(target, line) : `${placeOf(target, line)} ${quote(key)}`);
      }
    }
    if (left === 0) break;
  }
  const sentences = [...cells.sentences(), ...absence(target, missing.size - misnamed, named)];
  return { sentences, isLabelLost, missing };
}

/** Labels of a row that came back otherwise. */
function* cellsThatDiffer(
  target: Seed,
  sent: RowData,
  found: RowData,
  labels: ReadonlySet<string>,
): Generator<{ label: string; text: string; about: string; isLost: boolean }> {
  const form = comparing(target);
  for (const [label, value] of Object.entries(sent)) {
    if (form(label, value) === form(label, found[label])) continue;
    const isLost = canonical(found[label]) === undefined;
    const text = isLost
      ? lostLabel(target, label, { value, found, labels })
      : otherValue(target, label, value, found[label]);
    yield { label, text, about: `${label} ${isLost ? "lost" : "otherwise"}`, isLost };
  }
}

function lostLabel(
  { table, key, parent }: Seed,
  label: string,
  { value, found, labels }: { value: unknown; found: RowData; labels: ReadonlySet<string> },
): string {
  const isKey = key.includes(label);
  const meant = nearestLabel(label, [...Object.keys(found), ...labels]);
  const what = `table ${table} did not keep ${isKey ? `${quote(label)}, the natural key` : `the label ${quote(label)}`}`;
  if (meant !== undefined) return `${what}; it has ${quote(meant)}: write it so (labels are case sensitive)`;
  if (label === parent?.by) {
    return `table ${table} did not keep the parent that was sent for ${quote(label)}: this platform seems to take no parent of its own for each row of a batch, and no setting sends rows otherwise`;
  }
  if (value === false || value === 0) {
    // Such a field may be there, and keep nothing but what is true, or counts.
    return `table ${table} gave back nothing in ${quote(label)}, where ${value} was sent: leave ${label} out of the rows where it is ${value}, or add the field if the table lacks it`;
  }
  const otherwise = isKey ? "correct key" : "remove the label from the source";
  return `${what}: add the field to the table, or ${otherwise} (labels are case sensitive)`;
}

function nearestLabel(label: string, known: readonly string[]): string | undefined {
  const others = known.filter((one) => one !== label);
  return others.find((one) => one.toLowerCase() === label.toLowerCase()) ?? nearest(label, others);
}

function otherValue(target: Seed, label: string, sent: unknown, found: unknown): string {
  const { table } = target;
  if (canonical(sent) === undefined)
    return `table ${table} kept a value under ${quote(label)}, which was set to nothing: clear it by hand, or declare the label again`;
  const type = typeThatEquals(sent, found);
  const isTrimmed = typeof sent === "string" && sent.trim() === found;
  const otherwise = isTrimmed ? "write it without the space around it" : "write it as the table has it";
  const remedy =
    type === undefined
      ? `${otherwise}, or leave ${label} out of the rows`
      : `declare types: {${label}: ${type}}, and both are the same, or write it as the table has it`;
  if (isHidden(target, label)) return `table ${table} gave back another value in ${quote(label)}: ${remedy}`;
  return `table ${table} gave back ${shown(found)} in ${quote(label)}, where ${shown(sent)} was sent${besideAlike(sent, found)}: ${remedy}`;
}

function absence({ table, sensitive }: Seed, count: number, named: readonly string[]): string[] {
  if (count === 0) return [];
  const which = sensitive
    ? ""
    : `: ${some(named, maxNamed)}${count > named.length ? ` and ${count - named.length} more` : ""}`;
  return [
    `${count} rows of table ${table} are not there after they were sent${which}. Run up again: it sends these rows and no others`,
  ];
}

/** So many are kept. */
const maxRows = 10_000;

/** Rows of no wanted key whose key has numbers: of what was written as "007" a platform may have made 7. */
export class NumberedKeys {
  readonly #key: readonly string[];
  readonly #rows = new Map<string, RowData>();

  constructor(key: readonly string[]) {
    this.#key = key;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Takes in a row that has no wanted key. */
  observe(values: RowData): void {
    if (this.#rows.size < maxRows && this.#key.some((label) => typeof values[label] === "number")) {
      this.#rows.set(keyOf(this.#key, values), values);
    }
  }

  /** The row that a platform may have made of one. */
  madeOf(values: RowData): RowData | undefined {
    if (this.size === 0) return undefined;
    const numbers = Object.fromEntries(this.#key.map((label) => [label, asNumber(values[label])]));
    return this.#rows.get(keyOf(this.#key, numbers));
  }
}

/** Throws when rows would be inserted once more because the table has their keys as numbers. */
export async function refuseNumbered(
  target: Seed,
  { insert }: RowPlan,
  numbered: NumberedKeys,
  directory: string,
): Promise<void> {
  if (numbered.size === 0 || insert.size === 0) return;
  const places: string[] = [];
  let index = 0;
  for await (const block of read(target, directory)) {
    for (const { line, values } of block) {
      if (insert.has(index++) && numbered.madeOf(values)) places.push(placeOf(target, line));
    }
  }
  const [first, ...others] = places;
  if (first === undefined) return;
  throw new ResourceError(
    `${first}${others.length > 0 ? ` and ${others.length} more` : ""}: table ${target.table} has the natural key as a number where the source has text, so the row would be inserted once more: declare the key's type in types, or write it as the table has it`,
  );
}

function asNumber(value: unknown): unknown {
  const number = typeof value === "string" && value !== "" ? Number(value) : Number.NaN;
  return Number.isNaN(number) ? value : number;
}
