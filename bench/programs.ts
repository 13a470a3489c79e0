import { type Figure, figure, median, timed } from "./measure.ts";
import { Platform } from "./platform.ts";
import { Project } from "./project.ts";

const ours = (count: number): string => `import { Organization, Team } from "pulumi-microapps";
const organization = new Organization("bench", { name: "Bench", forceDestroy: true });
for (let i = 1; i < ${count}; i++) new Team("team" + i, { organizationID: organization.id, name: "Team " + i });
`;

const idle = (count: number): string => `import * as pulumi from "@pulumi/pulumi";
const provider = 'exports.handler=()=>({check:async(o,i)=>({inputs:i,failures:[]}),diff:async()=>({changes:false}),create:async(i)=>({id:"x",outs:i}),update:async(i,o,n)=>({outs:n}),delete:async()=>{},read:async(id,p)=>({id,props:p})})';
class Idle extends pulumi.CustomResource {
  constructor(name, properties) {
    super("pulumi-nodejs:dynamic/bench:Idle", name, { __provider: provider, ...properties });
  }
}
const first = new Idle("bench", { name: "Bench" });
for (let i = 1; i < ${count}; i++) new Idle("team" + i, { organizationID: first.id, name: "Team " + i });
`;

/** A run in which nothing changes, beside one of resources that do nothing at all. */
export async function programs(count: number): Promise<Figure[]> {
  const platform = await Platform.start();
  const projects: Project[] = [];
  const up = ["up", "--yes", "--skip-preview"];
  try {
    for (const program of [ours(count), idle(count)]) {
      const project = await Project.of(`bench${projects.length}`, program, platform);
      projects.push(project);
      await project.run(...up);
    }
    const times: number[][] = projects.map(() => []);
    for (let round = 0; round < 5; round++) {
      for (const [index, project] of projects.entries()) times[index]?.push(await timed(() => project.run(...up)));
    }
    const [own = NaN, floor = NaN] = times.map(median);
    const job = `up of ${count} resources with nothing changed: time to that of idle ones`;
    return [figure(job, own / floor, "ratio", 1.15)];
  } finally {
    for (const project of projects) await project.remove();
    await platform.stop();
  }
}
