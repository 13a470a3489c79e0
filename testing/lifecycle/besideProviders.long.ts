import { expect } from "@jest/globals";
import { testInOwnProcess, throughBothKinds } from "../harness/bothKinds.ts";
import type { ProviderHost } from "../harness/providerHost.ts";

const [ada, grace] = ["ada@example.com", "grace@example.com"];
const tables = { regions: { fields: { Code: "text", Name: "text" } } };
const users = [{ email: ada }, { email: grace }];
type News = Record<string, unknown>;
type Made = { id: string; inputs: News; outputs: News };

throughBothKinds({ tables, users }, (scene) => {
  const check = async (host: ProviderHost, name: string, type: string, news: News, olds: News = {}) => {
    host.resource = name;
    return host.check(type, news, olds);
  };
  const make = async (host: ProviderHost, name: string, type: string, news: News): Promise<Made> => {
    const { inputs, problems } = await check(host, name, type, news);
    expect(problems).toEqual([]);
    return { inputs, ...(await host.create(type, inputs)) };
  };
  /** The next run's two providers; the first one made the existing things. */
  const next = async (): Promise<[ProviderHost, ProviderHost]> => {
    await scene.host.restart();
    return [scene.host, await scene.host.beside()];
  };
  const removals = async (work: () => Promise<unknown>): Promise<string[]> =>
    (await scene.calls(work)).filter((endpoint) => /^(delete|remove)/.test(endpoint));
  const codes = async (): Promise<string[]> =>
    (await scene.client.microappdata({ microAppID: "regions" })).microAppRows
      .map(({ Code }) => String(Code))
      .toSorted();
  const seed = (...names: string[]) => ({
    table: "regions",
    key: "Code",
    rows: names.map((Code) => ({ Code, Name: Code })),
  });

  testInOwnProcess("what another provider of the run declares is not removed: members and rows", async () => {
    const teamID = await scene.team();
    const old = {
      ada: await make(scene.host, "ada", "TeamMember", { teamID, email: ada }),
      rows: await make(scene.host, "seed", "SeedRows", seed("EU", "US")),
    };
    const [one, two] = await next();
    await make(two, "ada2", "TeamMember", { teamID, email: "Ada@example.com" });
    await make(two, "seed2", "SeedRows", seed("US", "AF"));
    const remove = async (name: string, type: string, { id, outputs }: Made) => {
      one.resource = name;
      await one.delete(type, id, outputs);
    };
    expect(
      await removals(async () => {
        await remove("ada", "TeamMember", old.ada);
        await remove("seed", "SeedRows", old.rows);
      }),
    ).toEqual(["removemicroapprow"]);
    expect(await codes()).toEqual(["AF", "US"]);
    const { teamMembers } = await scene.client.teammembers({ teamIDs: [teamID] });
    expect(teamMembers.map(({ email }) => email)).toContain(ada);
    const told = one.told.join("\n");
    for (const name of ['TeamMember "ada2"', 'SeedRows "seed2"']) expect(told).toContain(name);
  });

  testInOwnProcess("rows that move to a seed of another provider are found or made there as they were", async () => {
    await scene.client.insertmicroapprow({ microAppID: "regions", rowData: { Code: "EU", Name: "EU" } });
    const old = await make(scene.host, "seed", "SeedRows", { ...seed("EU", "US", "AF"), maxRemovals: 1 });
    const [one, two] = await next();
    const { inputs } = await check(one, "seed", "SeedRows", { ...seed("AF"), maxRemovals: 1 }, old.inputs);
    const declared = (await check(two, "seed2", "SeedRows", seed("EU", "US"))).inputs;
    one.resource = "seed";
    await one.diff("SeedRows", old.id, old.outputs, inputs);
    two.resource = "seed2";
    const made = await two.create("SeedRows", declared);
    await one.update("SeedRows", old.id, old.outputs, inputs);
    const [, last] = await next();
    last.resource = "seed2";
    expect(await removals(() => last.delete("SeedRows", made.id, made.outputs))).toEqual(["removemicroapprow"]);
    expect(await codes()).toEqual(["AF", "EU"]);
  });

  testInOwnProcess("an update leaves the rows of another provider", async () => {
    const old = await make(scene.host, "seed", "SeedRows", { ...seed("EU", "US"), maxRemovals: 1 });
    const [one, two] = await next();
    await check(two, "seed2", "SeedRows", seed("US"));
    const update = async (name: string, type: string, { id, inputs: olds, outputs }: Made, news: News) => {
      const { inputs, problems } = await check(one, name, type, news, olds);
      expect(problems).toEqual([]);
      await one.diff(type, id, outputs, inputs);
      await one.update(type, id, outputs, inputs);
    };
    await update("seed", "SeedRows", old, { ...seed("EU"), maxRemovals: 1 });
    expect(await codes()).toEqual(["EU", "US"]);
  });

  testInOwnProcess(
    "a replacement with a provider of its own: the old provider spares what the new one goes on with",
    async () => {
      const old = {
        acme: await make(scene.host, "acme", "Organization", { name: "Acme" }),
        rows: await make(scene.host, "seed", "SeedRows", seed("EU", "US")),
      };
      const crew = await make(scene.host, "crew", "Team", { organizationID: old.acme.id, name: "Crew" });
      const member = await make(scene.host, "ada", "TeamMember", { teamID: crew.id, email: ada });
      const [one, two] = await next();
      /** Replaces as an engine does for a resource with a new provider: check decides it, without a diff. */
      const replace = async (name: string, type: string, { inputs }: Made, news: News): Promise<Made> => {
        expect((await check(two, name, type, news, inputs)).problems).toEqual([]);
        return make(two, name, type, news);
      };
      const acme = await replace("acme", "Organization", old.acme, { name: "Acme" });
      expect(acme.id).toBe(old.acme.id);
      await replace("seed", "SeedRows", old.rows, seed("EU", "US"));
      const team = await replace("crew", "Team", crew, { organizationID: acme.id, name: "Crew" });
      expect(team.id).not.toBe(crew.id);
      await replace("ada", "TeamMember", member, { teamID: team.id, email: ada });
      const remove = async (name: string, type: string, { id, outputs }: Made) => {
        one.resource = name;
        await one.delete(type, id, outputs);
      };
      expect(
        await removals(async () => {
          await remove("ada", "TeamMember", member);
          await remove("crew", "Team", crew);
          await remove("seed", "SeedRows", old.rows);
          await remove("acme", "Organization", old.acme);
        }),
      ).toEqual(["deleteteammember", "deleteteam"]);
      expect(await codes()).toEqual(["EU", "US"]);
      const { teamMembers } = await scene.client.teammembers({ teamIDs: [team.id] });
      expect(teamMembers.map(({ email }) => email)).toContain(ada);
    },
  );

  testInOwnProcess("two owners under two providers are refused before anything is sent, with both names", async () => {
    const other = await scene.host.beside();
    expect((await check(scene.host, "a", "TeamMember", { teamID: "t1", email: ada })).problems).toEqual([]);
    expect((await check(other, "b", "TeamMember", { teamID: "t1", email: "Ada@example.com" })).problems).toEqual([
      'email: TeamMember "a" declares Ada@example.com a member of team t1 as well. Keep one of them',
    ]);
    expect(
      (await check(scene.host, "r", "TeamRoster", { teamID: "t2", members: { [ada]: "admin" } })).problems,
    ).toEqual([]);
    expect((await check(other, "s", "TeamRoster", { teamID: "t2", members: { [grace]: "admin" } })).problems).toEqual([
      'teamID: TeamRoster "r" says who is in team t2 as well. Keep one of them',
    ]);
    expect((await check(scene.host, "x", "SeedRows", seed("EU", "US"))).problems).toEqual([]);
    expect((await check(other, "y", "SeedRows", seed("US", "AF"))).problems.join()).toContain(
      'SeedRows "x" declares these rows of table regions as well: rows[0] "US"',
    );
    // Another platform has people and rows of its own.
    const elsewhere = await scene.host.beside({ "microapps:endpoint": "http://127.0.0.1:1" });
    expect((await check(elsewhere, "c", "TeamMember", { teamID: "t1", email: ada })).problems).toEqual([]);
    expect((await check(elsewhere, "z", "SeedRows", seed("EU"))).problems).toEqual([]);
    expect(scene.emulator.calls()).toEqual([]);
  });
});
