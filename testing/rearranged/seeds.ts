/** A seed as the text of a program. `seeds` holds those before it, which it comes after. */
export function seed(
  name: string,
  codes: string,
  { table = "regions", key = "Code", region, note = "", more = "" }: SeedOptions = {},
): string {
  const rows = codes.split("").map((Code) => ({
    Code,
    Name: `Name of ${Code}`,
    Note: `${note}${Code}`,
    ...(region === undefined ? {} : { Region: region[Code] ?? Code }),
  }));
  const references = region === undefined ? "" : `references: { Region: linked(seeds.find((one) => one.isRegions)) }, `;
  const text = `{ table: ${JSON.stringify(table)}, key: ${JSON.stringify(key)}, ${references}${more}rows: ${JSON.stringify(rows)} }`;
  const mark = region === undefined ? "Object.assign(" : "";
  const marked = region === undefined ? ", { isRegions: true })" : "";
  return `seeds.push(${mark}new SeedRows(${JSON.stringify(name)}, ${text}, { dependsOn: [...seeds] })${marked});\n`;
}

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

/** Offices in the regions of their codes. */
export const offices = (codes: string, region: Readonly<Record<string, string>> = {}, name = "offices"): string =>
  seed(name, codes, { table: "offices", region });
