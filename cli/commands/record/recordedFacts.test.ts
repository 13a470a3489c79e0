import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { createEmulator, type Emulator } from "../../../emulator/emulator.ts";
import type { SeedInput } from "../../../emulator/seed/schema.ts";
import type { Caller } from "../../../emulator/testing/platform.ts";
import { createClient } from "../../../provider/client/client.ts";
import type { Client } from "../../../provider/client/options.ts";
import type { FixtureIDs } from "../../../provider/conformance/fixtures.ts";
import { parseFacts } from "../../../provider/conformance/load.ts";
import { runFacts } from "../../../provider/conformance/run.ts";
import { Sender } from "../verify/sandbox/sending.ts";
import { opened, recordedOf, seed } from "./testing/recorded.ts";

// A fact describes a platform's answers, not its people: it holds with other people, in another organization, and on an
// emulator of the seed.

const eve = "eve@company.org";

/** An administrator's day: everything that can be made, changed and removed. */
async function day(client: Client): Promise<void> {
  await client.readorganization({ organizationID: "acme" });
  const description = "Makes other things";
  const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Corp", description } });
  await client.updateorganization({ organizationID, organizationInfo: { name: "Corp & Co" } });
  await client.readorganization({ organizationID });
  const other = await client.insertorganization({ organizationInfo: { name: "Left over" } });
  await client.updateorganization({ organizationID: other.organizationID, organizationInfo: { name: "Left & over" } });
  const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: "Day" } });
  await client.updateteam({ teamID, teamInfo: { name: "Night", description: "Sleeps" } });
  await client.readteam({ teamID });
  await client.insertteammembers({ teamIDs: [teamID], emails: [eve, "ada@company.org"] });
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  const { userID } = await client.userid({ email: eve });
  const found = teamMembers.find((member) => member.userID === userID);
  if (found?.teamMemberID === undefined) throw new Error("Eve is a member");
  const member = { teamID, userID, teamMemberID: found.teamMemberID };
  await client.readteammember(member);
  await client.updateteammember({ ...member, role: "admin" });
  await client.enforceteammembership({ teamIDs: [teamID], email: eve });
  await client.deleteteammember(member);
  const left = await client.teammembers({ teamIDs: [teamID] });
  for (const { userID, teamMemberID } of left.teamMembers) {
    if (userID === "id-of-ada") await client.deleteteammember({ teamID, userID, teamMemberID: teamMemberID ?? "" });
  }
  await client.deleteteam({ teamID });
  await client.deleteorganization({ organizationID });
}

/** Rows, children, and what is refused. */
async function rowsOf({ call }: Caller): Promise<void> {
  const made = async (path: string, ...request: Parameters<Caller["call"]>): Promise<string> =>
    String((await call(...request)).at(path));
  const rowData = { Code: "YY", Name: "Somewhere", Population: 3, Founded: "2020-02-03", Tags: ["true"] };
  await call("microappdataRow", { rowID: "country-2" });
  const rowID = await made("body.rowID", "insertmicroapprow", { microAppID: "countries", rowData });
  await call("microappdataRow", { rowID });
  await call("microappdata", {
    microAppID: "countries",
    optSearchFilters: [{ fieldID: "country-name", value: "Some" }],
  });
  await call("microappdata", { microAppID: "countries", platformFormat: true, optLimit: 2 });
  const city = { Name: "Town", embeddingRowID: rowID };
  await call("insertmicroapprows", { microAppID: "cities", rows: [city], embeddingRowID: rowID });
  await call("microappdata", { microAppID: "cities", optViewFilters: [{ embeddingRowID: rowID }] });
  const child = { appID: rowID, fieldID: "country-flag", content: { label: "Flag", value: "1" } };
  const childID = await made("body.childID", "microappchildCreate", { ...child, microAppResourceID: "countries" });
  await call("microappchildRead", { childID });
  await call("microappchildList", { appID: rowID, fieldID: "country-flag" });
  await call("microappchildUpdate", { childID, content: { label: "Banner" } });
  await call("microappchildDelete", { childID });
  await call("updatemicroapprow", { rowID, rowData: { Population: "many" } });
  await call("updatemicroapprow", { rowID: "nothing", rowData: { Name: "x" } });
  await call("removemicroapprow", { rowID });
  await call("microappdata", { microAppID: "nowhere" });
  await call("insertteam", { teamInfo: { organizationID: "acme" } });
  await call("insertorganization", { organizationInfo: { name: "Acme" } });
  await call("insertteammembers", { teamIDs: ["crew"], emails: ["nobody"] });
  await call("deleteteammember", { teamID: "crew", userID: "id-of-bob" });
  await call("login", { email: eve, password: "wrong-password" });
  await call("readteam", { teamID: "crew" }, { "x-auth-token": "", "x-user-id": "" });
}

/** The facts that do not hold on a platform, in a sandbox of other people. */
async function broken(platform: Emulator, facts: string, email: string, password: string): Promise<unknown[]> {
  const sender = new Sender({ url: platform.url });
  const client = createClient({ endpoint: platform.url, email, password });
  try {
    const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Test bed" } });
    const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: "Helpers" } });
    const [member, other] = ["helper-1@bed.test", "helper-2@bed.test"];
    await client.insertteammembers({ teamIDs: [teamID], emails: [member, other] });
    const sandbox: FixtureIDs = {
      ...{ organization: organizationID, "invitee.email": "invitee@bed.test", "admin.apiKey": "key" },
      ...{ "admin.email": email, "admin.password": password, "admin.userID": await client.callerID() },
      ...{ "member.email": member, "member.userID": (await client.userid({ email: member })).userID },
      ...{ "other.email": other, "other.userID": (await client.userid({ email: other })).userID },
    };
    const results = await runFacts({ facts: parseFacts(facts, "facts.yaml"), send: sender.send, sandbox });
    return results.flatMap(({ fact, ...came }) => (came.status === "passed" ? [] : [[fact.id, came]]));
  } finally {
    sender.close();
    await client.close();
  }
}

test.each(["values", "shape"] as const)("recorded facts hold on both platforms: rows as %s", async (rows) => {
  const platform = await opened(createEmulator({ seed }));
  const made = await recordedOf(platform, rows, async (client, caller) => {
    await day(client);
    await rowsOf(caller);
  });
  const { email, password } = seed.administrator;
  expect(made.facts).toContain("volatile:\n          - authToken");
  expect(await broken(platform, made.facts, email, password)).toEqual([]);
  const copy = await opened(createEmulator({ seed: parse(made.seed) as SeedInput }));
  expect(await broken(copy, made.facts, "person-1@example.com", "recorded")).toEqual([]);
  expect(made.counts.facts).toBeGreaterThan(30);
});
