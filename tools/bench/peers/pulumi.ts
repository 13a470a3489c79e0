import { readFileSync } from "node:fs";
import { session, type BenchPlatform } from "../platform.ts";
import { embedded, findPulumiVersion, output, BenchProject } from "../project.ts";
import { atOnce, NotHere, type Peer, type Structure } from "./structure.ts";

type Program = (structure: Structure) => string;

/** As many at a time as OpenTofu's own default. */
const parallel = ["--parallel", String(atOnce)];

const declared = ({ organization, teams }: Structure): string => `
const organization = new m.Organization(${JSON.stringify(organization)}, { name: "Bench" });
const teams = {};
for (const [name, description] of Object.entries(${JSON.stringify(teams)}))
  teams[name] = new m.Team(name, { organizationID: organization.id, name, description });
`;

const programs: Record<"TeamMember" | "TeamRoster", Program> = {
  TeamMember: (structure) => `import * as m from "pulumi-microapps";
${declared(structure)}
for (const { team, userID, email } of ${JSON.stringify(structure.members)})
  new m.TeamMember(userID, { teamID: teams[team].id, email });
`,
  TeamRoster: (structure) => `import * as m from "pulumi-microapps";
${declared(structure)}
for (const team of Object.keys(teams)) {
  const emails = ${JSON.stringify(structure.members)}.filter((member) => member.team === team).map(({ email }) => [email, "member"]);
  new m.TeamRoster(team, { teamID: teams[team].id, members: Object.fromEntries(emails) });
}
`,
};

function peer(platform: BenchPlatform, name: string, command: readonly string[], program: Program): Peer {
  let project: BenchProject | undefined;
  return {
    name,
    up: async (structure) => {
      project ??= await BenchProject.make(platform, { program: "" }, command);
      await project.write(program(structure));
      await project.run("up", "--yes", "--skip-preview", ...parallel);
    },
    down: async () => project?.run("destroy", "--yes", "--skip-preview", ...parallel),
    remove: async () => project?.remove(),
  };
}

const { version } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** This package with the engine inside of it. */
export const microapps =
  (type: keyof typeof programs) =>
  (platform: BenchPlatform): Promise<Peer> =>
    Promise.resolve(peer(platform, `pulumi-microapps ${version}, a ${type} each`, embedded, programs[type]));

async function pulumiVersion(): Promise<string> {
  const version = await findPulumiVersion();
  if (version === undefined) throw new NotHere("Pulumi CLI: there is none on PATH");
  return version;
}

/** This package with the Pulumi CLI. */
export const pulumiWith =
  (type: keyof typeof programs) =>
  async (platform: BenchPlatform): Promise<Peer> =>
    peer(
      platform,
      `pulumi-microapps ${version}, a ${type} each, Pulumi CLI ${await pulumiVersion()}`,
      ["pulumi"],
      programs[type],
    );

/** The Pulumi CLI with a command for each call, as people write it where there is no provider. */
export async function pulumiCommand(platform: BenchPlatform): Promise<Peer> {
  const cli = await pulumiVersion();
  const plugins = await output(["pulumi", "plugin", "ls", "--json"]);
  const { version: plugin } =
    (JSON.parse(plugins) as { name: string; version: string }[]).find(({ name }) => name === "command") ?? {};
  if (plugin === undefined) throw new NotHere(`pulumi-command: its plugin is not installed for the Pulumi CLI ${cli}`);
  const headers = await session(platform);
  const flags = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`);
  const call = (path: string, body: object): string =>
    `curl -sSf -o /dev/null -X POST ${flags.join(" ")} -d '${JSON.stringify(body)}' ${platform.url}/api/${path}`;
  const program: Program = ({ organization: organizationID, teams, members }) => {
    const info = { organizationID };
    const command = (name: string, create: string, update: string, destroy: string, on: string): string =>
      `made[${JSON.stringify(name)}] = new pulumi.CustomResource("command:local:Command", ${JSON.stringify(name)}, ` +
      `${JSON.stringify({ create, update, delete: destroy })}, { dependsOn: ${on === "" ? "[]" : `[made[${JSON.stringify(on)}]]`}, ` +
      `version: ${JSON.stringify(plugin)} });`;
    return [
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
    ].join("\n");
  };
  return peer(platform, `pulumi-command ${plugin} with curl, Pulumi CLI ${cli}`, ["pulumi"], program);
}
