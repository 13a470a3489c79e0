import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { sampleOf } from "../harness/drawn.ts";
import { childOf, eventually, hostOf, leftRunning } from "../harness/processes.ts";
import { Project, repository } from "../harness/project.ts";

const rowCount = 200_000; // twenty batches

let emulator: Emulator;
let engine: ChildProcess | undefined;
let folder: string;
let printed: string;
beforeEach(async () => {
  emulator = await createEmulator({ seed: { tables: { cities: { fields: { ID: "text", Name: "text" } } } } });
  emulator.setFaults({ faults: [{ endpoint: "insertmicroapprows", kind: "slow", milliseconds: 500 }] });
});
afterEach(async () => {
  engine?.kill("SIGKILL");
  const left = await leftRunning(folder);
  await rm(folder, { recursive: true, force: true });
  await emulator.close();
  expect(left).toEqual([]);
});

const config = (): Record<string, string> => ({
  "microapps:endpoint": emulator.url,
  "microapps:email": "admin@example.com",
  "microapps:password": "admin",
});

/** Starts an engine that writes rows; its process ID once some are written. */
async function writing(providerKind: string, shells: number): Promise<number> {
  const program = join(import.meta.dirname, "doomedEngine.js");
  const given = [program, providerKind, String(shells), JSON.stringify(config()), String(rowCount)];
  const child = spawn(process.execPath, given, { stdio: ["ignore", "pipe", "inherit"] });
  engine = child;
  printed = "";
  const lines = createInterface({ input: child.stdout });
  [folder] = (await once(lines, "line")) as [string]; // the event's only argument
  lines.on("line", (line) => (printed += line));
  await eventually("a batch", () => inserts()[0]);
  return child.pid ?? 0;
}

const inserts = (): number[] => emulator.calls({ endpoint: "insertmicroapprows" }).map(({ time }) => time);

/** Kills a process, and returns once no process is left in the project's folder. */
async function kill(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  expect(await leftRunning(folder)).toEqual([]);
}

/** A provider that lived on would have written all batches before it ended. */
function expectUnfinished(): void {
  expect(inserts().length).toBeGreaterThan(0);
  expect(inserts().length).toBeLessThan(rowCount / 10_000);
}

test.each(
  sampleOf<[string, number]>(
    [
      ["dynamic", 1],
      ["plugin", 0],
      ["dynamic", 0],
      ["plugin", 2],
    ],
    1,
  ),
)("kill -9 of the engine ends the %s provider behind %d shells", async (providerKind, shells) => {
  await kill(await writing(providerKind, shells));
  expectUnfinished();
});

test.each(sampleOf(["plugin", "dynamic"], 1))(
  "so does kill -9 of the shell that has started it, and the engine saves what is done: %s",
  async (providerKind) => {
    await kill(childOf(await writing(providerKind, 1)));
    expectUnfinished();
    await eventually("the answer", () => printed.includes("the run was cancelled; the next one goes on") || undefined);
  },
);

test.each(
  sampleOf(
    [
      ["plugin", "plugin/start.js"],
      ["dynamic", "dynamic-provider"],
    ],
    1,
  ),
)("a %s provider that was asked nothing yet ends with the embedded engine", async (providerKind, command) => {
  const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
  const program = "setInterval(() => undefined, 1_000); await new Promise(() => undefined);";
  const project = await Project.running(program, config(), providerKind === "plugin" ? { plugins } : {});
  ({ folder } = project);
  await project.succeed("stack init dev");
  project.environment["MICROAPPS_PROVIDER_PROCESS"] = "1";
  const up = project.start("up --yes --skip-preview");
  await hostOf(up.pid, command); // just started: none of our code is loaded in the host of dynamic resources
  await kill(up.pid);
  await up.ended;
  await project.remove();
  expect(emulator.calls()).toEqual([]);
});
