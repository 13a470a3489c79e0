import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../machine/failures.ts";
import { allMembers } from "../../platform/contract/people.ts";
import type { PlantedRow, Seed } from "../../platform/seed/schema.ts";
import type { Database } from "../data/database.ts";
import { deriveID, hashPassword, hashToken } from "../data/hashing.ts";
import { insertTeam, joinTeam, requireTeam, userByEmail } from "../data/people.ts";
import { writeProfile, writeSettings } from "../data/settings.ts";
import { findTable, indexSorts, requireTable } from "../data/tables.ts";
import { insertRows } from "../rows/records.ts";

/** A seed with its secrets hashed, so that it can be kept in the data file and planted again. */
export function withoutSecrets(seed: Seed): Seed {
  const { administrator, users } = seed;
  const hashed = <User extends { password?: string | undefined }>(user: User): User =>
    user.password === undefined ? user : { ...user, password: hashPassword(user.password) };
  const { apiKey } = administrator;
  return {
    ...seed,
    administrator: { ...hashed(administrator), ...(apiKey === undefined ? {} : { apiKey: hashToken(apiKey) }) },
    users: users.map(hashed),
  };
}

/** Puts a seed, whose secrets are hashed, into an empty database. */
export function plant(database: Database, seed: Seed, now: number): void {
  database.run("INSERT OR REPLACE INTO meta VALUES ('seed', ?)", JSON.stringify(seed));
  writeSettings(database, seed.settings);
  if (!database.one("SELECT 1 FROM meta WHERE key = 'profile'")) writeProfile(database, seed.profile);
  plantUsers(database, seed, now);
  plantTables(database, seed, now);
  plantOrganizations(database, seed, now);
}

/** Reads the seed that the data file was made with. */
export function readPlantedSeed(database: Database): Seed {
  const kept = database.one<{ value: string }>("SELECT value FROM meta WHERE key = 'seed'");
  if (!kept) throw new Error("the data file has no seed");
  return JSON.parse(kept.value) as Seed; // written by plant
}

/** Digest of the seed that the data file was made with, the same for all that were made with it. It has no secret. */
export function seedDigest(database: Database): string {
  const seed = readPlantedSeed(database);
  const isSecret = (key: string) => key === "password" || key === "apiKey";
  const text = JSON.stringify(seed, (key, value: unknown) => (isSecret(key) ? true : value));
  return createHash("sha256").update(text).digest("hex");
}

const userID = ({ id, email }: Seed["administrator"] | Seed["users"][number]): string =>
  id ?? deriveID("user", email.toLowerCase());

function plantUsers(database: Database, { administrator, users }: Seed, now: number): void {
  const insert = "INSERT INTO users (id, email, password, admin, invited, created) VALUES (?, ?, ?, ?, ?, ?)";
  for (const user of [administrator, ...users]) {
    const id = userID(user);
    const invited = user.password === undefined ? 1 : 0;
    database.run(insert, id, user.email, user.password ?? null, user === administrator ? 1 : 0, invited, now);
  }
  if (administrator.apiKey !== undefined) {
    database.run("INSERT INTO api_keys VALUES (?, ?)", administrator.apiKey, userID(administrator));
  }
}

const idIn = (tables: Seed["tables"], key: string): string => tables[key]?.id ?? key;

/** Makes the tables, with their rows, and fields of a seed that are not there; returns their names. */
function plantTables(database: Database, { tables, administrator }: Seed, now: number): string[] {
  const made: string[] = [];
  const rowsOfNew: (() => void)[] = []; // they need the columns of all sort fields
  for (const [key, { name = key, parent, fields, rows = [] }] of Object.entries(tables)) {
    const id = idIn(tables, key);
    const there = findTable(database, id);
    if (!there) {
      const above = parent === undefined ? null : idIn(tables, parent);
      database.run("INSERT INTO tables SELECT ?, ?, ?, count(*) FROM tables", id, name, above);
      rowsOfNew.push(() => plantRows(database, id, rows, userID(administrator), now));
      made.push(`table ${id}`);
    }
    for (const [label, field] of Object.entries(fields)) {
      if (there?.fields.has(label)) continue;
      const target = field.table === undefined ? null : idIn(tables, field.table);
      database.run(
        "INSERT INTO fields SELECT ?, ?, ?, ?, ?, ?, ?, count(*) FROM fields WHERE table_id = ?",
        ...[field.id ?? deriveID("field", id, label), id, label, field.type, field.sort ?? null],
        ...[target, field.field ?? null, id],
      );
      if (there) made.push(`field ${label} of table ${id}`);
    }
  }
  if (made.length > 0) indexSorts(database);
  for (const plantThem of rowsOfNew) plantThem();
  return made;
}

