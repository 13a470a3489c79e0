import { messageOf } from "../../../machine/failures.ts";
import { isOutcomeUnknown, isUndocumented, orUndefinedIfNotFound } from "../../../platform/contract/errors.ts";
import { withoutUndefined, type Row, type RowData } from "../../../platform/contract/values.ts";
import { quote } from "../../../platform/messages/text.ts";
import { canonical, keyText } from "../../reconcile/digests.ts";
import { RowIndices } from "../../reconcile/rowIndices.ts";
import { untilShown } from "../../resources/model/lifecycle.ts";
import { ResourceError } from "../../resources/model/resource.ts";
import { digesterFor, type Summary } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { rowsOf, type RowContext } from "../live/context.ts";
import type { Links } from "../live/links.ts";
import { parentsAreHidden } from "../live/liveRows.ts";
import { rowsByID } from "../live/queries.ts";
import { differencesOf } from "./differences.ts";
import type { NewRow } from "./inserts.ts";
import type { ReadBackFindings } from "./readBack.ts";

/** How often the first row is sent whose answer is lost. */
const maxAttempts = 3;

/** Rows that are known by the IDs of their answers alone, until their natural key is seen on the platform. */
export interface Unproven {
  add: (rowID: string) => void;
  delete: (rowID: string) => void;
}

/** A table that a seed has not written before, as it was seen. */
export interface NewTable {
  unproven: Unproven;
  /** Labels that the table was seen to have. */
  labels: ReadonlySet<string>;
}

/**
 * Inserts one row alone and reads it back by its ID: a table that does not keep the natural key would take all rows, and
 * nobody would know them again. Throws when it did not keep the key; the row is taken away then.
 */
export async function tryRow(
  context: RowContext,
  target: RowTarget,
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
function describeDropped({ table, viewers, teamViewers, userID }: RowTarget, row: Row): string | undefined {
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
async function inserted(context: RowContext, target: RowTarget, links: Links, { text }: NewRow): Promise<string> {
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
  { table, key }: RowTarget,
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
