import { describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { endpoints } from "../provider/contract/endpoints.ts";
import { administrate, directory, post, replyOf, seed, signIn, start } from "./testing/platform.ts";

const country = { microAppID: "countries", rowData: { Code: "CZ" } };

test("a read-only platform refuses what changes it", async () => {
  const { url } = await start({ readOnly: true });
  const admin = await signIn(url);
  const refused = await admin.call("insertmicroapprow", country);
  expect([refused.status, refused.at("message")]).toEqual([403, "This platform is read-only"]);
  expect((await admin.call("microappdata", { microAppID: "countries" })).status).toBe(200);
});

test("settings of a run count more than those of the seed", async () => {
  const { url } = await start({ settings: { license: false } });
  const request = { userEmail: "ada@example.com", appPrompt: "Count sheep" };
  expect((await (await signIn(url)).call("createappwithprompt", request)).status).toBe(403);
});

test("tenants share a port and nothing else", async () => {
  const data = join(directory(), "platform.db");
  const emulator = await start({ data, tenants: { acme: { seed }, zoo: {} } });
  const acme = emulator.tenant("acme");
  expect(acme.url).toBe(`${emulator.url}/tenants/acme`);
  const [main, other] = [await signIn(emulator.url), await signIn(acme.url)];
  await other.call("insertmicroapprow", country);
  expect(await main.get("body.microAppRows", "microappdata", { microAppID: "countries" })).toEqual([]);
  expect(emulator.calls({ mutating: true })).toEqual([]);
  expect(acme.calls({ mutating: true })).toHaveLength(1);
  const headers = { "x-auth-token": main.token, "x-user-id": main.userID };
  expect((await other.call("readteam", { teamID: "t" }, headers)).status).toBe(401);
  expect((await post(`${emulator.url}/tenants/none/api/login`, "{}")).status).toBe(404);
  acme.setFaults({ faults: [{ kind: "status" }] });
  expect((await main.call("microappdata", { microAppID: "countries" })).status).toBe(200);
  const zoo = await signIn(emulator.tenant("zoo").url);
  expect((await zoo.call("microappdata", { microAppID: "countries" })).status).toBe(404);
});

test("names on the wire are the deployment's", async () => {
  const wireNames = { platformFormat: "rawFormat", storecopy: "duplicate" };
  const { url } = await start({ wireNames });
  const admin = await signIn(url);
  await admin.call("insertmicroapprow", country);
  const raw = await admin.get("body.microAppRows", "microappdata", { microAppID: "countries", rawFormat: true });
  expect(raw).toMatchObject([{ parentResourceID: "countries" }]);
  for (const spelling of ["storecopy", "s3copy", "duplicate"]) {
    expect((await post(`${url}/api/microappchild/${spelling}`, "{}")).status).toBe(401);
  }
});

describe("snapshots", () => {
  test("are saved, compared, loaded and deleted while the platform runs", async () => {
    const emulator = await start();
    const admin = await signIn(emulator.url);
    const one = await admin.get("rowID", "insertmicroapprow", country);
    await admin.call("insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
    emulator.saveSnapshot("before");
    expect(emulator.differences("before")).toEqual([]);
    const two = await admin.get("rowID", "insertmicroapprow", country);
    await admin.call("updatemicroapprow", { rowID: one, rowData: { Code: "SK" } });
    await admin.call("deleteorganization", { organizationID: "acme" });
    const none = { added: [], removed: [], changed: [] };
    expect(emulator.differences("before")).toEqual([
      { ...none, table: "rows", added: [two], changed: [one] },
      { ...none, table: "organizations", removed: ["acme"] },
      { ...none, table: "teams", removed: [expect.any(String)] },
      { ...none, table: "members", removed: [expect.any(String)] },
    ]);
    await emulator.reset("empty");
    emulator.loadSnapshot("before");
    expect(emulator.differences("before")).toEqual([]);
    const again = await signIn(emulator.url);
    const sorted = { microAppID: "countries", optViewSort: { sortVal: 1 } };
    expect(await again.get("body.microAppRows", "microappdata", sorted)).toMatchObject([{ _id: one, Code: "CZ" }]);
    expect(emulator.snapshots()).toEqual(["before"]);
    emulator.deleteSnapshot("before");
    expect(emulator.snapshots()).toEqual([]);
    expect(() => emulator.loadSnapshot("before")).toThrow("Snapshot not found: before");
  });

  test("are in the admin interface", async () => {
    const emulator = await start();
    const ask = async (method: string, name: string) =>
      replyOf(await administrate(emulator, `snapshots/${name}`, { method }));
    expect((await ask("PUT", "a")).status).toBe(200);
    await (await signIn(emulator.url)).call("insertmicroapprow", country);
    expect((await ask("GET", "a")).at("differences")).toMatchObject([{ table: "rows" }]);
    expect((await ask("POST", "a")).status).toBe(200);
    expect((await ask("GET", "a")).at("differences")).toEqual([]);
    expect((await ask("GET", "")).at("snapshots")).toEqual(["a"]);
    expect((await ask("DELETE", "a")).status).toBe(200);
    expect((await ask("DELETE", "a")).status).toBe(404);
    expect((await ask("PUT", `a"b`)).status).toBe(400);
    expect((await ask("PUT", "%")).status).toBe(400);
  });
});

test("rows are marked over the admin interface, and locked ones are kept", async () => {
  const emulator = await start();
  const [admin, ada] = [await signIn(emulator.url), await signIn(emulator.url, "ada@example.com", "ada")];
  const rowID = String(await ada.get("rowID", "insertmicroapprow", country));
  const body = { isLocked: true, hasConflict: true };
  expect((await administrate(emulator, `rows/${rowID}`, { method: "PUT", body })).status).toBe(200);
  expect(await ada.get("body.currentRow", "microappdataRow", { rowID })).toMatchObject({
    isLocked: true,
    hasConflict: true,
  });
  const locked = { microAppID: "countries", optViewFilters: [{ isLocked: true }] };
  expect(await ada.get("body.microAppRows", "microappdata", locked)).toHaveLength(1);
  expect((await ada.call("updatemicroapprow", { rowID, rowData: {} })).status).toBe(403);
  expect((await ada.call("removemicroapprow", { rowID })).status).toBe(403);
  expect((await admin.call("removemicroapprow", { rowID })).status).toBe(200);
});

test("the OpenAPI document has every endpoint", async () => {
  const { url } = await start();
  const document = await replyOf(await fetch(`${url}/openapi.json`));
  expect(document.at("openapi")).toBe("3.1.0");
  const paths = document.at("paths") as Record<string, Record<string, { operationId: string }>>;
  expect(Object.keys(paths)).toEqual(Object.values(endpoints).map(({ path }) => path));
  for (const [name, { path }] of Object.entries(endpoints)) {
    const operations = Object.values(paths[path] ?? {}).map(({ operationId }) => operationId);
    expect(operations).toContain(name);
  }
  const insert = paths["/api/insertmicroapprow"]?.["post"];
  expect(insert).toMatchObject({
    requestBody: { content: { "application/json": { schema: { required: ["microAppID", "rowData"] } } } },
    responses: {
      "200": { content: { "application/json": { schema: { properties: { rowID: { type: "string" } } } } } },
      "404": {},
    },
  });
});