function plantRows(database: Database, tableID: string, rows: readonly PlantedRow[], admin: string, now: number): void {
  const table = requireTable(database, tableID);
  for (const [index, { id = deriveID("row", tableID, String(index)), values, ...row }] of rows.entries()) {
    const { parent = null, creator = admin, viewers = [], teamViewers = [], submitted = now } = row;
    insertRows(database, table, [{ id, parent, creator, viewers, teamViewers, data: values }], submitted);
  }
}

function plantOrganizations(database: Database, { administrator, organizations }: Seed, now: number): void {
  const admin = userID(administrator);
  for (const { name, description = null, id = deriveID("organization", name), teams } of organizations) {
    database.run("INSERT INTO organizations VALUES (?, ?, ?, ?, ?)", id, name, description, now, now);
    // The team of all members comes first: whoever joins another one joins it.
    const all = teams.find(({ name }) => name === allMembers) ?? { name: allMembers, members: [] };
    for (const team of [all, ...teams.filter((team) => team !== all)]) {
      const { id: teamID = deriveID("team", id, team.name), ...own } = team;
      const isAll = team === all ? { adminID: admin, isAllMembers: 1 } : {};
      insertTeam(database, { ...own, id: teamID, organizationID: id, ...isAll }, now);
      for (const { email, role, id: memberID } of team.members) {
        const user = userByEmail(database, email);
        if (!user) continue; // the schema has refused it
        const ids = [memberID ?? deriveID("member", teamID, user.id), deriveID("member", id, user.id)];
        const newID = (): string => ids.shift() ?? ""; // of this team and of all members
        joinTeam({ database, newID, now }, requireTeam(database, teamID), user.id, role);
      }
    }
  }
}

/**
 * Puts a platform back to its seed, or to nothing but its first administrator. Sessions and the call log end too; its
 * profile stays.
 */
export function reset(database: Database, now: number, to: "seed" | "empty" = "seed"): void {
  database.transaction(() => {
    const seed = readPlantedSeed(database);
    const tables =
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> 'meta'";
    for (const { name } of database.all<{ name: string }>(tables)) database.execute(`DELETE FROM ${name}`);
    plant(database, to === "seed" ? seed : { ...seed, tables: {}, users: [], organizations: [] }, now);
    // A later reset goes back to the first seed.
    database.run("UPDATE meta SET value = ? WHERE key = 'seed'", JSON.stringify(seed));
  });
  database.giveBack();
}

/** Puts a platform to another seed, whose secrets are hashed, unless `check` throws for what it has then. */
export function replaceSeed(database: Database, seed: Seed, now: number, check: (database: Database) => void): void {
  database.transaction(() => {
    database.run("UPDATE meta SET value = ? WHERE key = 'seed'", JSON.stringify(seed));
    database.run("DELETE FROM meta WHERE key = 'profile'");
    reset(database, now);
    check(database);
  });
}

/** Sentences on what a data file got from its seed at the start, and on where the seed differs otherwise. */
export interface SeedNews {
  added: string[];
  differs: string[];
}

/**
 * Adds the tables and fields to a data file that its seed has got since the file was made, and tells whether they differ
 * otherwise. Nothing is taken away or changed, and what was deleted by hand stays so. Secrets are not compared:
 * the file has them hashed. A seed that can't be read stops nobody whose data file is there.
 */
export function followSeed(database: Database, read: () => Seed, now: number): SeedNews {
  try {
    const seed = JSON.parse(JSON.stringify(read())) as Seed; // as the data file keeps it
    const planted = withTables(readPlantedSeed(database), seed);
    const added = database.transaction(() => {
      const made = plantTables(database, seed, now);
      if (made.length > 0) database.run("UPDATE meta SET value = ? WHERE key = 'seed'", JSON.stringify(planted));
      return made;
    });
    const differs = "the seed differs from the one that the data file was made with: --reseed takes it anew";
    return {
      added: added.map((what) => `the emulator's data file got ${what}, which its seed has now`),
      differs: isDeepStrictEqual(withoutPasswords(seed), withoutPasswords(planted)) ? [] : [differs],
    };
  } catch (error) {
    return { added: [`the seed was not compared with the data file: ${messageOf(error)}`], differs: [] };
  }
}

/** The seed of a data file with the tables and fields that another one has besides. */
function withTables(planted: Seed, { tables }: Seed): Seed {
  const all = { ...planted.tables };
  for (const [key, table] of Object.entries(tables)) {
    const known = Object.keys(all).find((known) => idIn(all, known) === idIn(tables, key));
    const before = known === undefined ? undefined : all[known];
    all[known ?? key] = before ? { ...before, fields: { ...table.fields, ...before.fields } } : table;
  }
  return { ...planted, tables: all };
}

const withoutPasswords = ({ administrator: _, profile: __, users, ...seed }: Seed): object => ({
  ...seed,
  users: users.map(({ password: _, ...user }) => user),
});
