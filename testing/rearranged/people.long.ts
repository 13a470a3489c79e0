import { afterEach, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { eventually, leftRunning } from "../harness/processes.ts";
import { Project, repository } from "../harness/project.ts";

/** Beginning of a program for each kind of provider. */
const imports = {
  dynamic: 'import { Organization, Team, TeamMember, TeamRoster } from "pulumi-microapps";\n',
  plugin: `import pulumi from "@pulumi/pulumi";
const of = (type) => class extends pulumi.CustomResource {
  constructor(name, inputs, options) { super("microapps:index:" + type, name, inputs, options); }
};
const [Organization, Team, TeamMember, TeamRoster] = ["Organization", "Team", "TeamMember", "TeamRoster"].map(of);
`,
};
type TestedKind = keyof typeof imports;

const people = `
const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" }); // crew
const guests = new Team("guests", { organizationID: acme.id, name: "Guests" });
new TeamMember("ada", { teamID: crew.id, email: "ada@example.com", role: "admin" });
new TeamRoster("roster", { teamID: guests.id, members: { "grace@example.com": "admin", "kay@example.com": "member" } });
// more
`;

let project: Project;
let emulator: Emulator;
async function begin(providerKind: TestedKind): Promise<void> {
  emulator = await createEmulator();
  const config = {
    "microapps:endpoint": emulator.url,
    "microapps:email": "admin@example.com",
    "microapps:password": "admin",
  };
  const plugins = { plugins: { providers: [{ name: "microapps", path: join(repository, "plugin") }] } };
  project = await Project.running(imports[providerKind] + people, config, providerKind === "plugin" ? plugins : {});
  await project.succeed("stack init dev");
  await project.succeed("up --yes --skip-preview");
}
afterEach(async () => {
  await endedCleanly(project, emulator);
});

/** Removals by an `up`, by endpoint. */
async function removals(work: () => Promise<unknown>): Promise<string[]> {
  const since = emulator.lastCall();
  await work();
  const calls = emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint);
  return calls.filter((endpoint) => endpoint.startsWith("delete")).toSorted();
}
const up = (...flags: string[]): Promise<string> => project.succeed("up --yes --skip-preview", ...flags);

describe.each(["dynamic", "plugin"] as const)("with the %s provider", (providerKind) => {
  test("members and rosters that are called otherwise, or hand over to each other, lose nobody", async () => {
    await begin(providerKind);
    emulator.saveSnapshot("before");
    await project.edit("index.js", 'TeamMember("ada"', 'TeamMember("ada-admin"');
    await project.edit("index.js", 'TeamRoster("roster"', 'TeamRoster("roster2"');
    let told = "";
    expect(await removals(async () => (told = await up()))).toEqual([]);
    expect(told).toContain('TeamMember "ada-admin" declares that');
    expect(told).toContain('TeamRoster "roster2" declares that');
    expect(emulator.differences("before").filter(({ table }) => table === "members")).toEqual([]);
    await project.isSettled(providerKind === "plugin");

    // Killed between the creation and the deletion.
    await project.edit("index.js", 'TeamMember("ada-admin"', 'TeamMember("lead"');
    const running = project.start("up --yes --skip-preview");
    await eventually("a deletion", () => running.printed().includes("stays a member"));
    process.kill(running.pid, "SIGKILL");
    await running.ended;
    await leftRunning(project.folder);
    await project.run("cancel --yes");
    expect(await removals(up)).toEqual([]);
    await project.isSettled(providerKind === "plugin");
    expect(emulator.differences("before").filter(({ table }) => table === "members")).toEqual([]);
  });

  test("a team that is renamed by an alias, and a new one under its old name; a replacement that the options force", async () => {
    await begin(providerKind);
    const crew = (await project.state()).get("crew")?.id ?? "";
    await project.edit(
      "index.js",
      'Team("crew", { organizationID: acme.id, name: "Crew" })',
      'Team("veterans", { organizationID: acme.id, name: "Crew" }, { aliases: [{ name: "crew" }] })',
    );
    expect(await removals(up)).toEqual([]);
    expect((await project.state()).get("veterans")?.id).toBe(crew);
    await project.edit(
      "index.js",
      "// more",
      'new Team("crew", { organizationID: acme.id, name: "Novices" }, { dependsOn: crew });\n// more',
    );
    expect(await removals(up)).toEqual([]);
    const novices = (await project.state()).get("crew")?.id ?? "";
    expect(novices).not.toBe(crew);
    await project.isSettled(providerKind === "plugin");

    // A replacement, the new one first: the members follow. Dynamic resources know no replaceOnChanges.
    const forced = 'name: "The crew", adopt: true }, { replaceOnChanges: ["name"], deleteBeforeReplace: false, aliases';
    const moved = 'name: "Crew", adopt: true }, { deleteBeforeReplace: false, aliases';
    await project.edit("index.js", 'name: "Crew" }, { aliases', providerKind === "plugin" ? forced : moved);
    if (providerKind === "dynamic") {
      await project.edit(
        "index.js",
        "const crew =",
        'const other = new Organization("other", { name: "Other" });\nconst crew =',
      );
      await project.edit(
        "index.js",
        "organizationID: acme.id, " + moved.slice(0, 20),
        "organizationID: other.id, " + moved.slice(0, 20),
      );
    }
    // Killed between the creation and the deletion: the next run deletes what the first one replaced.
    emulator.setFaults({ faults: [{ kind: "timeout", endpoint: "deleteteammember", count: 1 }] });
    const running = project.start("up --yes --skip-preview");
    await eventually("a deletion", () => emulator.faults().find(({ hit }) => hit > 0));
    process.kill(running.pid, "SIGKILL");
    await running.ended;
    await leftRunning(project.folder);
    emulator.setFaults();
    await project.run("cancel --yes");
    expect(await removals(up)).toEqual(["deleteteam", "deleteteammember"]);
    const team = (await project.state()).get("veterans")?.id ?? "";
    expect([crew, novices]).not.toContain(team);
    expect((await project.state()).get("ada")?.outputs["teamID"]).toBe(team);
    await project.isSettled(providerKind === "plugin");
    await project.succeed("destroy --yes --skip-preview");
  });
});
