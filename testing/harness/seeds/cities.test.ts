import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "csv-parse/sync";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cities, cityTypes, writeCities } from "./cities.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "cities-"))));
afterAll(() => rm(folder, { recursive: true }));

test("there are more than 20,000 real cities with keys of their own", () => {
  const rows = cities(25_000);
  expect(new Set(rows.map(({ ID }) => ID)).size).toBe(25_000);
  expect(rows.every(({ Name, Country }) => Name !== "" && /^[A-Z]{2}$/.test(Country))).toBe(true);
});

test.each(["csv", "ndjson"] as const)("as %s they are read back as they are", async (format) => {
  const rows = cities();
  const text = await readFile(await writeCities(folder, format, rows), "utf8");
  const read: unknown[] =
    format === "csv"
      ? parse(text, { columns: true, cast: (cell, { column }) => (String(column) in cityTypes ? Number(cell) : cell) })
      : text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown);
  expect(read).toEqual(rows);
});
