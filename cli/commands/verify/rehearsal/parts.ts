import type { FixtureIDs, FixtureName } from "../../../../provider/conformance/fixtures.ts";
import type { Properties } from "../../../../provider/pulumi/properties.ts";
import type { SandboxNames } from "../options.ts";

/** Everything that inputs of a rehearsed resource may refer to. */
export interface PartProps {
  sandbox: FixtureIDs;
  tables: SandboxNames["tables"];
  mark: string;
  /** ID of what an earlier part made. */
  idOf: (part: string) => string;
}

/** A resource that is created, read, compared, updated and deleted in the sandbox, as a run does it. */
export interface RehearsedPart {
  /** Unique name; later parts refer to it. */
  name: string;
  resource: string;
  /** The rest of a sentence that begins with the resource. */
  does: string;
  needs: readonly FixtureName[];
  /** Parts that must have worked before. */
  after?: readonly string[];
  /** Label of the table whose rows it makes. */
  table?: "currencies" | "countries" | "cities";
  first: (props: PartProps) => Properties;
  /** Inputs of the update; none without it. */
  second?: (props: PartProps) => Properties;
}

const people: readonly FixtureName[] = ["organization", "member.userID"];

const team = (name: string) => ({
  ...{ name, resource: "Team", needs: ["organization"] as const },
  first: ({ sandbox, mark }: PartProps) => ({
    organizationID: sandbox.organization,
    name: `${name} ${mark}`,
    description: "A test.",
  }),
});

const currency = (mark: string, Code: string, Digits: number) => ({ Code: `${Code} ${mark}`, Digits, Run: mark });
/** Rows enough to show in which order they come. */
const many = (mark: string, digits: number) =>
  Array.from({ length: 30 }, (_, index) => currency(mark, `C${String(index).padStart(2, "0")}`, digits));

const countries = ({ tables }: PartProps) => ({
  ...{ table: tables.countries, key: "Code", types: { Population: "number", Founded: "date" }, maxRemovals: 1 },
});
const valued = (props: PartProps, more: Properties) => ({
  ...countries(props),
  rows: [{ Code: `CZ ${props.mark}`, Run: props.mark, ...country, ...more }],
});
/** Two rows with links; the second one's may be taken away. */
const linked = (props: PartProps, second: string | null) => ({
  ...countries(props),
  references: { Currency: { table: props.tables.currencies, key: "Code" } },
  rows: [
    { Code: `PL ${props.mark}`, Run: props.mark, Currency: `C00 ${props.mark}` },
    { Code: `PT ${props.mark}`, Run: props.mark, Currency: second },
  ],
});

const country: Properties = {
  ...{ Name: "Česko, 🇨🇿", Population: 10_900_000 },
  ...{ Founded: "1993-01-01T00:00:00.000Z", Tags: ["old", "new"] },
};

/** The parts, in the order in which they are made; they are deleted in the opposite one. */
export const parts: readonly RehearsedPart[] = [
  {
    ...{ name: "organization", resource: "Organization", does: "makes, renames and deletes an organization" },
    needs: ["newOrganizations"],
    first: ({ mark }) => ({ name: `microapps verify ${mark} 2`, description: "A test." }),
    second: ({ mark }) => ({ name: `microapps verify ${mark} 3`, description: "Another test." }),
  },
  {
    ...team("Crew"),
    does: "makes, renames and deletes a team",
    second: ({ sandbox, mark }) => ({
      organizationID: sandbox.organization,
      name: `Crew 2 ${mark}`,
      description: "A test.",
    }),
  },
  { ...team("Support"), does: "makes and deletes a second team" },
  {
    ...{ name: "member", resource: "TeamMember", does: "adds and removes a user", needs: people, after: ["Crew"] },
    first: ({ sandbox, idOf }) => ({ teamID: idOf("Crew"), userID: sandbox["member.userID"] }),
  },
  {
    ...{ name: "administrator", resource: "TeamMember", does: "makes a member an administrator" },
    ...{ needs: ["organization", "other.userID"], after: ["Crew"] },
    first: ({ sandbox, idOf }) => ({ teamID: idOf("Crew"), userID: sandbox["other.userID"], role: "admin" }),
    second: ({ sandbox, idOf }) => ({ teamID: idOf("Crew"), userID: sandbox["other.userID"], role: "member" }),
  },
  {
    ...{ name: "roster", resource: "TeamRoster", does: "holds the members of a team, by address" },
    ...{ needs: [...people, "member.email"], after: ["Support"] },
    first: ({ sandbox, idOf }) => ({ teamID: idOf("Support"), members: { [sandbox["member.email"] ?? ""]: "member" } }),
  },
  {
    ...{ name: "rows", resource: "SeedRows", does: "adds, changes and removes rows" },
    ...{ needs: ["currencies"], table: "currencies" },
    first: ({ tables, mark }) => ({ ...currencies(tables), rows: many(mark, 2) }),
    second: ({ tables, mark }) => ({
      ...currencies(tables),
      rows: [...many(mark, 3).slice(0, 25), ...many(mark, 2).slice(25, 29), currency(mark, "C99", 0)],
    }),
  },
  {
    ...{ name: "values", resource: "SeedRows", does: "keeps texts, numbers, dates and lists" },
    ...{ needs: ["countries"], table: "countries" },
    first: (props) => valued(props, {}),
    second: (props) => valued(props, { Population: 0.5, Tags: ["new"] }),
  },
  {
    ...{ name: "links", resource: "SeedRows", does: "links a row to one of another table, and takes the link away" },
    ...{ needs: ["countries", "currencies", "countries.Currency"], table: "countries", after: ["rows"] },
    first: (props) => linked(props, `C00 ${props.mark}`),
    second: (props) => linked(props, null),
  },
  {
    ...{ name: "children", resource: "SeedRows", does: "adds rows below a row of another table" },
    ...{ needs: ["cities", "countries"], table: "cities", after: ["values"] },
    first: ({ tables, mark }) => ({
      ...{ table: tables.cities, key: "Name", parent: { table: tables.countries, key: "Code", by: "in" } },
      rows: ["Praha", "Brno"].map((city) => ({ Name: `${city} ${mark}`, Run: mark, in: `CZ ${mark}` })),
    }),
  },
  {
    ...{ name: "file", resource: "RowFile", does: "adds, changes and removes a file's record" },
    ...{ needs: ["countries", "countries.Flag"], after: ["values"] },
    first: (props) => flag(props, 3),
    second: (props) => flag(props, 4),
  },
];

const currencies = (tables: SandboxNames["tables"]) => ({
  ...{ table: tables.currencies, key: "Code", types: { Digits: "number" }, maxRemovals: 1 },
});

const flag = ({ sandbox, tables, mark }: PartProps, size: number) => ({
  ...{ table: tables.countries, row: { Code: `CZ ${mark}` }, fieldID: sandbox["countries.Flag"] },
  ...{ filename: `flag-${mark}.txt`, size, store: false },
});
