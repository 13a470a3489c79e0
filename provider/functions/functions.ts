import { z } from "zod";
import { inParallel } from "../../platform/client/lists.ts";
import {
  generationState,
  stateOf,
  declarable,
  email,
  id,
  type Row,
  type RowData,
} from "../../platform/contract/values.ts";
import { isNotFound, orUndefinedIfNotFound } from "../../platform/contract/wire.ts";
import type { ListedMember } from "../people/people.ts";
import { InputError, type InputProblem } from "../resources/common.ts";
import type { Context } from "../resources/resource.ts";
import { childrenOf } from "../resources/rowFile.ts";
import { keyText } from "../seedRows/digests.ts";
import { rowByKey } from "../seedRows/links.ts";
import { readKey, writeKey } from "../seedRows/observation.ts";
import { aTable, rowsOf } from "../seedRows/table.ts";

/** A question about the platform that changes nothing. Its inputs and outputs are zod objects with descriptions. */
export interface PlatformFunction<Inputs extends z.ZodObject = z.ZodObject, Outputs extends z.ZodObject = z.ZodObject> {
  /** Name that programs call it by, e.g. `getTeam`. */
  name: string;
  summary: string;
  /** For the documentation: inputs, and the output that a program shows. `${crew.id}` is of the example called crew. */
  example: { inputs: z.input<Inputs>; output: keyof z.output<Outputs> & string };
  inputs: Inputs;
  outputs: Outputs;
  /** Problems between inputs that are each right. Offline. */
  check?: (inputs: z.output<Inputs>) => InputProblem[];
  /** Throws an InputError when an input names what is not there. */
  invoke: (context: Context, inputs: z.output<Inputs>) => Promise<z.output<Outputs>>;
}

/** Declares a function. */
export const platformFunction = <Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  declaration: PlatformFunction<Inputs, Outputs>,
): PlatformFunction<Inputs, Outputs> => declaration;

/**
 * Turns the platform's "not found" into an error of the input that named the thing. What was asked for is not quoted: an
 * engine does not tell a plugin which arguments of a function are secrets.
 */
async function requireFound<Answer>(
  property: string,
  what: string,
  asked: Promise<Answer | undefined>,
): Promise<Answer> {
  const answer = await orUndefinedIfNotFound(asked);
  if (answer === undefined) throw new InputError(property, `there is no such ${what} on the platform`);
  return answer;
}

export const getUserID = platformFunction({
  name: "getUserID",
  summary: "The user ID that belongs to an e-mail address, on platforms that tell it.",
  example: { inputs: { email: "ada@example.com" }, output: "userID" },
  inputs: z.object({ email: email.meta({ description: "The user's e-mail address." }) }),
  outputs: z.object({ userID: id.meta({ description: "ID of the user." }) }),

  invoke: async (context, { email }) => ({
    userID: (await requireFound("email", "user", context.client.userid({ email }, context))).userID,
  }),
});

export const getOrganization = platformFunction({
  name: "getOrganization",
  summary: "An organization that is on the platform.",
  example: { inputs: { organizationID: "${acme.id}" }, output: "name" },
  inputs: z.object({ organizationID: id.meta({ description: "ID of the organization." }) }),
  outputs: z.object({
    organizationID: id.meta({ description: "ID of the organization." }),
    name: z.string().meta({ description: "Name, unique on the platform." }),
    description: z.string().optional().meta({ description: "Purpose, when the platform has a text." }),
  }),

  invoke: async (context, { organizationID }) => {
    const read = context.client.readorganization({ organizationID }, context).then(({ organization }) => organization);
    const { name, description } = await requireFound("organizationID", "organization", read);
    return { organizationID, name, ...(description ? { description } : {}) };
  },
});

