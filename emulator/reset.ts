import { plant, plantedSeed } from "./planting.ts";
import type { Platform } from "./platform.ts";

/** Puts a platform back to its seed, or to nothing but its first administrator. Sessions and the call log end too. */
export function reset({ database, now }: Pick<Platform, "database" | "now">, to: "seed" | "empty" = "seed"): void {
  database.transaction(() => {
    const seed = plantedSeed(database);
    const names = "SELECT name FROM sqlite_schema WHERE type = ? AND name GLOB ?";
    for (const { name } of database.all<{ name: string }>(names, "index", "rows:*")) {
      database.execute(`DROP INDEX "${name}"`);
    }
    for (const { name } of database.all<{ name: string }>(names, "table", "[a-z]*")) {
      if (!name.startsWith("sqlite_")) database.execute(`DELETE FROM "${name}"`);
    }
    plant(database, to === "seed" ? seed : { ...seed, tables: {}, users: [] }, now());
    // What was seeded in the beginning stays what a later reset goes back to.
    database.run("UPDATE meta SET value = ? WHERE key = 'seed'", JSON.stringify(seed));
  });
}
