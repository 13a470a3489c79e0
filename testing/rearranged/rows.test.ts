import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { sampleOf } from "../harness/drawn.ts";
import { eventually } from "../harness/processes.ts";
import { runsInPulumi } from "../harness/project.ts";
import { kindNames, Scene, type Declared } from "./scene.ts";
import { offices, seed, twoTeams } from "./seeds.ts";

// Rows that others refer to, tables that are others now, and a platform that lost its data. `make test` tells it of files, which
// take a twentieth of the time of programs.

const up = "up --yes --skip-preview";
const all = { maxRemovals: 1 };

describe.each(sampleOf(kindNames, 1))("with %s:", (kind) => {
  const isOfFiles = kind === "files";
  let scene: Scene;
  beforeAll(async () => void (scene = await Scene.open(kind)));
  afterAll(async () => expect(await scene.close()).toEqual([]));
  const everything = async () => [await scene.rows("regions"), await scene.rows("offices")];
  const codes = async (table: string): Promise<string> => [...(await scene.rows(table)).keys()].toSorted().join("");
  const linkOfN = async (): Promise<string | undefined> => (await scene.rows("offices")).get("N")?.link;
  const brought = async (...seeds: ReturnType<typeof seed>[]): Promise<void> => {
    await scene.write({ seeds });
    await scene.project.succeed(up);
  };
  /** What is declared is refused by these commands with these words, and nothing changes. */
  async function refused(words: readonly string[], ...commands: string[]): Promise<void> {
    const rows = await everything();
    for (const command of commands) {
      const { status, output } = await scene.project.run(command);
      expect([command, status, output]).toEqual([command, expect.not.stringMatching(/^0$/), expect.any(String)]);
      expect(status).not.toBe(0);
      for (const word of words) expect(output).toContain(word);
      expect(output).not.toMatch(/^\s+at /m);
    }
    expect(await everything()).toEqual(rows);
  }

  describe("links", () => {
    const whole = [seed("depots", "NES"), offices("NE")];
    beforeEach(() => scene.begin({ seeds: whole }));

    test("a row that others refer to leaves neither with a preview nor without; put back, links lead to it", async () => {
      await scene.write({ seeds: [seed("depots", "ES"), offices("NE")] });
      await refused(["offices", "N"], "preview");
      const { status, output } = await scene.up();
      expect([status === 0, output]).toEqual([false, expect.stringMatching(/offices.*N/s)]);
      // The SDK passes later references to a seed, and a file knows all; without that, they are known too late.
      expect((await scene.rows("regions")).has("N")).toBe(kind !== "plugin");
      await brought(...whole);
      expect(await linkOfN()).toBe("N");
      await scene.isSettled();
    });

    test("a seed that others refer to does not leave unnoticed", async () => {
      const others = seed("others", "X");
      const references = { Region: { table: "regions", key: "Code" } };
      const byTable = seed("offices", "NE", { table: "offices", region: {}, more: { references } });
      await brought(seed("depots", "NES"), others, byTable);
      await scene.write({ seeds: [others, byTable] });
      await refused(["offices", "N"], up);
      await scene.write({ seeds: [seed("depots", "NES"), others, byTable] });
      await scene.isSettled();
    });

    test("a row and what refers to it leave and come back together", async () => {
      await brought(seed("depots", "ES"), offices("E"));
      expect(await codes("offices")).toBe("Etheirs");
      await brought(...whole);
      expect(await linkOfN()).toBe("N");
      await scene.isSettled();
    });

    test("a row that was removed by hand comes back, and what refers to it leads to it in the same run, or in the next one of a run that was killed", async () => {
      const { emulator, project } = scene;
      const remove = async (): Promise<void> => {
        await scene.client.removemicroapprow({ rowID: (await scene.rows("regions")).get("N")?.id ?? "" });
      };
      const comesBack = async (): Promise<void> => {
        await project.succeed(`${up} --refresh`);
        expect([(await scene.rows("regions")).has("N"), await linkOfN()]).toEqual([true, "N"]);
      };
      await remove();
      await comesBack();
      await remove();
      emulator.setFaults({ faults: [{ kind: "timeout", endpoint: "updatemicroapprow", count: 1 }] });
      const running = project.start(`${up} --refresh`);
      await eventually("the renewal of a link", () => emulator.faults().find(({ hit }) => hit > 0));
      process.kill(running.pid, "SIGKILL");
      await running.ended;
      emulator.setFaults();
      await project.succeed("cancel --yes");
      await comesBack();
      await scene.isSettled();
    });
  });

  // A generated SDK announces no later seeds.
  if (kind !== "plugin")
    test.each(["overwrite", "error"])(
      "rows that move to seeds above and are corrected there keep their IDs, with onConflict %s",
      async (onConflict) => {
        const giver = (codes: string) => seed("zeta", codes, { more: { onConflict } });
        await scene.begin({ seeds: [seed("known", "W"), giver("NES")] });
        const ids = async () => [...(await scene.rows("regions"))].map(([code, { id }]) => `${code} ${id}`).toSorted();
        const before = await ids();
        const corrected = { note: "corrected " };
        await scene.write({ seeds: [seed("made", "N", corrected), seed("known", "WE", corrected), giver("S")] });
        // The Pulumi CLI tells a program's provider what a state has where it reads it.
        const refresh = runsInPulumi && kind === "dynamic" ? ["--refresh"] : [];
        const preview = await scene.project.succeed("preview", ...refresh);
        expect(preview).toContain('1 to change ("W"), 1 to take over from another seed, changed where they differ');
        expect(preview).toContain("2 to leave to another seed");
        await scene.project.succeed(up, ...refresh);
        expect(await ids()).toEqual(before);
        expect((await scene.rows("regions")).get("E")?.values["Note"]).toBe("corrected E");
        await scene.isSettled();
      },
    );

  test("a table that is mistyped is found before anything is removed, and corrected again nothing was done", async () => {
    const right = { seeds: [seed("depots", "NES", { more: all }), offices("NE")] };
    await scene.begin(right);
    const rows = await everything();
    // A reference to the seed leads to its table.
    await scene.write({ seeds: [seed("depots", "NES", { table: "region", more: all })] });
    await refused(["region"], up);
    await scene.write(right);
    expect(await scene.calls(() => scene.project.succeed(up))).toEqual([]);
    expect(await everything()).toEqual(rows);
    await scene.isSettled();
  });

  if (!isOfFiles)
    test("a table and a key that come from what is replaced are the same ones afterwards: no row is touched", async () => {
      const rows = JSON.stringify(seed("", "NES").inputs.rows);
      const program = (organization: string): string => `
const acme = new Organization("acme", { name: "Acme" });
const apex = new Organization("apex", { name: "Apex" });
const crew = new Team("crew", { organizationID: ${organization}.id, name: "Crew" }, { deleteBeforeReplace: true });
const same = (text) => crew.id.apply(() => text);
seeds.push(new SeedRows("depots", { table: same("regions"), key: same("Code"), rows: ${rows} }));`;
      await scene.begin(program("acme"));
      const before = await scene.rows("regions");
      await scene.write(program("apex"));
      const calls = await scene.calls(() => scene.project.succeed("up --yes"));
      expect(calls.map(({ endpoint }) => endpoint).toSorted()).toEqual(["deleteteam", "insertteam"]);
      expect(await scene.rows("regions")).toEqual(before);
      await scene.isSettled();
    });

  test("rows go to another table before they leave the old one; many of them only when maxRemovals allows it", async () => {
    const many = "ABCDEFGHIJKL";
    await scene.begin({ seeds: [seed("depots", many)] });
    await scene.write({ seeds: [seed("depots", many, { table: "areas" })] });
    await refused(["maxRemovals"], "preview", up);
    await scene.write({ seeds: [seed("depots", many, { table: "areas", more: all })] }, 2);
    const ended = await scene.upKilledBetween(8);
    expect([ended.status, ended.output]).toEqual([0, ended.output]);
    expect([await codes("areas"), await codes("regions")]).toEqual([many, "theirs"]);
    await scene.isSettled();
  });

  describe("a platform that lost its data", () => {
    const program: Declared = { organizations: twoTeams, seeds: [seed("depots", "NES"), offices("NES")] };
    const lost = async (declared: Declared): Promise<void> => {
      await scene.begin(declared);
      scene.emulator.loadSnapshot("start");
    };
    const isBack = async (): Promise<void> => {
      const state = await scene.state();
      for (const [team, email] of Object.entries({ crew: "ada@example.com", yard: "kay@example.com" })) {
        const { teamMembers } = await scene.client.teammembers({ teamIDs: [state.get(team)?.id ?? ""] });
        expect(teamMembers.map((member) => member.email)).toContain(email);
      }
      expect(await codes("regions")).toBe("ENStheirs");
      const links = [...(await scene.rows("offices")).values()].map(({ link }) => link);
      expect(links.toSorted()).toEqual(["E", "N", "S", "theirs"]);
      await scene.isSettled();
    };

    test("comes back by up --refresh, and a preview says what it makes again", async () => {
      await lost(program);
      const steps = (await scene.project.steps("preview --refresh")).map((step) =>
        step.replace(/environment\/(.*\/)?/, ""),
      );
      const created = steps.filter((step) => step.startsWith("create ")).toSorted();
      const ada = isOfFiles ? "ada@example.com" : "ada";
      expect(created).toEqual(["acme", ada, "crew", "last", "roster", "yard"].map((name) => `create ${name}`));
      expect(steps).toEqual(expect.arrayContaining(["update depots", "update offices"]));
      await scene.project.succeed("up --yes --refresh");
      await isBack();
    });

    test("with more rows than maxRemovals lets go comes back where a person says that it lost them", async () => {
      await lost({ organizations: twoTeams, seeds: [seed("depots", "ABCDEFGHIJKL")] });
      const { status, output } = await scene.project.run(`${up} --refresh`);
      expect(status).not.toBe(0);
      expect(output).toContain("12 of 12 rows that were applied are not on the platform any more");
      expect(output).toContain(
        "run up --refresh once with MICROAPPS_LOST_DATA=true, which makes again all that is gone (see docs/guides/platform.md)",
      );
      scene.project.environment["MICROAPPS_LOST_DATA"] = "true";
      try {
        expect(await scene.project.succeed("preview --refresh")).toContain("12 gone");
        await scene.project.succeed(`${up} --refresh`);
      } finally {
        delete scene.project.environment["MICROAPPS_LOST_DATA"];
      }
      expect((await scene.rows("regions")).size).toBe(13);
      await scene.isSettled();
    });
  });
});
