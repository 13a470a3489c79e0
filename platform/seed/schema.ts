import { resolve } from "node:path";
import { z } from "zod";
import { role } from "../contract/people.ts";
import { type FieldType, fieldTypes, email, id, rowData, systemLabels } from "../contract/values.ts";
import { habits, profile } from "../profile/profile.ts";

/** Server settings of an operator. Every default is assumed. */
export const settings = z.strictObject({
  defaultLimit: z.int().min(1).default(1000).describe("Rows that a read answers when it names no limit."),
  maximumLimit: z.int().min(1).default(100_000).describe("Most rows that one read answers."),
  maximumBatch: z.int().min(1).optional().describe("Most rows that one insert takes; 10,000 when it is left out."),
  license: z.boolean().default(true).describe("Whether apps may be generated."),
  generationSeconds: z.number().min(0).default(1.5).describe("How long the generation of an app takes."),
  failingPrompts: z.string().min(1).optional().describe("Generations whose prompt contains this text fail."),
  memberForm: z.enum(habits.memberForm.values).default("objects").describe("What teammembers answers."),
  appServer: z.string().min(1).default("https://apps.example.com").describe("Address in the links to apps."),
  keyAlone: z
    .boolean()
    .default(false)
    .describe("Whether createappwithprompt takes the key without a token, as known clients send it."),
  userLookup: z.boolean().default(true).describe("Whether userid is enabled."),
  tokenSeconds: z.number().positive().optional().describe("Lifetime of a token; without it tokens do not expire."),
  strict: z.boolean().default(true).describe("Refuse values that do not fit a field's type."),
  allowedHosts: z.array(z.string().min(1)).default([]).describe("Hosts that files may be downloaded from."),
  visibleAfter: z.number().min(0).max(60).default(0).describe("Seconds until what was made is found by other calls."),
  maximumFileBytes: z.int().min(1).default(25_000_000).describe("Largest file that is downloaded."),
});

export type Settings = z.output<typeof settings>;

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

