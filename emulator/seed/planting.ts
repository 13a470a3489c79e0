import { createHash } from "node:crypto";
import { allMembers } from "../../provider/contract/teams.ts";
import type { Database } from "../data/database.ts";
import { deriveID, hashPassword, hashToken } from "../data/hashing.ts";
import { joinTeam, requireTeam, requireUser, userByEmail } from "../data/people.ts";
import { writeProfile, writeSettings } from "../data/settings.ts";
import { indexSorts, requireTable } from "../data/tables.ts";
import { insertRows } from "../rows/records.ts";
import type { PlantedOrganization, Seed } from "./schema.ts";

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
  plantTables(database, seed);
  indexSorts(database);
  plantRows(database, seed, now);
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

function plantTables(database: Database, { tables }: Seed): void {
  for (const key of Object.keys(tables)) {
    plantTable(database, tables, key);
    for (const label of Object.keys(tables[key]?.fields ?? {})) plantField(database, tables, key, label);
  }
}

const idIn = (tables: Seed["tables"], key: string): string => tables[key]?.id ?? key;

/** Makes a table of a seed, without its fields, behind those that are there. */
export function plantTable(database: Database, tables: Seed["tables"], key: string): void {
  const { name = key, parent } = tables[key] ?? {};
  database.run(
    "INSERT INTO tables SELECT ?, ?, ?, count(*) FROM tables",
    ...[idIn(tables, key), name, parent === undefined ? null : idIn(tables, parent)],
  );
}

/** Makes a field of a table, behind those that it has. */
export function plantField(database: Database, tables: Seed["tables"], key: string, label: string): void {
  const field = tables[key]?.fields[label];
  if (!field) return;
  const tableID = idIn(tables, key);
  const target = field.table === undefined ? null : idIn(tables, field.table);
  database.run(
    "INSERT INTO fields SELECT ?, ?, ?, ?, ?, ?, ?, count(*) FROM fields WHERE table_id = ?",
    ...[field.id ?? deriveID("field", tableID, label), tableID, label, field.type, field.sort ?? null],
    ...[target, field.field ?? null, tableID],
  );
}

/** Puts the rows of a seed's tables into them. */
export function plantRows(
  database: Database,
  { tables, administrator }: Pick<Seed, "tables" | "administrator">,
  now: number,
): void {
  for (const [key, { id: tableID = key, rows = [] }] of Object.entries(tables)) {
    if (rows.length === 0) continue;
    const table = requireTable(database, tableID);
    for (const [index, { id = deriveID("row", tableID, String(index)), values, ...row }] of rows.entries()) {
      const { parent = null, creator = userID(administrator), viewers = [], teamViewers = [] } = row;
      insertRows(database, table, [{ id, parent, creator, viewers, teamViewers, data: values }], row.submitted ?? now);
    }
  }
}

function plantOrganizations(database: Database, { administrator, ...seed }: Seed, now: number): void {
  const admin = requireUser(database, userID(administrator)).id;
  // A data file of an earlier version keeps a seed that has none.
  for (const organization of (seed as Partial<Seed>).organizations ?? []) {
    const { name, description = null, id = deriveID("organization", name), teams } = organization;
    database.run("INSERT INTO organizations VALUES (?, ?, ?, ?, ?)", id, name, description, now, now);
    for (const team of withAllMembers(teams)) {
      const { id: teamID = deriveID("team", id, team.name), description = null } = team;
      const isAll = team.name === allMembers;
      database.run(
        "INSERT INTO teams VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ...[teamID, id, team.name, description, isAll ? admin : null, isAll ? 1 : 0, now, now],
      );
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

/** The teams with that of all members, which comes first: whoever joins another one joins it. */
function withAllMembers(teams: PlantedOrganization["teams"]): PlantedOrganization["teams"] {
  const all = teams.find(({ name }) => name === allMembers) ?? { name: allMembers, members: [] };
  return [all, ...teams.filter((team) => team !== all)];
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
    database.run("DELETE FROM meta WHERE key IN ('seedText', 'profile')");
    reset(database, now);
    check(database);
  });
}
