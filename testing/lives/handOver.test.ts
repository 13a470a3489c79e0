import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";

const [ada, grace] = ["ada@example.com", "grace@example.com"];
const kinds = ["TeamMember", "TeamRoster"] as const;
type Kind = (typeof kinds)[number];
type Made = Awaited<ReturnType<Parameters<Parameters<typeof throughBothKinds>[1]>[0]["create"]>>;

/** Ada in one team, as each kind of resource declares her. */
const declarations = {
  TeamMember: (teamID: string) => ({ teamID, email: ada }),
  TeamRoster: (teamID: string) => ({ teamID, members: { [ada]: "member" } }),
};

throughBothKinds({}, (scene) => {
  const live = async (teamID: string): Promise<string[]> =>
    (await scene.client.teammembers({ teamIDs: [teamID] })).teamMembers.map(
      ({ email, userID }) => email ?? userID ?? "",
    );

  /** Creates a new resource as an engine does within one run. */
  const make = (kind: string, name: string, news: Record<string, unknown>): Promise<Made> =>
    scene.create(kind, news, name);
  /** The same with one that the state has, and that it replaces although nothing has changed. */
  const replace = async (kind: string, name: string, old: Made, news: Record<string, unknown>): Promise<Made> => {
    expect((await scene.host.as(name).check(kind, news, old.inputs)).problems).toEqual([]);
    return scene.create(kind, news);
  };
  const remove = (kind: string, name: string, { id, outputs }: Made): Promise<void> =>
    scene.host.as(name).delete(kind, id, outputs);
  const isQuiet = async (kind: string, name: string, { id, inputs, outputs }: Made): Promise<void> => {
    const { host } = scene;
    const seen = await host.as(name).read(kind, id, outputs);
    expect(seen).toMatchObject({ id });
    expect(await host.diff(kind, id, seen.outputs, (await host.check(kind, inputs, inputs)).inputs)).toMatchObject({
      changes: false,
    });
  };

  test.each<[string, (readonly [from: Kind, to: Kind])[]]>([
    ["objects", kinds.flatMap((from) => kinds.map((to) => [from, to] as const))],
    [
      "userIDs",
      [
        ["TeamRoster", "TeamMember"],
        ["TeamMember", "TeamRoster"],
      ],
    ],
  ])(
    "whoever is declared under another name, or by another kind of resource, stays (lists of %s)",
    async (form, ways) => {
      await scene.clear();
      await scene.set({ settings: { memberForm: form } });
      const { host } = scene;
      const organizationID = await scene.organization();
      for (const [from, to] of ways) {
        const what = `${from} to ${to}`;
        const teamID = await scene.team(organizationID, what);
        const old = await make(from, "before", declarations[from](teamID));
        const there = await live(teamID);
        await host.restart();
        const since = scene.emulator.lastCall();
        const made = await make(to, "after", declarations[to](teamID));
        await remove(from, "before", old);
        const calls = scene.emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint);
        expect([what, ...calls]).toEqual([what]);
        const said = `info: ${ada} stays a member of team ${teamID}: ${to} "after" declares that`;
        expect([what, ...host.told]).toContain(said);
        expect(await live(teamID)).toEqual(there);
        await isQuiet(to, "after", made);
        // Where nothing declares her any more, she goes.
        await host.destroy(to, made.id, made.outputs);
        expect(await live(teamID)).toHaveLength(there.length - 1);
      }
    },
  );

  test.each(kinds)("%s: a replacement that the engine orders keeps the members", async (kind: Kind) => {
    const { host } = scene;
    const teamID = await scene.team();
    const news = declarations[kind](teamID);
    const old = await make(kind, "it", news);
    const there = await live(teamID);
    await host.restart();
    let made: Made | undefined;
    const calls = await scene.calls(async () => {
      made = await replace(kind, "it", old, news);
      await remove(kind, "it", old);
    });
    expect(calls).toEqual([]);
    expect(await live(teamID)).toEqual(there);
    expect(host.told).toContain(`info: ${ada} stays a member of team ${teamID}: ${kind} "it" declares that`);
    await isQuiet(kind, "it", made ?? old);
    // Killed before: the next run only deletes.
    await host.restart();
    await isQuiet(kind, "it", made ?? old);
    expect(await scene.calls(() => remove(kind, "it", old))).toEqual([]);
    expect(await live(teamID)).toEqual(there);
  });

  test("the same user, named by ID instead of the address, stays", async () => {
    const teamID = await scene.team();
    const old = await make("TeamMember", "ada", { teamID, email: ada, role: "admin" });
    const { userID } = await scene.client.userid({ email: ada });
    await scene.host.restart();
    const made = await replace("TeamMember", "ada", old, { teamID, userID, role: "member" });
    expect(await scene.calls(() => remove("TeamMember", "ada", old))).toEqual([]);
    expect(made.id).toBe(old.id);
    expect(await live(teamID)).toContain(ada);
  });

  test("two members who change places are both there", async () => {
    const teamID = await scene.team();
    const [first, second] = [
      { teamID, email: ada },
      { teamID, email: grace },
    ];
    const a = await make("TeamMember", "a", first);
    const b = await make("TeamMember", "b", second);
    await scene.host.restart();
    for (const [name, { id, inputs, outputs }, other] of [
      ["a", a, second],
      ["b", b, first],
    ] as const) {
      const checked = await scene.host.as(name).check("TeamMember", other, inputs);
      await scene.host.diff("TeamMember", id, outputs, checked.inputs);
      await make("TeamMember", name, other);
    }
    await remove("TeamMember", "a", a);
    await remove("TeamMember", "b", b);
    expect(await live(teamID)).toEqual(["admin@example.com", ada, grace]);
  });
});
