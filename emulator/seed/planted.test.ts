import { expect, test } from "@jest/globals";
import { parseSeed } from "../../cli/commands/emulator/createEmulator.ts";
import { seed as contents, type SeedInput } from "../../platform/seed/schema.ts";
import { signIn, start } from "../testing/platform.ts";

const yaml = `
users: [{ email: ada@example.com, id: ada }, { email: bob@example.com }]
tables:
  countries:
    fields: { Code: { type: text, sort: 1 }, Currency: { type: linked, table: currencies, field: Code } }
    rows:
      - { id: de, creator: ada, submitted: 5, values: { Code: DE, Currency: { crossAppRowID: eur } } }
      - { id: at, values: { Code: AT } }
  currencies: { fields: { Code: text }, rows: [{ id: eur, values: { Code: EUR } }] }
  cities: { parent: countries, fields: { Name: text }, rows: [{ parent: de, values: { Name: Bonn } }] }
organizations:
  - id: acme
    name: Acme
    teams:
      - { id: crew, name: Crew, members: [{ email: ADA@example.com, role: admin, id: m-1 }, { email: bob@example.com }] }
`;

test("rows and organizations of a seed are there from the start, and again after a reset", async () => {
  const emulator = await start({ seed: parseSeed(yaml, "platform.yaml") });
  for (const round of ["first", "after a reset"]) {
    const admin = await signIn(emulator.url);
    const sorted = { microAppID: "countries", searchFilter: [{ field: "1", order: 1 }] };
    expect([round, await admin.get("body.microAppRows", "microappdata", sorted)]).toMatchObject([
      round,
      [
        { _id: "at", Code: "AT", userID: admin.userID },
        { _id: "de", userID: "ada", submitted: 5, Currency: { value: { label: "Code", value: "EUR" } } },
      ],
    ]);
    const below = { microAppID: "cities", optViewFilters: [{ embeddingRowID: "de" }] };
    expect(await admin.get("body.microAppRows", "microappdata", below)).toMatchObject([{ Name: "Bonn" }]);
    expect(await admin.get("body.name", "readorganization", { organizationID: "acme" })).toBe("Acme");
    expect(await admin.get("body.teamMembers", "teammembers", { teamIDs: ["crew"] })).toMatchObject([
      { _id: "m-1", email: "ada@example.com", role: "admin" },
      { email: "bob@example.com", role: "member" },
    ]);
    const row = await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
    expect(row).toEqual(expect.any(String));
    await emulator.reset();
  }
});

test("an emulator that is emptied has none of them", async () => {
  const emulator = await start({ seed: parseSeed(yaml, "platform.yaml") });
  await emulator.reset("empty");
  const admin = await signIn(emulator.url);
  expect((await admin.call("readorganization", { organizationID: "acme" })).status).toBe(404);
});

test("organizations of a seed are a list; those of an Environment file are no seed", () => {
  expect(() => parseSeed("organizations: { acme: { name: Acme } }\n", "dev.yaml")).toThrow(
    "an Environment file is a seed by its platform",
  );
  expect(parseSeed("organizations: [{ name: Acme }]\n", "dev.yaml").organizations).toHaveLength(1);
  expect(
    parseSeed("organizations: {}\nplatform: { organizations: [{ name: Acme }] }\n", "dev.yaml").organizations,
  ).toHaveLength(1);
});

test("what does not fit together is refused at its place", () => {
  const refused = (seed: SeedInput): string =>
    (contents.safeParse(seed).error?.issues ?? [])
      .map((each) => `seed: ${each.path.join(".")}: ${each.message}`)
      .join("\n");
  const rows = (...rows: object[]) => refused({ tables: { a: { rows } } });
  expect(rows({ id: "one" }, { id: "one" })).toBe("seed: tables.a.rows.1.id: two rows have the ID one");
  expect(rows({ creator: "nobody" })).toBe("seed: tables.a.rows.0.creator: no user has the ID nobody");
  expect(rows({ parent: "one" })).toBe("seed: tables.a.rows.0.parent: the table is no sub-table");
  expect(refused({ tables: { a: {}, b: { parent: "a", rows: [{}] } } })).toBe(
    "seed: tables.b.rows.0.parent: it must be the ID of a row of a",
  );
  const teams = [{ name: "Crew", members: [{ email: "nobody@example.com" }] }];
  expect(refused({ organizations: [{ name: "Acme", teams }] })).toBe(
    "seed: organizations.0.teams.0.members.0.email: nobody@example.com is none of the users",
  );
  expect(
    refused({
      organizations: [
        { name: "Acme", id: "x" },
        { name: "Acme", id: "x" },
      ],
    }),
  ).toBe(
    "seed: organizations.1.id: the ID x is there twice\nseed: organizations.1.name: two organizations are called Acme",
  );
});
