import { z } from "zod";
import { role } from "../../provider/contract/members.ts";
import { email, id, rowData } from "../../provider/contract/values.ts";

const row = z.strictObject({
  id: id.optional(),
  parent: id.optional().describe("ID of the row that carries it, in a sub-table."),
  creator: id.optional().describe("ID of the user who made it; the administrator when it is left out."),
  submitted: z.int().optional().describe("Milliseconds since the epoch; now when it is left out."),
  viewers: z.array(z.string()).optional(),
  teamViewers: z.array(z.string()).optional(),
  values: rowData.default({}).describe("By label; a link is {crossAppRowID: <row ID>}."),
});

/** Rows that a table begins with, a parent before the rows that it carries. */
export const rows = z.array(row).describe("Rows that are there from the start.");

const member = z.strictObject({ email, role: role.default("member"), id: id.optional() });

const team = z.strictObject({
  id: id.optional(),
  name: z.string().min(1),
  description: z.string().nullish(),
  members: z.array(member).default([]),
});

const organization = z.strictObject({
  id: id.optional(),
  name: z.string().min(1),
  description: z.string().nullish(),
  teams: z.array(team).default([]).describe('The team "All Members" may be left out.'),
});

/** Organizations that are there from the start. They are a list, where those of an Environment file are a map. */
export const organizations = z.array(organization).default([]).describe("Organizations that are there from the start.");

export type PlantedOrganization = z.output<typeof organization>;
export type PlantedRow = z.output<typeof row>;

type Refuse = (path: PropertyKey[], message: string) => void;
interface Table {
  parent?: string | undefined;
  rows?: PlantedRow[] | undefined;
}

/** Refuses IDs that two rows have, and rows whose parent or creator is not there. */
export function refuseWrongRows(
  tables: Readonly<Record<string, Table>>,
  userIDs: ReadonlySet<string | undefined>,
  refuse: Refuse,
): void {
  const taken = new Map<string, string>();
  for (const [key, { rows = [] }] of Object.entries(tables)) {
    for (const [index, { id, creator }] of rows.entries()) {
      const at = (name: string) => ["tables", key, "rows", index, name];
      if (creator !== undefined && !userIDs.has(creator)) refuse(at("creator"), `no user has the ID ${creator}`);
      if (id === undefined) continue;
      if (taken.has(id)) refuse(at("id"), `two rows have the ID ${id}`);
      taken.set(id, key);
    }
  }
  for (const [key, { parent: above, rows = [] }] of Object.entries(tables)) {
    for (const [index, { parent }] of rows.entries()) {
      if (parent === undefined ? above === undefined : above !== undefined && taken.get(parent) === above) continue;
      const wanted = above === undefined ? "the table is no sub-table" : `it must be the ID of a row of ${above}`;
      refuse(["tables", key, "rows", index, "parent"], wanted);
    }
  }
}

/** Refuses names and IDs that are there twice, and members who are no users of the seed. */
export function refuseWrongOrganizations(
  organizations: readonly PlantedOrganization[],
  addresses: ReadonlySet<string>,
  refuse: Refuse,
): void {
  const names = new Set<string>();
  const ids = new Set<string>();
  const takeID = (id: string | undefined, path: PropertyKey[]): void => {
    if (id === undefined) return;
    if (ids.has(id)) refuse([...path, "id"], `the ID ${id} is there twice`);
    ids.add(id);
  };
  for (const [index, { id, name, teams }] of organizations.entries()) {
    const path = ["organizations", index];
    takeID(id, path);
    if (names.has(name)) refuse([...path, "name"], `two organizations are called ${name}`);
    names.add(name);
    for (const [place, team] of teams.entries()) {
      const below = [...path, "teams", place];
      takeID(team.id, below);
      for (const [at, member] of team.members.entries()) {
        takeID(member.id, [...below, "members", at]);
        if (!addresses.has(member.email.toLowerCase())) {
          refuse([...below, "members", at, "email"], `${member.email} is none of the users`);
        }
      }
    }
  }
}
