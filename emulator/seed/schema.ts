import { z } from "zod";
import { fieldTypes } from "../../provider/contract/fields.ts";
import { email, id } from "../../provider/contract/values.ts";
import { settings } from "../data/settings.ts";

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

const table = z.strictObject({
  id: key.optional().describe("The microAppID; the table's key when it is left out."),
  name: z.string().min(1).optional(),
  parent: key.optional().describe("Key of the table whose rows carry this one's rows."),
  fields: z.record(z.string().min(1), field).default({}),
});

const user = z.strictObject({ email, password: z.string().min(1).optional(), id: id.optional() });

/** Administrator of a seed that names none. These credentials are public. */
export const defaultAdministrator = { email: "admin@example.com", password: "admin", apiKey: "dev-key" };

const administrator = user.extend({ password: z.string().min(1), apiKey: z.string().min(1).optional() });

const contents = z.strictObject({
  administrator: administrator.default(defaultAdministrator).describe("The first administrator of the platform."),
  users: z.array(user).default([]),
  tables: z.record(key, table).default({}),
  settings: settings.prefault({}),
});

/** Initial content of a platform that no endpoint can create: users, tables with their fields, settings. */
export const seed = contents.superRefine((seed, context) => {
  const refuse = (path: PropertyKey[], message: string) => {
    context.addIssue({ code: "custom", path, message });
  };
  const addresses = new Set([seed.administrator.email.toLowerCase()]);
  for (const [index, { email }] of seed.users.entries()) {
    if (addresses.has(email.toLowerCase())) refuse(["users", index, "email"], `${email} is there twice`);
    addresses.add(email.toLowerCase());
  }
  const ids = new Set<string>();
  for (const [key, table] of Object.entries(seed.tables)) {
    const at = (...path: PropertyKey[]) => ["tables", key, ...path];
    const id = table.id ?? key;
    if (ids.has(id)) refuse(at("id"), `two tables have the ID ${id}`);
    ids.add(id);
    if (table.parent !== undefined && (table.parent === key || !seed.tables[table.parent])) {
      refuse(at("parent"), `there is no other table ${table.parent}`);
    }
    const sorts = new Set<number>();
    for (const [label, field] of Object.entries(table.fields)) {
      if (field.sort !== undefined && sorts.has(field.sort)) {
        refuse(at("fields", label, "sort"), `sort ${field.sort} is taken by another field`);
      }
      if (field.sort !== undefined) sorts.add(field.sort);
      if (field.table === undefined) continue;
      const target = seed.tables[field.table];
      if (!target) refuse(at("fields", label, "table"), `there is no table ${field.table}`);
      else if (field.field !== undefined && !Object.hasOwn(target.fields, field.field)) {
        refuse(at("fields", label, "field"), `table ${field.table} has no field ${field.field}`);
      }
    }
  }
});

export type Seed = z.output<typeof seed>;
/** A seed as people write it; every part may be left out. */
export type SeedInput = z.input<typeof seed>;
