import { expect, test } from "@jest/globals";
import { testInOwnProcess, throughBothKinds } from "../harness/bothKinds.ts";
import { fileServer } from "../harness/fileServer.ts";

const ada = "ada@example.com";
const tables = { countries: { fields: { Code: "text", Flag: { type: "file", id: "flag" } } } };
type Made = Awaited<ReturnType<Parameters<Parameters<typeof throughBothKinds>[1]>[0]["create"]>>;
type News = Record<string, unknown>;

throughBothKinds({ tables }, (scene) => {
  const make = (type: string, name: string, news: News): Promise<Made> => scene.create(type, news, name);
  /** Compares as an engine does when nothing or something has changed. */
  const compare = async (type: string, name: string, old: Made, news: News) => {
    const { inputs, problems } = await scene.host.as(name).check(type, news, old.inputs);
    expect(problems).toEqual([]);
    return scene.host.diff(type, old.id, old.outputs, inputs);
  };
  /** The same, and then a replacement that the engine orders by itself. */
  const replace = async (type: string, name: string, old: Made, news: News, asksForDiff = true): Promise<Made> => {
    if (asksForDiff) await compare(type, name, old, news);
    else await scene.host.as(name).check(type, news, old.inputs);
    return scene.create(type, news);
  };
  const remove = (type: string, name: string, { id, outputs }: Made) => scene.host.as(name).delete(type, id, outputs);
  const teams = async (organizationID: string): Promise<string[]> => {
    const left = scene.client.deleteorganization({ organizationID }).then(
      () => [],
      (error: unknown) => (error as { dependants: { id: string }[] }).dependants.map(({ id }) => id), // a conflict
    );
    return left;
  };

  test.each([true, false])(
    "Team: a replacement that the engine orders makes a team of its own, its members follow (asks for a diff: %s)",
    async (asksForDiff) => {
      const { host } = scene;
      const organizationID = await scene.organization();
      const news = { organizationID, name: "Crew", adopt: true };
      const old = await make("Team", "crew", news);
      const member = await make("TeamMember", "ada", { teamID: old.id, email: ada });
      await host.restart();
      const lost = await replace("Team", "crew", old, news, asksForDiff);
      expect(lost.id).not.toBe(old.id);
      // Killed before the engine has saved it: the next run finds the same one.
      await host.restart();
      const made = await replace("Team", "crew", old, news, asksForDiff);
      expect(made.id).toBe(lost.id);
      expect(await compare("TeamMember", "ada", member, { teamID: made.id, email: ada })).toMatchObject({
        replaces: ["teamID"],
        deleteBeforeReplace: false,
      });
      const moved = await make("TeamMember", "ada", { teamID: made.id, email: ada });
      // Killed again: the next run only deletes.
      await host.restart();
      expect(await compare("Team", "crew", made, news)).toMatchObject({ changes: false });
      expect(await compare("TeamMember", "ada", moved, { teamID: made.id, email: ada })).toMatchObject({
        changes: false,
      });
      expect(await scene.calls(() => remove("TeamMember", "ada", member))).toEqual(["deleteteammember"]);
      expect(await scene.calls(() => remove("Team", "crew", old))).toEqual(["deleteteam"]);
      const { teamMembers } = await scene.client.teammembers({ teamIDs: [made.id] });
      expect(teamMembers.map(({ email }) => email)).toContain(ada);
      // Once more, and no third team is mistaken for the second.
      await host.restart();
      const again = await replace("Team", "crew", made, news);
      expect([old.id, made.id]).not.toContain(again.id);
      await scene.client.deleteteammember({ teamID: made.id, userID: moved.id.split("/")[1] ?? "" });
      await remove("Team", "crew", made);
      expect(await teams(organizationID)).toEqual([again.id]);
    },
  );

  testInOwnProcess(
    "Team: one that alone is replaced stays while it has members, who follow in the next run",
    async () => {
      const { host } = scene;
      const organizationID = await scene.organization();
      const news = { organizationID, name: "Crew" };
      const old = await make("Team", "crew", news);
      const member = await make("TeamMember", "ada", { teamID: old.id, email: ada });
      await host.restart("SIGINT");
      const made = await replace("Team", "crew", old, news);
      await expect(remove("Team", "crew", old)).rejects.toThrow(
        'team "Crew" was not deleted because it still has members: ada@example.com. It was replaced. Run up again, without --target-replace: its members follow, and then it goes.',
      );
      await host.restart();
      await compare("Team", "crew", made, news);
      await compare("TeamMember", "ada", member, { teamID: made.id, email: ada });
      await make("TeamMember", "ada", { teamID: made.id, email: ada });
      await remove("TeamMember", "ada", member);
      await remove("Team", "crew", old);
      expect(await teams(organizationID)).toEqual([made.id]);
      // A destroy meets no replacement.
      await host.restart("SIGINT");
      await expect(host.destroy("Team", made.id, made.outputs)).rejects.toThrow(
        "Remove them first, or set forceDestroy",
      );
    },
  );

  testInOwnProcess("Team: what is there for longer than a day is not taken without being told to", async () => {
    const organizationID = await scene.organization();
    const news = { organizationID, name: "Crew" };
    const old = await scene.daysAgo(2, () => make("Team", "crew", news));
    await scene.host.restart("SIGINT");
    await expect(make("Team", "crew", news)).rejects.toThrow(
      `${old.id} already exists on the platform and was not made within the last day. If an interrupted run made it, set adopt`,
    );
    await scene.host.restart();
    expect((await make("Team", "crew", { ...news, adopt: true })).id).toBe(old.id);
  });

  test("Team: a new one under the name that another one had before gets an ID of its own", async () => {
    const { host } = scene;
    const organizationID = await scene.organization();
    const news = { organizationID, name: "Crew" };
    const first = await make("Team", "crew", news);
    // Renamed by an alias, then one is declared under the old name, after the other one or before.
    await host.restart();
    expect(await compare("Team", "veterans", first, news)).toMatchObject({ changes: false });
    const second = await make("Team", "crew", news);
    expect(second.id).not.toBe(first.id);
    await host.restart();
    await compare("Team", "veterans", first, news);
    await remove("Team", "crew", second);
    expect(await teams(organizationID)).toEqual([first.id]);

    await host.restart();
    await expect(make("Team", "crew", { ...news, name: "New crew" })).rejects.toThrow(
      `${first.id} already exists on the platform with other content`,
    );
    expect(await teams(organizationID)).toEqual([first.id]);
  });

  test.each([true, false])(
    "Organization: it is kept when the engine replaces it (asks for a diff: %s)",
    async (asks) => {
      const { host } = scene;
      const old = await scene.daysAgo(9, () => make("Organization", "acme", { name: "Acme" }));
      await scene.team(old.id);
      await host.restart();
      const made = await replace("Organization", "acme", old, { name: "Acme & Co" }, asks);
      expect(made.id).toBe(old.id);
      expect(host.told.join()).toContain("is kept with its ID");
      expect(await scene.calls(() => remove("Organization", "acme", old))).toEqual([]);
      expect(host.told.at(-1)).toBe(
        `info: organization "Acme" stays: it can't be replaced, since a second one can't have its name`,
      );
      // Killed before: the next run finds it unchanged and spares it, too.
      await host.restart();
      expect(await compare("Organization", "acme", made, { name: "Acme & Co" })).toMatchObject({ changes: false });
      expect(await scene.calls(() => remove("Organization", "acme", old))).toEqual([]);
      expect((await scene.client.readorganization({ organizationID: old.id })).organization?.name).toBe("Acme & Co");
    },
  );

  test("RowFile: under another name it is taken over by adopt, and a replacement goes on with it", async () => {
    const { host, client } = scene;
    const files = await fileServer();
    try {
      const { rowID } = await client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "PT" } });
      const url = `${files.url}/pt.svg`;
      const news = { table: "countries", rowID, fieldID: "flag", url, store: false };
      const listed = async () => (await client.microappchildList({ appID: rowID, fieldID: "flag" })).childItems.length;
      const old = await make("RowFile", "flag", { ...news, type: "image/svg" });
      await host.restart();
      await expect(make("RowFile", "banner", { ...news, type: "image/png" })).rejects.toThrow(
        "Set adopt: true to take it over. If the resource was renamed, declare its old name with aliases.",
      );
      await host.restart();
      const made = await make("RowFile", "banner", { ...news, adopt: true });
      expect(made.id).toBe(old.id);
      expect(await scene.calls(() => remove("RowFile", "flag", old))).toEqual([]);
      expect(host.told.at(-1)).toBe(`info: "pt.svg" stays on row ${rowID}: RowFile "banner" declares it`);
      for (const asksForDiff of [true, false]) {
        await host.restart();
        const again = await replace("RowFile", "banner", made, news, asksForDiff);
        expect(again.id).toBe(old.id);
        expect(await scene.calls(() => remove("RowFile", "banner", made))).toEqual([]);
      }
      expect(await listed()).toBe(1);
      await host.destroy("RowFile", made.id, made.outputs);
      expect(await listed()).toBe(0);
    } finally {
      files.close();
    }
  });
});
