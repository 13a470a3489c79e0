import { afterEach, expect, test } from "@jest/globals";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator, type LoggedCall } from "../../emulator/index.ts";
import { isLong, sampleOf } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { eventually, hostOf, leftRunning } from "../harness/processes.ts";
import { configOf, Project } from "../harness/project.ts";

// One thing after the other, so that each kill meets what it is meant for.
const program = `
import { GeneratedApp, Organization, SeedRows, Team, TeamMember } from "pulumi-microapps";

const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" });
const members = ["ada", "grace", "kay"].map(
  (name) => new TeamMember(name, { teamID: crew.id, email: name + "@example.com", role: "member" }),
);
const cities = new SeedRows("cities", { table: "cities", key: "ID", source: "cities.csv" }, { dependsOn: members });
const atlas = new GeneratedApp(
  "atlas",
  { userEmail: "admin@example.com", appPrompt: "An atlas." },
  { dependsOn: cities },
);
export const app = atlas.ready;
`;
/** The same as a file, which a run of one process brings up: for `make test`, which kills it once. */
const file = `organizations:
  acme: { name: Acme, teams: { crew: { name: Crew, members: { ada@example.com: member, grace@example.com: member, kay@example.com: member } } } }
seeds: { cities: { table: cities, key: ID, source: cities.csv } }
apps: { atlas: { userEmail: admin@example.com, appPrompt: An atlas. } }
`;
const rowCount = 10_005; // two batches
const rows = Array.from({ length: rowCount }, (_, index) => `c${index},City ${index}`);

let project: Project;
let emulator: Emulator;
async function begin(hasProgram: boolean): Promise<void> {
  emulator = await createEmulator({
    seed: {
      tables: { cities: { fields: { ID: "text", Name: "text" } } },
      settings: { generationSeconds: isLong ? 3600 : 0 }, // a run that waits for an app is killed there
    },
  });
  emulator.saveSnapshot("start");
  const config = configOf(emulator, { email: "admin@example.com", password: "admin", apiKey: "dev-key" });
  project = await (hasProgram
    ? Project.running(program, config)
    : Project.declaring(config, { outputs: { apps: "${environment.apps}" } }));
  await project.write("dev.yaml", file);
  await project.write("cities.csv", ["ID,Name", ...rows].join("\n"));
  await project.succeed("stack init dev");
}
afterEach(async () => {
  await endedCleanly(project, emulator);
});

type Victim = "engine" | "host";
type Endpoint = LoggedCall["endpoint"];

/** Runs `up` until a call is with the platform, kills, and returns the output. */
async function killed(victims: readonly Victim[], endpoint: Endpoint, isThere: () => boolean): Promise<string> {
  // A host to kill is one in a process of its own.
  if (victims.includes("host")) project.environment["MICROAPPS_PROVIDER_PROCESS"] = "1";
  const up = project.start("up --yes --skip-preview");
  const host = victims.includes("host") ? await hostOf(up.pid) : 0;
  await eventually(`a call of ${endpoint}`, () => isThere() || undefined);
  for (const pid of [...(victims.includes("engine") ? [up.pid] : []), ...(victims.includes("host") ? [host] : [])])
    process.kill(pid, "SIGKILL");
  const { status, output } = await up.ended;
  expect(await leftRunning(project.folder)).toEqual([]);
  expect(status).toBe(victims.includes("engine") ? null : 1);
  if (!victims.includes("engine")) {
    expect(output).toContain("the provider process was killed by SIGKILL");
    expect(output).not.toMatch(/^\s+at /m);
    return output;
  }
  expect(await project.succeed("cancel --yes")).toBe("The lock of the stack 'dev' has been deleted.\n");
  return output;
}

/** The same, while the platform has carried out a call and the answer never comes. */
async function killedBeforeTheAnswer(victims: readonly Victim[], endpoint: Endpoint, after = 0): Promise<void> {
  emulator.setFaults({ faults: [{ kind: "timeout", commit: true, endpoint, after, count: 1 }] });
  await killed(victims, endpoint, () => emulator.calls({ endpoint }).some(({ fault }) => fault?.startsWith("timeout")));
  emulator.setFaults();
}

