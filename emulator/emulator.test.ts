import { expect, test } from "@jest/globals";
import { administrate, post, signIn, start } from "./testing/platform.ts";

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
