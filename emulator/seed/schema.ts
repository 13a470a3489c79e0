import { z } from "zod";
import { type FieldType, fieldTypes } from "../../provider/contract/fields.ts";
import { role } from "../../provider/contract/members.ts";
import { email, id, rowData, systemLabels } from "../../provider/contract/values.ts";
import { profile } from "../../provider/habits/profile.ts";
import { settings } from "../data/settings.ts";

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

const key = z.string().regex(/^[\w.-]{1,100}$/, "must consist of letters, digits, dots, hyphens and underscores");
export const fieldType = z.enum(fieldTypes, { error: `must be one of ${fieldTypes.join(", ")}` });

const described = z
  .strictObject({
    type: fieldType,
    id: key.optional(),
    sort: z.int().min(1).max(50).optional().describe("Number of the sort field."),
    table: key.optional().describe("The linked table."),
    field: z.string().optional().describe("Label of the linked table's field that is shown."),
  })
  .refine((field) => (field.type === "linked") === (field.table !== undefined), {
    error: "a linked field, and no other, names its table",
    path: ["table"],
  });

/** A field: its type alone, or a map with more. */
export const field = z.preprocess((value) => (typeof value === "string" ? { type: value } : value), described);

/** Names of what the platform keeps in a row beside its fields: a field of such a name would lose its values. */
const taken = new Set([...systemLabels].filter((label) => label !== "author" && label !== "topLevelParentID"));

/** Why a field can't have a label; undefined when it can. */
function labelMistake(label: string, type: FieldType): string | undefined {
  if (taken.has(label) && label !== type)
    return `a field can't be called ${label}: the platform keeps that in each row`;
  if (/^sortVal\d*$/.test(label)) return `a field can't be called ${label}: so are stored sort values`;
  return undefined;
}

const table = z.strictObject({
  id: key.optional().describe("The microAppID; the table's key when it is left out."),
  name: z.string().min(1).optional(),
  parent: key.optional().describe("Key of the table whose rows carry this one's rows."),
  fields: z.record(z.string().min(1), field).default({}),
  rows: rows.optional(),
});

const user = z.strictObject({ email, password: z.string().min(1).optional(), id: id.optional() });

/** Administrator of a seed that names none. These credentials are public. */
export const defaultAdministrator = { email: "admin@example.com", password: "admin", apiKey: "dev-key" };

const administrator = user.extend({ password: z.string().min(1), apiKey: z.string().min(1).optional() });

const contents = z.strictObject({
  administrator: administrator.default(defaultAdministrator).describe("The first administrator of the platform."),
  users: z.array(user).default([]),
  tables: z.record(key, table).default({}),
  organizations,
  settings: settings.prefault({}),
  profile: profile.optional().describe("How the platform was seen to behave, as platform-profile.yaml has it."),
});

/** Initial content of a platform that no endpoint can create: users, tables with their fields, settings. */
export const seed = contents.superRefine((seed, context) => {
  const refuse = (path: PropertyKey[], message: string) => {
    context.addIssue({ code: "custom", path, message });
  };
  const addresses = new Set([seed.administrator.email.toLowerCase()]);
  const userIDs = new Set([seed.administrator.id]);
  for (const [index, { email, id }] of seed.users.entries()) {
    if (addresses.has(email.toLowerCase())) refuse(["users", index, "email"], `${email} is there twice`);
    addresses.add(email.toLowerCase());
    if (id === undefined) continue;
    if (userIDs.has(id)) refuse(["users", index, "id"], `two users have the ID ${id}`);
    userIDs.add(id);
  }
  const ids = new Set<string>();
  const fieldIDs = new Map<string, string>();
  for (const [key, table] of Object.entries(seed.tables)) {
    const at = (...path: PropertyKey[]) => ["tables", key, ...path];
    const id = table.id ?? key;
    if (ids.has(id)) refuse(at("id"), `two tables have the ID ${id}`);
    ids.add(id);
    if (table.parent !== undefined && (table.parent === key || !Object.hasOwn(seed.tables, table.parent))) {
      refuse(at("parent"), `there is no other table ${table.parent}`);
    } else if (isOwnAncestor(seed.tables, key)) {
      refuse(at("parent"), "the tables are each other's parents in a circle: no row could be the first");
    }
    const sorts = new Set<number>();
    for (const [label, field] of Object.entries(table.fields)) {
      const mistake = labelMistake(label, field.type);
      if (mistake !== undefined) refuse(at("fields", label), mistake);
      if (field.id !== undefined) {
        const other = fieldIDs.get(field.id);
        if (other !== undefined) refuse(at("fields", label, "id"), `${other} has the ID ${field.id}, too`);
        fieldIDs.set(field.id, `field ${label} of table ${key}`);
      }
      if (field.sort !== undefined && sorts.has(field.sort)) {
        refuse(at("fields", label, "sort"), `sort ${field.sort} is taken by another field`);
      }
      if (field.sort !== undefined) sorts.add(field.sort);
      if (field.table === undefined) continue;
      const target = Object.hasOwn(seed.tables, field.table) ? seed.tables[field.table] : undefined;
      if (!target) refuse(at("fields", label, "table"), `there is no table ${field.table}`);
      else if (field.field !== undefined && !Object.hasOwn(target.fields, field.field)) {
        refuse(at("fields", label, "field"), `table ${field.table} has no field ${field.field}`);
      }
    }
  }
  refuseWrongRows(seed.tables, userIDs, refuse);
  refuseWrongOrganizations(seed.organizations, addresses, refuse);
});

/** True if the parents of a table lead back to it. */
function isOwnAncestor(tables: Readonly<Record<string, { parent?: string | undefined }>>, key: string): boolean {
  const seen = new Set<string>();
  for (let parent = tables[key]?.parent; parent !== undefined && !seen.has(parent); parent = tables[parent]?.parent) {
    if (parent === key) return true;
    seen.add(parent);
  }
  return false;
}

export type Seed = z.output<typeof seed>;
/** A seed as people write it; every part may be left out. */
export type SeedInput = z.input<typeof seed>;
