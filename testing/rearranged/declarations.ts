import type { Client, Row } from "../../platform/client/index.ts";
import type { Declared } from "../disturbed/program.ts";
import type { TestedKind, Properties } from "../harness/providerHost.ts";
import { foreign, people, type Model, type Seed, type Table } from "./model.ts";

export const nameOf = (code: string): string => `Name of ${code}`;

/** The platform before the first run. */
export const platform = {
  users: people.map((email) => ({ email, id: email })),
  tables: {
    regions: { fields: { Code: "text", Name: "text", Note: "text" } },
    offices: {
      fields: {
        Code: "text",
        Name: "text",
        Note: "text",
        Region: { type: "linked", table: "regions", field: "Code" },
      },
    },
  },
} as const;

/** True when the rows of a seed are linked: those of the other table have no such label. */
const isLinked = ({ table, references }: Seed): boolean => table === "offices" && references !== undefined;

function rowsOf(seed: Seed): Properties[] {
  const { table, rows } = seed;
  return [...rows].map(([code, { note, region }]) => ({
    Code: code,
    Name: nameOf(code),
    Note: `note ${note}`,
    ...(table === "offices" ? { Region: linkTo(seed, region) } : {}),
  }));
}

/** The link in a row: null removes one, while a missing label would keep it. */
function linkTo({ references }: Seed, region: string): string | null {
  if (references === undefined) return null;
  return references === "Code" ? region : nameOf(region);
}

/** Declarations of a program, each after those it needs. */
export function declarationsOf({ seeds, teams }: Model, providerKind: TestedKind, adopt: boolean): Declared[] {
  const declared: Declared[] = [{ name: "acme", type: "Organization", inputs: () => ({ name: "Acme" }) }];
  for (const [team, members] of teams) {
    declared.push({ name: team, type: "Team", inputs: (made) => ({ organizationID: made("acme").id, name: team }) });
    for (const [name, { email, role }] of members) {
      declared.push({ name, type: "TeamMember", inputs: (made) => ({ teamID: made(team).id, email, role }) });
    }
  }
  const inOrder = [...seeds].toSorted(([, one], [, other]) => Number(isLinked(one)) - Number(isLinked(other)));
  for (const [name, seed] of inOrder) {
    const { table, key, references } = seed;
    const siblings = siblingsOf(seeds, name, providerKind);
    const inputs = {
      ...{ table, key, rows: rowsOf(seed), maxRemovals: 1 },
      ...(isLinked(seed) ? { references: { Region: { table: "regions", key: references } } } : {}),
      ...(adopt ? { adopt } : {}),
      // In the form that the SDK of TypeScript programs sends.
      ...(providerKind.modern || siblings.length === 0 ? {} : { siblings }),
    };
    declared.push({ name, type: "SeedRows", inputs: () => inputs });
  }
  return declared;
}

function siblingsOf(seeds: Model["seeds"], name: string, providerKind: TestedKind): Properties[] {
  const own = seeds.get(name);
  return [...seeds].flatMap(([other, seed]) => {
    const { table, key } = seed;
    if (other === name || table !== own?.table) return [];
    const urn = `urn:pulumi:dev::tests::${providerKind.types}:SeedRows::${other}`;
    return [
      { urn, table, key: [key], rows: rowsOf(seed).map((row) => ({ [key]: row[key], [own.key]: row[own.key] })) },
    ];
  });
}

/** Links of rows to rows that no seed declares and nobody else has. */
export function danglingIn({ seeds }: Model): string[] {
  const regions = [...seeds.values()].flatMap(({ table, rows }) => (table === "regions" ? [...rows.keys()] : []));
  const links = [...seeds].flatMap(([name, seed]) =>
    isLinked(seed) ? [...seed.rows].map(([code, { region }]) => ({ name, code, region })) : [],
  );
  return links.flatMap(({ name, code, region }) =>
    region === foreign || regions.includes(region) ? [] : [`${name} ${code} → ${region}`],
  );
}

/** The rows that a program declares, each with its owner, by table and code. */
export function ownersOf({ seeds }: Model): Map<string, { seed: string; text: string }> {
  return new Map(
    [...seeds].flatMap(([name, seed]) =>
      [...seed.rows].map(([code, { note, region }]) => {
        const text = `note ${note}${isLinked(seed) ? ` → ${region}` : ""}`;
        return [`${seed.table} ${code}`, { seed: name, text }] as const;
      }),
    ),
  );
}

/**
 * Contents of the platform: by table and code the row's ID and its text, links as the code of the row that they lead
 * to.
 */
export async function rowsOn(client: Client): Promise<Map<string, { id: string; text: string }>> {
  const read = async (microAppID: Table): Promise<Row[]> =>
    (await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 1000 }] })).microAppRows;
  const regions = await read("regions");
  const codes = new Map(regions.map((row) => [row._id, String(row["Code"])]));
  const found = new Map<string, { id: string; text: string }>();
  for (const [table, rows] of [["regions", regions] as const, ["offices", await read("offices")] as const]) {
    for (const row of rows) {
      const key = `${table} ${String(row["Code"])}`;
      const link = row["Region"] as { crossAppRowID?: string } | null | undefined; // a linked field's form
      const target = link?.crossAppRowID === undefined ? "" : ` → ${codes.get(link.crossAppRowID) ?? "nothing"}`;
      const text = `${String(row["Note"])}${target}`;
      found.set(found.has(key) ? `${key} (again)` : key, { id: row._id, text });
    }
  }
  return found;
}

/** Members of a team with their roles, without the account that made it. */
export async function membersOn(client: Client, teamID: string, account: string): Promise<string[]> {
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  return teamMembers
    .flatMap(({ email, role }) => (email === account ? [] : [`${email ?? ""} ${role ?? ""}`]))
    .toSorted();
}
