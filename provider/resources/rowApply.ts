import { batches } from "../client/batches.ts";
import { pages } from "../client/pages.ts";
import { inParallel } from "../client/parallel.ts";
import { ApiError } from "../contract/errors.ts";
import type { RowData } from "../contract/values.ts";
import { canonical, keyText, rowDigester, type RowDigests } from "../reconcile/digests.ts";
import type { Ledger } from "../reconcile/ledger.ts";
import { LiveRows } from "../reconcile/liveRows.ts";
import type { RowPlan, Undone } from "../reconcile/rows.ts";
import type { RowSet } from "../reconcile/rowSet.ts";
import type { Context } from "./resource.ts";
import type { Links, LinkDeclaration, LinkedRow } from "./rowLookups.ts";
import { digestsByShape, linkedLabels, type RowDeclaration, type Summary } from "./rowSource.ts";
import { gone, given } from "./settling.ts";
import { placeOf, read, SourceError } from "./sources.ts";

/** What of a seed's inputs says how its rows are written. */
export interface RowTarget extends RowDeclaration, LinkDeclaration {
  table: string;
  parent?: { table: string; key: string; by: string } | undefined;
  references?: Record<string, { table: string; key: string }> | undefined;
  viewers?: string[] | undefined;
  teamViewers?: string[] | undefined;
  userID?: string | undefined;
  ignoreActionRules?: boolean | undefined;
}

/** Batches and single calls that are under way at a time; the client's own limiter may allow fewer. */
const most = { batches: 4, calls: 16 };

/** After so many rows that the platform refused one by one, the rest is not tried. */
const mostRefused = 20;

/** Reads the rows of a table into digests; `see` is shown each one in the words of the source. */
export async function liveRows(
  context: Context,
  { table, ...declaration }: RowTarget,
  labels: readonly string[],
  links: Links,
  wanted: RowSet,
  ledger: Ledger,
  see: (digests: RowDigests, values: RowData) => void = () => undefined,
): Promise<LiveRows> {
  const digester = rowDigester({ key: declaration.key, labels, references: linkedLabels(declaration) });
  const live = new LiveRows(wanted, ledger);
  let count = 0;
  for await (const page of pages(context.client, { microAppID: table, signal: context.signal })) {
    for (const row of page) {
      const values = links.inSourceTerms(row);
      const key = digester.key(values);
      const digests = key && { key, content: digester.content(values) };
      live.add(row._id, digests);
      if (digests) see(digests, values);
    }
    context.report.status(`${table}: ${(count += page.length)} rows read`);
  }
  return live;
}

interface Item extends LinkedRow {
  index: number;
  line: number;
  /** ID of the row that is there already. */
  id: string | undefined;
}

/** What became of a plan. */
export interface Applied {
  undone: Required<Pick<Undone, "wanted">> & { removals: RowDigests[] };
  /** Rows that the platform refused, and labels that it lost, in sentences. */
  failures: string[];
}

