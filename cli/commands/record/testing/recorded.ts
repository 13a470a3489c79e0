import { expect } from "@jest/globals";
import type { Emulator } from "../../../../emulator/emulator.ts";
import type { SeedInput } from "../../../../emulator/seed/schema.ts";
import { signIn, type Caller } from "../../../../emulator/testing/platform.ts";
import { createClient } from "../../../../provider/client/client.ts";
import type { Client } from "../../../../provider/client/options.ts";
import { afterEveryTest } from "../../../../testing/runner/endings.ts";
import { Recording, type RecordingFiles } from "../../../recording/recording.ts";
import { startProxy } from "../proxy.ts";

/** A platform to record. */
export const seed = {
  administrator: { email: "root@company.org", password: "admin-password", apiKey: "the-api-key" },
  users: [{ email: "ada@company.org", password: "ada-password", id: "id-of-ada" }, { email: "bob@company.org" }],
  tables: {
    currencies: {
      fields: { Code: { type: "text", sort: 1, id: "currency-code" }, Digits: "number" },
      rows: ["EUR", "CZK", "USD"].map((Code, index) => ({ id: `cur-${index}`, values: { Code, Digits: 2 - index } })),
    },
    countries: {
      fields: {
        Code: { type: "text", sort: 1 },
        Name: { type: "text", id: "country-name" },
        Currency: { type: "linked", table: "currencies", field: "Code" },
        Population: { type: "number", sort: 2 },
        Founded: { type: "date", sort: 3 },
        Tags: "checkbox",
        Capital: "location",
        Flag: { type: "file", id: "country-flag" },
      },
      rows: ["DE", "CZ", "AT", "US", "FR"].map((Code, index) => ({
        id: `country-${index}`,
        creator: "id-of-ada",
        submitted: 1_700_000_000_000 + index,
        values: {
          ...{ Code, Name: `Land ${index}`, Population: (index * 7) % 5, Tags: index % 2 === 0 ? ["true"] : [] },
          ...{ Founded: `${2000 + ((index * 3) % 7)}-01-02`, Currency: { crossAppRowID: `cur-${index % 3}` } },
          Capital: {
            address: { formattedAddress: `Place ${index}`, geometry: { type: "Point", coordinates: [1, 2] } },
          },
        },
      })),
    },
    cities: {
      parent: "countries",
      fields: { Name: { type: "text", sort: 1 } },
      rows: [0, 1, 2, 3].map((index) => ({
        id: `city-${index}`,
        parent: `country-${index % 2}`,
        values: { Name: `City ${index}` },
      })),
    },
  },
  organizations: [
    {
      ...{ id: "acme", name: "Acme", description: "Makes things" },
      teams: [
        {
          id: "crew",
          name: "Crew",
          members: [{ email: "ada@company.org", role: "admin" }, { email: "bob@company.org" }],
        },
      ],
    },
  ],
} satisfies SeedInput;

const open = new Set<{ close: () => Promise<void> }>();
afterEveryTest(async () => {
  for (const one of open) await one.close();
  open.clear();
});

/** Registers something to be closed after the test. */
export const opened = async <Thing extends { close: () => Promise<void> }>(thing: Promise<Thing>): Promise<Thing> => {
  open.add(await thing);
  return thing;
};

/** Records a client and a caller, both of the administrator. */
export async function recordedOf(
  platform: Emulator,
  rows: "shape" | "values",
  use: (client: Client, caller: Caller, url: string) => Promise<void>,
): Promise<RecordingFiles> {
  const recording = new Recording({ base: "", labels: [], rows });
  const failed = (error: Error): void => expect(error).toBeUndefined();
  const proxy = await opened(startProxy({ to: new URL(platform.url), port: 0, passed: recording.take, failed }));
  const { email, password, apiKey } = seed.administrator;
  const client = createClient({ endpoint: proxy.url, email, password, apiKey });
  await use(client, await signIn(proxy.url, email, password), proxy.url);
  await client.close();
  await proxy.close();
  return recording.made("2026-01-02");
}
