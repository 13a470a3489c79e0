import { readFileSync } from "node:fs";
import { session, type BenchPlatform } from "../platform.ts";
import { embedded, findPulumiVersion, output, BenchProject } from "../project.ts";
import { curl } from "./curl.ts";
import { atOnce, NotHere, type Peer, type People, type PeerRows, table } from "./structure.ts";

/** The program of a structure, and files beside it. */
type Program<Structure> = (structure: Structure) => { program: string; files?: Readonly<Record<string, string>> };

/** As many at a time as OpenTofu's own default. */
const parallel = ["--parallel", String(atOnce)];

const declared = ({ organization, teams }: People): string => `
const organization = new m.Organization(${JSON.stringify(organization)}, { name: "Bench" });
const teams = {};
for (const [name, description] of Object.entries(${JSON.stringify(teams)}))
  teams[name] = new m.Team(name, { organizationID: organization.id, name, description });
`;

const programs: Record<"TeamMember" | "TeamRoster", Program<People>> = {
  TeamMember: (people) => ({
    program: `import * as m from "pulumi-microapps";
${declared(people)}
for (const { team, userID, email } of ${JSON.stringify(people.members)})
  new m.TeamMember(userID, { teamID: teams[team].id, email });
`,
  }),
  TeamRoster: (people) => ({
    program: `import * as m from "pulumi-microapps";
${declared(people)}
for (const team of Object.keys(teams)) {
  const emails = ${JSON.stringify(people.members)}.filter((member) => member.team === team).map(({ email }) => [email, "member"]);
  new m.TeamRoster(team, { teamID: teams[team].id, members: Object.fromEntries(emails) });
}
`,
  }),
};

const seed: Program<PeerRows> = (rows) => ({
  program: `import * as m from "pulumi-microapps";
new m.SeedRows("rows", { table: ${JSON.stringify(table.name)}, key: "Code", source: "rows.csv" });
`,
  files: { "rows.csv": ["Code,Name", ...Object.entries(rows).map((cells) => cells.join(","))].join("\n") },
});

/** A project with its stack: what only begins one is no part of a job, with no tool. */
async function peer<Structure>(
  platform: BenchPlatform,
  name: string,
  command: readonly string[],
  program: Program<Structure>,
): Promise<Peer<Structure>> {
  const project = await BenchProject.make(platform, { program: "" }, command);
  return {
    name,
    up: async (structure) => {
      const { program: text, files = {} } = program(structure);
      await project.write(text);
      for (const [file, content] of Object.entries(files)) await project.write(content, file);
      await project.run("up", "--yes", "--skip-preview", ...parallel);
    },
    down: () => project.run("destroy", "--yes", "--skip-preview", ...parallel),
    remove: () => project.remove(),
  };
}

const { version } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** This package with the engine inside of it. */
export const microapps =
  (type: keyof typeof programs) =>
  (platform: BenchPlatform): Promise<Peer<People>> =>
    peer(platform, `pulumi-microapps ${version}, a ${type} each`, embedded, programs[type]);

/** The same with rows of a file. */
export const seedRows = (platform: BenchPlatform): Promise<Peer<PeerRows>> =>
  peer(platform, `pulumi-microapps ${version}, SeedRows`, embedded, seed);

async function pulumiVersion(): Promise<string> {
  const version = await findPulumiVersion();
  if (version === undefined) throw new NotHere("Pulumi CLI: there is none on PATH");
  return version;
}

/** This package with the Pulumi CLI. */
export const pulumiWith =
  (type: keyof typeof programs) =>
  async (platform: BenchPlatform): Promise<Peer<People>> =>
    peer(
      platform,
      `pulumi-microapps ${version}, a ${type} each, Pulumi CLI ${await pulumiVersion()}`,
      ["pulumi"],
      programs[type],
    );

/** The same with rows of a file. */
export const seedRowsWithPulumi = async (platform: BenchPlatform): Promise<Peer<PeerRows>> =>
  peer(platform, `pulumi-microapps ${version}, SeedRows, Pulumi CLI ${await pulumiVersion()}`, ["pulumi"], seed);

/** The Pulumi CLI with a command for each call, as people write it where there is no provider. */
export async function pulumiCommand(platform: BenchPlatform): Promise<Peer<People>> {
  const cli = await pulumiVersion();
  const plugins = await output(["pulumi", "plugin", "ls", "--json"]);
  const { version: plugin } =
    (JSON.parse(plugins) as { name: string; version: string }[]).find(({ name }) => name === "command") ?? {};
  if (plugin === undefined) throw new NotHere(`pulumi-command: its plugin is not installed for the Pulumi CLI ${cli}`);
  const headers = await session(platform);
  const call = (path: string, body: object): string => curl(platform.url, headers, path, JSON.stringify(body));
  const program: Program<People> = ({ organization: organizationID, teams, members }) => {
    const info = { organizationID };
    const command = (name: string, create: string, update: string, destroy: string, on: string): string =>
      `made[${JSON.stringify(name)}] = new pulumi.CustomResource("command:local:Command", ${JSON.stringify(name)}, ` +
      `${JSON.stringify({ create, update, delete: destroy })}, { dependsOn: ${on === "" ? "[]" : `[made[${JSON.stringify(on)}]]`}, ` +
      `version: ${JSON.stringify(plugin)} });`;
    const lines = [
      'import * as pulumi from "@pulumi/pulumi";\nconst made = {};',
      command(
        "organization",
        call("insertorganization", { organizationInfo: { _id: organizationID, name: "Bench" } }),
        call("updateorganization", { organizationID, organizationInfo: { name: "Bench" } }),
        call("deleteorganization", { organizationID }),
        "",
      ),
      ...Object.entries(teams).map(([teamID, description]) =>
        command(
          teamID,
          call("insertteam", { teamInfo: { ...info, _id: teamID, name: teamID, description } }),
          call("updateteam", { teamID, teamInfo: { name: teamID, description } }),
          call("deleteteam", { teamID }),
          "organization",
        ),
      ),
      ...members.map(({ team: teamID, userID }) =>
        command(
          userID,
          call("insertteammembers", { teamIDs: [teamID], userIDs: [userID] }),
          call("updateteammember", { teamID, userID, role: "member" }),
          call("deleteteammember", { teamID, userID }),
          teamID,
        ),
      ),
    ];
    return { program: lines.join("\n") };
  };
  return peer(platform, `pulumi-command ${plugin} with curl, Pulumi CLI ${cli}`, ["pulumi"], program);
}
