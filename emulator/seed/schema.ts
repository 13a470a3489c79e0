import { z } from "zod";
import { fieldTypes, type FieldType } from "../../provider/contract/fields.ts";
import { email, id, systemLabels } from "../../provider/contract/values.ts";
import { profile } from "../../provider/habits/profile.ts";
import { settings } from "../data/settings.ts";
import { organizations, refuseWrongOrganizations, refuseWrongRows, rows } from "./planted.ts";

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
