import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { drawnFrom } from "../harness/drawn.ts";
import { eventually } from "../harness/processes.ts";
import { kindNames, Scene, type KindName } from "./scene.ts";
import { offices, seed } from "./seeds.ts";

describe.each(drawnFrom(kindNames, "links"))("with the %s provider:", (providerKind: KindName) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await Scene.open(providerKind)));
  afterAll(async () => expect(await scene.close()).toEqual([]));
  const whole = seed("depots", "NES") + offices("NE");
  beforeEach(() => scene.begin(whole));

  const everything = async () => [await scene.rows("regions"), await scene.rows("offices")];

  /** The program is refused by each of these commands: they name what must be known, and change nothing. */
  async function refused(words: readonly string[], ...commands: string[]): Promise<void> {
    const rows = await everything();
    for (const command of commands) {
      const { status, output } = await scene.project.run(command);
      expect(`${String(status)}\n${output}`).not.toMatch(/^0\n/);
      for (const word of words) expect(output).toContain(word);
      expect(output).not.toMatch(/^\s+at /m);
    }
    expect(await everything()).toEqual(rows);
  }

  test("a row that others refer to leaves neither with a preview nor without; put back, links lead to it", async () => {
    await scene.write(seed("depots", "ES") + offices("NE"));
    await refused(["offices", "N"], "preview");
    const { status, output } = await scene.up();
    expect(`${String(status)}\n${output}`).not.toMatch(/^0\n/);
    for (const word of ["offices", "N"]) expect(output).toContain(word);
    // The SDK passes later references to a seed; without that, they are known too late.
    expect((await scene.rows("regions")).has("N")).toBe(providerKind === "dynamic");
    await scene.write(whole);
    await scene.project.succeed("up --yes --skip-preview");
    expect((await scene.rows("offices")).get("N")?.link).toBe("N");
    await scene.isSettled();
  });

  test("a seed that others refer to does not leave unnoticed", async () => {
    const other = seed("others", "X");
    const byTable = offices("NE").replace(/linked\(.*?\)\) /, '{ table: "regions", key: "Code" } ');
    await scene.write(seed("depots", "NES") + other + byTable);
    await scene.project.succeed("up --yes --skip-preview");
    await scene.write(other + byTable);
    await refused(["offices", "N"], "up --yes --skip-preview");
    await scene.write(seed("depots", "NES") + other + byTable);
    await scene.isSettled();
  });

  test("a row and what refers to it leave and come back together", async () => {
    await scene.write(seed("depots", "ES") + offices("E"));
    await scene.project.succeed("up --yes --skip-preview");
    expect([...(await scene.rows("offices")).keys()].toSorted()).toEqual(["E", "theirs"]);
    await scene.write(whole);
    await scene.project.succeed("up --yes --skip-preview");
    expect((await scene.rows("offices")).get("N")?.link).toBe("N");
    await scene.isSettled();
  });

  test("a row that was removed by hand comes back, and what refers to it leads to it in the same run, or in the next one of a run that was killed", async () => {
    const { emulator, project } = scene;
    const remove = async (): Promise<void> => {
      const rowID = (await scene.rows("regions")).get("N")?.id ?? "";
      await scene.client.removemicroapprow({ rowID });
    };
    const comesBack = async (): Promise<void> => {
      await project.succeed("up --yes --skip-preview --refresh");
      expect((await scene.rows("regions")).has("N")).toBe(true);
      expect((await scene.rows("offices")).get("N")?.link).toBe("N");
    };
    await remove();
    await comesBack();
    await remove();
    emulator.setFaults({ faults: [{ kind: "timeout", endpoint: "updatemicroapprow", count: 1 }] });
    const running = project.start("up --yes --skip-preview --refresh");
    await eventually("the renewal of a link", () => emulator.faults().find(({ hit }) => hit > 0));
    process.kill(running.pid, "SIGKILL");
    await running.ended;
    emulator.setFaults();
    await project.succeed("cancel --yes");
    await comesBack();
    await scene.isSettled();
  });
});
