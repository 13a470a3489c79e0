import { expect, test } from "@jest/globals";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, type ClientOptions } from "../../platform/client/index.ts";
import { endpoints } from "../../platform/contract/endpoints.ts";
import { appIDIn } from "../../platform/contract/values.ts";
import type { EmulatorOptions } from "../emulator.ts";
import { start } from "./platform.ts";

// The typed client and the emulator meet in the contract only; here every endpoint goes from one to the other.

const credentials = { email: "admin@example.com", password: "admin", apiKey: "dev-key" };

async function connected(options: EmulatorOptions = {}, more: Partial<ClientOptions> = {}) {
  const emulator = await start(options);
  return { emulator, client: createClient({ endpoint: emulator.url, ...credentials, ...more }) };
}

test("every endpoint answers the typed client", async () => {
  const files = createServer((_request, response) => response.end("a flag"));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(files.address() as AddressInfo).port}`;
  const { emulator, client } = await connected({ settings: { allowedHosts: [host], generationSeconds: 0 } });

  const { userID: ada } = await client.userid({ email: "ada@example.com" });
  expect((await client.login({ email: "ada@example.com", password: "ada" })).userId).toBe(ada);

  const { organizationID } = await client.insertorganization({ organizationInfo: { _id: "acme", name: "Acme" } });
  await client.updateorganization({ organizationID, organizationInfo: { description: "Makes things" } });
  expect((await client.readorganization({ organizationID })).organization).toMatchObject({
    _id: "acme",
    description: "Makes things",
  });
  const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: "Research" } });
  await client.updateteam({ teamID, teamInfo: { name: "Development" } });
  expect((await client.readteam({ teamID })).team).toMatchObject({ organizationID, name: "Development" });

  await client.insertteammembers({ teamIDs: [teamID], emails: ["ada@example.com"] });
  await client.updateteammember({ teamID, userID: ada, role: "admin" });
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  const { teamMember } = await client.readteammember({ teamID, userID: ada });
  expect(teamMember).toMatchObject({ teamID, userID: ada, email: "ada@example.com", role: "admin" });
  expect(teamMembers).toContainEqual(teamMember);
  await client.deleteteammember({ teamID, userID: ada });
  await client.enforceteammembership({ teamIDs: [teamID], userID: ada });
  await client.enforceteammembership({ teamIDs: [], userID: ada });
  await client.deleteteam({ teamID });
  await client.deleteorganization({ organizationID });

  const { rowID } = await client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "CZ" } });
  expect(await client.insertmicroapprows({ microAppID: "countries", rows: [{ Code: "AT" }] })).toEqual({ inserted: 1 });
  await client.updatemicroapprow({ rowID, rowData: { Name: "Czechia" } });
  expect((await client.microappdataRow({ rowID })).currentRow).toMatchObject({ Code: "CZ", Name: "Czechia" });
  expect((await client.microappdata({ microAppID: "countries" })).microAppRows).toHaveLength(2);

  const at = { appID: rowID, fieldID: "flag" };
  const { url, fileKey = "" } = await client.microappchildUploadFileToStore({
    resourceID: rowID,
    fieldID: "flag",
    url: `http://${host}/cz.png`,
  });
  const copy = { sourceResourceID: rowID, destinationResourceID: "countries", fileKey };
  const { signedUrl } = await client.microappchildStorecopy(copy);
  expect(await (await fetch(signedUrl)).text()).toBe("a flag");
  const { childID } = await client.microappchildCreate({ microAppResourceID: "countries", ...at, content: { url } });
  await client.microappchildUpdate({ childID, content: { filename: "cz.png" } });
  const { childItem } = await client.microappchildRead({ childID });
  expect(childItem).toMatchObject({ _id: childID, content: { url, filename: "cz.png" } });
  expect((await client.microappchildList(at)).childItems).toEqual([childItem]);
  await client.microappchildDelete({ childID });
  await client.removemicroapprow({ rowID });
  expect((await client.microappdataRow({ rowID })).currentRow).toBeUndefined();

  const { link } = await client.createappwithprompt({ userEmail: "ada@example.com", appPrompt: "Count sheep" });
  const appID = appIDIn(link) ?? "";
  expect(await client.createappwithpromptStatus({ appID })).toEqual({ status: "completed" });
  const sent = await client.sendnotification({ appID, email: "ada@example.com", message: "Ready" });
  expect(sent).toMatchObject({ ok: true, channel: "default", notificationCount: 1, pushCount: 1 });
  await client.logout({});

  const called = new Set(emulator.calls().map(({ endpoint, status }) => `${endpoint} ${status}`));
  expect(called).toEqual(new Set(Object.keys(endpoints).map((name) => `${name} 200`)));
  await client.close();
  files.close();
});

test("client and emulator agree on a deployment's own names", async () => {
  const wireNames = { platformFormat: "rawFormat", storecopy: "duplicate", uploadFileToStore: "fetchFile" };
  const { client } = await connected({ wireNames }, { wireNames });
  await client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "CZ" } });
  const { microAppRows } = await client.microappdata({ microAppID: "countries", platformFormat: true });
  expect(microAppRows).toMatchObject([{ parentResourceID: "countries" }]);
  const copy = { sourceResourceID: "countries", destinationResourceID: "cities", fileKey: "none" };
  await expect(client.microappchildStorecopy(copy)).rejects.toMatchObject({
    code: "notFound",
    message: expect.stringContaining("File not found"),
  });
  await client.close();
});
