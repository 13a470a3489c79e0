import type { Properties } from "../../testing/harness/providerHost.ts";
import { DynamicHost } from "../../testing/harness/stage.ts";
import { BenchPlatform, each, figure, timeWork, type Figure } from "./stage.ts";

/** Operations that the embedded engine keeps in flight at least, unless it is asked for another number. */
const inFlight = 32;

type Host = Awaited<ReturnType<typeof DynamicHost.start>>;

/** Works with a new team, on a platform and in a process of their own. */
async function inTeam<Result>(
  work: (platform: BenchPlatform, host: Host, teamID: string, organizationID: string) => Promise<Result>,
): Promise<Result> {
  const platform = await BenchPlatform.start();
  const host = await DynamicHost.start(platform.configuration);
  host.isTraced = false;
  try {
    const { organizationID } = await platform.client.insertorganization({ organizationInfo: { name: "Bench" } });
    const { teamID } = await platform.client.insertteam({ teamInfo: { organizationID, name: "Crew" } });
    return await work(platform, host, teamID, organizationID);
  } finally {
    await host.stop();
    await platform.stop();
  }
}

const emailsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `m${at}@example.com`);

/** Puts many members into one team by one list, from a first apply to a preview without changes. */
const roster = (count: number): Promise<Figure[]> =>
  inTeam(async (platform, host, teamID) => {
    const news = { teamID, members: Object.fromEntries(emailsOf(count).map((email) => [email, "member"])) };
    let made: { id: string; outputs: Properties } | undefined;
    const calls = await platform.calls(async () => {
      const { inputs } = await host.check("TeamRoster", news);
      made = await host.create("TeamRoster", inputs);
    });
    const preview = await platform.calls(async () => {
      const { inputs } = await host.check("TeamRoster", news);
      const { changes } = await host.diff("TeamRoster", teamID, made?.outputs ?? {}, inputs);
      if (changes) throw new Error("the roster is not as it was applied");
    });
    const named = `${count.toLocaleString("en")} members in one roster`;
    return [
      figure(`${named}, first apply: calls`, calls, "calls", 4),
      figure(`${named}, preview: calls`, preview, "calls", 0),
      figure(`${named}: state`, JSON.stringify(made?.outputs).length / 1024, "KB", 256),
    ];
  });

/** Makes a resource for each of many members, beside one call for each made bare. */
const oneByOne = (count: number): Promise<Figure[]> =>
  inTeam(async (platform, host, teamID, organizationID) => {
    const { teamID: other } = await platform.client.insertteam({ teamInfo: { organizationID, name: "Bare" } });
    const bodies = emailsOf(count).map((email) => JSON.stringify({ teamIDs: [other], emails: [email] }));
    const bare = await timeWork(() => each(bodies, inFlight, (body) => platform.post("insertteammembers", body)));
    let largest = 0;
    let took = 0;
    const calls = await platform.calls(async () => {
      took = await timeWork(() =>
        each(emailsOf(count), inFlight, async (email) => {
          host.resource = email; // for the call that follows at once
          const { inputs } = await host.check("TeamMember", { teamID, email, role: "member" });
          host.resource = email;
          const { outputs } = await host.create("TeamMember", inputs);
          largest = Math.max(largest, JSON.stringify(outputs).length);
        }),
      );
    });
    const named = `${count.toLocaleString("en")} TeamMembers from nothing`;
    return [
      figure(named, took / 1000, "s", 20),
      figure(`${named}: time to that of one call each, made bare`, took / bare, "ratio", 2),
      figure(`${named}: calls for each`, calls / count, "ratio", 0.5),
      figure("state of a TeamMember", largest / 1024, "KB", 1),
    ];
  });

export const measureMembers = async (count: number): Promise<Figure[]> => [
  ...(await roster(Math.ceil((count * 3) / 20))),
  ...(await oneByOne(count)),
];