export type PlantedRow = z.output<typeof row>;

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
export const seed = contents.superRefine(({ administrator, users, tables, organizations }, context) => {
  const refuse = (path: PropertyKey[], message: string): void => context.addIssue({ code: "custom", path, message });
  /** Refuses what comes a second time; what was there first is what stands for it. */
  const once = (first: Iterable<string | undefined> = []) => {
    const seen = new Map([...first].map((value) => [value, ""]));
    const take = (value: string | undefined, path: PropertyKey[], message: (by: string) => string, by = ""): void => {
      if (value === undefined) return;
      if (seen.has(value)) refuse(path, message(seen.get(value) ?? ""));
      seen.set(value, by);
    };
    return { take, seen };
  };
  const addresses = once([administrator.email.toLowerCase()]);
  const userIDs = once([administrator.id]);
  for (const [index, { email, id }] of users.entries()) {
    addresses.take(email.toLowerCase(), ["users", index, "email"], () => `${email} is there twice`);
    userIDs.take(id, ["users", index, "id"], () => `two users have the ID ${id}`);
  }
  const tableIDs = once();
  const fieldIDs = once();
  const rowIDs = once();
  for (const [key, { id = key, parent, fields, rows = [] }] of Object.entries(tables)) {
    const at = (...path: PropertyKey[]) => ["tables", key, ...path];
    tableIDs.take(id, at("id"), () => `two tables have the ID ${id}`);
    if (parent !== undefined && (parent === key || !Object.hasOwn(tables, parent)))
      refuse(at("parent"), `there is no other table ${parent}`);
    else if (isOwnAncestor(tables, key))
      refuse(at("parent"), "the tables are each other's parents in a circle: no row could be the first");
    const sorts = once();
    for (const [label, field] of Object.entries(fields)) {
      const mistake = labelMistake(label, field.type);
      if (mistake !== undefined) refuse(at("fields", label), mistake);
      const isTaken = (by: string) => `${by} has the ID ${field.id}, too`;
      fieldIDs.take(field.id, at("fields", label, "id"), isTaken, `field ${label} of table ${key}`);
      const sort = field.sort === undefined ? undefined : String(field.sort);
      sorts.take(sort, at("fields", label, "sort"), () => `sort ${sort} is taken by another field`);
      if (field.table === undefined) continue;
      const target = Object.hasOwn(tables, field.table) ? tables[field.table] : undefined;
      if (!target) refuse(at("fields", label, "table"), `there is no table ${field.table}`);
      else if (field.field !== undefined && !Object.hasOwn(target.fields, field.field))
        refuse(at("fields", label, "field"), `table ${field.table} has no field ${field.field}`);
    }
    for (const [index, { id, creator }] of rows.entries()) {
      if (creator !== undefined && !userIDs.seen.has(creator))
        refuse(at("rows", index, "creator"), `no user has the ID ${creator}`);
      rowIDs.take(id, at("rows", index, "id"), () => `two rows have the ID ${id}`, key);
    }
  }
  for (const [key, { parent: above, rows = [] }] of Object.entries(tables)) {
    for (const [index, { parent }] of rows.entries()) {
      if (above === undefined ? parent === undefined : rowIDs.seen.get(parent) === above) continue;
      const wanted = above === undefined ? "the table is no sub-table" : `it must be the ID of a row of ${above}`;
      refuse(["tables", key, "rows", index, "parent"], wanted);
    }
  }
  const names = once();
  const ids = once();
  const takeID = (id: string | undefined, path: PropertyKey[]) =>
    ids.take(id, [...path, "id"], () => `the ID ${id} is there twice`);
  for (const [index, { id, name, teams }] of organizations.entries()) {
    const path = ["organizations", index];
    takeID(id, path);
    names.take(name, [...path, "name"], () => `two organizations are called ${name}`);
    for (const [place, team] of teams.entries()) {
      takeID(team.id, [...path, "teams", place]);
      for (const [at, { id, email }] of team.members.entries()) {
        const below = [...path, "teams", place, "members", at];
        takeID(id, below);
        if (!addresses.seen.has(email.toLowerCase())) refuse([...below, "email"], `${email} is none of the users`);
      }
    }
  }
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

/** Types of a table's fields by label. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

/** Field types by table ID, of the tables that have any; none where the platform takes values of other types as well. */
export function fieldTypesOf({ settings, tables }: Pick<Seed, "settings" | "tables">): Record<string, FieldTypes> {
  if (!settings.strict) return {};
  const typed = Object.entries(tables).flatMap(([key, { id = key, fields }]) => {
    const types = Object.entries(fields).map(([label, { type }]) => [label, type] as const);
    return types.length === 0 ? [] : [[id, Object.fromEntries(types)] as const];
  });
  return Object.fromEntries(typed);
}

/** Files of an emulator, as an endpoint names them. */
interface EmulatorEndpoint {
  /** Its data file, or `:memory:`. */
  data: string;
  seed?: string;
}

const form = "emulator:<file>?seed=<platform.yaml>";

/**
 * Parses `emulator:<file>?seed=<platform.yaml>`; throws when it has another form. The file `:memory:` keeps the data in
 * memory. Resolves relative paths from the directory.
 */
export function parseEmulatorEndpoint(endpoint: string, directory = "."): EmulatorEndpoint {
  const [, file = "", query = ""] = /^emulator:([^?]*)\??(.*)$/s.exec(endpoint) ?? [];
  if (file === "") throw new Error(`the endpoint names no data file: the form is ${form}, or emulator::memory:`);
  const parameters = new Map<string, string>();
  for (const part of query.split("&").filter((part) => part !== "")) {
    const [name = "", value = ""] = part.split(/=(.*)/s);
    if (name !== "seed") throw new Error(`the endpoint has an unknown parameter: the form is ${form}`);
    if (value === "") throw new Error(`the endpoint names no seed: the form is ${form}`);
    parameters.set(name, decoded(value));
  }
  const data = decoded(file);
  const seed = parameters.get("seed");
  return {
    data: data === ":memory:" ? data : resolve(directory, data),
    ...(seed === undefined ? {} : { seed: resolve(directory, seed) }),
  };
}

/** Paths may be written as in addresses (%20 for a space). */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(`the endpoint has a % that begins no code: write %25 for it`);
  }
}
