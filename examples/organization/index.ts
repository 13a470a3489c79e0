import { GeneratedApp, Organization, SeedRows, Team, TeamMember } from "pulumi-microapps";

const globex = new Organization("globex", { name: "Globex", description: "Trades with everyone." });
const traders = new Team("traders", { organizationID: globex.id, name: "Traders" }, { parent: globex });
const members = { "ada@example.com": "admin", "grace@example.com": "member", "alan@example.com": "member" } as const;
for (const [email, role] of Object.entries(members)) {
  new TeamMember(email, { teamID: traders.id, email, role }, { parent: traders });
}

const continents = new SeedRows("continents", {
  table: "continents",
  key: "Code",
  rows: [
    { Code: "AF", Name: "Africa" },
    { Code: "AN", Name: "Antarctica" },
    { Code: "AS", Name: "Asia" },
    { Code: "EU", Name: "Europe" },
    { Code: "NA", Name: "North America" },
    { Code: "OC", Name: "Oceania" },
    { Code: "SA", Name: "South America" },
  ],
});
const countries = new SeedRows("countries", {
  table: "countries",
  key: "Code",
  source: "data/countries.csv",
  references: { Continent: continents },
});

const atlas = new GeneratedApp("atlas", {
  userEmail: "admin@example.com",
  appPrompt: "An atlas in which traders look up countries by continent.",
});
// The link is known once the app is ready; the row waits for it.
new SeedRows("links", { table: "links", key: "Name", rows: [{ Name: "Atlas", Link: atlas.ready }] });

export const organization = globex.id;
export const rows = { continents: continents.rowCount, countries: countries.rowCount };
export const app = atlas.ready;
