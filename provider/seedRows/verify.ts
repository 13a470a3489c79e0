import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import { nearest } from "../../machine/spelling.ts";
import { withoutUndefined, type Row, type RowData } from "../../platform/contract/values.ts";
import { isOutcomeUnknown, isUndocumented } from "../../platform/contract/wire.ts";
import { formatCount, quote, some, besideAlike } from "../../platform/messages/text.ts";
import { ResourceError } from "../resources/common.ts";
import { untilShown } from "../resources/lifecycle.ts";
import type { Context } from "../resources/resource.ts";
import { comparing, RowMistakes, shown, typeThatEquals } from "./cells.ts";
import { digesterFor, keyOf, withoutIgnored, type Summary } from "./declaration.ts";
import { canonical, keyText, type Content } from "./digests.ts";
import type { Seed, SeedState } from "./inputs.ts";
import type { Links } from "./links.ts";
import { type Clearing, type Comparison, makerOf, parentsAreHidden } from "./live.ts";
import type { RowPlan } from "./plan.ts";
import { RowIndices, type RowSet } from "./rowSet.ts";
import { seeRows } from "./source/read.ts";
import { isHidden, placeOf } from "./source/source.ts";
import { hasRows, oneByOne, page, removeRow, room, rowByID, rowIn, rowsByID, rowsOf } from "./table.ts";

// What a run wrote is proved by what it reads: the first row of a new table before the others, and all rows once they are written.

/** A row that a run is about to remove. */
export type Removal = RowPlan["remove"][number];

/** Rows that stay on the platform, by the seed that declares them. */
export type HandedOverRows = ReadonlyMap<string, number>;

/** How a plan is carried out beside what other seeds do. */
export interface Steps {
  /** Labels that updates set to nothing. */
  clear?: Clearing;
  /** How rows are compared with those of the table. */
  comparison?: Comparison;
  /** The seed as it was when the digests of the removals were taken. */
  terms?: Seed;
  /** Lets other seeds remove rows of the table; called before the first removal. */
  release?: () => void;
  /** Takes out what seeds declare that were checked meanwhile. Nobody else works on the table then. */
  spare?: (removals: readonly Removal[]) => Promise<{ left: Removal[]; keptForOthers: HandedOverRows }>;
  /** How the table was before: its rows, its labels, and rows of this account that nobody wants (undefined for too many). */
  seen?: { total: number; labels: ReadonlySet<string>; mineBeside: ReadonlySet<string> | undefined };
  /** Where the seed has not written the table before: one row is tried first, and noted here until its key is seen. */
  unproven?: UnprovenRows | undefined;
}

/** A plan that is carried out, and what is known of its rows so far. */
export interface Writing {
  context: Context;
  seed: Seed;
  summary: Summary;
  links: Links;
  plan: RowPlan;
  steps: Steps;
  /** Planned rows, by their index; those of them that are not written; that were sent and may be there; and that were looked at. */
  chosen: RowIndices;
  undone: RowIndices;
  sent: RowIndices;
  looked: RowIndices;
  /** How many rows were removed. */
  removed: number;
  /** The row that was inserted alone, until others are looked at: it may be there twice. */
  first: { index: number; id: string } | undefined;
  /** What is not as it was sent, in sentences, and the content that such rows have. */
  sentences: string[];
  found: Map<number, Content>;
}

/** A row that is to be inserted: where it stands in the source, and its JSON. */
export interface NewRow {
  index: number;
  line: number;
  text: string;
}

/** Rows that are examined and named, IDs of one query, and how often the first row is sent whose answer is lost. */
const limits = { rows: 10_000, named: 20, ids: 1_000, oneByOne: 10, attempts: 3 };

/**
 * Inserts one row alone and reads it back by its ID: a table that does not keep the natural key would take all rows, and
 * nobody would know them again. Answers whether it keeps the labels. Throws when it did not keep the key; the row is taken
 * away then.
 */
