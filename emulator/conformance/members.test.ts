import { expect } from "@jest/globals";
import { enter } from "../testing/doors.ts";
import { part, prove, type TestPlatform } from "../testing/proofs.ts";

const refused = { code: "invalidRequest" };
const missing = { code: "notFound" };
const forbidden = { code: "forbidden" };
const organizationID = "acme";
const teamID = "crew";
const ada = { teamID, userID: "ada" };

/** Three teams, the first with Ada in it. */
async function teams({ admin }: TestPlatform) {
  await admin.call("insertorganization", { organizationInfo: { _id: organizationID, name: "Acme" } });
  for (const _id of [teamID, "support", "sales"]) {
    await admin.call("insertteam", { teamInfo: { _id, organizationID, name: _id } });
  }
  await admin.call("insertteammembers", { teamIDs: [teamID], emails: ["ada@example.com"] });
}
/** Members of a team, its administrator not counted. */
async function members({ admin }: TestPlatform, id = teamID): Promise<unknown[]> {
  const { teamMembers } = await admin.call("teammembers", { teamIDs: [id] });
  return teamMembers.map(({ email }) => email?.split("@")[0]).filter((name) => name !== "admin");
}
const member = async ({ admin }: TestPlatform, named: object = ada) =>
  (await admin.call("readteammember", named)).teamMember;
const memberID = async (stage: TestPlatform) => String(part(await member(stage), "teamMemberID"));
const invite = ({ admin }: TestPlatform, request: object) =>
  admin.call("insertteammembers", { teamIDs: [teamID], ...request });

/** Makes Ada an administrator, named in some way. */
async function promoted(stage: TestPlatform, named: object): Promise<unknown> {
  await stage.admin.call("updateteammember", { ...named, role: "admin" });
  return part(await member(stage), "role");
}

async function removed(stage: TestPlatform, named: object): Promise<unknown[]> {
  await stage.admin.call("deleteteammember", named);
  return members(stage);
}

