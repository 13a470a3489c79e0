import { z } from "zod";
import { id } from "../../../platform/contract/values.ts";
import { InputError, type PlatformFunction } from "../../functions/function.ts";
import { getTeamMembers, readMatching } from "../../functions/functions.ts";
import { keyText } from "../../reconcile/digests.ts";
import { childrenOf } from "../../resources/fileRecords.ts";
import { rowByKey } from "../../seedRows/links.ts";
import { readKey, writeKey } from "../../seedRows/observation.ts";
import type { RowContext } from "../../seedRows/table.ts";

const items = z.object({ items: z.array(z.object({ id: z.string(), name: z.string() })) });

/** The things of a type that a query finds, by IDs that import them. */
type Items = z.output<typeof items>["items"];
type Listing = PlatformFunction<z.ZodObject, typeof items>;

/** @param list gets at most so many things as are wanted, or more, which are cut off */
const listing =
  <Inputs extends z.ZodObject>(
    inputs: Inputs,
    list: (context: RowContext, inputs: z.output<Inputs>, limit: number) => Promise<Items>,
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
