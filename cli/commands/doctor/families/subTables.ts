import { parentPages } from "../../../../provider/client/lists/parentPages.ts";
import { ApiError, isRefusal } from "../../../../provider/contract/errors.ts";
import { completeDialect } from "../../../../provider/habits/profile.ts";
import { areParentsShown, areUnlisted } from "../../../../provider/resources/rows/live/context.ts";
import { standBelow, UnknownParents } from "../../../../provider/resources/rows/live/subTables/undeclared.ts";
import { CallsSpent } from "../calls.ts";
import type { CheckContext, TableLook } from "../context.ts";
import type { ProgramTable } from "../declared.ts";
import { noteFinding, wrong, type Finding } from "../findings.ts";
import { command } from "../mending.ts";
import { callsOf } from "./account.ts";
import { TableReading } from "./tableReading.ts";

/** Calls for the rows below those of another table, where a read of a sub-table names no parents. */
export const callsPerSubTable = 40;

export const countRows = (rows: number): string => (rows === 1 ? "1 row" : `${rows.toLocaleString("en")} rows`);

const readingOf = (context: CheckContext) => ({
  client: callsOf(context),
  dialect: completeDialect(context.learned.profile),
});

/** True where a read of a whole table is known to name the parents of its rows. */
export const areParentsNamed = (context: CheckContext): boolean =>
  context.learned.showsParents === true || areParentsShown(readingOf(context));

/** The reason why an empty answer need not be all; undefined where it is. */
export const describeUnlisted = (context: CheckContext): string | undefined =>
  areUnlisted(readingOf(context))
    ? "By the profile the platform lists no row that stands below another one (habits.subRows). If this is a sub-table, declare the parent of its seed."
    : undefined;

/** False where rows without a shown parent are known to stand below none. */
export async function mayStandBelow(context: CheckContext, table: string): Promise<boolean> {
  const { dialect } = readingOf(context);
  // One call: a second one would only tell a sub-table from a platform that ignores the filter.
  const reading = { client: callsOf(context).reads(1), dialect, signal: context.signal };
  try {
    return await standBelow(reading, { table, advice: "" });
  } catch (error) {
    if (error instanceof UnknownParents || error instanceof CallsSpent || error instanceof ApiError) return true;
    throw error;
  }
}

/** Looks for the rows of a sub-table below those of its parent table, where the read of all of them names no parents. */
export async function readBelow(
  context: CheckContext,
  declared: ProgramTable,
  parent: string,
  listed: TableLook,
): Promise<Finding> {
  const { table } = declared;
  const above = context.learned.tables.get(parent);
  const found = new TableReading(declared);
  let isAll = above?.isAll === true;
  try {
    const client = callsOf(context).reads(callsPerSubTable);
    for await (const rows of parentPages(client, { microAppID: table, signal: context.signal }, above?.ids ?? []))
      found.take(rows.filter(({ embeddingRowID }) => embeddingRowID));
  } catch (error) {
    if (error instanceof ApiError && (error.code === "badAnswer" || isRefusal(error))) {
      return wrong(
        `The platform neither names the parents of its rows, nor finds them by their parents (optViewFilters: embeddingRowID).`,
        "Runs refuse a seed with parent there: nobody can tell below which row each of its rows stands.",
      );
    }
    if (context.signal.aborted || !(error instanceof CallsSpent)) throw error;
    isAll = false;
  }
  const below = found.result(isAll);
  const labels = new Set([...listed.labels, ...below.labels]);
  // Keys of rows whose parents are not known can't be compared.
  context.learned.tables.set(table, { ...below, labels, rows: Math.max(below.rows, listed.rows) });
  if (below.rows === 0 && listed.rows === 0) {
    return isAll
      ? noteFinding(`It is there, and this account sees no rows in it, nor below the rows of table ${parent}.`)
      : noteFinding(`It shows no rows, and not all rows of table ${parent} were looked below, which may have some.`);
  }
  if (below.rows === 0)
    return noteFinding(
      `It has ${countRows(listed.rows)} that name no parent row, and none was found below ${isAll ? "the" : "some"} rows of table ${parent}.`,
    );
  return describeHidden(context, below, listed.rows === 0 ? "subRows" : "parentShown", parent);
}

function describeHidden(
  { subject: { place } }: CheckContext,
  { rows, isAll }: TableLook,
  habit: "subRows" | "parentShown",
  parent: string,
): Finding {
  const number = isAll ? countRows(rows) : `more than ${countRows(rows)}`;
  const how = habit === "subRows" ? "shows by their parents alone" : "shows without their parents";
  const seen = `It has ${number} below those of table ${parent}, which the platform ${how}.`;
  return noteFinding(seen, "Runs read such a table parent by parent, which is slower.", [
    command(place, "verify --write-profile platform-profile.yaml"),
  ]);
}