export const getTeam = platformFunction({
  name: "getTeam",
  summary: "A team that is on the platform.",
  example: { inputs: { teamID: "${crew.id}" }, output: "name" },
  inputs: z.object({ teamID: id.meta({ description: "ID of the team." }) }),
  outputs: z.object({
    teamID: id.meta({ description: "ID of the team." }),
    organizationID: id
      .optional()
      .meta({ description: "Organization that it belongs to, when the platform answers it." }),
    name: z.string().meta({ description: "Name of the team." }),
    description: z.string().optional().meta({ description: "Purpose, when the platform has a text." }),
  }),

  invoke: async (context, { teamID }) => {
    const read = context.client.readteam({ teamID }, context).then(({ team }) => team);
    const { name, organizationID, description } = await requireFound("teamID", "team", read);
    return {
      teamID,
      ...(organizationID === undefined ? {} : { organizationID }),
      name,
      ...(description ? { description } : {}),
    };
  },
});

const member = z.object({
  userID: id.meta({ description: "ID of the user." }),
  email: z.string().optional().meta({ description: "E-mail address, when the platform answers it." }),
  role: z.string().optional().meta({ description: "admin or member, in the platform's own word." }),
});

export const getTeamMembers = platformFunction({
  name: "getTeamMembers",
  summary: "The members of a team, by address, then by ID.",
  example: { inputs: { teamID: "${crew.id}" }, output: "members" },
  inputs: z.object({ teamID: id.meta({ description: "ID of the team." }) }),
  outputs: z.object({
    teamID: id.meta({ description: "ID of the team." }),
    members: z.array(member).meta({ description: "The members." }),
  }),

  invoke: async (context, { teamID }) => {
    const listed = await requireFound("teamID", "team", context.members.list(teamID));
    return { teamID, members: await described(context, teamID, listed) };
  },
});

/**
 * Members one by one in a stable order. A member listed without a role is read alone, which also returns the address.
 */
