import { type Figure, figure, runs } from "./measure.ts";
import { BenchPlatform } from "./platform.ts";
import { BenchProject } from "./project.ts";

/** A program of so many resources that nothing changes. */
export const ours = (count: number): string => `import { Organization, Team } from "pulumi-microapps";
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

/** Runs in which nothing changes, beside those of resources that do nothing at all. */
export async function programs(count: number, rounds: number, target: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start();
  const projects = await Promise.all(
    [ours(count), idle(count)].map((program) => BenchProject.make(platform, { program })),
  );
  const [mine, others] = projects as [BenchProject, BenchProject]; // one for each program
  try {
    for (const project of projects) await project.up();
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const { whole } = await others.up();
      ratios.push((await mine.up()).whole / whole);
    }
    const job = `up of ${count.toLocaleString("en")} resources with nothing changed: time to that of idle ones`;
    return [figure(job, runs(ratios), "ratio", target)];
  } finally {
    for (const project of projects) await project.remove();
    await platform.stop();
  }
}