export async function tryFirstRow(run: Writing, row: NewRow): Promise<boolean> {
  const { context, seed, summary, links, steps } = run;
  const { table } = seed;
  const rowID = await insertAlone(run, row);
  steps.unproven?.add(rowID);
  let listed: Row | undefined; // where the table's own list has to show below which row it stands
  const look = async (): Promise<Row | undefined> => {
    listed = links.by === undefined ? undefined : await rowIn(context, table, rowID);
    return listed ?? (await rowByID(context, table, rowID)) ?? rowIn(context, table, rowID);
  };
  const isShown = (one: Row | undefined): boolean => (links.by === undefined ? one : listed) !== undefined;
  const found = await untilShown(context, look, isShown);
  if (!found) {
    throw new ResourceError(
      `table ${table}: the platform answered that it inserted the first row (rowID ${rowID}), and reading it finds nothing; ` +
        `nothing else was sent. Run up again: it looks for that row first. If this persists, the platform does not keep rows`,
    );
  }
  const values = links.inSourceTerms(found);
  const digester = digesterFor(seed, summary.labels);
  const [key, content] = [digester.key(values), digester.content(values)];
  const isKept = key !== undefined && summary.rows.find(key) === row.index;
  const isSame = isKept && summary.rows.hasContent(row.index, content);
  const { sentences, isLabelLost } = isSame
    ? { sentences: [], isLabelLost: false }
    : await differencesOf(run, new Map([[row.index, values]]));
  const dropped = describeDropped(seed, found);
  const refusals =
    links.by !== undefined && !listed?.embeddingRowID
      ? [parentsAreHidden(table, links.by)]
      : dropped !== undefined
        ? [dropped]
        : isKept
          ? []
          : sentences.length > 0
            ? sentences
            : [`table ${table} did not keep the natural key`];
  if (refusals.length > 0) {
    let away = "it was taken away again";
    try {
      await removeRow(context, rowID);
      steps.unproven?.delete(rowID);
    } catch (error) {
      away = `it could not be taken away again (rowID ${rowID}: ${messageOf(error)}), which the next up or destroy does`;
    }
    throw new ResourceError(
      `${refusals.join("\n")}\nThe first row was tried alone: ${away}, and nothing else was sent`,
    );
  }
  steps.unproven?.delete(rowID);
  run.looked.add(row.index);
  run.first = { index: row.index, id: rowID };
  run.sentences.push(...sentences);
  if (!isSame) run.found.set(row.index, content);
  return !isLabelLost;
}

/** Describes who may not see a row, or did not make it, as it was declared; undefined for a row that shows no other. */
function describeDropped({ table, viewers, teamViewers, userID }: Seed, row: Row): string | undefined {
  const lacks = (named: readonly string[] = [], shown: readonly unknown[] | null | undefined): boolean =>
    Array.isArray(shown) && named.some((one) => !shown.includes(one));
  const settings = [
    ...(lacks(viewers, row.viewers) ? ["viewers"] : []),
    ...(lacks(teamViewers, row.teamViewers) ? ["teamViewers"] : []),
    ...(userID !== undefined && row.userID && row.userID !== userID ? ["userID"] : []),
  ].join(" and ");
  if (settings === "") return undefined;
  return `table ${table}: the platform did not keep ${settings} of the row, so others than declared may see it; correct the IDs, or leave ${settings} out`;
}

/** Inserts a row and answers its ID; where the answer is lost, finds it by its key. */
async function insertAlone(run: Writing, { index, text }: NewRow): Promise<string> {
  const { client, report } = run.context;
  const { table, viewers, teamViewers, userID, ignoreActionRules } = run.seed;
  run.sent.add(index);
  const { embeddingRowID, ...rowData } = JSON.parse(text) as RowData & { embeddingRowID?: string }; // as it was written
  const options = withoutUndefined({ embeddingRowID, viewers, teamViewers, userID, ignoreActionRules });
  for (let attempt = 1; ; attempt++) {
    try {
      return (await client.insertmicroapprow({ microAppID: table, rowData, ...options }, run.context)).rowID;
    } catch (error) {
      if (!isOutcomeUnknown(error) || error.code === "cancelled" || isUndocumented(error)) throw error;
      report.warning(`${table}: the answer to the first row was lost; looking whether it is there`);
      const look = async () => (await findByKeys(run, new Set([index]))).get(index);
      const found = await untilShown(run.context, look, (rowID) => rowID !== undefined);
      if (found !== undefined) return found;
      if (attempt === limits.attempts) throw error;
    }
  }
}

/** IDs of the rows of the table that have the keys of some wanted ones, by the index of these. */
export async function findByKeys(
  { context, seed, summary, links }: Writing,
  wanted: ReadonlySet<number>,
): Promise<Map<number, string>> {
  const digester = digesterFor(seed);
  const found = new Map<number, string>();
  for await (const page of rowsOf(context, seed.table, summary.rows.length)) {
    for (const row of page) {
      const key = digester.key(links.inSourceTerms(row));
      const index = key && summary.rows.find(key);
      if (index !== undefined && wanted.has(index)) found.set(index, row._id);
    }
  }
  return found;
}

