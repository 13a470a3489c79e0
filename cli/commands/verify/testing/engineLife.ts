import { createClient, type Client } from "../../../../provider/client/index.ts";
import { at } from "../../../../provider/contract/wire.ts";
import type { ProfileInput } from "../../../../provider/habits/profile.ts";
import { Project } from "../../../../testing/harness/project.ts";
import { account, type Stand } from "./stand.ts";

/** A life as it was lived to its end, or the run that was refused. */
export type EngineLife = { refused: string } | { repaired: string[]; changed: string[]; seen: unknown[] };

interface LivedWith {
  /** How the platform differs. */
  platform: ProfileInput;
  /** File of the profile that is configured; none by default. */
  profile?: string;
  role?: "admin" | "member";
}

const [currencies, countries, cities] = ["bed-currencies", "bed-countries", "bed-cities"] as const;

/** Everything that is declared: at first, and after a change. */
const declarations = (role: "admin" | "member") => {
  const codes = Array.from({ length: 30 }, (_, index) => `C${String(index).padStart(2, "0")}`);
  return {
    first: {
      ...{ team: "Crew", description: "A test.", members: { "member@example.com": role }, size: 3 },
      currencies: codes.map((Code) => ({ Code, Digits: 2 })),
      country: { Code: "CZ", Name: "Česko", Population: 10, Currency: "C01" },
      cities: ["Brno", "Praha"].map((Name) => ({ Name, Run: "1", in: "CZ" })),
    },
    changed: {
      ...{ team: "Crew 2", description: "", members: { "other@example.com": "member" }, size: 4 },
      currencies: codes.slice(1).map((Code) => ({ Code, Digits: 3 })),
      country: { Code: "CZ", Name: "", Population: 10, Currency: "C02" },
      cities: ["Brno", "Plzeň"].map((Name) => ({ Name, Run: "2", in: "CZ" })),
    },
  };
};
type Declared = ReturnType<typeof declarations>["first" | "changed"];

const programOf = ({ team, description, members, size, ...rows }: Declared): string => `
import { Organization, RowFile, SeedRows, Team, TeamRoster } from "pulumi-microapps";
const described = ${JSON.stringify({ description })};
const organization = new Organization("acme", { name: "Acme", ...described });
const organizationID = organization.id;
const team = new Team("crew", { organizationID, name: "${team}", ...described });
new Team("empty", { organizationID, name: "Empty" });
new TeamRoster("roster", { teamID: team.id, members: ${JSON.stringify(members)} });
const seed = (name, args, ...dependsOn) => new SeedRows(name, args, { dependsOn });
const currencies = seed("currencies", ${JSON.stringify({ table: currencies, key: "Code", types: { Digits: "number" }, rows: rows.currencies })});
const references = { Currency: { table: "${currencies}", key: "Code" } };
const countries = seed("countries", {
  table: "${countries}", key: "Code", types: { Population: "number" }, references, rows: ${JSON.stringify([rows.country])},
}, currencies);
const parent = { table: "${countries}", key: "Code", by: "in" };
seed("cities", { table: "${cities}", key: "Name", parent, maxRemovals: 1, rows: ${JSON.stringify(rows.cities)} }, countries);
const file = { filename: "flag.txt", size: ${size}, store: false };
new RowFile("flag", { table: "${countries}", row: { Code: "CZ" }, fieldID: "countries-Flag", ...file }, { dependsOn: countries });
`;

/** The platform as an onlooker finds it, where it has everything that is declared. */
const toSeen = ({ team, description, members, size, ...rows }: Declared, own: readonly string[]): unknown[] => [
  [team, description, [...Object.entries(members).map((member) => member.join(" ")), ...own].sort()],
  ["Empty", "", own],
  ...[...rows.currencies, rows.country, ...rows.cities.map((city) => ({ ...city, in: true }))].map((row) =>
    Object.values(row as Record<string, unknown>),
  ),
  ["flag.txt", size],
];

/** The life on a platform without habits of its own, to which every other has to come, but for who joins a team. */
export function usualLife({ habits = {} }: ProfileInput): EngineLife {
  const { first, changed } = declarations("member");
  const own = habits.creatorJoins === "no" ? [] : [`${account.email} admin`];
  return {
    repaired: ["create empty", "create flag", "update countries", "update currencies"],
    changed: ["acme", "cities", "countries", "crew", "currencies", "flag", "roster"].map((name) => `update ${name}`),
    seen: [toSeen(first, own), toSeen(first, own), toSeen(changed, own)],
  };
}

/** A person's look at the platform of a project, and edits by hand. */
class Onlooker {
  readonly #client: Client;
  readonly #project: Project;