/** Carries out a plan: inserts and updates, then removals. What fails is told; the rest is done. */
export async function applyPlan(
  context: Context,
  target: RowTarget,
  { rows, labels }: Summary,
  links: Links,
  plan: RowPlan,
): Promise<Applied> {
  const ids = new Map(plan.update.map(({ wanted, id }) => [wanted, id]));
  const chosen = new Set([...plan.insert, ...ids.keys()]);
  const undone = new Set(chosen);
  const removals = new Map(plan.remove.map((row) => [row.id, row]));
  const failures: string[] = [];
  const place = (line: number): string => placeOf(target, line);
  const digests = digestsByShape(target);

  async function* items(): AsyncGenerator<Item> {
    if (chosen.size === 0) return;
    let index = -1;
    let left = chosen.size;
    for await (const { line, values } of read(target, context.directory)) {
      index++;
      if (!chosen.has(index)) continue;
      const { key, content } = digests(values);
      const now = key && rows.key(index);
      if (now?.high !== key?.high || now?.low !== key?.low || !rows.says(index, content)) {
        throw new SourceError(`${place(line)}: the source changed while it was being applied; run up again`);
      }
      yield { ...links.link(values, line), index, line, id: ids.get(index) };
      if (--left === 0) return;
    }
  }

  // Nothing is sent as long as something refers to nowhere.
  if (linkedLabels(target).length > 0) {
    await exhaust(items());
    links.check(place);
  }

  let done = 0;
  const total = chosen.size + removals.size;
  const finished = (count: number): void => {
    context.report.status(`${target.table}: ${(done += count)} of ${total} rows written`);
  };
  const options = given({ userID: target.userID, ignoreActionRules: target.ignoreActionRules });
  const refused = (item: Item, error: unknown): void => {
    if (!(error instanceof ApiError) || !isJudged(error)) throw error;
    failures.push(`${place(item.line)}: ${error.said}`);
    if (failures.length >= mostRefused) throw new TooManyRefused();
  };

  /** Inserts a batch; a refused one is halved until the rows that are refused are known. */
  const insert = async (batch: Item[]): Promise<void> => {
    try {
      await insertOnce(context, target, batch, labels, options);
      for (const { index } of batch) undone.delete(index);
      finished(batch.length);
    } catch (error) {
      if (!(error instanceof ApiError) || !isJudged(error)) throw error;
      const [first] = batch;
      if (batch.length === 1 && first) {
        refused(first, error);
        return;
      }
      const half = Math.ceil(batch.length / 2);
      await insert(batch.slice(0, half));
      await insert(batch.slice(half));
    }
  };

  const update = async (item: Item): Promise<void> => {
    const { id = "", data, embeddingRowID } = item;
    try {
      await context.client.updatemicroapprow(
        { rowID: id, rowData: data, microAppID: target.table, ...given({ embeddingRowID }), ...options },
        context,
      );
      undone.delete(item.index);
      finished(1);
    } catch (error) {
      refused(item, error);
    }
  };

  try {
    if (plan.insert.length > 0) {
      const added = filter(items(), ({ id }) => id === undefined);
      await inParallel(batches(added, { body: ({ data }) => data }), most.batches, insert);
    }
    if (ids.size > 0)
      await inParallel(
        filter(items(), ({ id }) => id !== undefined),
        most.calls,
        update,
      );
    await inParallel([...removals.keys()], most.calls, async (rowID) => {
      await context.client.removemicroapprow({ rowID }, context).catch((error: unknown) => {
        if (!gone(error)) throw error;
      });
      removals.delete(rowID);
      finished(1);
    });
    if (failures.length === 0) failures.push(...(await lostLabels(context, target, labels, links, rows, chosen)));
  } catch (error) {
    if (error instanceof TooManyRefused) failures.push("further rows were not tried");
    else failures.push(error instanceof Error ? error.message : String(error));
  }
  return { undone: { wanted: undone, removals: [...removals.values()] }, failures };
}

class TooManyRefused extends Error {}

/** Whether the platform looked at the call and refused what it says. */
const isJudged = ({ code }: ApiError): boolean => ["invalidRequest", "rejected", "tooLarge"].includes(code);

/** Inserts rows exactly once: when the answer is lost, the table says which of them are there. */
async function insertOnce(
  context: Context,
  target: RowTarget,
  batch: Item[],
  labels: readonly string[],
  options: { userID?: string; ignoreActionRules?: boolean },
): Promise<void> {
  const { table, viewers, teamViewers } = target;
  let missing = batch;
  for (let attempt = 1; missing.length > 0; attempt++) {
    const rows = missing.map(({ data, embeddingRowID }) => ({
      ...Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)),
      ...given({ embeddingRowID }),
    }));
    try {
      const { inserted } = await context.client.insertmicroapprows(
        { microAppID: table, rows, ...given({ viewers, teamViewers }), ...options },
        context,
      );
      if (inserted === missing.length) return;
      context.report.warning(`${table}: the platform inserted ${inserted} of ${missing.length} rows; looking which`);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "outcomeUnknown")) throw error;
    }
    missing = await notThere(context, target, missing, labels);
    if (attempt === 3 && missing.length > 0) {
      throw new ApiError({
        code: "rejected",
        endpoint: "insertmicroapprows",
        message: `${missing.length} rows did not appear in table ${table}`,
        hint: "Run up again to go on; what is there is not inserted again.",
      });
    }
  }
}

