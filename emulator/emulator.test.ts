import { expect, test } from "@jest/globals";
import { endpoints } from "../provider/contract/endpoints.ts";
import { administrate, post, replyOf, signIn, start } from "./testing/platform.ts";

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