  constructor(client: Client, project: Project) {
    this.#client = client;
    this.#project = project;
  }

  /** Everything that is declared, as the platform has it, without IDs. */
  async see(): Promise<unknown[]> {
    const state = await this.#project.state();
    const seen: unknown[] = [];
    for (const name of ["crew", "empty"]) {
      const teamID = state.get(name)?.id;
      if (teamID === undefined) continue;
      const { team } = await this.#client.readteam({ teamID });
      const { teamMembers } = await this.#client.teammembers({ teamIDs: [teamID] });
      seen.push([team?.name, team?.description ?? "", teamMembers.map(({ email, role }) => `${email} ${role}`).sort()]);
    }
    for (const { Code, Digits } of await this.#rows(currencies)) seen.push([Code, Digits]);
    for (const { Code, Name, Population, Currency } of await this.#rows(countries)) {
      seen.push([Code, Name ?? "", Population, at(Currency, "value.value")]);
    }
    for (const { Name, Run, embeddingRowID } of await this.#rows(cities))
      seen.push([Name, Run, embeddingRowID !== undefined]);
    return [...seen, ...(await this.#files()).map(({ content }) => [content?.filename, content?.size])];
  }

  /** Edits by hand: a cell changed; a row, a record and a team removed. */
  async edit(): Promise<void> {
    const [changed, removed] = await this.#rows(currencies);
    await this.#client.updatemicroapprow({ rowID: changed?._id ?? "", rowData: { Digits: 9 } });
    await this.#client.removemicroapprow({ rowID: removed?._id ?? "" });
    for (const { _id: childID } of await this.#files()) await this.#client.microappchildDelete({ childID });
    const teamID = (await this.#project.state()).get("empty")?.id ?? "";
    const { teamMembers } = await this.#client.teammembers({ teamIDs: [teamID] });
    for (const { userID = "" } of teamMembers) await this.#client.deleteteammember({ teamID, userID });
    await this.#client.deleteteam({ teamID });
  }

  async #rows(microAppID: string) {
    return (await this.#client.microappdata({ microAppID, optViewSort: { sortVal: 1 } })).microAppRows;
  }

  async #files() {
    const [country] = await this.#rows(countries);
    if (!country) return [];
    return (await this.#client.microappchildList({ appID: country._id, fieldID: "countries-Flag" })).childItems;
  }
}

/** Configures what a refusal of an unknown platform names: a profile, by which a destroy goes after the next up alone. */
async function configure(project: Project, platform: ProfileInput): Promise<void> {
  await project.write("platform-profile.yaml", JSON.stringify(platform));
  await project.succeed("config set microapps:profile platform-profile.yaml");
  await project.run("up --yes --skip-preview");
}

/**
 * Lives with the engine on the platform of a stand: up, an edit by hand, refresh and up, a change, destroy, and a
 * preview of nothing after each. A refused `up` is destroyed as well.
 */
export async function liveWithEngine(stand: Stand, lived: LivedWith): Promise<EngineLife> {
  const { platform, profile, role = "member" } = lived;
  const { first, changed } = declarations(role);
  const project = await Project.running(programOf(first), {
    "microapps:endpoint": stand.emulator.url,
    "microapps:email": account.email,
    "microapps:password": account.password,
    ...(profile === undefined ? {} : { "microapps:profile": profile }),
  });
  const client = createClient({ endpoint: stand.emulator.url, ...account });
  const onlooker = new Onlooker(client, project);
  const byHand = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    stand.emulator.setProfile();
    return work().finally(() => stand.emulator.setProfile(platform));
  };
  stand.emulator.setProfile(platform);
  try {
    if (profile !== undefined) await project.write(profile, await stand.read(profile));
    await project.succeed("stack init dev");
    const up = await project.run("up --yes");
    if (up.status !== 0) {
      if (profile === undefined) await configure(project, platform);
      await project.succeed("destroy --yes");
      return { refused: up.output };
    }
    await project.succeed("preview --refresh --expect-no-changes");
    const seen = [await byHand(() => onlooker.see())];
    await byHand(() => onlooker.edit());
    await project.succeed("refresh --yes");
    const repaired = await project.steps("up --yes --skip-preview");
    await project.succeed("preview --refresh --expect-no-changes");
    seen.push(await byHand(() => onlooker.see()));
    await project.write("index.js", programOf(changed));
    const altered = await project.steps("up --yes --skip-preview");
    await project.succeed("preview --refresh --expect-no-changes");
    seen.push(await byHand(() => onlooker.see()));
    await project.succeed("destroy --yes");
    return { repaired: repaired.toSorted(), changed: altered.toSorted(), seen };
  } finally {
    await client.close();
    await project.remove();
  }
}
