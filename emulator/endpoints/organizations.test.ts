import { describe, expect, test } from "@jest/globals";
import { signIn, start, type Caller } from "../testing/platform.ts";

async function platform() {
  const { url } = await start();
  const admin = await signIn(url);
  const ada = await signIn(url, "ada@example.com", "ada");
  const bob = await signIn(url, "bob@example.com", "bob");
  return { url, admin, ada, bob };
}

const organization = (caller: Caller, info: object, rest: object = {}) =>
  caller.get("result._id", "insertorganization", { organizationInfo: info, ...rest }) as Promise<string>;
const team = (caller: Caller, organizationID: string, name: string, rest: object = {}) =>
  caller.get("result._id", "insertteam", { teamInfo: { organizationID, name }, ...rest }) as Promise<string>;

test("IDs and organizations' names are taken once, the team of all members is the platform's, null clears", async () => {
  const { admin } = await platform();
  await organization(admin, { _id: "a", name: "A", description: "Makes things" });
  await organization(admin, { _id: "b", name: "B" });
  await admin.get("status", "insertteam", { teamInfo: { _id: "r", organizationID: "a", name: "Research" } });
  const again = await admin.call("insertorganization", { organizationInfo: { name: "A" } });
  expect([again.status, again.at("message")]).toEqual([409, "An organization named A already exists"]);
  for (const [name, request] of [
    ["insertorganization", { organizationInfo: { _id: "a", name: "C" } }],
    ["updateorganization", { organizationID: "b", organizationInfo: { name: "A" } }],
    ["insertteam", { teamInfo: { _id: "r", organizationID: "a", name: "Another" } }],
    ["insertteam", { teamInfo: { organizationID: "a", name: "All Members" } }],
    ["updateteam", { teamID: "r", teamInfo: { name: "All Members" } }],
  ] as const)
    expect([request, (await admin.call(name, request)).status]).toEqual([request, 409]);
  await admin.call("updateorganization", { organizationID: "a", organizationInfo: { description: null } });
  expect(await admin.get("body.description", "readorganization", { organizationID: "a" })).toBeNull();
});

describe("organizations", () => {
  test("are created by platform administrators, changed by their own, read by members", async () => {
    const { admin, ada, bob } = await platform();
    expect((await ada.call("insertorganization", { organizationInfo: { name: "Mine" } })).status).toBe(403);
    await organization(admin, { _id: "acme", name: "Acme" }, { adminID: ada.userID });
    const rename = { organizationID: "acme", organizationInfo: { name: "Ada's" } };
    expect((await bob.call("readorganization", { organizationID: "acme" })).status).toBe(403);
    expect((await ada.call("updateorganization", rename)).status).toBe(200);
    const id = await team(ada, "acme", "Research");
    await ada.call("insertteammembers", { teamIDs: [id], userIDs: [bob.userID] });
    expect((await bob.call("readorganization", { organizationID: "acme" })).status).toBe(200);
    expect((await bob.call("updateorganization", rename)).status).toBe(403);
    expect((await bob.call("deleteorganization", { organizationID: "acme" })).status).toBe(403);
  });
});

describe("teams", () => {
  test("are changed by administrators of the organization or the team", async () => {
    const { admin, ada, bob } = await platform();
    await organization(admin, { _id: "acme", name: "Acme" });
    const teamID = await team(admin, "acme", "Research", { adminID: ada.userID });
    const change = { teamID, teamInfo: { name: "Development" } };
    expect((await bob.call("updateteam", change)).status).toBe(403);
    expect((await ada.call("updateteam", change)).status).toBe(200);
    expect((await ada.call("insertteam", { teamInfo: { organizationID: "acme", name: "X" } })).status).toBe(403);
    await ada.call("insertteammembers", { teamID, members: [{ email: "bob@example.com" }] });
    expect((await bob.call("insertteammembers", { teamID, members: ["eve@example.com"] })).status).toBe(403);
    expect((await bob.call("readteam", { teamID })).status).toBe(200);
  });
});

describe("members", () => {
  test("may leave, but not remove others", async () => {
    const { admin, ada, bob } = await platform();
    await organization(admin, { _id: "acme", name: "Acme" });
    const teamID = await team(admin, "acme", "Research");
    await admin.call("insertteammembers", { teamIDs: [teamID], emails: ["ada@example.com", "bob@example.com"] });
    expect((await ada.call("deleteteammember", { teamID, userID: bob.userID })).status).toBe(403);
    expect((await ada.call("deleteteammember", { teamID, userID: ada.userID })).status).toBe(200);
  });
});

test("roles are not taken with new members, in any form, rather than lost", async () => {
  const { url } = await start();
  const admin = await signIn(url);
  await admin.get("", "insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
  await admin.get("", "insertteam", { teamInfo: { _id: "crew", organizationID: "acme", name: "Crew" } });
  const email = "ada@example.com";
  for (const form of [
    { emails: [email], role: "admin" },
    { emails: [email], roles: ["admin"] },
    { members: [{ email, role: "admin" }] },
    { teamMembers: [email, { email, role: "member" }] },
  ]) {
    const reply = await admin.call("insertteammembers", { teamIDs: ["crew"], ...form });
    expect([reply.status, reply.at("message")]).toEqual([400, expect.stringMatching(/^role: is not taken here/)]);
  }
  expect((await admin.call("insertteammembers", { teamIDs: ["crew"], members: [{ email, role: null }] })).status).toBe(
    200,
  );
});
