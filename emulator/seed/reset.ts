import type { Database } from "../data/database.ts";
import { isLarge } from "../snapshots/copies.ts";
import { giveBack } from "../snapshots/drafts.ts";
import { Exchange } from "../snapshots/exchange.ts";
import { plant, readPlantedSeed } from "./planting.ts";
import type { Seed } from "./schema.ts";

/**
 * Puts a platform back to its seed, or to nothing but its first administrator. Sessions and the call log end too;
 * snapshots stay, and so does its profile.
 */
export function reset(database: Database, now: number, to: "seed" | "empty" = "seed"): void {
  database.transaction(() => {
    const seed = readPlantedSeed(database);
    const tables =
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '*:*' AND name <> 'meta'";
    for (const { name } of database.all<{ name: string }>(tables)) database.execute(`DELETE FROM ${name}`);
    plant(database, to === "seed" ? seed : { ...seed, tables: {}, users: [], organizations: [] }, now);
    // A later reset goes back to the first seed.
    database.run("UPDATE meta SET value = ? WHERE key = 'seed'", JSON.stringify(seed));
  });
}

/**
 * Resets a platform as `reset` does. Very many rows go all at once, but are dropped afterwards, while others are answered;
 * the data file gives back their space.
 */
export async function resetAside(database: Database, now: number, to: "seed" | "empty"): Promise<void> {
  if (!isLarge(database, "rows")) {
    reset(database, now, to);
    await giveBack(database);
    return;
  }
  const exchange = new Exchange(database, ["rows"]);
  try {
    await exchange.index();
    exchange.commit(() => reset(database, now, to));
  } finally {
    exchange.end();
  }
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