/**
 * Reads back what was written since the last look, whatever the platform answered to it: all rows up to 10,000; of more the
 * newest ones, with the number of all. Takes rows away that are certainly of this run and that nobody wants: second ones, and
 * those whose key the table keeps otherwise. Answers whether the table keeps all rows with their labels.
 * @param changed IDs of rows that were there before
 */
export async function verifyWritten(run: Writing, changed: readonly string[] = []): Promise<boolean> {
  const { context, seed, summary, links, first, steps, looked } = run;
  const { rows: wanted, labels } = summary;
  const { table } = seed;
  const written = RowIndices.of(run.chosen);
  for (const index of run.undone) written.delete(index);
  const inserted = written.size - changed.length;
  for (const index of looked) written.delete(index);
  if (written.size === 0 && !first) return true;
  run.first = undefined;
  for (const index of written) looked.add(index);

  const digester = digesterFor(seed, labels);
  const isMine = await makerOf(context, seed);
  const isChanged = new Set(changed);
  const missing = RowIndices.of(written);
  const differing = new Map<number, { values: RowData; content: Content }>();
  const ids = new Map(first && [[first.index, first.id]]);
  const twins = new Map<string, boolean>();
  const strays = new Map<string, RowData>();
  let keyless = 0;
  const look = (rows: readonly Row[]): void => {
    for (const row of rows) {
      const values = links.inSourceTerms(row);
      const key = digester.key(values);
      const index = key && wanted.find(key);
      if (key === undefined) keyless++;
      else if (index === undefined) {
        const isNew = steps.seen?.mineBeside?.has(row._id) === false;
        if (isNew && isMine(row) && strays.size < limits.rows) strays.set(row._id, values);
      } else if (written.has(index) || index === first?.index) {
        missing.delete(index);
        const content = steps.comparison?.content(key, values) ?? digester.content(values);
        const isSame = wanted.hasContent(index, content);
        if (!isChanged.has(row._id)) {
          const other = ids.get(index) ?? row._id;
          ids.set(index, other);
          if (other !== row._id) twins.set(row._id, isSame && isMine(row));
        }
        if (index !== first?.index && !isSame && differing.size < limits.rows)
          differing.set(index, { values, content });
      }
    }
  };
  const lookAtNewest = async (count: number): Promise<void> => {
    const leave = await room.reading.enter(Math.min(count, limits.rows), context.signal);
    try {
      look(await page(context, table, count, { optViewSort: { _id: -1 } }));
    } finally {
      leave();
    }
  };
  /** Of very many rows it is proved by their number that those are there which were not looked at. */
  const newestShow = async (): Promise<boolean> => {
    if (missing.size > 0) await lookAtNewest(limits.rows);
    if (missing.size > 0 && inserted === 0) look(await oneByOne(context, changed.slice(0, limits.oneByOne)));
    if (missing.size === 0 || written.size <= limits.rows) return missing.size === 0;
    return missing.size < written.size && hasRows(context, table, (steps.seen?.total ?? 0) + inserted - run.removed);
  };
  const allShow = async (): Promise<boolean> => {
    for await (const rows of rowsOf(context, table, wanted.length)) {
      look(rows);
      if (missing.size === 0) return true;
    }
    return false;
  };
  // What is not shown yet comes with a later look.
  const lookAtChanged = async (): Promise<void> => {
    differing.clear();
    for (let at = 0; at < Math.min(changed.length, limits.rows); at += limits.ids)
      look((await rowsByID(context, table, changed.slice(at, at + limits.ids))) ?? []);
  };
  await untilShown(context, lookAtChanged, () => differing.size === 0);
  if (first && written.size === 0) await lookAtNewest(10);
  let isShown = (await newestShow()) || (await allShow());
  if (!isShown && inserted > 0)
    isShown = (await untilShown(context, newestShow, (isThere) => isThere)) || (await allShow());
  const absent = isShown ? new RowIndices(0) : missing;
  for (const [index, { content }] of differing) run.found.set(index, content);
  for (const index of absent) run.undone.add(index);
  if (absent.size === written.size && written.size > 0 && keyless > 0) {
    run.sentences.push(
      `table ${table} did not keep ${seed.key.map(quote).join(" or ")}, the natural key, of the rows that were written: add the field to the table, or correct key (labels are case sensitive)`,
    );
    return false;
  }
  const otherwise = new Map([...differing].map(([index, { values }]) => [index, values]));
  const { sentences, isLabelLost, misnamed } = await differencesOf(run, otherwise, absent, strays);
  const own = [...twins].flatMap(([id, isOwn]) => (isOwn ? id : []));
  const left = [...twins].flatMap(([id, isOwn]) => (isOwn ? [] : id));
  for (const rowID of [...own, ...misnamed]) await removeRow(context, rowID);
  if (own.length > 0)
    context.report.warning(
      `table ${table}: the platform kept ${formatCount(own.length, "row")} twice; the second ones were removed again`,
    );
  if (left.length > 0)
    sentences.push(
      `table ${table} has rows twice that were sent once (rowID ${some(left, 5)}), and nothing shows who made them: remove those that should not be there`,
    );
  run.sentences.push(...sentences);
  return !isLabelLost && absent.size === 0;
}

