/** Seeds as the text of a program. `world` tells them and their tables from those of others in the same program. */
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
  /** Of an office, the code of the region that it is in; its own code unless it stands here. */
  region?: Readonly<Record<string, string>>;
  /** What the notes of the rows begin with. */
  note?: string;
  /** Further inputs, as text. */
  more?: string;
}
