import { batches } from "../../../client/lists/batches.ts";
import { inParallel } from "../../../client/parallel.ts";
import { ApiError } from "../../../contract/errors.ts";
import { maxRowsPerInsert } from "../../../contract/rows.ts";
import type { RowData } from "../../../contract/values.ts";
import { RowIndices } from "../../../reconcile/rowIndices.ts";
import type { RowPlan, Undone } from "../../../reconcile/rows.ts";
import { read, SourceError } from "../../../sources/read.ts";
import { linkedLabels, placeOf } from "../../../sources/source.ts";
import { gone, given } from "../../model/creation.ts";
import { digesterOf, type RowDeclaration, type Summary } from "../declared/declaration.ts";
import type { Removal, Spared } from "../spared.ts";
import type { RowContext } from "./context.ts";
import { isJudged, RowInserts, type NewRow } from "./inserts.ts";
import type { Links, LinkDeclaration, LinkedRow } from "./links.ts";
import { lostLabels } from "./lostLabels.ts";
import { Pace } from "./pace.ts";
import { RowRefusals } from "./refusals.ts";

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

interface Changed extends LinkedRow {
  index: number;
  line: number;
  id: string;
}

/** What became of a plan. */
export interface Applied {
  undone: Required<Undone>;
  /** Rows that the platform refused, and labels that it lost, in sentences. */
  failures: string[];
  /** Rows that were to be removed and stay, since another seed declares them. */
  spared: Spared;
}

/** How a plan is carried out beside what other seeds do. */
export interface Steps {
  /** Rows that are made anew: wanted row → ID of the old one, which goes right before. */
  recreate?: ReadonlyMap<number, string>;
  /** The seed as it was when the digests of the removals were taken. */
  terms?: RowTarget;
  /** Lets other seeds remove rows of the table; called before the first removal. */
  release?: () => void;
  /** Takes out what seeds declare that were checked meanwhile. Nobody else works on the table then. */
  spare?: (removals: readonly Removal[]) => Promise<{ left: Removal[]; spared: Spared }>;
}

