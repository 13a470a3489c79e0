/** Seeds as the text of a program. `world` distinguishes them and their tables from others in the same program. */
export const seedsOf = (world: string) => ({
  /** `seeds` holds those before it, which it comes after. */
  seed: (
    name: string,
    codes: string,
    { table = "regions", key = "Code", region, note = "", more = "" }: SeedOptions = {},
  ): string => {
    const rows = codes.split("").map((Code) => ({
      Code,
      Name: `Name of ${Code}`,
      Note: `${note}${Code}`,
      ...(region === undefined ? {} : { Region: region[Code] ?? Code }),
    }));
    const isRegions = `regions === ${JSON.stringify(world)}`;
    const references =
      region === undefined ? "" : `references: { Region: linked(seeds.find(({ regions }) => ${isRegions})) }, `;
    const text = `{ table: ${JSON.stringify(table + world)}, key: ${JSON.stringify(key)}, ${references}${more}rows: ${JSON.stringify(rows)} }`;
    const made = `new SeedRows(${JSON.stringify(name + world)}, ${text}, { dependsOn: [...seeds] })`;
    return table === "regions"
      ? `seeds.push(Object.assign(${made}, { regions: ${JSON.stringify(world)} }));\n`
      : `seeds.push(${made});\n`;
  },
  /** Offices in the regions of their codes. */
  offices: (codes: string, region: Readonly<Record<string, string>> = {}, name = "offices"): string =>
    seedsOf(world).seed(name, codes, { table: "offices", region }),
});

export const { seed, offices } = seedsOf("");

interface SeedOptions {
  table?: string;
  key?: string;
  /** Codes of the offices' regions; an office that is not listed has its own code. */
  region?: Readonly<Record<string, string>>;
  /** First words of the rows' notes. */
  note?: string;
  /** Further inputs, as text. */
  more?: string;
}

/** An organization with a team of a member and one of a roster, as a program declares them. */
export const twoTeams = `
const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" });
const yard = new Team("yard", { organizationID: acme.id, name: "Yard" });
new TeamMember("ada", { teamID: crew.id, email: "ada@example.com" });
new TeamRoster("roster", { teamID: yard.id, members: { "kay@example.com": "admin" } });
`;
