import { expect } from "@jest/globals";
import { prove, type TestPlatform } from "../testing/proofs.ts";

const refused = { code: "invalidRequest" };
const missing = { code: "notFound" };
const taken = { code: "conflict" };
const forbidden = { code: "forbidden" };
const organizationID = "acme";

const acme = ({ admin }: TestPlatform, rest: object = {}) =>
  admin.call("insertorganization", { organizationInfo: { _id: organizationID, name: "Acme" }, ...rest });
const organization = async ({ admin }: TestPlatform) =>
  (await admin.call("readorganization", { organizationID })).organization;
async function crew(stage: TestPlatform, rest: object = {}): Promise<string> {
  await acme(stage);
  const teamInfo = { organizationID, name: "Crew", description: "Runs it" };
  return (await stage.admin.call("insertteam", { teamInfo, ...rest })).teamID;
}
const team = async ({ admin }: TestPlatform, teamID: string) => (await admin.call("readteam", { teamID })).team;

prove("organizations", {
  insertorganization: async (stage) => {
    const made = await stage.admin.call("insertorganization", { organizationInfo: { name: "Acme" } });
    const read = await stage.admin.call("readorganization", made);
    expect(read.organization).toMatchObject({ _id: made.organizationID, name: "Acme" });
  },
  "insertorganization organizationInfo": async (stage) => {
    const organizationInfo = { _id: organizationID, name: "Acme", description: "Makes things" };
    expect(await stage.admin.call("insertorganization", { organizationInfo })).toEqual({ organizationID });
    expect(await organization(stage)).toMatchObject(organizationInfo);
    expect(await stage.admin.refused("insertorganization", {})).toMatchObject(refused);
    for (const info of [{ name: "Acme" }, { _id: organizationID, name: "Other" }]) {
      expect(await stage.admin.refused("insertorganization", { organizationInfo: info })).toMatchObject(taken);
    }
  },
  "insertorganization adminID": async (stage) => {
    await acme(stage, { adminID: "ada" });
    const change = { organizationID, organizationInfo: { name: "Ada's" } };
    await stage.ada.call("updateorganization", change);
    expect(await stage.bob.refused("updateorganization", change)).toMatchObject(forbidden);
  },
  "insertorganization: All Members": async (stage) => {
    await acme(stage);
    stage.emulator.saveSnapshot("now");
    const added = stage.emulator.differences("start").find(({ table }) => table === "teams")?.added ?? [];
    expect(await team(stage, added[0] ?? "")).toMatchObject({ organizationID, name: "All Members" });
    const teamID = added[0] ?? "";
    expect(await stage.admin.refused("deleteteam", { teamID })).toMatchObject(taken);
  },
  readorganization: async (stage) => {
    await acme(stage);
    expect(await organization(stage)).toMatchObject({ _id: organizationID, name: "Acme" });
    expect(await stage.ada.refused("readorganization", { organizationID })).toMatchObject(forbidden);
  },
  "readorganization organizationID": async (stage) => {
    await acme(stage);
    await organization(stage);
    expect(await stage.admin.refused("readorganization", {})).toMatchObject(refused);
    expect(await stage.admin.refused("readorganization", { organizationID: "none" })).toMatchObject(missing);
  },
  updateorganization: async (stage) => {
    await acme(stage);
    await stage.admin.call("updateorganization", { organizationID, organizationInfo: { description: "Makes all" } });
    expect(await organization(stage)).toMatchObject({ name: "Acme", description: "Makes all" });
  },
  "updateorganization organizationID": async (stage) => {
    await acme(stage);
    await stage.admin.call("updateorganization", { organizationID, organizationInfo: {} });
    const nowhere = { organizationID: "none", organizationInfo: {} };
    expect(await stage.admin.refused("updateorganization", nowhere)).toMatchObject(missing);
  },
  "updateorganization organizationInfo": async (stage) => {
    await acme(stage);
    await stage.admin.call("insertorganization", { organizationInfo: { name: "Other" } });
    const organizationInfo = { name: "Acme Ltd", description: "Makes all" };
    await stage.admin.call("updateorganization", { organizationID, organizationInfo });
    expect(await organization(stage)).toMatchObject(organizationInfo);
    expect(await stage.admin.refused("updateorganization", { organizationID })).toMatchObject(refused);
    const twin = { organizationID, organizationInfo: { name: "Other" } };
    expect(await stage.admin.refused("updateorganization", twin)).toMatchObject(taken);
  },
  deleteorganization: async (stage) => {
    await acme(stage);
    await stage.admin.call("deleteorganization", { organizationID });
    expect(await stage.admin.refused("readorganization", { organizationID })).toMatchObject(missing);
  },
  "deleteorganization organizationID": async (stage) => {
    await acme(stage);
    await stage.admin.call("deleteorganization", { organizationID });
    expect(await stage.admin.refused("deleteorganization", {})).toMatchObject(refused);
    expect(await stage.admin.refused("deleteorganization", { organizationID })).toMatchObject(missing);
  },
  "deleteorganization: dependencies": async (stage) => {
    const teamID = await crew(stage);
    expect(await stage.admin.refused("deleteorganization", { organizationID })).toMatchObject(taken);
    await stage.admin.call("deleteteam", { teamID });
    await stage.admin.call("deleteorganization", { organizationID });
  },
  insertteam: async (stage) => {
    const teamID = await crew(stage);
    expect(await team(stage, teamID)).toMatchObject({ _id: teamID, organizationID, name: "Crew" });
  },
  "insertteam teamInfo": async (stage) => {
    await acme(stage);
    const teamInfo = { _id: "t1", organizationID, name: "Crew", description: "Runs it" };
    expect(await stage.admin.call("insertteam", { teamInfo })).toEqual({ teamID: "t1" });
    expect(await team(stage, "t1")).toMatchObject(teamInfo);
    expect(await stage.admin.refused("insertteam", { teamInfo })).toMatchObject(taken);
    for (const info of [undefined, { name: "Crew" }, { organizationID }]) {
      expect(await stage.admin.refused("insertteam", { teamInfo: info })).toMatchObject(refused);
    }
    const nowhere = { teamInfo: { organizationID: "none", name: "Crew" } };
    expect(await stage.admin.refused("insertteam", nowhere)).toMatchObject(missing);
  },
  "insertteam adminID": async (stage) => {
    const teamID = await crew(stage, { adminID: "ada" });
    await stage.ada.call("updateteam", { teamID, teamInfo: { name: "Ada's" } });
    expect(await stage.bob.refused("updateteam", { teamID, teamInfo: {} })).toMatchObject(forbidden);
  },
  readteam: async (stage) => {
    expect(await team(stage, await crew(stage))).toMatchObject({ name: "Crew", description: "Runs it" });
  },
  "readteam teamID": async (stage) => {
    await team(stage, await crew(stage));
    expect(await stage.admin.refused("readteam", {})).toMatchObject(refused);
    expect(await stage.admin.refused("readteam", { teamID: "none" })).toMatchObject(missing);
  },
  updateteam: async (stage) => {
    const teamID = await crew(stage);
    await stage.admin.call("updateteam", { teamID, teamInfo: { name: "The crew" } });
    expect(await team(stage, teamID)).toMatchObject({ name: "The crew", description: "Runs it" });
  },
  "updateteam teamID": async (stage) => {
    await stage.admin.call("updateteam", { teamID: await crew(stage), teamInfo: {} });
    expect(await stage.admin.refused("updateteam", { teamID: "none", teamInfo: {} })).toMatchObject(missing);
  },
  "updateteam teamInfo": async (stage) => {
    const teamID = await crew(stage);
    const teamInfo = { name: "The crew", description: null };
    await stage.admin.call("updateteam", { teamID, teamInfo });
    expect(await team(stage, teamID)).toMatchObject(teamInfo);
    expect(await stage.admin.refused("updateteam", { teamID })).toMatchObject(refused);
  },
  deleteteam: async (stage) => {
    const teamID = await crew(stage);
    await stage.admin.call("deleteteam", { teamID });
    expect(await stage.admin.refused("readteam", { teamID })).toMatchObject(missing);
  },
  "deleteteam teamID": async (stage) => {
    await stage.admin.call("deleteteam", { teamID: await crew(stage) });
    expect(await stage.admin.refused("deleteteam", {})).toMatchObject(refused);
    expect(await stage.admin.refused("deleteteam", { teamID: "none" })).toMatchObject(missing);
  },
  "deleteteam: memberships": async (stage) => {
    const teamID = await crew(stage);
    await stage.admin.call("insertteammembers", { teamIDs: [teamID], userIDs: ["ada"] });
    expect(await stage.admin.refused("deleteteam", { teamID })).toMatchObject(taken);
    await stage.admin.call("deleteteammember", { teamID, userID: "ada" });
    await stage.admin.call("deleteteam", { teamID });
  },
});