/**
 * Describes how rows differ from what was written of them: row, label, what was sent and what was found, and what to do.
 * @param differing rows that came back otherwise, and `absent` those that were not seen
 * @param strays rows of this run with keys that nobody wants; `misnamed` are those of them that became of absent rows
 */
async function differencesOf(
  { context, seed, steps, plan }: Writing,
  differing: ReadonlyMap<number, RowData>,
  absent = new RowIndices(0),
  strays: ReadonlyMap<string, RowData> = new Map(),
): Promise<{ sentences: string[]; isLabelLost: boolean; misnamed: ReadonlySet<string> }> {
  const { table, sensitive = false } = seed;
  const cells = new RowMistakes((line) => placeOf(seed, line));
  const named: string[] = [];
  const misnamed = new Set<string>();
  const form = comparing(seed);
  const updated = new Set(plan.update.map(({ wanted }) => wanted));
  let isLabelLost = false;
  let left = differing.size + absent.size;
  const see = ({ line, values: all }: { line: number; values: RowData }, index: number): boolean => {
    const found = differing.get(index);
    if (!found && !absent.has(index)) return false;
    left--;
    const values = withoutIgnored(seed, all);
    const key = sensitive ? undefined : keyOf(seed.key, values);
    if (found) {
      const nothing = (steps.clear?.get(index) ?? []).map((label) => [label, null] as const);
      for (const [label, value] of [...Object.entries(values), ...nothing]) {
        if (form(label, value) === form(label, found[label])) continue;
        const isLost = canonical(found[label]) === undefined;
        isLabelLost ||= isLost;
        const text = isLost
          ? lostLabel(seed, label, value, [...Object.keys(found), ...(steps.seen?.labels ?? [])])
          : otherValue(seed, label, value, found[label]);
        const isLate = !isLost && updated.has(index) ? "; if the table shows changes late, set consistencySeconds" : "";
        cells.add({ line, key, text: text + isLate, about: `${label} ${isLost ? "lost" : "otherwise"}` });
      }
      return left === 0;
    }
    const like = [...strays].filter(([, one]) =>
      Object.keys(values).every((label) => isLike(values[label], one[label])),
    );
    const [stray] = like;
    if (stray && like.length === 1) {
      const [id, kept] = stray;
      misnamed.add(id);
      const keptKey = keyOf(seed.key, kept);
      const how =
        key === undefined
          ? "the key otherwise"
          : `the key ${quote(key)} as ${quote(keptKey)}${besideAlike(key, keptKey)}: write it so`;
      const text = `the table keeps ${how}; the row was taken away again`;
      cells.add({ line, key, text, about: text });
    } else if (named.length < limits.named)
      named.push([placeOf(seed, line), ...(key === undefined ? [] : [quote(key)])].join(" "));
    return left === 0;
  };
  if (left > 0) await seeRows(seed, context.directory, see);
  const sentences = cells.sentences();
  const count = absent.size - misnamed.size;
  if (count > 0) {
    const more = count > named.length ? ` and ${count - named.length} more` : "";
    const which = sensitive ? "" : `: ${some(named, limits.named)}${more}`;
    sentences.push(
      `${count} rows of table ${table} are not there after they were sent${which}. Run up again: it looks first, and sends those that are not there; if the table shows rows late, set consistencySeconds`,
    );
  }
  return { sentences, isLabelLost, misnamed };
}

