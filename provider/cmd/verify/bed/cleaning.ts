import { pages } from "../../../client/lists/pages.ts";
import type { Client } from "../../../client/options.ts";
import { ApiError } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/wire.ts";
import type { Journal, Left, Thing } from "./journal.ts";

/** Something that could not be removed, and why. */
export interface Remainder {
  thing: Thing;
  ids: readonly string[];
  why: string;
}

/** Removes what a journal says may be there, the last first, and with it rows that carry the run's mark. */
export async function clean(
  client: Client,
  journal: Journal,
  isMeant: (thing: Thing) => boolean = () => true,
): Promise<Remainder[]> {
  const remainders: Remainder[] = [];
  const swept = new Set<string>();
  for (const left of journal.left().filter(({ thing }) => isMeant(thing))) {
    try {
      const why = await removed(client, journal, left, swept);
      if (why === undefined) journal.gone(left.number);
      else remainders.push({ thing: left.thing, ids: left.ids, why });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      remainders.push({ thing: left.thing, ids: left.ids, why: error.message });
    }
  }
  return remainders;
}

/** Removes one thing. Returns why it can't be, or undefined once it is gone. */
async function removed(
  client: Client,
  { run }: Journal,
  { thing, ids }: Left,
  swept: Set<string>,
): Promise<string | undefined> {
  const { kind, table } = thing;
  if (ids.length === 0 && kind === "row" && table !== undefined) {
    if (!swept.has(table)) await sweep(client, run.tables[table] ?? table, run.mark);
    swept.add(table);
    return undefined;
  }
  if (ids.length === 0 && (kind === "organization" || kind === "team")) {
    return `the run ended before it learned its ID; whatever was made has ${run.mark} in its name`;
  }
  for (const id of ids) await ignoringAbsence(() => removals[kind](client, id, run.mark));
  return undefined;
}

/** How each kind is removed. A child record without an ID goes with its row. */
const removals: Record<Thing["kind"], (client: Client, id: string, mark: string) => Promise<unknown>> = {
  row: (client, rowID) => client.removemicroapprow({ rowID }),
  child: (client, childID) => client.microappchildDelete({ childID }),
  team: async (client, teamID, mark) => {
    const { team } = await client.readteam({ teamID });
    if (team && isOurs(team.name, mark)) await client.deleteteam({ teamID });
  },
  organization: async (client, organizationID, mark) => {
    const { organization } = await client.readorganization({ organizationID });
    if (organization && isOurs(organization.name, mark)) await client.deleteorganization({ organizationID });
  },
};

/** Whether a name has the mark of the run: an ID that we chose may have been taken by somebody else before. */
const isOurs = (name: string, mark: string): boolean => name.includes(mark);

/** Deletes the rows of a table that carry the mark in a value. Whatever the platform filters, they are looked at here. */
async function sweep(client: Client, microAppID: string, mark: string): Promise<void> {
  const found: string[] = [];
  for await (const rows of pages(client, { microAppID })) {
    found.push(...rows.filter((row) => carries(row, mark)).map(({ _id }) => _id));
  }
  for (const rowID of found) await ignoringAbsence(() => client.removemicroapprow({ rowID }));
}

const carries = (value: unknown, mark: string): boolean =>
  typeof value === "string"
    ? value.includes(mark)
    : (isObject(value) || Array.isArray(value)) && Object.values(value).some((each) => carries(each, mark));

async function ignoringAbsence(remove: () => Promise<unknown>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "notFound")) throw error;
  }
}
