import { expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { throughBothKinds, type Scene } from "../harness/bothKinds.ts";

// Providers are started with it, so that no case depends on the day on which it runs.
process.env["MICROAPPS_TODAY"] = "2026-11-23";

const [caller, ada, eve, bob] = ["admin@example.com", "ada@example.com", "eve@example.com", "bob@example.com"];

async function live({ client }: Scene, teamID: string): Promise<string[]> {
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  return teamMembers.map(({ email = "" }) => email).toSorted();
}

const write = ({ host }: Scene, text: string): void => writeFileSync(join(host.folder, "people.csv"), text);

throughBothKinds({}, (scene) => {
  test("TeamRoster: whose last day has passed leaves, and who ends soon is named with the day", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const news = { teamID, members: { [ada]: "member", [eve]: "member", [bob]: "member" } };
    const made = await scene.create("TeamRoster", { ...news, until: { [eve]: "2026-11-23", [bob]: "2026-12-31" } });
    expect(await live(scene, teamID)).toEqual([ada, caller, bob, eve].toSorted());
    expect(host.told).toContain(`warning: ends soon as of 2026-11-23 (UTC): ${eve} until 2026-11-23, the last day`);

    host.told.length = 0;
    const later = { ...news, until: { [eve]: "2026-11-22", [bob]: "2026-12-31" } };
    const { inputs, problems } = await host.check("TeamRoster", later, made.inputs);
    expect(problems).toEqual([]);
    expect(await host.diff("TeamRoster", teamID, made.outputs, inputs)).toMatchObject({ changes: true });
    expect(host.told.join("\n")).toContain(`no longer a member as of 2026-11-23 (UTC): ${eve} until 2026-11-22`);
    const outputs = await host.update("TeamRoster", teamID, made.outputs, inputs);
    expect(await live(scene, teamID)).toEqual([ada, caller, bob].toSorted());

    host.told.length = 0;
    const again = await host.check("TeamRoster", later, inputs);
    expect(await host.diff("TeamRoster", teamID, outputs, again.inputs)).toMatchObject({ changes: false });
    expect(host.told.join("\n")).not.toContain(eve);
    expect(await host.read("TeamRoster", teamID, outputs)).toMatchObject({ outputs: { members: outputs["members"] } });
  });

  test("TeamRoster: ends that take too many at once are refused by the guard of the roster", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const names = Array.from({ length: 12 }, (_, at) => `p${at}@example.com`);
    const news = { teamID, members: Object.fromEntries(names.map((name) => [name, "member"])) };
    const made = await scene.create("TeamRoster", news);
    const until = Object.fromEntries(names.slice(0, 8).map((name) => [name, "2026-11-01"]));
    const { inputs } = await host.check("TeamRoster", { ...news, until }, made.inputs);
    await expect(host.diff("TeamRoster", teamID, made.outputs, inputs)).rejects.toThrow(/maxRemovals/);
    expect(await live(scene, teamID)).toHaveLength(13);
  });

  test("TeamRoster: mistakes of a file are named by their lines, before anything is sent", async () => {
    const { host, emulator } = scene;
    const teamID = await scene.team();
    const before = emulator.lastCall();
    const asked = async (text: string, more: object = {}): Promise<string[]> => {
      write(scene, text);
      return (await host.check("TeamRoster", { teamID, source: "people.csv", ...more })).problems;
    };
    const all = await asked(
      `email,role,until\n${ada},boss,\n${eve},,2026-02-30\n${bob},,\nBOB@example.com,admin,\nnobody,,\n`,
    );
    expect(all.join("\n")).toContain('people.csv:2: role is "boss": write admin or member');
    expect(all.join("\n")).toContain('people.csv:3: until is "2026-02-30": write a day of the calendar');
    expect(all.join("\n")).toContain("people.csv:5: BOB@example.com is at people.csv:4 as well");
    expect(all.join("\n")).toContain('people.csv:6: email is "nobody": write an e-mail address');
    expect((await asked(`email,untill\n${ada},2026-12-31\n`)).join()).toContain('did you mean "until"?');
    expect((await asked(`email,team\n${ada},crew\n`)).join()).toContain("say with team which one is meant");
    expect((await asked(`email,team\n${ada},crew\n`, { team: "crw" })).join()).toContain('did you mean "crew"?');
    expect((await asked(`email\n${ada}\n`, { members: { [eve]: "member" } })).join()).toContain(
      "either members or source",
    );
    const secret = await asked(`email,role\n${ada},boss\n`, { sensitive: true });
    expect(secret.join()).toContain("people.csv:2: role is missing or wrong");
    expect(secret.join()).not.toContain("boss");
    const strange = { teamID, members: { [ada]: "member" }, until: { [eve]: "2026-12-31" } };
    expect((await host.check("TeamRoster", strange)).problems.join()).toContain("is not among the members");
    expect(emulator.lastCall()).toBe(before);
  });

  test("TeamMember: leaves after the last day, stays out, and comes back with a new one", async () => {
    const { host } = scene;
    const teamID = await scene.team();
    const news = { teamID, email: eve, role: "member" };
    const made = await scene.create("TeamMember", { ...news, until: "2026-11-23" });
    expect(await live(scene, teamID)).toContain(eve);

    const ended = { ...news, until: "2026-11-22" };
    const { inputs } = await host.check("TeamMember", ended, made.inputs);
    expect(await host.diff("TeamMember", made.id, made.outputs, inputs)).toMatchObject({ changes: true, replaces: [] });
    const outputs = await host.update("TeamMember", made.id, made.outputs, inputs);
    expect(await live(scene, teamID)).toEqual([caller]);
    expect(await host.read("TeamMember", made.id, outputs)).toMatchObject({ id: made.id });
    const again = await host.check("TeamMember", ended, inputs);
    expect(await host.diff("TeamMember", made.id, outputs, again.inputs)).toMatchObject({ changes: false });

    const back = await host.check("TeamMember", { ...news, until: "2027-01-31" }, inputs);
    const diff = await host.diff("TeamMember", made.id, outputs, back.inputs);
    expect(diff).toMatchObject({ changes: true });
    expect(diff.replaces).not.toEqual([]);
    await host.destroy("TeamMember", made.id, outputs);
    expect(await scene.calls(() => host.create("TeamMember", back.inputs))).toEqual(["insertteammembers"]);
    expect(await live(scene, teamID)).toContain(eve);
  });

  test("TeamMember: who is declared after the last day is never added", async () => {
    const teamID = await scene.team();
    const news = { teamID, email: eve, until: "2026-11-01" };
    expect(await scene.calls(() => scene.create("TeamMember", news))).toEqual([]);
    expect(await live(scene, teamID)).toEqual([caller]);
  });
});
