import { createClient } from "pulumi-microapps/client";
import { createEmulator } from "pulumi-microapps/emulator";
// One emulator for the file, and a platform of its own for each test: npx vitest run
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

let emulator, platform, client;
beforeAll(async () => {
  emulator = await createEmulator({ seed: "platform.yaml" });
});
afterAll(() => emulator.close());
beforeEach(async () => {
  platform = await emulator.instance();
  client = createClient({ endpoint: platform.url, email: "admin@example.com", password: "admin" });
});
afterEach(async () => {
  await client.close();
  await platform.close();
});

const rows = async () => (await client.microappdata({ microAppID: "countries" })).microAppRows;

test.each(["Code", "Name"])("a row is there, and the test before left none: %s", async (label) => {
  await client.insertmicroapprow({ microAppID: "countries", rowData: { [label]: "CZ" } });
  expect(await rows()).toMatchObject([{ [label]: "CZ" }]);
});
test("a call is repeated when the platform is busy", async () => {
  platform.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "microappdata", count: 1 }] });
  expect(await rows()).toEqual([]);
  expect(platform.calls({ endpoint: "microappdata" })).toHaveLength(2);
});