/** Those rows of a batch whose key the table lacks. */
async function notThere(
  context: Context,
  target: RowTarget,
  batch: Item[],
  labels: readonly string[],
): Promise<Item[]> {
  const direct = target.key.filter((label) => !linkedLabels(target).includes(label));
  const wordOf = (values: RowData): string =>
    JSON.stringify(
      direct.length > 0
        ? direct.map((label) => keyText(values[label]))
        : labels.map((label) => canonical(values[label])),
    );
  const there = new Set<string>();
  for await (const page of pages(context.client, { microAppID: target.table, signal: context.signal })) {
    for (const row of page) there.add(`${row.embeddingRowID ?? ""}${wordOf(row)}`).add(wordOf(row));
  }
  return batch.filter(({ data, embeddingRowID }) => !there.has(`${embeddingRowID ?? ""}${wordOf(data)}`));
}

/**
 * Labels whose values did not arrive, in sentences: the platform ignores labels that a table lacks, and may give back
 * another type. One page of the newest rows is looked at.
 */
async function lostLabels(
  context: Context,
  target: RowTarget,
  labels: readonly string[],
  links: Links,
  wanted: RowSet,
  written: ReadonlySet<number>,
): Promise<string[]> {
  if (written.size === 0) return [];
  const { microAppRows } = await context.client.microappdata(
    {
      microAppID: target.table,
      searchFilter: [{ resourceID: target.table, skip: 0, limit: 10_000 }],
      optLimit: 10_000,
      optViewSort: { _id: -1 },
    },
    context,
  );
  const digester = rowDigester({ key: target.key, labels, references: linkedLabels(target) });
  const differing = new Map<number, RowData>();
  for (const row of microAppRows) {
    const values = links.inSourceTerms(row);
    const key = digester.key(values);
    const index = key && wanted.find(key);
    if (index === undefined || !written.has(index) || wanted.says(index, digester.content(values))) continue;
    differing.set(index, values);
  }
  if (differing.size === 0) return [];
  const lost = new Map<string, { wrote: unknown; found: unknown; line: number; count: number }>();
  let index = -1;
  for await (const { line, values } of read(target, context.directory)) {
    const found = differing.get(++index);
    if (!found) continue;
    for (const label of Object.keys(values)) {
      const isLink = linkedLabels(target).includes(label);
      const form = (value: unknown): unknown => (isLink ? keyText(value) : canonical(value));
      if (form(values[label]) === form(found[label])) continue;
      const before = lost.get(label);
      lost.set(
        label,
        before ? { ...before, count: before.count + 1 } : { wrote: values[label], found: found[label], line, count: 1 },
      );
    }
  }
  return [...lost].map(([label, { wrote, found, line, count }]) => {
    const place = `${placeOf(target, line)}${count > 1 ? ` and ${count - 1} more` : ""}`;
    return canonical(found) === undefined
      ? `${place}: table ${target.table} did not keep the label "${label}": add the field to the table, or remove the label from the source (labels are case sensitive)`
      : `${place}: table ${target.table} gave back the ${typeof wrote} in "${label}" as another value (${typeof found}): declare its type in types, or write it as the table has it`;
  });
}

async function exhaust(source: AsyncIterator<unknown>): Promise<void> {
  while (!(await source.next()).done);
}

async function* filter<One>(source: AsyncIterable<One>, keep: (one: One) => boolean): AsyncGenerator<One> {
  for await (const one of source) if (keep(one)) yield one;
}
