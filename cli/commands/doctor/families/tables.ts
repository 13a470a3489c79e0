import { nearest } from "../../../../machine/spelling.ts";
import { pages } from "../../../../provider/client/lists/pages.ts";
import { ApiError, isAdvised } from "../../../../provider/contract/errors.ts";
import { some } from "../../../../provider/messages/text.ts";
import { keyText } from "../../../../provider/reconcile/digests.ts";
import { CallsSpent } from "../calls.ts";
import type { Check } from "../checks.ts";
import type { CheckContext, TableLook } from "../context.ts";
import type { ProgramTable } from "../declared.ts";
import { noteFinding, well, wrong, type Finding } from "../findings.ts";
import { setting } from "../mending.ts";
import type { Subject } from "../subject.ts";
import { callsOf, explainExpired, explainUnanswered } from "./account.ts";
import { TableReading } from "./tableReading.ts";

/** Tables that are looked at, calls for each of them, and rows after which reading ends. */
export const maxTables = 25;
export const callsPerTable = 5;
const maxRows = 20_000;

/** Keys and labels that a finding names. */
const maxNamed = 3;

const countRows = (rows: number): string => (rows === 1 ? "1 row" : `${rows.toLocaleString("en")} rows`);

/** Three checks of each table: it exists, it has the labels, and its key identifies rows. */
export function tableChecks({ declared }: Subject): Check[] {
  const depthOf = ({ parent }: ProgramTable, limit = maxTables): number => {
    const above = limit > 0 ? declared.tables.find(({ table }) => table === parent) : undefined;
    return above ? 1 + depthOf(above, limit - 1) : 0;
  };
  if (declared.tables.length === 0) {
    const look = (): Finding =>
      noteFinding(
        "No table is known.",
        "They come from the state and from the stack's Environment file; or name one with --table <id>:<key>.",
      );
    return [{ id: "tables", title: "tables", needs: ["login"], look }];
  }
  // Rows of a sub-table may be found by those of its parent alone, which are read before.
  const tables = declared.tables.slice(0, maxTables).toSorted((a, b) => depthOf(a) - depthOf(b));
  return tables.flatMap((table): Check[] => {
    const id = table.table;
    return [
      { id: `table:${id}`, title: `table ${id}`, needs: ["login"], look: (context) => read(context, table) },
      {
        id: `labels:${id}`,
        title: `labels of ${id}`,
        needs: [`table:${id}`],
        look: (context) => labels(context, table),
      },
      { id: `key:${id}`, title: `key of ${id}`, needs: [`labels:${id}`], look: (context) => key(context, table) },
    ];
  });
}

async function read(context: CheckContext, declared: ProgramTable): Promise<Finding> {
  const { table } = declared;
  const found = new TableReading(declared);
  const enough = new AbortController();
  const signal = AbortSignal.any([context.signal, enough.signal]);
  const client = callsOf(context).reads(callsPerTable - 1);
  let isAll = false;
  try {
    for await (const rows of pages(client, { microAppID: table, signal })) {
      found.take(rows);
      if (found.rows >= maxRows) throw new CallsSpent();
    }
    isAll = true;
  } catch (error) {
    if (context.signal.aborted || !(error instanceof CallsSpent || error instanceof ApiError)) throw error;
    if (error instanceof ApiError) return unread(context, declared, error);
  } finally {
    enough.abort();
  }
  const looked = found.result(isAll);
  context.learned.tables.set(table, looked);
  if (looked.rows === 0) return noteFinding("It is there, and this account sees no rows in it.");
  if (isAll && declared.parent !== undefined && !looked.namesParents)
    return wrong(
      "The platform does not name the parents of its rows (embeddingRowID).",
      "Runs refuse a seed with parent there: nobody can tell below which row each of its rows stands.",
    );
  return well(
    isAll ? `It has ${countRows(looked.rows)}.` : `It has more than ${countRows(looked.rows)}; those were looked at.`,
  );
}

function unread(context: CheckContext, declared: ProgramTable, error: ApiError): Finding {
  const { table } = declared;
  if (error.code === "unauthorized") return explainExpired(context, error);
  if (["notFound", "invalidRequest"].includes(error.code) && !isAdvised(error)) {
    const isName = /\s/.test(table) ? "It looks like a name, and an ID is wanted." : "";
    const means = `${isName} The ID is mistyped, the table was made anew under another ID, or it is on another platform.`;
    return wrong(`There is no table ${table} on the platform.`, means.trim(), [otherTable(declared)]);
  }
  if (error.code === "forbidden") {
    return wrong(
      `This account may not read table ${table}.`,
      "Have an administrator of its app let the account in, or log in as one.",
      [setting(context.subject.place, "email")],
    );
  }
  return explainUnanswered(context, "microappdata", error);
}

const lookOf = ({ learned }: CheckContext, table: string): TableLook => {
  const found = learned.tables.get(table);
  if (!found) throw new Error(`table ${table} was read by now`);
  return found;
};