const added = (): Record<string, string[]> =>
  Object.fromEntries(emulator.differences("start").map(({ table, added }) => [table, added]));

const generations = (): number => emulator.calls({ endpoint: "createappwithprompt" }).length;

/** A lost generation may have made an app, and a second one would cost money: a person writes its link down. */
async function aPersonDecides(): Promise<void> {
  const stopped = await project.run("up --yes --skip-preview");
  expect(stopped.status).toBe(1);
  const folder = join(project.folder, ".state/pulumi-microapps/journal");
  const [name = ""] = await readdir(folder);
  const file = join(folder, name);
  expect(stopped.output).toMatch(/a generation of this app was started at \S+ and its answer never arrived, so it may/);
  expect(stopped.output).toContain(
    `Look in the workspace of admin@example.com: if it is there, write its link as "link" into its line of ${file}; ` +
      "if not, delete that line. Then run up again.",
  );
  expect(generations()).toBe(1);
  const link = `https://apps.example.com/workspace/apps/${added()["apps"]?.[0] ?? ""}`;
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => {
    return line.includes('"GeneratedApp"') ? JSON.stringify({ ...(JSON.parse(line) as object), link }) : line; // written by the provider
  });
  await writeFile(file, lines.join("\n"));
}

/** In the order in which a run makes the calls. */
const inOrder = (during: readonly Endpoint[]): readonly Endpoint[] => calls.filter((each) => during.includes(each));
const calls: readonly Endpoint[] = [
  "insertteam",
  "insertteammembers",
  "insertmicroapprows",
  "createappwithprompt",
  "createappwithpromptStatus",
];

/** The victims, and the calls during which they are killed: `make test` takes the first ones of both. */
const kills: [string, readonly Victim[], readonly Endpoint[]][] = [
  [
    "the engine",
    ["engine"],
    ["insertmicroapprows", "createappwithprompt", "insertteam", "insertteammembers", "createappwithpromptStatus"],
  ],
  ["the provider host", ["host"], ["createappwithprompt", "insertteammembers", "insertmicroapprows"]],
  ["both", ["engine", "host"], ["createappwithpromptStatus", "insertteam", "insertmicroapprows"]],
];
test.each(sampleOf(kills, 1))(
  "kill -9 of %s in the middle of a create: the next up goes on, and nothing is doubled",
  async (_, victims, during) => {
    await begin(isLong || victims.includes("host"));
    for (const endpoint of inOrder(sampleOf(during, 1))) {
      if (endpoint === "createappwithpromptStatus") {
        await killed(victims, endpoint, () => emulator.calls({ endpoint }).length > 0);
      } else {
        await killedBeforeTheAnswer(victims, endpoint, endpoint === "insertmicroapprows" ? 1 : 0);
        if (endpoint === "createappwithprompt") await aPersonDecides();
      }
    }
    emulator.advance(3_600_000); // the app is ready

    const told = await project.succeed("up --yes --skip-preview");
    expect(told).toContain(`https://apps.example.com/app/${added()["apps"]?.[0] ?? ""}`);
    const counts = Object.entries(added()).map(([table, ids]) => [table, ids.length]);
    // The platform adds a team of all members, and the administrator to both.
    const expected = { organizations: 1, teams: 2, members: 8, users: 3, rows: rowCount, apps: 1 };
    expect(Object.fromEntries(counts)).toEqual(expected);
    expect(generations()).toBe(1);
    const names = [...(await project.state()).keys()].map((name) => name.replace(/^.*\/|@.*/g, ""));
    expect(names.filter((name) => name !== "environment").toSorted()).toEqual(
      ["acme", "ada", "atlas", "atlas-ready", "cities", "crew", "grace", "kay"].toSorted(),
    );
    const since = emulator.lastCall();
    await project.succeed("preview --expect-no-changes");
    expect(emulator.calls({ since, mutating: true })).toEqual([]);
  },
);
