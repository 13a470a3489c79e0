import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { sampleOf } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { eventually } from "../harness/processes.ts";
import { configOf, Project } from "../harness/project.ts";

const program = `
import { Organization, Team } from "pulumi-microapps";

const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" });
new Team("support", { organizationID: acme.id, name: "Support" }, { dependsOn: crew });
`;

const file = "organizations: { acme: { name: Acme, teams: { crew: { name: Crew }, support: { name: Support } } } }\n";
/** One thing after the other. */
const up = "up --yes --skip-preview --parallel 1";

describe.each(sampleOf(["files", "a program"], 1))("of %s:", (kind) => {
  let project: Project;
  let emulator: Emulator;
  beforeEach(async () => {
    emulator = await createEmulator();
    const config = configOf(emulator);
    project = await (kind === "files" ? Project.declaring(config) : Project.running(program, config));
    await project.write("dev.yaml", file);
    await project.succeed("stack init dev");
  });
  afterEach(async () => {
    await endedCleanly(project, emulator);
  });
  const made = async (): Promise<string[]> =>
    [...(await project.state()).keys()]
      .filter((name) => name !== "environment")
      .map((name) => name.replace(/^.*\//, ""));

  const locks = (): Promise<string[]> => readdir(join(project.folder, ".pulumi/locks/organization/tests/dev"));

  /** Waits until the first team is being created, which takes a while, so that the run is in its midst. */
  const inItsMidst = () => eventually("a call of insertteam", () => emulator.faults().some(({ hit }) => hit > 0));

  test("of two runs on one stack the second is refused with the lock's owner, and the first goes on", async () => {
    emulator.setFaults({ faults: [{ kind: "slow", milliseconds: 1_000, endpoint: "insertteam", count: 1 }] });
    const first = project.start(up);
    await inItsMidst();
    process.kill(first.pid, "SIGSTOP"); // however long the others take
    expect((await project.run("preview")).status).toBe(0); // which needs no lock
    const second = await project.run("up --yes");
    expect(second.status).toBe(1);
    expect(second.output.replaceAll(/\S+\.json|\S+@\S+|\d{4}-\S+Z/g, "…")).toBe(
      "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock with 'microapps cancel dev'.\n" +
        `  …: created by … (pid ${first.pid}) at …\n`,
    );
    process.kill(first.pid, "SIGCONT");
    expect((await first.ended).status).toBe(0);
    expect(await made()).toEqual(["acme", "crew", "support"]);
    expect(emulator.calls({ endpoint: "insertteam" })).toHaveLength(2);
    expect(await locks()).toEqual([]);
  });

  test.each(sampleOf(["SIGINT", "SIGTERM"] as const, 1))(
    "%s: what runs ends and is saved, nothing new begins, and the next up finishes",
    async (signal) => {
      emulator.setFaults({ faults: [{ kind: "slow", milliseconds: 2_000, endpoint: "insertteam", count: 1 }] });
      const running = project.start(up);
      await inItsMidst();
      process.kill(running.pid, signal);
      const { status, output } = await running.ended;
      expect(output).toContain("Interrupted: operations in progress will complete and be saved");
      expect(output).toContain("error: update canceled");
      expect(output).not.toMatch(/^\s+at /m);
      expect(status).toBe(1);
      expect(await locks()).toEqual([]);
      expect(await made()).toEqual(["acme", "crew"]);
      expect(emulator.calls({ endpoint: "insertteam" })).toHaveLength(1);

      const steps = (await project.steps(up)).filter((step) => !step.startsWith("refresh"));
      expect(steps).toEqual([expect.stringMatching(/^create (.*\/)?support$/)]);
      expect(emulator.calls({ endpoint: "insertteam" })).toHaveLength(2);
    },
  );
});
