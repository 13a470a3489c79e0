import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { variableOf } from "../provider/pulumi/configuration/keys.ts";
import { type Figure, figure, median, timed } from "./measure.ts";
import { Platform } from "./platform.ts";

const repository = path.join(import.meta.dirname, "../..");
const project = (name: string): string =>
  `name: ${name}\nruntime: { name: nodejs, options: { typescript: false } }\nmain: index.mjs\nbackend: { url: "file://." }\n`;

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
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
  const run = async (where: string, ...words: string[]): Promise<void> => {
    const command = ["--no-warnings", path.join(repository, "dist/bundle/microapps.js"), ...words, "--stack", "dev"];
    const variables = Object.entries(platform.configuration).map(
      ([key, value]) => [variableOf(key.replace("microapps:", "")), value] as const,
    );
    const child = spawn(process.execPath, command, {
      cwd: where,
      env: {
        ...process.env,
        HOME: folder,
        PULUMI_CONFIG_PASSPHRASE: "bench",
        ...Object.fromEntries<string>(variables),
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [status] = (await once(child, "exit")) as [number | null]; // the event's first argument
    if (status !== 0) throw new Error(`${words.join(" ")} ended with ${String(status)}`);
  };
  try {
    const times: Record<string, number[]> = { ours: [], idle: [] };
    const places: [string, string][] = [];
    for (const [name, program] of [
      ["ours", ours(count)],
      ["idle", idle(count)],
    ] as const) {
      const where = await mkdtemp(path.join(folder, `${name}-`));
      await writeFile(path.join(where, "Pulumi.yaml"), project(name));
      await writeFile(path.join(where, "index.mjs"), program);
      await symlink(path.join(repository, "node_modules"), path.join(where, "node_modules"));
      await run(where, "stack", "init");
      await run(where, "up", "--yes", "--skip-preview");
      places.push([name, where]);
    }
    for (let round = 0; round < 5; round++) {
      for (const [name, where] of places)
        times[name]?.push(await timed(() => run(where, "up", "--yes", "--skip-preview")));
    }
    const ratio = median(times["ours"] ?? []) / median(times["idle"] ?? []);
    return [figure(`up of ${count} resources with nothing changed: time to that of idle ones`, ratio, "ratio", 1.15)];
  } finally {
    await rm(folder, { recursive: true, force: true });
    await platform.stop();
  }
}