function labels(context: CheckContext, declared: ProgramTable): Finding {
  const { table, key, labels, isHidden, at } = declared;
  const found = lookOf(context, table);
  if (found.rows === 0)
    return noteFinding("No row shows its labels: the first up says which ones the table did not keep.");
  const there = [...found.labels].sort();
  const first = key.find((label) => !found.labels.has(label));
  if (first !== undefined) {
    const near = meant(first, there);
    const listed = isHidden ? "" : ` They have ${some(there, 20)}.`;
    const means =
      near === undefined
        ? `Rows can't be told apart without it.${listed}`
        : `Did you mean "${near}"? Rows can't be told apart without their key, and labels are case sensitive.`;
    const renamed = key.map((label) => (label === first ? (near ?? "<another label>") : label));
    const seen = `No row of table ${table} has the label "${first}", which is in its key.`;
    return wrong(seen, means, [otherKey(declared, renamed)]);
  }
  if (isHidden) return well("Rows have those of the key.");
  const others = labels.filter((label) => !found.labels.has(label));
  const free = there.filter((label) => !key.includes(label) && !labels.includes(label));
  for (const label of others) {
    const near = meant(label, free);
    if (near === undefined) continue;
    return wrong(
      `No row of table ${table} has the label "${label}", and the table has "${near}".`,
      "The platform drops what it does not know without a word.",
      [`${at.table}: ${near} instead of ${label} in the rows of this table`],
    );
  }
  if (others.length > 0) {
    return noteFinding(
      `No row has a value under ${some(others, maxNamed)}.`,
      "If the table has no such label, the platform drops what is written there without a word: the first up sees it.",
    );
  }
  return well(`Rows have ${some([...key, ...labels], 6)}.`);
}

/** Advice for changing the program's table, or its key. */
const otherTable = ({ at, key }: ProgramTable): string =>
  at.table === "--table" ? `--table <its ID>:${key.join("+")}` : `${at.table}: table: <its ID>`;
const otherKey = ({ table, at }: ProgramTable, key: readonly string[]): string =>
  at.key === "--table"
    ? `--table ${table}:${key.join("+")}`
    : `${at.key}: key: ${key.length === 1 ? key.join() : `[${key.join(", ")}]`}`;

/** The label that is meant: another case, other blanks, or a slip. */
const meant = (label: string, known: readonly string[]): string | undefined => {
  const bare = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, "");
  return known.find((each) => bare(each) === bare(label)) ?? nearest(label, known);
};

async function key(context: CheckContext, declared: ProgramTable): Promise<Finding> {
  const { table, key, isHidden } = declared;
  const found = lookOf(context, table);
  const name = key.join(" and ");
  if (found.rows === 0) return well("No row has one yet.");
  const [first] = found.twice.keys();
  if (first !== undefined) {
    const keys = [...found.twice.keys()].map((text) => (JSON.parse(text) as string[]).slice(0, key.length).join(", "));
    const which = isHidden ? "" : `: ${some(keys, maxNamed)}`;
    const means =
      "Nobody can tell which of them a declared row is: make them differ on the platform, or name more labels as the key.";
    return wrong(
      `${found.twice.size === 1 ? "A key is" : `${found.twice.size} keys are`} in several rows of table ${table}${which}.`,
      means,
      [otherKey(declared, [...key, "<another label>"])],
    );
  }
  const keyless = found.keyless > 0 ? ` ${countRows(found.keyless)} of others have none.` : "";
  const sort = await sortField(context, declared, found);
  const apart = found.isAll ? `${name} tells all rows apart.` : `${name} tells the rows apart that were looked at.`;
  if (sort === undefined) return well(apart + keyless);
  if (sort > 0) return well(`${apart}${keyless} Sort field ${sort} holds it.`);
  return noteFinding(
    `${apart}${keyless} No sort field holds it.`,
    "Runs read tables as a whole and need none. Functions that look rows up are faster with a sort field on it, which the table's settings on the platform have.",
  );
}

/** Number of the sort field that holds the key, 0 for none; undefined where that can't be seen. */
async function sortField(
  context: CheckContext,
  { table, key }: ProgramTable,
  { sample }: TableLook,
): Promise<number | undefined> {
  const [label] = key;
  if (sample === undefined || label === undefined || key.length > 1) return undefined;
  const request = { microAppID: table, optViewFilters: [{ _id: sample._id }], optLimit: 1, platformFormat: true };
  try {
    const { microAppRows } = await callsOf(context).call("microappdata", request, context.signal);
    const [raw] = microAppRows;
    if (raw?._id !== sample._id) return undefined;
    const sorts = Object.entries(raw).filter(([name]) => /^sortVal\d*$/.test(name));
    context.learned.raw ??= { isKnown: !Object.hasOwn(raw, label) || sorts.length > 0 };
    const isSame = (value: unknown): boolean => keyText(value) === keyText(sample[label]);
    const held = sorts.find(([, value]) => isSame(value));
    if (held) return Number(held[0].slice("sortVal".length) || "1");
    return context.learned.raw.isKnown ? 0 : undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined; // which is no reason to hold anything against the table
  }
}
