import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { drawnFrom } from "../harness/drawn.ts";
import { kindNames, Scene, type KindName } from "./scene.ts";
import { offices, seed } from "./seeds.ts";

const many = "ABCDEFGHIJKL";

describe.each(drawnFrom(kindNames, "tables"))("with the %s provider:", (providerKind: KindName) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await Scene.open(providerKind)));
  afterAll(async () => expect(await scene.close()).toEqual([]));
  const codes = async (table: string): Promise<string> => [...(await scene.rows(table)).keys()].toSorted().join();

  test("a table that is mistyped is found before anything is removed, and corrected again nothing was done", async () => {
    await scene.begin(seed("depots", "NES", { more: "maxRemovals: 1, " }) + offices("NE"));
    const rows = [await scene.rows("regions"), await scene.rows("offices")];
    await scene.write(seed("depots", "NES", { table: "region", more: "maxRemovals: 1, " }) + offices("NE"));
    const { status, output } = await scene.up();
    expect(status).toBe(1);
    expect(output).toContain("region");
    expect([await scene.rows("regions"), await scene.rows("offices")]).toEqual(rows);
    await scene.write(seed("depots", "NES", { more: "maxRemovals: 1, " }) + offices("NE"));
    const calls = await scene.calls(() => scene.project.succeed("up --yes --skip-preview"));
    expect(calls.map(({ endpoint }) => endpoint)).toEqual([]);
    expect([await scene.rows("regions"), await scene.rows("offices")]).toEqual(rows);
    await scene.isSettled();
  });

  test("a table and a key that come from what is replaced are the same ones afterwards: no row is touched", async () => {
    const program = (organization: string): string => `
const acme = new Organization("acme", { name: "Acme" });
const apex = new Organization("apex", { name: "Apex" });
const crew = new Team("crew", { organizationID: ${organization}.id, name: "Crew" }, { deleteBeforeReplace: true });
const same = (text) => crew.id.apply(() => text);
${seed("depots", "NES").replace('table: "regions"', 'table: same("regions")').replace('key: "Code"', 'key: same("Code")')}`;
    await scene.begin(program("acme"));
    const before = await scene.rows("regions");
    await scene.write(program("apex"));
    const calls = await scene.calls(() => scene.project.succeed("up --yes"));
    expect(calls.map(({ endpoint }) => endpoint).toSorted()).toEqual(["deleteteam", "insertteam"]);
    expect(await scene.rows("regions")).toEqual(before);
    await scene.isSettled();
  });

  test("rows go to another table before they leave the old one; many of them only when maxRemovals allows it", async () => {
    await scene.begin(seed("depots", many));
    await scene.write(seed("depots", many, { table: "areas" }));
    const since = scene.emulator.lastCall();
    for (const command of ["preview", "up --yes --skip-preview"]) {
      const { status, output } = await scene.project.run(command);
      expect(status).toBe(1);
      expect(output).toContain("maxRemovals");
    }
    expect(scene.emulator.calls({ since, mutating: true })).toEqual([]);
    await scene.write(seed("depots", many, { table: "areas", more: "maxRemovals: 1, " }), 2);
    expect((await scene.upKilledBetween()).status).toBe(0);
    expect(await codes("areas")).toBe(many.split("").join());
    expect(await codes("regions")).toBe("theirs");
    await scene.isSettled();
  });
});
