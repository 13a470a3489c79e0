import { createHash } from "node:crypto";
import type { Database } from "../data/database.ts";
import { hashPassword, hashToken } from "../data/hashing.ts";
import { derivedID } from "../data/identifiers.ts";
import { writeProfile, writeSettings } from "../data/settings.ts";
import { indexSorts } from "../data/tables.ts";
import type { Seed } from "./schema.ts";

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

function plantUsers(database: Database, { administrator, users }: Seed, now: number): void {
  const insert = "INSERT INTO users (id, email, password, admin, invited, created) VALUES (?, ?, ?, ?, ?, ?)";
  for (const user of [administrator, ...users]) {
    const id = user.id ?? derivedID("user", user.email.toLowerCase());
    const invited = user.password === undefined ? 1 : 0;
    database.run(insert, id, user.email, user.password ?? null, user === administrator ? 1 : 0, invited, now);
  }
  if (administrator.apiKey !== undefined) {
    const id = administrator.id ?? derivedID("user", administrator.email.toLowerCase());
    database.run("INSERT INTO api_keys VALUES (?, ?)", administrator.apiKey, id);
  }
}

function plantTables(database: Database, { tables }: Seed): void {
  const idOf = (key: string) => tables[key]?.id ?? key;
  for (const [position, [key, table]] of Object.entries(tables).entries()) {
    const tableID = idOf(key);
    const parent = table.parent === undefined ? null : idOf(table.parent);
    database.run("INSERT INTO tables VALUES (?, ?, ?, ?)", tableID, table.name ?? key, parent, position);
    for (const [place, [label, field]] of Object.entries(table.fields).entries()) {
      const fieldID = field.id ?? derivedID("field", tableID, label);
      const target = field.table === undefined ? null : idOf(field.table);
      database.run(
        "INSERT INTO fields VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ...[fieldID, tableID, label, field.type, field.sort ?? null, target, field.field ?? null, place],
      );
    }
  }
}
