// Every resource, with the options and values that a state keeps in a way of its own.
import * as pulumi from "@pulumi/pulumi";
import {
  Environment,
  GeneratedApp,
  Notification,
  Organization,
  Provider,
  RowFile,
  SeedRows,
  Team,
  TeamMember,
  TeamRoster,
} from "pulumi-microapps";

const config = new pulumi.Config("microapps");
const endpoint = config.require("endpoint");
const elsewhere = new Provider("elsewhere", {
  endpoint,
  email: config.require("email"),
  password: config.requireSecret("password"),
  apiKey: config.requireSecret("apiKey"),
});

const acme = new Organization(
  "acme",
  { name: "Acme", description: pulumi.secret("Makes everything.") },
  { protect: true },
);
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" }, { parent: acme });
const support = new Team(
  "support",
  { organizationID: acme.id, name: "Support" },
  { provider: elsewhere, deletedWith: acme },
);
const red = new Team(
  "red",
  { organizationID: acme.id, name: "Red" },
  { retainOnDelete: true, ignoreChanges: ["description"] },
);
new TeamMember("ada", { teamID: crew.id, email: "ada@example.com", role: "admin" }, { parent: crew });
new TeamRoster("support", { teamID: support.id, members: { "alan@example.com": "member" } }, { provider: elsewhere });

const continents = new SeedRows("continents", {
  table: "continents",
  key: "Code",
  rows: [
    { Code: "AF", Name: "Africa" },
    { Code: "EU", Name: "Europe" },
  ],
});
const countries = new SeedRows("countries", {
  table: "countries",
  key: "Code",
  source: "data/countries.csv",
  types: { Area: "number" },
  references: { Continent: continents },
});
new SeedRows("accounts", {
  table: "accounts",
  key: "Name",
  rows: [
    { Name: "ada", Pin: config.requireSecret("password") },
    { Name: "grace", Pin: "0000" },
  ],
  secretLabels: ["Pin"],
});
new RowFile(
  "flag",
  { table: "countries", row: { Code: "PT" }, fieldID: "flag", url: "https://files.example.com/pt.svg", store: false },
  { dependsOn: countries },
);

const atlas = new GeneratedApp("atlas", { userEmail: "admin@example.com", appPrompt: "An atlas." });
new Notification("welcome", { appID: atlas.id, email: "ada@example.com", message: pulumi.secret("Welcome") });

const environment = new Environment("environment", { file: "environment.yaml" });
export const organizations = environment.organizations;
export const rows = countries.rowCount;
export const link = atlas.ready;
