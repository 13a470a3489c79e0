import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { drawnKinds, testInLong } from "../harness/drawn.ts";
import { Scene } from "./scene.ts";
import { offices, seed, twoTeams } from "./seeds.ts";

const program = `${twoTeams}${seed("depots", "NES")}
${offices("NES")}`;

const many = `const acme = new Organization("acme", { name: "Acme" });\n${seed("depots", "ABCDEFGHIJKL")}`;

describe.each(drawnKinds("a platform that lost its data"))(
  "a platform that lost its data, with the %s provider:",
  (providerKind) => {
    let scene: Scene;
    beforeAll(async () => void (scene = await Scene.open(providerKind)));
    afterAll(async () => expect(await scene.close()).toEqual([]));
    beforeEach(async () => {
      await scene.begin(program);
      scene.emulator.loadSnapshot("start");
    });

    const isBack = async (): Promise<void> => {
      const state = await scene.project.state();
      const names = async (team: string): Promise<(string | undefined)[]> =>
        (await scene.client.teammembers({ teamIDs: [state.get(team)?.id ?? ""] })).teamMembers.map(
          ({ email }) => email,
        );
      expect(await names("crew")).toContain("ada@example.com");
      expect(await names("yard")).toContain("kay@example.com");
      expect([...(await scene.rows("regions")).keys()].toSorted()).toEqual(["E", "N", "S", "theirs"]);
      expect([...(await scene.rows("offices")).values()].map(({ link }) => link).toSorted()).toEqual([
        "E",
        "N",
        "S",
        "theirs",
      ]);
      await scene.isSettled();
    };

    test("comes back by up --refresh, and a preview says what it makes again", async () => {
      const planned = await scene.project.steps("preview --refresh");
      const created = planned.filter((step) => step.startsWith("create ")).toSorted();
      expect(created).toEqual(["acme", "ada", "crew", "last", "roster", "yard"].map((name) => `create ${name}`));
      expect(planned).toEqual(expect.arrayContaining(["update depots", "update offices"]));
      await scene.project.succeed("up --yes --refresh");
      await isBack();
    });

    testInLong("with more rows than maxRemovals lets go comes back where a person says that it lost them", async () => {
      await scene.begin(many);
      scene.emulator.loadSnapshot("start");
      const { status, output } = await scene.project.run("up --yes --refresh --skip-preview");
      expect(status).not.toBe(0);
      expect(output).toContain("12 of 12 rows that were applied are not on the platform any more");
      expect(output).toContain(
        "run up --refresh once with MICROAPPS_LOST_DATA=true, which makes again all that is gone (see docs/guides/platform.md)",
      );
      scene.project.environment["MICROAPPS_LOST_DATA"] = "true";
      try {
        const planned = await scene.project.succeed("preview --refresh");
        expect(planned).toContain("12 gone");
        await scene.project.succeed("up --yes --refresh --skip-preview");
      } finally {
        delete scene.project.environment["MICROAPPS_LOST_DATA"];
      }
      expect((await scene.rows("regions")).size).toBe(13);
      await scene.isSettled();
    });

    testInLong("comes back by refresh and up", async () => {
      await scene.project.succeed("refresh --yes");
      await scene.project.succeed("up --yes --skip-preview");
      await isBack();
    });

    testInLong("is told, with the way back, where a changed program is brought up first", async () => {
      await scene.write(program.replace('name: "Crew" }', 'name: "The crew" }').replaceAll("Name of", "Its name is"));
      const { status, output } = await scene.up();
      if (providerKind === "dynamic") {
        expect(status).not.toBe(0);
        expect(output).toContain(
          "is gone from the platform: run the same command with --refresh, which creates it again",
        );
        expect(output).not.toMatch(/did not wait for it[^.]*\.[^.]*\.[^I]*$/);
        await scene.project.succeed("up --yes --refresh --skip-preview");
      }
      await isBack();
    });
  },
);
