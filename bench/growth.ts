import { DynamicHost } from "../testing/harness/dynamicHost.ts";
import type { Curves, Point } from "./curves.ts";
import { peakMemory, timed } from "./measure.ts";
import { inFlight } from "./members.ts";
import { each, Platform } from "./platform.ts";
import { ours } from "./programs.ts";
import { Project } from "./project.ts";

type Host = Awaited<ReturnType<typeof DynamicHost.start>>;

/** Puts so many people into a new team, on a platform and in a process of their own. */
async function joining(
  size: number,
  join: (host: Host, teamID: string, emails: string[]) => Promise<void>,
): Promise<Point> {
  const platform = await Platform.start();
  const host = await DynamicHost.start(platform.configuration);
  try {
    const { organizationID } = await platform.client.insertorganization({ organizationInfo: { name: "Bench" } });
    const { teamID } = await platform.client.insertteam({ teamInfo: { organizationID, name: "Crew" } });
    const emails = Array.from({ length: size }, (_, i) => `m${i}@example.com`);
    let ms = 0;
    const calls = await platform.calls(async () => (ms = await timed(() => join(host, teamID, emails))));
    return { size, seconds: ms / 1000, calls, memory: peakMemory(host.pid) };
  } finally {
    await host.stop();
    await platform.stop();
  }
}

async function asRoster(host: Host, teamID: string, emails: string[]): Promise<void> {
  const members = Object.fromEntries(emails.map((email) => [email, "member"]));
  const { inputs } = await host.check("TeamRoster", { teamID, members });
  await host.create("TeamRoster", inputs);
}

const oneByOne = (host: Host, teamID: string, emails: string[]): Promise<void> =>
  each(emails, inFlight, async (email) => {
    const { inputs } = await host.check("TeamMember", { teamID, email, role: "member" });
    await host.create("TeamMember", inputs);
  });

/** What people cost when they are added. */
export async function memberGrowth(): Promise<Curves> {
  const sizes = [10, 100, 1_000, 10_000];
  const curve = async (label: string, join: typeof asRoster): Promise<Curves["lines"][number]> => {
    const points: Point[] = [];
    for (const size of sizes) points.push(await joining(size, join));
    return { label, points };
  };
  const lines = [await curve("one roster", asRoster), await curve("a TeamMember for each", oneByOne)];
  return { name: "members", title: "Members that join a team", unit: "members", lines };
}

/** What resources cost from nothing, and when nothing has changed. */
export async function resourceGrowth(): Promise<Curves> {
  const first: Point[] = [];
  const again: Point[] = [];
  for (const size of [10, 100, 500, 2_000]) {
    const platform = await Platform.start();
    const project = await Project.make(platform, { program: ours(size) });
    const measure = async (): Promise<Point> => {
      let took = { whole: 0, memory: 0 };
      const calls = await platform.calls(async () => (took = await project.up()));
      return { size, seconds: took.whole / 1000, calls, memory: took.memory };
    };
    try {
      first.push(await measure());
      again.push(await measure());
    } finally {
      await project.remove();
      await platform.stop();
    }
  }
  const lines = [
    { label: "up from nothing", points: first },
    { label: "up with nothing changed", points: again },
  ];
  return { name: "resources", title: "Resources of a stack", unit: "resources", lines };
}
