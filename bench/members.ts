import { DynamicHost } from "../testing/dynamicHost.ts";
import { type Figure, figure } from "./measure.ts";
import { each, Platform } from "./platform.ts";

/** What an engine keeps in flight with its default of 4 for each core. */
const inFlight = 16;

/** Refreshes many members of many teams, each a resource of its own. */
export async function members(teams: number, membersOfEach: number): Promise<Figure[]> {
  const platform = await Platform.start();
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
