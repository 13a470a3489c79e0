import type { Properties } from "../harness/providerHost.ts";

/** Outputs of a resource, for those declared after it. */
export type Made = (name: string) => { id: string; outputs: Properties };

/** A resource as a program declares it. */
export interface Declared {
  name: string;
  type: string;
  inputs: (made: Made) => Properties;
}

/** The platform before the first run: tables with a row of somebody else in each. */
export const platform = {
  users: ["ada", "grace", "kay", "linus", "mary"].map((name) => ({ email: `${name}@example.com`, id: name })),
  tables: {
    continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
    countries: {
      name: "Countries",
      fields: {
        Code: { type: "text", sort: 1 },
        Name: "text",
        Continent: { type: "linked", table: "continents", field: "Code" },
        Flag: { type: "file", id: "flag" },
      },
    },
    cities: { name: "Cities", parent: "countries", fields: { ID: { type: "text", sort: 1 }, Name: "text" } },
  },
} as const;

/** A row of somebody else in each table. */
export const foreignRows: Readonly<Record<string, Properties>> = {
  continents: { Code: "theirs", Name: "theirs" },
  countries: { Code: "theirs", Name: "theirs" },
};

const rows = (label: string, names: Readonly<Record<string, Properties>>): Properties[] =>
  Object.entries(names).map(([key, values]) => ({ [label]: key, ...values }));

/**
 * A program with all resources, before and after a change: each kind of thing is changed, added, removed and replaced.
 * @param files address of a server with files
 */
export function program(version: "first" | "changed", files: string): Declared[] {
  const first = version === "first";
  const now = (name: string): string => (first ? name : `${name}, changed`);
  const declared: Declared[] = [
    { name: "acme", type: "Organization", inputs: () => ({ name: now("Acme"), description: "All of it" }) },
    ...["crew", "reserve", "guests"].map((name): Declared => {
      const description = name === "crew" ? now("Those who work") : "Others";
      return { name, type: "Team", inputs: (made) => ({ organizationID: made("acme").id, name, description }) };
    }),
    {
      name: "kay",
      type: "TeamMember",
      inputs: (made) => ({ teamID: made("crew").id, email: "kay@example.com", role: first ? "admin" : "member" }),
    },
    {
      name: "deputy",
      type: "TeamMember",
      inputs: (made) => ({ teamID: made("crew").id, email: first ? "ada@example.com" : "grace@example.com" }),
    },
    {
      name: "roster",
      type: "TeamRoster",
      inputs: (made) => ({
        teamID: made("reserve").id,
        members: first
          ? { "ada@example.com": "admin", "grace@example.com": "member", "new@example.com": "member" }
          : { "ada@example.com": "admin", "grace@example.com": "admin", "mary@example.com": "member" },
      }),
    },
    {
      name: "continents",
      type: "SeedRows",
      inputs: () => ({
        table: "continents",
        key: "Code",
        rows: rows("Code", { EU: { Name: now("Europe") }, ...(first ? { OC: {} } : { AS: {} }) }),
      }),
    },
    {
      name: "countries",
      type: "SeedRows",
      inputs: () => ({
        table: "countries",
        key: "Code",
        references: { Continent: { table: "continents", key: "Code" } },
        rows: rows("Code", {
          CZ: { Name: now("Czechia"), Continent: "EU" },
          PT: { Name: "Portugal", Continent: "EU" },
          ...(first ? { MT: { Name: "Malta", Continent: "EU" } } : { FJ: { Name: "Fiji", Continent: "EU" } }),
        }),
      }),
    },
    {
      name: "cities",
      type: "SeedRows",
      inputs: () => ({
        table: "cities",
        key: "ID",
        parent: { table: "countries", key: "Code", by: "Country" },
        rows: rows("ID", { c1: { Name: now("Praha"), Country: "CZ" }, c2: { Name: "Lisboa", Country: "PT" } }),
      }),
    },
    {
      name: "flag",
      type: "RowFile",
      inputs: () => ({
        ...{ table: "countries", row: { Code: "CZ" }, fieldID: "flag" },
        ...{ url: `${files}/${first ? "cz" : "cs"}.png`, filename: "flag.png", type: "image/png" },
      }),
    },
    { name: "atlas", type: "GeneratedApp", inputs: () => ({ userEmail: "admin@example.com", appPrompt: "An atlas." }) },
    { name: "atlas-ready", type: "AppReadiness", inputs: (made) => ({ appID: made("atlas").id }) },
    {
      name: "welcome",
      type: "Notification",
      inputs: (made) => ({
        ...{ appID: made("atlas").id, email: "ada@example.com", message: "Welcome" },
        triggers: { version },
      }),
    },
  ];
  const last = { name: "goodbye", type: "Team" }; // only the first program has it
  const leaving = { ...last, inputs: (made: Made) => ({ organizationID: made("acme").id, name: "goodbye" }) };
  return first ? [...declared, leaving] : declared;
}