/** Carries out a plan: inserts and updates, then removals. What fails is told; the rest is done. */
export async function applyPlan(
  context: RowContext,
  target: RowTarget,
  { rows, labels }: Summary,
  links: Links,
  plan: RowPlan,
  { recreate = new Map(), terms = target, release, spare }: Steps = {},
): Promise<Applied> {
  const ids = new Map(plan.update.flatMap(({ wanted, id }) => (recreate.has(wanted) ? [] : [[wanted, id]])));
  const chosen = new RowIndices(rows.length);
  const undone = new RowIndices(rows.length);
  const lacking = new RowIndices(rows.length);
  let spared: Spared = new Map();
  for (const indices of [plan.insert, ids.keys(), recreate.keys()]) {
    for (const index of indices) {
      chosen.add(index);
      undone.add(index);
    }
  }
  const removals = new Map(plan.remove.map((row) => [row.id, row]));
  const failures: string[] = [];
  const place = (line: number): string => placeOf(target, line);
  const digesterFor = digesterOf(target);

  /** The rows of the plan as they are sent, `form` by `form`; those that it makes nothing of are passed over. */
  async function* planned<Form>(
    form: (row: LinkedRow & { index: number; line: number }) => Form | undefined,
  ): AsyncGenerator<Form[]> {
    let index = -1;
    let left = chosen.size;
    for await (const block of left === 0 ? [] : read(target, context.directory)) {
      const formed: Form[] = [];
      for (const { line, values } of block) {
        if (!chosen.has(++index)) continue;
        left--;
        // The content holds the key as well.
        if (!rows.says(index, digesterFor(values).content(values))) {
          throw new SourceError(`${place(line)}: the source changed while it was being applied; run up again`);
        }
        const one = form({ ...links.link(values, line), index, line });
        if (one !== undefined) formed.push(one);
      }
      yield formed;
      if (left === 0) return;
    }
  }
  const added = planned<NewRow>(({ index, line, data, embeddingRowID }) =>
    ids.has(index) ? undefined : { index, line, text: JSON.stringify(newRow(data, embeddingRowID)) },
  );
  const changed = planned<Changed>((row) => {
    const id = ids.get(row.index);
    return id === undefined ? undefined : { ...row, id };
  });

  // Nothing is sent as long as something refers to nowhere.
  if (linkedLabels(target).length > 0) {
    await exhaust(planned(() => undefined));
    links.check(place, target.sensitive);
  }

  const pace = new Pace("rows written", context.now, chosen.size + removals.size);
  const finished = (count: number): void => context.report.status(`${target.table}: ${pace.add(count)}`);
  // The platform may repeat what it refuses.
  const conceal = (values: () => unknown): void => {
    if (target.sensitive) context.hide(values());
  };
  const refusals = new RowRefusals(target, labels);
  const refused = (row: { index: number; line: number }, error: ApiError): void => {
    refusals.add(row, error.said);
    if (refusals.count >= mostRefused) throw new Stopped("further rows were not tried");
  };
  const lost = async (changed: readonly string[] = []): Promise<boolean> => {
    const inserted = plan.insert.length + recreate.size;
    const said = await lostLabels(context, target, { rows, labels }, links, { written: chosen, inserted, changed });
    failures.push(...said);
    return said.length > 0;
  };

  const remove = async (rowID: string): Promise<void> => {
    await context.client.removemicroapprow({ rowID }, context).catch((error: unknown) => {
      if (!gone(error)) throw error;
    });
  };

  const inserts = new RowInserts(context, target, rows, links);
  const insert = async (batch: readonly NewRow[]): Promise<void> => {
    await inParallel(batch, most.calls, async ({ index }) => {
      const old = recreate.get(index);
      if (old === undefined) return;
      await remove(old);
      lacking.add(index);
    });
    const inserting = inserts.insert(batch, {
      inserted: (done) => {
        for (const { index } of done) {
          undone.delete(index);
          lacking.delete(index);
        }
        finished(done.length);
      },
      refused: (row, error) => {
        conceal(() => JSON.parse(row.text));
        refused(row, error);
      },
    });
    await inserting.catch((error: unknown) => {
      conceal(() => batch.map(({ text }): unknown => JSON.parse(text)));
      throw error;
    });
  };

  /** Batches, of which the first one is looked at before a second one is sent: a million rows would lose a label too. */
  async function* tried(source: AsyncIterable<NewRow[]>): AsyncGenerator<NewRow[]> {
    let first = true;
    for await (const batch of source) {
      if (first && plan.insert.length + recreate.size > batch.length) {
        await insert(batch);
        if (await lost()) throw new Stopped("the other rows were not sent");
      } else yield batch;
      first = false;
    }
  }

  const update = async ({ id, index, line, data, embeddingRowID }: Changed): Promise<void> => {
    const { table, userID, ignoreActionRules } = target;
    const request = { rowID: id, rowData: data, microAppID: table };
    try {
      const options = given({ embeddingRowID, userID, ignoreActionRules });
      await context.client.updatemicroapprow({ ...request, ...options }, context);
      undone.delete(index);
      finished(1);
    } catch (error) {
      conceal(() => data);
      if (!(error instanceof ApiError) || !isJudged(error)) throw error;
      refused({ index, line }, error);
    }
  };

  context.tables.changed(target.table);
  try {
    // Of rows that are made anew few are gone at a time: a run that is killed then leaves no mass of rows missing.
    const maxRows = recreate.size > 0 ? Math.max(1, Math.floor(rows.length / 20)) : maxRowsPerInsert;
    const texts = batches(added, { text: ({ text }) => text, maxRows: Math.min(maxRows, maxRowsPerInsert) });
    if (plan.insert.length + recreate.size > 0) await inParallel(tried(texts), most.batches, insert);
    if (ids.size > 0) await inParallel(each(changed), most.calls, update);
    if (removals.size > 0) {
      release?.();
      await context.rowClaims.lock.exclusive(target.table, async () => {
        const checked = await spare?.([...removals.values()]);
        if (checked) {
          ({ spared } = checked);
          const left = new Set(checked.left.map(({ id }) => id));
          for (const id of removals.keys()) if (!left.has(id)) removals.delete(id);
        }
        context.rowClaims.removed(terms, removals.values());
        await inParallel([...removals.keys()], most.calls, async (rowID) => {
          await remove(rowID);
          removals.delete(rowID);
          finished(1);
        });
      });
    }
    if (failures.length + refusals.count === 0) await lost([...ids.values()]);
  } catch (error) {
    const cancelled = error instanceof ApiError && error.code === "cancelled";
    failures.push(
      cancelled
        ? "the run was cancelled; the next one goes on"
        : error instanceof Error
          ? error.message
          : String(error),
    );
  } finally {
    context.tables.changed(target.table);
  }
  failures.unshift(...(await refusals.sentences(context.directory)));
  return { undone: { wanted: undone, removals: [...removals.values()], lacking }, failures, spared };
}

/** Ends what is under way; the message says what was left out. */
class Stopped extends Error {}

async function exhaust(source: AsyncIterator<unknown>): Promise<void> {
  while (!(await source.next()).done);
}

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
