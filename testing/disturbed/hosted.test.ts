import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hostOwn } from "../../cli/commands/hosting.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { childrenOf, eventually } from "../harness/processes.ts";
import { configOf, Project } from "../harness/project.ts";

// The code of its own that a dynamic resource of somebody else brings along.
const code = `exports.handler = () => ({ create: async ({ text }) => ({ id: "n1", outs: { text, by: process.pid } }) })`;
const program = `
import pulumi from "@pulumi/pulumi";
import { Organization, Team } from "pulumi-microapps";

const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" });
`;
const foreign = `
class Note extends pulumi.CustomResource {
  constructor(name, args, options) {
    super("pulumi-nodejs:dynamic:Resource", name, { ...args, by: undefined, __provider: ${JSON.stringify(code)} }, options);
  }
}
new Note("note", { text: crew.id });
`;

let project: Project;
let emulator: Emulator;
beforeEach(async () => {
  emulator = await createEmulator();
  emulator.saveSnapshot("start");
  project = await Project.running(program, configOf(emulator));
  await project.succeed("stack init dev");
});
afterEach(() => endedCleanly(project, emulator));

const organizations = (): number =>
  emulator.differences("start").find(({ table }) => table === "organizations")?.added.length ?? 0;

test("our provider works in the engine's process, and an engine that is ended at once doubles nothing", async () => {
  emulator.setFaults({ faults: [{ kind: "timeout", commit: true, endpoint: "insertorganization", count: 1 }] });
  const up = project.start("up --yes --skip-preview");
  await eventually("a call", () => emulator.calls({ endpoint: "insertorganization" })[0]);
  expect(childrenOf(up.pid).filter((command) => !command.includes("/cmd/run"))).toEqual([]);
  process.kill(up.pid, "SIGINT");
  await eventually("the first interrupt", () => up.printed().includes("Interrupt again"));
  process.kill(up.pid, "SIGINT");
  expect((await up.ended).status).toBe(1);
  emulator.setFaults();
  await project.run("cancel --yes");
  await project.succeed("up --yes --skip-preview");
  expect(organizations()).toBe(1);
});

test("a dynamic resource of others has a process of its own beside ours, and keeps its code", async () => {
  await project.write("index.js", program + foreign);
  const up = project.start("up --yes --skip-preview");
  expect((await up.ended).status).toBe(0);
  const { outputs = {} } = (await project.state()).get("note") ?? {};
  expect(outputs).toMatchObject({ text: expect.any(String) as unknown, by: expect.any(Number) as unknown });
  expect(outputs["by"]).not.toBe(up.pid);
  await project.succeed("preview --expect-no-changes");
  await project.succeed("destroy --yes --skip-preview");
  expect(organizations()).toBe(0);
});

test("another copy of the package, another plugin and a folder without any get processes of their own", async () => {
  const copy = join(project.folder, "app/node_modules/pulumi-microapps");
  await mkdir(copy, { recursive: true });
  await writeFile(join(copy, "package.json"), JSON.stringify({ name: "pulumi-microapps", version: "0.1.0" }));
  const asked = { engine: "127.0.0.1:1", log: () => undefined, recall: () => [] };
  for (const [plugin, workdir] of [
    [undefined, join(project.folder, "app")],
    [undefined, "/"],
    [copy, project.folder],
    [join(project.folder, "nowhere"), project.folder],
  ] as const) {
    expect(hostOwn({ ...asked, plugin, workdir })).toBeUndefined();
  }
});
