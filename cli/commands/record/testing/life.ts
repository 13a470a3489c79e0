import type { Emulator } from "../../../../emulator/emulator.ts";
import { loadFacts } from "../../../../provider/conformance/load.ts";
import { createRawClient, type CallResult, type Send } from "../../../../provider/conformance/platformClient.ts";
import { appIDIn } from "../../../../provider/contract/apps.ts";
import type { EndpointName } from "../../../../provider/contract/endpoints.ts";
import { at } from "../../../../provider/contract/wire.ts";
import type { Profile } from "../../../../provider/habits/profile.ts";
import { exchangeOf } from "../../../recording/exchange.ts";
import { profileOf } from "../../verify/profileFile.ts";
import { Sender } from "../../verify/sandbox/sending.ts";
import { HabitWatch } from "../habits/watching.ts";
import { seed } from "./recorded.ts";

type Call = (name: EndpointName, request?: Record<string, unknown>, form?: string) => Promise<CallResult>;

const ofAnswer = (result: CallResult, path: string): string =>
  String(result.kind === "answer" ? at(result.answer, path) : "nothing");

/** Rows: written, read back, sorted, filtered and deleted. */
async function rows(call: Call): Promise<void> {
  const read = (microAppID: string, more: object = {}) => call("microappdata", { microAppID, ...more });
  await read("countries");
  const rowData = { Code: "XX", Name: "", Population: 9, Founded: "2001-02-03", Currency: { crossAppRowID: "cur-0" } };
  const rowID = ofAnswer(await call("insertmicroapprow", { microAppID: "countries", rowData }), "rowID");
  await call("microappdataRow", { rowID });
  await call("updatemicroapprow", { rowID, rowData: { Currency: null } });
  await call("microappdataRow", { rowID });
  await call("insertmicroapprows", { microAppID: "currencies", rows: [{ Code: "ABC" }, { Code: "ABD" }] });
  for (const name of ["removemicroapprow", "removemicroapprow", "microappdataRow"] as const)
    await call(name, { rowID });
  await call("updatemicroapprow", { rowID, rowData: { Name: "Gone" } });
  const sorted = (order: number, skip: number) =>
    read("countries", { searchFilter: [{ resourceID: "countries", field: "1", order, skip, limit: 100 }] });
  for (let time = 0; time < 5; time++) await read("countries");
  for (const [order, skip] of [
    [1, 0],
    [-1, 0],
    [1, 2],
  ] as const)
    await sorted(order, skip);
  await read("countries", { optLimit: 2 });
  for (const _id of [1, -1]) await read("countries", { optViewSort: { _id } });
  await read("countries", { optViewFilters: [{ _id: { $gt: "country-2" } }], optViewSort: { _id: 1 } });
  await read("countries", { optViewFilters: [{ sortVal: "DE" }] });
  await read("countries", { optViewFilters: [{ sortVal: "nothing" }] });
  await read("countries", { optSearchFilters: [{ fieldID: "country-name", value: "Land 3" }] });
  await read("cities", { optViewFilters: [{ embeddingRowID: "country-1" }] });
}

/** Organizations, teams and people. */
async function things(call: Call): Promise<void> {
  const organizationInfo = { _id: "corp", name: "Corp" };
  const organizationID = ofAnswer(await call("insertorganization", { organizationInfo }), "organizationID");
  await call("insertorganization", { organizationInfo: { name: "Corp" } });
  const teamInfo = { organizationID, name: "Day", description: "Works" };
  const teamID = ofAnswer(await call("insertteam", { teamInfo }), "teamID");
  await call("insertteam", { teamInfo });
  await call("teammembers", { teamIDs: [teamID] });
  await call("updateteam", { teamID, teamInfo: { description: null } });
  await call("readteam", { teamID });
  for (let time = 0; time < 2; time++) {
    await call("insertteammembers", { teamIDs: [teamID], userIDs: ["id-of-ada"] });
    await call("teammembers", { teamIDs: [teamID] });
  }
  await call("updateteammember", { teamID, userID: "id-of-ada", role: "admin" });
  await call("teammembers", { teamIDs: [teamID] });
  await call("readteammember", { teamID, userID: "id-of-ada" });
  for (const form of ["query", "post"]) await call("userid", { email: "ada@company.org" }, form);
  for (let time = 0; time < 2; time++) await call("deleteteammember", { teamID, userID: "id-of-ada" });
  await call("deleteorganization", { organizationID });
  await call("deleteteam", { teamID });
  await call("readteam", { teamID });
}

const facts = loadFacts();

/** Records a life on a platform; the answer is the profile. */
export async function profileOfLife(platform: Emulator): Promise<Profile> {
  const watch = new HabitWatch(facts);
  const sender = new Sender({ url: platform.url });
  const send: Send = async (request, signal) => {
    const answer = await sender.send(request, signal);
    const { method, url: target, headers, body = "" } = request;
    const { status, headers: answerHeaders, text } = answer;
    const passed = { method, target, headers, body: Buffer.from(body), time: 0, status, answerHeaders };
    const exchange = exchangeOf({ ...passed, answer: Buffer.from(text) }, "");
    if (exchange) watch.take(exchange);
    return answer;
  };
  const { email, password, apiKey } = seed.administrator;
  const sandbox = { "admin.email": email, "admin.password": password, "admin.apiKey": apiKey };
  const client = createRawClient({ send, sandbox, habits: () => ({}) });
  const call: Call = (name, request = {}, form) => client.call({ name, request, as: "admin", form });
  await rows(call);
  await things(call);
  const asked = { userEmail: email, appPrompt: "Count" };
  await call("createappwithprompt", asked);
  const made = await call("createappwithprompt", { ...asked, attachments: [] });
  const appID = appIDIn(ofAnswer(made, "link")) ?? "";
  await call("createappwithpromptStatus", { appID });
  await call("sendnotification", { appID, email: "ada@company.org", message: "Hello" });
  sender.close();
  return profileOf(watch.results, { platform: platform.url, now: 0, limits: {}, wireNames: watch.wireNames });
}
