import { DynamicHost } from "../../testing/harness/stage.ts";
import { line, type Curves, type CurveLine, type Point } from "./curves.ts";
import { peakMemory, timeWork } from "./measure.ts";
import { inFlight } from "./members.ts";
import { each, BenchPlatform } from "./platform.ts";
import { ours } from "./programs.ts";
import { BenchProject } from "./project.ts";

type Host = Awaited<ReturnType<typeof DynamicHost.start>>;

/** Puts so many people into a new team, on a platform and in a process of their own. */
async function joining(
  size: number,
  join: (host: Host, teamID: string, emails: string[]) => Promise<void>,
): Promise<Omit<Point, "size">> {
  const platform = await BenchPlatform.start();
  const host = await DynamicHost.start(platform.configuration);
  try {
    const { organizationID } = await platform.client.insertorganization({ organizationInfo: { name: "Bench" } });
    const { teamID } = await platform.client.insertteam({ teamInfo: { organizationID, name: "Crew" } });
    const emails = Array.from({ length: size }, (_, i) => `m${i}@example.com`);
    let ms = 0;
    const calls = await platform.calls(async () => (ms = await timeWork(() => join(host, teamID, emails))));
    return { seconds: ms / 1000, calls, memory: peakMemory(host.pid) };
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
    host.resource = email; // for the call that follows at once
    const { inputs } = await host.check("TeamMember", { teamID, email, role: "member" });
    host.resource = email;
    await host.create("TeamMember", inputs);
  });

/** Measures adding people. */
export async function memberGrowth(sizes: readonly number[]): Promise<Curves> {
  const curve = (label: string, join: typeof asRoster): Promise<CurveLine> =>
    line(label, sizes, (size) => joining(size, join));
  const lines = [await curve("one roster", asRoster), await curve("a TeamMember for each", oneByOne)];
  return { name: "members", title: "Members that join a team", unit: "members", lines };
}

/** Measures resources created from nothing, and a run without changes. */
export async function resourceGrowth(sizes: readonly number[]): Promise<Curves> {
  const again = new Map<number, Omit<Point, "size">>();
  const first = await line("up from nothing", sizes, async (size) => {
    const platform = await BenchPlatform.start();
    const project = await BenchProject.make(platform, { program: ours(size) });
    const measure = async (): Promise<Omit<Point, "size">> => {
      let took = { whole: 0, memory: 0 };
      const calls = await platform.calls(async () => (took = await project.up()));
      return { seconds: took.whole / 1000, calls, memory: took.memory };
    };
    try {
      const made = await measure();
      again.set(size, await measure());
      return made;
    } finally {
      await project.remove();
      await platform.stop();
    }
  });
  const points = [...again].map(([size, point]) => ({ size, ...point }));
  const lines = [first, { label: "up with nothing changed", points }];
  return { name: "resources", title: "Resources of a stack", unit: "resources", lines };
}