async function described(
  context: Context,
  teamID: string,
  listed: readonly ListedMember[],
): Promise<z.output<typeof member>[]> {
  const members = new Map(listed.map((one) => [one.userID, one]));
  const bare = listed.filter(({ role }) => role === undefined);
  await inParallel(bare, 16, async ({ userID, teamMemberID }) => {
    const named = { teamID, userID, ...(teamMemberID === undefined ? {} : { teamMemberID }) };
    const { teamMember } = await context.client.readteammember(named, context);
    members.set(userID, { ...teamMember, userID });
  });
  const known = [...members.values()].map(({ userID, email, role }) => ({
    userID,
    ...(email === undefined ? {} : { email }),
    ...(role === undefined ? {} : { role }),
  }));
  const place = ({ email = "", userID }: { email?: string; userID: string }): string => `${email}\n${userID}`;
  return known.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

/** A row as functions answer it. */
const rowShape = {
  rowID: id.meta({ description: "ID of the row." }),
  values: z.record(z.string(), z.unknown()).meta({ description: "The row's values by label." }),
  parentRowID: id.optional().meta({ description: "The parent row, in a sub-table." }),
};

const row = z.object(rowShape);

/** The row without what is the platform's own. */
function toOutput({ _id, embeddingRowID, ...rest }: Row): z.output<typeof row> {
  return { rowID: _id, values: declarable(rest), ...(embeddingRowID ? { parentRowID: embeddingRowID } : {}) };
}

/** Which rows of a table. */
interface Query {
  table: string;
  where?: RowData | undefined;
  /** Filters in the platform's own form, which it applies itself. */
  filters?: RowData[] | undefined;
  /** The parent row, in a sub-table. */
  parentRowID?: string | undefined;
  /** Rows that are wanted at most. */
  limit?: number | undefined;
}

/**
 * The rows whose labels have the wanted values, in the order of their IDs.
 * The platform is asked for them by label; when it finds none it may not know labels in filters, so the whole table is
 * looked through.
 */
export async function* readMatching(
  context: Context,
  { table, where = {}, filters = [], limit, parentRowID }: Query,
): AsyncGenerator<Row> {
  const wanted = Object.entries(where);
  const asked = wanted.flatMap(([label, value]) => {
    const forms = formsOf(value);
    return forms ? [{ [label]: forms.length === 1 ? forms[0] : { $in: forms } }] : [];
  });
  const pageSize = wanted.length === 0 ? limit : undefined;
  const read = async function* (optViewFilters: RowData[]): AsyncGenerator<Row> {
    const below = parentRowID === undefined ? [] : [{ embeddingRowID: parentRowID }];
    const isWanted = (row: Row): boolean => wanted.every(([label, value]) => matches(row[label], value));
    const isBelow = ({ embeddingRowID }: Row): boolean => parentRowID === undefined || embeddingRowID === parentRowID;
    try {
      for await (const rows of rowsOf(context, table, aTable, {
        optViewFilters: [...optViewFilters, ...below],
        pageSize,
      })) {
        // Rows that name no parent would be taken for another parent's, or that one's for theirs.
        if (parentRowID !== undefined && rows.some(({ embeddingRowID }) => !embeddingRowID))
          throw new InputError("parentRowID", `table ${table} does not show below which row each of its rows stands`);
        yield* rows.filter((row) => isWanted(row) && isBelow(row));
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new InputError("table", "there is no such table on the platform");
    }
  };
  let any = false;
  for await (const row of read([...filters, ...asked])) {
    any = true;
    yield row;
  }
  if (!any && asked.length > 0) yield* read(filters);
}

/** True when a value is the wanted one, or a list that holds it. Text and number are the same, as in natural keys. */
const matches = (value: unknown, wanted: unknown): boolean =>
  keyText(value) === keyText(wanted) ||
  (Array.isArray(value) && (value as unknown[]).some((item) => keyText(item) === keyText(wanted)));

/** The forms in which the platform may hold a value; undefined when it can't be asked for it. */
function formsOf(value: unknown): unknown[] | undefined {
  if (typeof value === "number" || typeof value === "boolean") return [value, String(value)];
  if (typeof value !== "string" || value === "") return undefined;
  if (value === "true" || value === "false") return [value, value === "true"];
  return String(Number(value)) === value ? [value, Number(value)] : [value];
}

/** Highest number of rows without a limit in the arguments: all of them are held in memory. */
const maxRows = 10_000;

const sort = z.object({
  label: z.string().min(1).meta({ description: "Label to sort by." }),
  order: z.enum(["ascending", "descending"]).optional().meta({ description: "Ascending when unset." }),
});

export const getRows = platformFunction({
  name: "getRows",
  summary: "Rows of a data table, by the values of their labels.",
  example: {
    inputs: {
      table: "countries",
      where: { Continent: "Europe" },
      sort: [{ label: "Code", order: "ascending" }],
      limit: 100,
    },
    output: "rows",
  },
  inputs: z.object({
    table: id.meta({ description: "Data table ID (microAppID)." }),
    where: z.record(z.string().min(1), z.unknown()).optional().meta({
      description: "Values that the rows have, by label. Of a linked-table label, the ID of the row that it leads to.",
    }),
    filters: z.array(z.record(z.string(), z.unknown())).optional().meta({
      description: "Filters on stored row keys that the platform applies itself, such as {sortVal: {$gte: 10}}.",
    }),
    parentRowID: id.optional().meta({ description: "Limits the rows of a sub-table to those of this parent row." }),
    sort: z.array(sort).optional().meta({ description: "The order of the rows; that of their IDs when unset." }),
    limit: z
      .number()
      .int()
      .min(1)
      .optional()
      .meta({
        description: `Most rows to get. When unset, more than ${maxRows} rows are an error.`,
      }),
  }),
  outputs: z.object({ rows: z.array(row).meta({ description: "The rows." }) }),

  invoke: async (context, { filters = [], sort = [], limit, ...query }) => {
    const named = filters.map(({ embeddingRowID }) => embeddingRowID).find((one) => typeof one === "string");
    const { parentRowID = named } = query;
    // Which rows are the first ones is known only once all are there.
    const enough = sort.length > 0 ? Infinity : (limit ?? maxRows + 1);
    const rows: Row[] = [];
    const asked = { ...query, filters, parentRowID, limit: sort.length > 0 ? undefined : limit };
    for await (const row of readMatching(context, asked)) {
      rows.push(row);
      if (rows.length >= enough) break;
    }
    if (limit === undefined && rows.length > maxRows) {
      throw new InputError("limit", `the table has more than ${maxRows} such rows: set limit, or say more in where`);
    }
    const ordered = sort.length === 0 ? rows : rows.toSorted(by(sort));
    return { rows: ordered.slice(0, limit).map(toOutput) };
  },
});

function by(labels: readonly z.output<typeof sort>[]) {
  return (a: Row, b: Row): number => {
    for (const { label, order } of labels) {
      const compared = compare(a[label], b[label]);
      if (compared !== 0) return order === "descending" ? -compared : compared;
    }
    return 0;
  };
}

/** Numbers by size, everything else by its text; what has no value comes last. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [one, other] = [keyText(a), keyText(b)];
  if (one === other) return 0;
  if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
  return one < other ? -1 : 1;
}

export const getRow = platformFunction({
  name: "getRow",
  summary: "One row of a data table, by its ID or by its natural key.",
  example: { inputs: { table: "countries", key: { Code: "PT" } }, output: "values" },
  inputs: z.object({
    rowID: id.optional().meta({ description: "ID of the row. Either this, or table and key." }),
    table: id.optional().meta({ description: "Data table ID (microAppID). With key." }),
    key: z.record(z.string().min(1), z.unknown()).optional().meta({
      description: "Values by label that one row of the table has, and no other.",
    }),
  }),
  outputs: z.object(rowShape),

  check: ({ rowID, table, key }) => {
    if (rowID !== undefined) {
      const both = table !== undefined ? "table" : "key";
      return table === undefined && key === undefined
        ? []
        : [{ property: both, reason: "set either rowID, or table and key, not both" }];
    }
    if (table === undefined) return [{ property: "table", reason: "set rowID, or table and key" }];
    const labels = Object.keys(key ?? {});
    return labels.length > 0 ? [] : [{ property: "key", reason: "name the values that tell the row: label → value" }];
  },

  invoke: async (context, { rowID, table = "", key = {} }) => {
    if (rowID !== undefined) {
      const read = context.client.microappdataRow({ rowID }, context).then(({ currentRow }) => currentRow);
      return toOutput(await requireFound("rowID", "row", read));
    }
    let first: Row | undefined;
    let count = 0;
    for await (const row of readMatching(context, { table, where: key })) {
      first ??= row;
      count++;
    }
    if (first && count === 1) return toOutput(first);
    // A function of a YAML program waits for its arguments alone, and asks in a preview, too.
    if (!first)
      throw new InputError(
        "key",
        "there is no such row in the table; if this program adds it, set dependsOn (in YAML, take table from the seed, " +
          "as ${countries.table}, and run up --skip-preview)",
      );
    throw new InputError("key", `there is not one such row in the table but ${count}: name more labels`);
  },
});

export const getAppStatus = platformFunction({
  name: "getAppStatus",
  summary: "How far the generation of an app is.",
  example: { inputs: { appID: "${portal.appID}" }, output: "meaning" },
  inputs: z.object({
    appID: id.meta({ description: "ID of the app." }),
    statusWords: z.record(z.string(), generationState).optional().meta({
      description:
        "Meaning of the platform's own status words, beyond the usual ones: word → pending, ready or failed.",
    }),
  }),
  outputs: z.object({
    appID: id.meta({ description: "ID of the app." }),
    status: z.string().meta({ description: "The platform's own word for the state of the generation." }),
    meaning: generationState.meta({ description: "Meaning of the word." }),
    message: z.string().optional().meta({ description: "Message of the platform, if any." }),
  }),

  invoke: async (context, { appID, statusWords }) => {
    const asked = context.client.createappwithpromptStatus({ appID }, context);
    const { status, message } = await requireFound("appID", "app", asked);
    return { appID, status, meaning: stateOf(status, statusWords), ...(message === undefined ? {} : { message }) };
  },
});

/** All functions. Both kinds of provider call them with inputs checked against the function's own schema. */
export const functions = [
  getUserID,
  getOrganization,
  getTeam,
  getTeamMembers,
  getRows,
  getRow,
  getAppStatus,
] as unknown as readonly PlatformFunction[];

/** The function of a name. */
export const functionNamed = (name: string): PlatformFunction | undefined => functions.find((one) => one.name === name);

const items = z.object({ items: z.array(z.object({ id: z.string(), name: z.string() })) });

/** The things of a type that a query finds, by IDs that import them. */
type Items = z.output<typeof items>["items"];
type Listing = PlatformFunction<z.ZodObject, typeof items>;

/** @param list gets at most so many things as are wanted, or more, which are cut off */
const listing =
  <Inputs extends z.ZodObject>(
    inputs: Inputs,
    list: (context: Context, inputs: z.output<Inputs>, limit: number) => Promise<Items>,
  ) =>
  (name: string, limit: number): Listing => ({
    name: `${name} list`,
    summary: "",
    example: { inputs: {}, output: "items" },
    inputs,
    outputs: items,
    invoke: async (context, query) => ({
      items: (await list(context, inputs.parse(query), limit)).slice(0, limit),
    }),
  });

const table = id.meta({ description: "Data table ID (microAppID)." });

const listings: Readonly<Record<string, ReturnType<typeof listing>>> = {
  TeamMember: listing(getTeamMembers.inputs, async (context, query) => {
    const { teamID, members } = await getTeamMembers.invoke(context, query);
    return members.map(({ userID, email }) => ({ id: `${teamID}/${userID}`, name: email ?? userID }));
  }),

  SeedRows: listing(
    z.object({
      table,
      key: z.string().min(1).meta({ description: "Label of the natural key; several as Floor+City." }),
    }),
    async (context, query, limit) => {
      const labels = query.key.split("+");
      const found: Items = [];
      const advice = "declare its rows by a SeedRows with parent";
      const asked = { table: query.table, advice, ...(limit < Infinity ? { limit } : {}) };
      for await (const row of readMatching(context, asked)) {
        const values = labels.map((label) => (typeof row[label] === "object" ? undefined : keyText(row[label])));
        if (!values.every((value) => value !== undefined)) continue; // no ID: the key is missing, or leads to a row
        const key = Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ""]));
        found.push({ id: `${context.publicID(query.table)}/${writeKey(key)}`, name: values.join("+") });
        if (found.length >= limit) break;
      }
      return found;
    },
  ),

  RowFile: listing(
    z.object({
      table,
      row: z.string().min(1).meta({ description: "The row: its ID, or Label=value of its natural key." }),
      fieldID: id.meta({ description: "ID of the field that the files belong to." }),
    }),
    async (context, { table, row, fieldID }) => {
      const key = readKey(row);
      const rowID = key ? await rowByKey(context, table, key) : row;
      const children = rowID === undefined ? undefined : await childrenOf(context, rowID, fieldID);
      if (!children) throw new InputError("row", "there is no such row in the table");
      const place = [context.publicID(table), key ? writeKey(key) : row, fieldID].join("/");
      return children.map(({ _id, content }) => ({ id: `${place}/${_id}`, name: content?.filename ?? _id }));
    },
  ),
};

/** How the things of a resource are listed; undefined where they are not. */
export const listingOf = (resource: string, limit = Infinity): Listing | undefined =>
  listings[resource]?.(resource, limit);
