import { DynamicHost } from "../../testing/harness/stage.ts";
import { type Figure, figure } from "./measure.ts";
import { each, BenchPlatform } from "./platform.ts";
import { BenchProject } from "./project.ts";

/** Operations that the embedded engine keeps in flight at least, unless it is asked for another number. */
export const inFlight = 32;

/** Refreshes many members of many teams, each a resource of its own. */
export async function members(teams: number, membersOfEach: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start();
  const host = await DynamicHost.start(platform.configuration);
  try {
    const { client } = platform;
    const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Bench" } });
    const made: { id: string; outputs: Record<string, unknown> }[] = [];
    for (let team = 0; team < teams; team++) {
      const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: `Team ${team}` } });
      const emails = Array.from({ length: membersOfEach }, (_, i) => `m${team}x${i}@example.com`);
      await each(emails, inFlight, async (email) => {
        const { inputs } = await host.check("TeamMember", { teamID, email, role: "member" });
        made.push(await host.create("TeamMember", inputs));
      });
    }
    // Another process, as in another run: what this one knows of the lists would be enough.
    const fresh = await DynamicHost.start(platform.configuration);
    const calls = await platform.calls(() =>
      each(made, inFlight, async ({ id, outputs }) => {
        const found = await fresh.read("TeamMember", id, outputs);
        if (found.id !== id) throw new Error(`${id} was not found`);
      }),
    );
    await fresh.stop();
    const count = teams * membersOfEach;
    const largest = Math.max(...made.map(({ outputs }) => JSON.stringify(outputs).length));
    return [
      figure(`refresh ${count} members in ${teams} teams: calls`, calls, "calls", teams),
      figure("state of a member", largest / 1024, "KB", 1),
    ];
  } finally {
    await host.stop();
    await platform.stop();
  }
}

/** Puts many members into one team by one list, from a first apply to a preview without changes. */
export async function roster(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start();
  const host = await DynamicHost.start(platform.configuration);
  try {
    const { client } = platform;
    const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Bench" } });
    const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: "Crew" } });
    const emails = Array.from({ length: count }, (_, i) => `m${i}@example.com`);
    const news = { teamID, members: Object.fromEntries(emails.map((email) => [email, "member"])) };
    let made: { id: string; outputs: Record<string, unknown> } | undefined;
    const calls = await platform.calls(async () => {
      const { inputs } = await host.check("TeamRoster", news);
      made = await host.create("TeamRoster", inputs);
    });
    const preview = await platform.calls(async () => {
      const { inputs } = await host.check("TeamRoster", news);
      const { changes } = await host.diff("TeamRoster", teamID, made?.outputs ?? {}, inputs);
      if (changes) throw new Error("the roster is not as it was applied");
    });
    return [
      figure(`${count} members in one roster, first apply: calls`, calls, "calls", 4),
      figure(`${count} members in one roster, preview: calls`, preview, "calls", 0),
      figure(`state of a roster of ${count}`, JSON.stringify(made?.outputs).length / 1024, "KB", 256),
    ];
  } finally {
    await host.stop();
    await platform.stop();
  }
}

const teams = (count: number): string => `import { Organization, Team, TeamMember, TeamRoster } from "pulumi-microapps";
const { id: organizationID } = new Organization("acme", { name: "Acme", forceDestroy: true });
const people = Array.from({ length: 10 }, (_, i) => \`m\${i}@example.com\`);
const teams = Array.from({ length: ${count} }, (_, i) => new Team(\`team\${i}\`, { organizationID, name: \`Team \${i}\` }));
`;

const declarations = {
  TeamMembers: `for (const [i, { id: teamID }] of teams.entries())
  for (const email of people) new TeamMember(\`\${i} \${email}\`, { teamID, email: \`\${i}\${email}\`, role: "member" });`,
  TeamRosters: `for (const [i, { id: teamID }] of teams.entries())
  new TeamRoster(\`\${i}\`, { teamID, members: Object.fromEntries(people.map((email) => [\`\${i}\${email}\`, "member"])) });`,
};

/** Makes an organization with ten teams of ten people from nothing, and refreshes it. */
export async function fromNothing(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, declaration] of Object.entries(declarations)) {
    const platform = await BenchPlatform.start();
    const project = await BenchProject.make(platform, { program: teams(10) + declaration });
    const job = `1 organization, 10 teams, 100 people as ${kind}`;
    try {
      const made = await platform.calls(() => project.run("up", "--yes", "--skip-preview"));
      const refreshed = await platform.calls(() => project.run("refresh", "--yes", "--skip-preview"));
      figures.push(figure(`${job} from nothing: calls`, made, "calls", kind === "TeamMembers" ? 45 : 35));
      figures.push(figure(`${job}, unchanged refresh: calls`, refreshed, "calls", 18));
    } finally {
      await project.remove();
      await platform.stop();
    }
  }
  return figures;
}
