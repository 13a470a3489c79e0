/** A seed of a program, or of an Environment file. */
export interface Seed {
  name: string;
  table: string;
  inputs: { key: string; rows: Readonly<Record<string, string>>[] } & Readonly<Record<string, unknown>>;
  /** Distinguishes it and its tables from others in the same program. */
  world: string;
  /** The label of the rows of its world that its rows are linked to, by the seed that declares them. */
  linked?: string;
}

interface SeedOptions {
  table?: string;
  key?: string;
  /** Codes of the offices' regions; an office that is not listed has its own code. */
  region?: Readonly<Record<string, string>>;
  /** First words of the rows' notes. */
  note?: string;
  /** Further inputs. */
  more?: object;
}

/** Seeds of a world. */
export const seedsOf = (world: string) => ({
  seed: (name: string, codes: string, options: SeedOptions = {}): Seed => {
    const { table = "regions", key = "Code", region, note = "", more } = options;
    const rows = codes.split("").map((Code) => ({
      ...{ Code, Name: `Name of ${Code}`, Note: `${note}${Code}` },
      ...(region === undefined ? {} : { Region: region[Code] ?? Code }),
    }));
    const linked = region === undefined || (more && "references" in more) ? {} : { linked: "Region" };
    return { name: name + world, table, inputs: { key, ...more, rows }, world, ...linked };
  },
  /** Offices in the regions of their codes. */
  offices: (codes: string, region: Readonly<Record<string, string>> = {}, name = "offices"): Seed =>
    seedsOf(world).seed(name, codes, { table: "offices", region }),
});

export const { seed, offices } = seedsOf("");

/** Seeds as the text of a program, each of which comes after those before it. */
export const programOf = (seeds: readonly Seed[]): string =>
  seeds
    .map(({ name, table, inputs, world, linked }) => {
      const regions = JSON.stringify(world);
      const links = linked === undefined ? "" : `${linked}: linked(seeds.find((each) => each.regions === ${regions}))`;
      const all = JSON.stringify({ table: table + world, ...inputs });
      const args = links === "" ? all : `{ ...${all}, references: { ${links} } }`;
      const made = `new SeedRows(${JSON.stringify(name)}, ${args}, { dependsOn: [...seeds] })`;
      return `seeds.push(Object.assign(${made}, ${table === "regions" ? `{ regions: ${regions} }` : "{}"}));\n`;
    })
    .join("");

/** Seeds of an Environment file. */
export const fileOf = (seeds: readonly Seed[]): object =>
  Object.fromEntries(
    seeds.map(({ name, table, inputs, world, linked }) => {
      const regions = seeds.find((each) => each.world === world && each.table === "regions")?.name;
      const links = linked === undefined ? {} : { references: { [linked]: { seed: regions } } };
      return [name, { table: table + world, ...inputs, ...links }];
    }),
  );

/** An organization with a team of a member and one of a roster, as a program declares them, and as a file does. */
export const twoTeams = {
  program: `
const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" });
const yard = new Team("yard", { organizationID: acme.id, name: "Yard" });
new TeamMember("ada", { teamID: crew.id, email: "ada@example.com" });
new TeamRoster("roster", { teamID: yard.id, members: { "kay@example.com": "admin" } });
`,
  file: {
    acme: {
      name: "Acme",
      teams: {
        crew: { name: "Crew", members: { "ada@example.com": "member" } },
        yard: { name: "Yard", roster: { members: { "kay@example.com": "admin" } } },
      },
    },
  },
};