function lostLabel({ table, key, parent }: Seed, label: string, sent: unknown, known: readonly string[]): string {
  const isKey = key.includes(label);
  const others = known.filter((one) => one !== label);
  const meant = others.find((one) => one.toLowerCase() === label.toLowerCase()) ?? nearest(label, others);
  const what = `table ${table} did not keep ${isKey ? `${quote(label)}, the natural key` : `the label ${quote(label)}`}`;
  if (meant !== undefined) return `${what}; it has ${quote(meant)}: write it so (labels are case sensitive)`;
  if (label === parent?.by) {
    return `table ${table} did not keep the parent that was sent for ${quote(label)}: this platform seems to take no parent of its own for each row of a batch, and no setting sends rows otherwise`;
  }
  if (sent === false || sent === 0) {
    // Such a field may be there, and keep nothing but what is true, or counts.
    return `table ${table} returned no value for ${quote(label)}, where ${sent} was sent: leave ${label} out of the rows where it is ${sent}, or add the field if the table lacks it`;
  }
  const otherwise = isKey ? "correct key" : "remove the label from the source";
  return `${what}: add the field to the table, or ${otherwise} (labels are case sensitive)`;
}

function otherValue(seed: Seed, label: string, sent: unknown, found: unknown): string {
  const { table } = seed;
  if (canonical(sent) === undefined)
    return `table ${table} kept a value under ${quote(label)}, which was set to nothing: clear it by hand, or declare the label again`;
  const type = typeThatEquals(sent, found);
  const isTrimmed = typeof sent === "string" && sent.trim() === found;
  const otherwise = isTrimmed ? "write it without the space around it" : "write it as the table has it";
  const remedy =
    type === undefined
      ? `${otherwise}, or leave ${label} out of the rows`
      : `declare types: {${label}: ${type}}, and both are the same, or write it as the table has it`;
  if (isHidden(seed, label)) return `table ${table} returned another value for ${quote(label)}: ${remedy}`;
  return `table ${table} returned ${shown(found)} for ${quote(label)}, where ${shown(sent)} was sent${besideAlike(sent, found)}: ${remedy}`;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };
const decomposed = (text: string): string =>
  text
    .replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (_, name: string) => entities[name] ?? "")
    .normalize("NFKD")
    .trim();

/** True if a table may have made one value of the other: in another Unicode form, cut, escaped, trimmed, or a number. */
function isLike(sent: unknown, found: unknown): boolean {
  const [one, other] = [keyText(sent), keyText(found)];
  if (one === undefined || other === undefined) return canonical(sent) === canonical(found);
  const [whole, part] = [decomposed(one), decomposed(other)];
  return part !== "" && (whole.startsWith(part) || (typeof found === "number" && Number(whole) === found));
}

/** Rows of a run that was killed before it knew whether their table keeps the natural key. */
const trying = z.object({ rowIDs: z.array(z.string()) });
const thing = "SeedRows first rows";

/** The rows of a seed whose natural key was not seen yet: in the state, and in the journal before a state knows them. */
export class UnprovenRows {
  readonly ids: Set<string>;
  /** Rows of earlier runs that have their key, by the index of the wanted row: they are ours, whatever else they say. */
  readonly ours = new Set<number>();
  readonly #context: Context;
  readonly #urn: string | undefined;

  constructor(context: Context, { resourceUrn: urn }: Seed, old: Partial<SeedState> = {}) {
    const { unproven = [], rowCount = 0 } = old;
    const begun = rowCount > 0 ? undefined : trying.safeParse(context.journal.find(urn, thing)).data;
    this.ids = new Set([...unproven, ...(begun?.rowIDs ?? [])]);
    this.#context = context;
    this.#urn = urn;
  }

  add(rowID: string): void {
    this.ids.add(rowID);
    this.#note();
  }

  delete(rowID: string): void {
    this.ids.delete(rowID);
    this.#note();
  }

  /** Those that have a wanted key are ours; takes away those without a key, and of a seed that wants none all of them. */
  async decide(seed: Seed, wanted?: { rows: RowSet; links: Links }): Promise<void> {
    const digester = digesterFor(seed);
    for (const rowID of this.ids) {
      const row = wanted && (await rowByID(this.#context, seed.table, rowID));
      const key = row && digester.key(wanted.links.inSourceTerms(row));
      const index = key && wanted.rows.find(key);
      if (!wanted || (row && key === undefined)) await removeRow(this.#context, rowID);
      if (index !== undefined) this.ours.add(index);
      this.delete(rowID);
    }
  }

  #note(): void {
    const { journal, now } = this.#context;
    if (this.ids.size === 0) journal.settle(this.#urn, thing);
    else journal.begin(this.#urn, thing, new Date(now()).toISOString(), { rowIDs: [...this.ids] });
  }
}
