import { afterAll, beforeAll, beforeEach, describe, expect } from "@jest/globals";
import { drawnFrom, sampleStories } from "../harness/drawn.ts";
import { kindNames, Scene, type KindName } from "./scene.ts";
import { seed, twoTeams } from "./seeds.ts";

const program = `${twoTeams}${seed("depots", "NES")}`;
const all = ["acme", "crew", "yard", "ada", "roster", "depots"];

describe.each(drawnFrom(kindNames, "taint"))(
  "what a state calls tainted, with the %s provider:",
  (providerKind: KindName) => {
    const test = sampleStories();
    let scene: Scene;
    /** Milliseconds by which the platform's clock is behind. */
    let behind = 0;
    beforeAll(async () => void (scene = await Scene.open(providerKind, () => Date.now() - behind)));
    afterAll(async () => expect(await scene.close()).toEqual([]));
    beforeEach(() => scene.begin());

    /** As `pulumi state taint` does it. */
    const taint = async (...names: string[]): Promise<void> => {
      const { project } = scene;
      const state = JSON.parse(await project.stateText()) as {
        version: number;
        features?: string[];
        checkpoint: { latest: { resources: { urn: string; taint?: boolean }[] } };
      };
      for (const resource of state.checkpoint.latest.resources) {
        if (names.includes(resource.urn.split("::").at(-1) ?? "")) resource.taint = true;
      }
      Object.assign(state, { version: 4, features: [...(state.features ?? []), "taint"] });
      await project.write(".pulumi/stacks/tests/dev.json", JSON.stringify(state));
    };
    const members = async (name: string): Promise<(string | undefined)[]> => {
      const teamID = (await scene.project.state()).get(name)?.id ?? "";
      const { teamMembers } = await scene.client.teammembers({ teamIDs: [teamID] });
      return teamMembers.map(({ email }) => email).toSorted();
    };
    /** Nobody and nothing is lost, and no taint is left. */
    const isWhole = async (rows: unknown): Promise<void> => {
      expect(await scene.rows("regions")).toEqual(rows);
      expect(await members("crew")).toContain("ada@example.com");
      expect(await members("yard")).toContain("kay@example.com");
      expect(await scene.project.stateText()).not.toContain("taint");
      await scene.isSettled();
    };

    test("is replaced, and nothing that the program declares is lost; nor when the run is killed between", async () => {
      await scene.begin(program);
      const rows = await scene.rows("regions");
      await taint(...all);
      const planned = await scene.project.steps("preview");
      expect(planned.filter((step) => step.startsWith("replace ")).toSorted()).toEqual(
        all.map((name) => `replace ${name}`).toSorted(),
      );
      const taken = await scene.calls(() => scene.project.succeed("up --yes --skip-preview"));
      expect(taken.filter(({ endpoint }) => /row/.test(endpoint) && /^(delete|remove)/.test(endpoint))).toEqual([]);
      await isWhole(rows);

      await taint(...all);
      await scene.write(program, 2);
      await scene.upKilledBetween();
      await isWhole(rows);
    });

    test("a seed that says something else meanwhile takes over the rows that it had", async () => {
      await scene.begin(program);
      const regions = async () => {
        const { microAppRows } = await scene.client.microappdata({ microAppID: "regions" });
        return microAppRows.flatMap(({ _id, Code, Note }) => (typeof Code === "string" ? [[_id, Code, Note]] : []));
      };
      const before = await regions();
      await taint("depots");
      await scene.write(program.replace(seed("depots", "NES"), seed("depots", "NES", { note: "new " })), 2);
      if (providerKind === "dynamic") {
        // The dynamic provider does not learn what is to be replaced.
        const { status, output } = await scene.up();
        expect(`${String(status)}\n${output}`).not.toMatch(/^0\n/);
        expect(output).toContain("run the same command with --refresh");
        expect(await regions()).toEqual(before);
      }
      await scene.project.succeed(`up --yes --skip-preview${providerKind === "dynamic" ? " --refresh" : ""}`);
      const isOurs = (code: unknown): boolean => typeof code === "string" && "NES".includes(code);
      const after = before.map(([id, code, note]) => [id, code, isOurs(code) ? `new ${String(code)}` : note]);
      expect((await regions()).toSorted()).toEqual(after.toSorted());
      expect(await scene.project.stateText()).not.toContain("taint");
      await scene.isSettled();
    });

    test("a team that is older than a day is replaced, after a look at it", async () => {
      behind = 3 * 86_400_000;
      await scene.write(program);
      await scene.project.succeed("up --yes --skip-preview");
      behind = 0;
      const old = (await scene.project.state()).get("crew")?.id ?? "";
      const rows = await scene.rows("regions");
      await taint("crew");
      if (providerKind === "dynamic") {
        // The dynamic provider does not learn what is to be replaced.
        const before = await scene.project.stateText();
        const { status, output } = await scene.up();
        expect(`${String(status)}\n${output}`).not.toMatch(/^0\n/);
        expect(output).toContain("run the same command with --refresh");
        expect((await scene.project.state()).get("crew")?.id).toBe(old);
        expect(before).toContain(old);
      }
      await scene.project.succeed("up --yes --skip-preview --refresh");
      expect((await scene.project.state()).get("crew")?.id).not.toBe(old);
      await isWhole(rows);
    });
  },
);