prove("members", {
  insertteammembers: async (stage) => {
    await teams(stage);
    await invite(stage, { userIDs: ["bob"] });
    expect(await members(stage)).toEqual(expect.arrayContaining(["ada", "bob"]));
    expect(await member(stage, { teamID, userID: "bob" })).toMatchObject({ role: "member" });
  },
  "insertteammembers teamIDs": async (stage) => {
    await teams(stage);
    await invite(stage, { teamIDs: ["support", "sales"], emails: ["bob@example.com"] });
    expect([await members(stage, "support"), await members(stage, "sales")]).toEqual([["bob"], ["bob"]]);
    const of = (teamIDs: string[]) => ({ teamIDs, userIDs: ["bob"] });
    expect(await stage.admin.refused("insertteammembers", of([]))).toMatchObject(refused);
    expect(await stage.admin.refused("insertteammembers", of(["none"]))).toMatchObject(missing);
  },
  "insertteammembers emails": async (stage) => {
    await teams(stage);
    await invite(stage, { emails: ["new@example.com"] });
    expect(await members(stage)).toContain("new");
    const nobody = { teamIDs: [teamID], emails: [], userIDs: [] };
    expect(await stage.admin.refused("insertteammembers", nobody)).toMatchObject(refused);
  },
  "insertteammembers userIDs": async (stage) => {
    await teams(stage);
    await invite(stage, { userIDs: ["bob"] });
    expect(await members(stage)).toContain("bob");
    const nobody = { teamIDs: [teamID], userIDs: ["none"] };
    expect(await stage.admin.refused("insertteammembers", nobody)).toMatchObject(missing);
  },
  "insertteammembers targetRoute": async (stage) => {
    await teams(stage);
    await invite(stage, { userIDs: ["bob"], targetRoute: "app" });
    const wrong = { teamIDs: [teamID], userIDs: ["bob"], targetRoute: "home" };
    expect(await stage.admin.refused("insertteammembers", wrong)).toMatchObject(refused);
  },
  "insertteammembers targetInitialApp": async (stage) => {
    await teams(stage);
    await invite(stage, { userIDs: ["bob"], targetRoute: "app", targetInitialApp: "a1" });
    expect(await members(stage)).toContain("bob");
  },
  "insertteammembers targetInitialScreen": async (stage) => {
    await teams(stage);
    await invite(stage, { userIDs: ["bob"], targetInitialApp: "a1", targetInitialScreen: "s1" });
    expect(await members(stage)).toContain("bob");
  },
  "insertteammembers role": async (stage) => {
    await teams(stage);
    const request = { teamIDs: [teamID], userIDs: ["bob"], role: "admin" };
    expect(await stage.admin.refused("insertteammembers", request)).toMatchObject(refused);
    // The typed client sends no role at all.
    const plain = enter("first form", stage.emulator.url, { email: "admin@example.com", password: "admin" });
    expect(await plain.refused("insertteammembers", request)).toMatchObject(refused);
    expect(await members(stage)).not.toContain("bob");
  },
  "insertteammembers: administrators": async (stage) => {
    await teams(stage);
    const request = { teamIDs: [teamID], userIDs: ["bob"] };
    expect(await stage.ada.refused("insertteammembers", request)).toMatchObject(forbidden);
    await promoted(stage, ada);
    await stage.ada.call("insertteammembers", request);
    expect(await members(stage)).toContain("bob");
  },
  teammembers: async (stage) => {
    await teams(stage);
    expect(await members(stage)).toEqual(["ada"]);
    stage.settings.memberForm = "ids";
    const { teamMembers } = await stage.admin.call("teammembers", { teamIDs: [teamID] });
    const ids = (teamMembers as unknown[]).map((one) => (typeof one === "string" ? one : part(one, "userID")));
    expect(ids).toContain("ada");
  },
  "teammembers teamIDs": async (stage) => {
    await teams(stage);
    const { teamMembers } = await stage.admin.call("teammembers", { teamIDs: [teamID, "support"] });
    expect(new Set(teamMembers.map((one) => one.teamID))).toEqual(new Set([teamID, "support"]));
    expect(await stage.admin.refused("teammembers", {})).toMatchObject(refused);
    expect(await stage.admin.refused("teammembers", { teamIDs: ["none"] })).toMatchObject(missing);
  },
  readteammember: async (stage) => {
    await teams(stage);
    expect(await member(stage)).toMatchObject({ ...ada, email: "ada@example.com", role: "member" });
  },
  "readteammember teamMemberID": async (stage) => {
    await teams(stage);
    expect(await member(stage, { teamMemberID: await memberID(stage) })).toMatchObject(ada);
    expect(await stage.admin.refused("readteammember", { teamMemberID: "none" })).toMatchObject(missing);
  },
  "readteammember teamID": async (stage) => {
    await teams(stage);
    expect(await member(stage)).toMatchObject(ada);
    expect(await stage.admin.refused("readteammember", { teamID })).toMatchObject(refused);
  },
  "readteammember userID": async (stage) => {
    await teams(stage);
    expect(await member(stage)).toMatchObject(ada);
    expect(await stage.admin.refused("readteammember", { teamID, userID: "bob" })).toMatchObject(missing);
  },
  updateteammember: async (stage) => {
    await teams(stage);
    expect(await promoted(stage, ada)).toBe("admin");
    expect(await stage.bob.refused("updateteammember", { ...ada, role: "member" })).toMatchObject(forbidden);
  },
  "updateteammember teamMemberID": async (stage) => {
    await teams(stage);
    expect(await promoted(stage, { teamMemberID: await memberID(stage) })).toBe("admin");
  },
  "updateteammember teamID": async (stage) => {
    await teams(stage);
    expect(await promoted(stage, ada)).toBe("admin");
    const elsewhere = { teamID: "support", userID: "ada", role: "admin" };
    expect(await stage.admin.refused("updateteammember", elsewhere)).toMatchObject(missing);
  },
  "updateteammember userID": async (stage) => {
    await teams(stage);
    expect(await promoted(stage, ada)).toBe("admin");
    expect(await stage.admin.refused("updateteammember", { teamID, role: "admin" })).toMatchObject(refused);
  },
  "updateteammember role": async (stage) => {
    await teams(stage);
    await stage.admin.call("updateteammember", { ...ada, role: "admin" });
    await stage.admin.call("updateteammember", { ...ada, role: "member" });
    expect(await member(stage)).toMatchObject({ role: "member" });
    for (const role of [undefined, "king"]) {
      expect(await stage.admin.refused("updateteammember", { ...ada, role })).toMatchObject(refused);
    }
  },
  "updateteammember: nothing else": async (stage) => {
    await teams(stage);
    const before = await member(stage);
    const request = { ...ada, role: "member" as const };
    // The client refuses to send what would be lost.
    const more = stage.door === "client" ? {} : { email: "eve@example.com", _id: "other" };
    await stage.admin.call("updateteammember", { ...request, ...more });
    expect(await member(stage)).toEqual(before);
  },
  deleteteammember: async (stage) => {
    await teams(stage);
    expect(await removed(stage, ada)).toEqual([]);
    expect(await stage.admin.refused("deleteteammember", ada)).toMatchObject(missing);
  },
  "deleteteammember teamMemberID": async (stage) => {
    await teams(stage);
    expect(await removed(stage, { teamMemberID: await memberID(stage) })).toEqual([]);
  },
  "deleteteammember teamID": async (stage) => {
    await teams(stage);
    expect(await stage.admin.refused("deleteteammember", { ...ada, teamID: "support" })).toMatchObject(missing);
    expect(await removed(stage, ada)).toEqual([]);
  },
  "deleteteammember userID": async (stage) => {
    await teams(stage);
    expect(await stage.admin.refused("deleteteammember", { teamID })).toMatchObject(refused);
    expect(await removed(stage, ada)).toEqual([]);
  },
  enforceteammembership: async (stage) => {
    await teams(stage);
    await stage.admin.call("enforceteammembership", { teamIDs: ["support", "sales"], email: "ada@example.com" });
    const lists = [await members(stage), await members(stage, "support"), await members(stage, "sales")];
    expect(lists).toEqual([[], ["ada"], ["ada"]]);
  },
  "enforceteammembership teamIDs": async (stage) => {
    await teams(stage);
    await stage.admin.call("enforceteammembership", { teamIDs: [], userID: "ada" });
    expect(await members(stage)).toEqual([]);
    const nowhere = { teamIDs: ["none"], userID: "ada" };
    expect(await stage.admin.refused("enforceteammembership", nowhere)).toMatchObject(missing);
  },
  "enforceteammembership email": async (stage) => {
    await teams(stage);
    await stage.admin.call("enforceteammembership", { teamIDs: ["sales"], email: "new@example.com" });
    expect(await members(stage, "sales")).toEqual(["new"]);
    expect(await stage.admin.refused("enforceteammembership", { teamIDs: [teamID] })).toMatchObject(refused);
  },
  "enforceteammembership userID": async (stage) => {
    await teams(stage);
    await stage.admin.call("enforceteammembership", { teamIDs: ["sales"], userID: "bob" });
    expect(await members(stage, "sales")).toEqual(["bob"]);
    const nobody = { teamIDs: ["sales"], userID: "none" };
    expect(await stage.admin.refused("enforceteammembership", nobody)).toMatchObject(missing);
  },
  "enforceteammembership organizationID": async (stage) => {
    await teams(stage);
    await stage.admin.call("insertorganization", { organizationInfo: { _id: "other", name: "Other" } });
    await stage.admin.call("enforceteammembership", { teamIDs: [], userID: "ada", organizationID: "other" });
    expect(await members(stage)).toEqual(["ada"]);
    await stage.admin.call("enforceteammembership", { teamIDs: [], userID: "ada", organizationID });
    expect(await members(stage)).toEqual([]);
  },
  "enforceteammembership: controlled": async (stage) => {
    await teams(stage);
    const request = { teamIDs: ["support"], userID: "ada" };
    expect(await stage.ada.refused("enforceteammembership", request)).toMatchObject(forbidden);
    expect(await members(stage)).toEqual(["ada"]);
  },
});
