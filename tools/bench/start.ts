import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "yaml";
import {
  BenchPlatform,
  BenchProject,
  figure,
  findPulumiVersion,
  microapps,
  output,
  repository,
  run,
  type Figure,
  type Took,
} from "./stage.ts";

/** Tables of the example's platform, which the interface can't make. */
const seed = path.join(repository, "examples/environment/platform.yaml");

/** How much an unchanged preview of the example takes, as a project of files alone. */
async function preview(): Promise<Figure[]> {
  const { tables } = parse(readFileSync(seed, "utf8")) as { tables: object };
  const platform = await BenchPlatform.start(tables);
  const project = await BenchProject.make(platform, { example: "environment" });
  try {
    await project.up();
    await project.run("preview"); // what is compiled now is not compiled again
    const [first, processor]: [number[], number[]] = [[], []];
    for (let round = 0; round < 7; round++) {
      const bare = await run([process.execPath, "-e", "console.log(1)"]);
      const ours = await project.run("preview");
      first.push((ours.first - bare.first) * 1000);
      processor.push(ours.processor);
    }
    const named = "unchanged preview of examples/environment, files alone";
    return [
      figure(`${named}: processor time of all processes`, processor, "s", 0.5),
      figure(`${named}: first line later than that of a bare Node`, first, "ms", 150),
    ];
  } finally {
    await project.remove();
    await platform.stop();
  }
}

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

/** A run in which nothing changes, beside one of resources that do nothing at all: of the Pulumi CLI where there is one. */
async function unchanged(count: number): Promise<Figure[]> {
  const platform = await BenchPlatform.start();
  const version = await findPulumiVersion();
  const mine = await BenchProject.make(platform, { program: ours(count) });
  const others = await BenchProject.make(platform, { program: idle(count) }, version ? ["pulumi"] : microapps);
  try {
    await mine.up();
    await others.up();
    const [ratios, memories]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3; round++) {
      const { whole } = await others.up();
      const took = await mine.up();
      ratios.push(took.whole / whole);
      memories.push(took.memory);
    }
    const named = `${count.toLocaleString("en")} resources unchanged`;
    const beside = version ? `idle ones under Pulumi ${version}` : "idle ones under the embedded engine";
    return [
      figure(`${named}: time to that of ${beside}`, ratios, "ratio", version ? 0.3 : 1),
      figure(`${named}: peak memory`, memories, "MB", 200),
    ];
  } finally {
    for (const project of [mine, others]) await project.remove();
    await platform.stop();
  }
}

const list = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

const files = (rows: number, people: number, role: string, note: string): Record<string, string> => ({
  "Pulumi.yaml": "name: bench\nruntime: nodejs\nbackend: { url: file://. }\n",
  "environments.yaml": "prod: { file: prod.yaml }\n",
  "prod.yaml": `organizations:
  acme:
    name: Acme
    teams:
      crew:
        name: Crew
        members:
${list(people, (at) => `          p${at}@example.com: ${role}\n`)}seeds:
  cities: { table: cities, key: Code, source: cities.csv }
`,
  "cities.csv": `Code,Name,Note\n${list(rows, (at) => `K${at},Name ${at},${note} ${at}\n`)}`,
});

/** A report in which every row and every person changes. */
async function report(rows: number, people: number): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
  const write = async (contents: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(contents)) await writeFile(path.join(folder, name), text);
  };
  const git = (...words: string[]): Promise<string> =>
    output(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", ...words], folder);
  try {
    await git("init", "--quiet");
    await write(files(rows, people, "member", "before"));
    await git("add", "--all");
    await git("commit", "--quiet", "--message=first");
    await write(files(rows, people, "admin", "after"));
    const processor: number[] = [];
    for (let round = 0; round < 5; round++)
      processor.push(
        (await run([...microapps, "report", "--format", "md", "--output", "report.md"], folder)).processor,
      );
    const named = `report of ${rows.toLocaleString("en")} changed rows and ${people} people`;
    return [figure(`${named}: processor time`, processor, "s", 1)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the commands take that ask nobody, beyond a bare Node. */
async function commands(): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
  const env = { PULUMI_HOME: folder, PULUMI_CONFIG_PASSPHRASE: "bench" };
  const command = (words: string): Promise<Took> => run([...microapps, ...words.split(" ")], folder, env);
  try {
    for (const [name, text] of Object.entries(files(3, 3, "member", "some")))
      await writeFile(path.join(folder, name), text);
    for (const words of ["stack init dev", "config set user ada", "config set --secret key s3cr3t"])
      await command(words);
    const figures: Figure[] = [];
    for (const words of ["--help", "--version", "config", "stack ls", "environment check prod.yaml"]) {
      const beyond: number[] = [];
      for (let round = 0; round < 10; round++) {
        const { processor } = await command(words);
        beyond.push((processor - (await run([process.execPath, "-e", "0"])).processor) * 1000);
      }
      figures.push(figure(`microapps ${words}: processor time beyond a bare Node`, beyond, "ms", 150));
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How soon the commands are there that people wait for most. */
export const measureStart = async (resources: number): Promise<Figure[]> => [
  ...(await commands()),
  ...(await preview()),
  ...(await unchanged(resources)),
  ...(await report(resources * 5, resources / 10)),
];
