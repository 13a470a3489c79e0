import { expect, test } from "@jest/globals";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { inOwnProcess, testInOwnProcess, throughBothKinds } from "../harness/bothKinds.ts";
import type { ProviderHost } from "../harness/providerHost.ts";

const tables = { regions: { fields: { Code: "text", Name: "text" } } };
type News = Record<string, unknown>;
type Made = { id: string; inputs: News; outputs: News };

throughBothKinds({ tables, users: [{ email: "ada@example.com" }] }, (scene) => {
  const check = (host: ProviderHost, name: string, news: News, olds: News = {}) =>
    host.as(name).check("SeedRows", news, olds);
  const make = async (host: ProviderHost, name: string, news: News): Promise<Made> => {
    const { inputs, problems } = await check(host, name, news);
    expect(problems).toEqual([]);
    return { inputs, ...(await host.create("SeedRows", inputs)) };
  };
  const codes = async (): Promise<string[]> =>
    (await scene.client.microappdata({ microAppID: "regions" })).microAppRows
      .map(({ Code }) => String(Code))
      .toSorted();
  const seed = (...names: string[]) => ({
    ...{ table: "regions", key: "Code", maxRemovals: 1 },
    rows: names.map((Code) => ({ Code, Name: Code })),
  });
  const refused = /nothing was removed, since this run has another provider of http:.*run destroy/;
  const marks = async (): Promise<string[]> =>
    await readdir(join(scene.host.folder, ".state/pulumi-microapps/running")).catch(() => []);

  test(
    inOwnProcess("beside a second provider of the run rows are added and changed, and none is removed"),
    async () => {
      const [old, gone] = [
        await make(scene.host, "seed", seed("EU", "US")),
        await make(scene.host, "gone", seed("AF")),
      ];
      const { pid } = scene.host;
      const isMarked = async () => (await marks()).some((name) => name.split("-").includes(String(pid)));
      expect(await isMarked()).toBe(true);
      await scene.host.restart("SIGINT");
      expect(await isMarked()).toBe(false);
      const other = await scene.host.beside();
      await check(other, "more", seed("AS"));
      const { inputs } = await check(scene.host, "seed", seed("EU", "AN"), old.inputs);
      await scene.host.diff("SeedRows", old.id, old.outputs, inputs);
      const { message, state } = await scene.failure(scene.host.update("SeedRows", old.id, old.outputs, inputs));
      expect(message).toMatch(refused);
      await expect(scene.host.as("gone").delete("SeedRows", gone.id, gone.outputs)).rejects.toThrow(refused);
      await make(other, "more", seed("AS"));
      expect(await codes()).toEqual(["AF", "AN", "AS", "EU", "US"]);
      // Killed, with its mark left behind, it is none any more.
      await scene.host.restart();
      await check(scene.host, "seed", seed("EU", "AN"), old.inputs);
      await scene.host.as("seed").update("SeedRows", old.id, state, inputs);
      await scene.host.as("gone").delete("SeedRows", gone.id, gone.outputs);
      expect(await codes()).toEqual(["AN", "AS", "EU"]);
    },
  );

  test(inOwnProcess("beside a second provider people and teams are added, and none is removed"), async () => {
    const crew = { organizationID: await scene.organization(), name: "Crew", forceDestroy: true };
    const { id: teamID, outputs } = await scene.create("Team", crew);
    const made = await scene.create("TeamMember", { teamID, email: "ada@example.com", role: "admin" }, "ada");
    await scene.host.restart();
    await check(await scene.host.beside(), "more", seed("AS"));
    await expect(scene.host.as("ada").delete("TeamMember", made.id, made.outputs)).rejects.toThrow(refused);
    await expect(scene.host.delete("Team", teamID, outputs)).rejects.toThrow(refused);
    const { teamMembers } = await scene.client.teammembers({ teamIDs: [teamID] });
    expect(teamMembers.map(({ email }) => email)).toContain("ada@example.com");
  });

  testInOwnProcess("a provider of another platform is none beside it", async () => {
    const old = await make(scene.host, "seed", seed("EU", "US"));
    await scene.host.restart();
    const elsewhere = await scene.host.beside({ "microapps:endpoint": "http://127.0.0.1:1" });
    await check(elsewhere, "seed2", seed("EU"));
    await check(scene.host, "other", seed("AF"));
    await scene.host.as("seed").delete("SeedRows", old.id, old.outputs);
    expect(await codes()).toEqual([]);
  });
});
