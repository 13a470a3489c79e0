import { pages } from "../../../../provider/client/lists/pages.ts";
import type { Client } from "../../../../provider/client/options.ts";
import { maxRowsLeft } from "../../../../provider/conformance/made.ts";
import { ApiError, orUndefinedIfNotFound } from "../../../../provider/contract/errors.ts";
import { withoutUndefined, type Row } from "../../../../provider/contract/values.ts";
import { isObject } from "../../../../provider/contract/wire.ts";
import type { Journal, Left, JournalThing } from "./journal.ts";

/** Something that could not be removed, and why. */
export interface Remainder {
  thing: JournalThing;
  ids: readonly string[];
  why: string;
}

/** Removes the things in a journal, the last first, and rows that carry the run's mark. */
export async function removeLeftovers(
  client: Client,
  journal: Journal,
  isMeant: (thing: JournalThing) => boolean = () => true,
): Promise<Remainder[]> {
  const remainders: Remainder[] = [];
  const swept = new Set<string>();
  const hadOrganization = journal.left().some(({ thing }) => thing.kind === "organization");
  for (const left of journal.left().filter(({ thing }) => isMeant(thing))) {
    try {
      const why = await removed(client, journal, left, swept);
      if (why !== undefined) remainders.push({ thing: left.thing, ids: left.ids, why });
      journal.removed(left.number); // a thing that nobody can find is reported once
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      remainders.push({ thing: left.thing, ids: left.ids, why: error.message });
    }
  }
  // A team whose ID is not known is in an organization of the run, and went with it.
  const isGone = ({ thing, ids }: Remainder): boolean =>
    thing.kind === "team" &&
    ids.length === 0 &&
    hadOrganization &&
    !remainders.some(({ thing: { kind } }) => kind === "organization");
  return remainders.filter((each) => !isGone(each));
}

/** Removes one thing. Returns why it can't be, or undefined once it is gone. */
async function removed(
  client: Client,
  { run }: Journal,
  { thing: { kind, table }, ids, isMade }: Left,
  swept: Set<string>,
): Promise<string | undefined> {
  if (kind === "row" && ids.length === 0 && table !== undefined) {
    const why = swept.has(table) ? undefined : await sweep(client, run, table);
    swept.add(table);
    if (why !== undefined) return why;
  }
  if (kind === "organization" || kind === "team") {
    const unsure = "the run ended before it was answered: look on the platform whether it was made";
    if (ids.length === 0) return unsure;
    for (const id of ids) if (!isMade && !(await isOurs(client, kind, id, run.mark))) return undefined;
  }
  for (const id of ids) await orUndefinedIfNotFound<unknown>(removals[kind](client, id));
  return undefined;
}

/** How each kind is removed. A child record without an ID goes with its row. */
const removals: Readonly<Record<JournalThing["kind"], (client: Client, id: string) => Promise<unknown>>> = {
  row: (client, rowID) => client.removemicroapprow({ rowID }),
  child: (client, childID) => client.microappchildDelete({ childID }),
  team: async (client, teamID) => {
    const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
    for (const { userID, teamMemberID } of teamMembers) {
      await orUndefinedIfNotFound(client.deleteteammember(withoutUndefined({ teamID, userID, teamMemberID })));
    }
    await client.deleteteam({ teamID });
  },
  organization: async (client, organizationID) => {
    try {
      await client.deleteorganization({ organizationID });
    } catch (error) {
      // Teams stand in the way whose IDs the run did not learn. It is the run's organization, and so are they.
      if (!(error instanceof ApiError) || error.dependants.length === 0) throw error;
      for (const { id } of error.dependants) await orUndefinedIfNotFound<unknown>(removals.team(client, id));
      await client.deleteorganization({ organizationID });
    }
  },
};

/** True if what has an ID that we chose is not there, or has the mark of the run: somebody else may have had the ID before. */
async function isOurs(client: Client, kind: "organization" | "team", id: string, mark: string): Promise<boolean> {
  const found =
    kind === "team"
      ? (await orUndefinedIfNotFound(client.readteam({ teamID: id })))?.team
      : (await orUndefinedIfNotFound(client.readorganization({ organizationID: id })))?.organization;
  return found === undefined || found.name.includes(mark);
}

/**
 * Deletes the rows of a table that carry the mark in a value. Whatever the platform filters, they are looked at here.
 * Returns why some are left, or undefined once all are gone.
 */
async function sweep(client: Client, run: Journal["run"], table: string): Promise<string | undefined> {
  const { mark } = run;
  const microAppID = run.tables[table] ?? table;
  const remove = async (rows: readonly Row[]): Promise<number> => {
    const found = rows.filter((row) => carries(row, mark));
    for (const { _id: rowID } of found) await orUndefinedIfNotFound(client.removemicroapprow({ rowID }));
    return found.length;
  };
  const endless = `table ${microAppID} gives more rows than a run writes: look on the platform which there are`;
  const found = new Map<string, Row>();
  let removed = 0;
  try {
    for await (const rows of pages(client, { microAppID })) {
      for (const row of rows) found.set(row._id, row);
      if (found.size > maxRowsLeft) return endless;
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "badAnswer") throw error;
    // Rows that change places can't be read page by page. Each answer has some, until none are left.
    for (let last = 1; last > 0; removed += last) {
      if (removed > maxRowsLeft) return endless;
      last = await remove((await client.microappdata({ microAppID })).microAppRows);
    }
  }
  await remove([...found.values()]);
  return undefined;
}

const carries = (value: unknown, mark: string): boolean =>
  typeof value === "string"
    ? value.includes(mark)
    : (isObject(value) || Array.isArray(value)) && Object.values(value).some((each) => carries(each, mark));
