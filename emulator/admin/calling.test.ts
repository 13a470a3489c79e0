import { expect, test } from "@jest/globals";
import { administrate, replyOf, start } from "../testing/platform.ts";

const call = async (emulator: Awaited<ReturnType<typeof start>>, endpoint: string, request: object) =>
  replyOf(await administrate(emulator, `call/${endpoint}`, { method: "POST", body: request }));

test("the console's calls are those of the platform's administrator, with faults and in the log", async () => {
  const emulator = await start();
  const inserted = await call(emulator, "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
  expect(inserted.body).toMatchObject({ status: 200, body: { status: "success" } });
  const [logged] = emulator.calls({ mutating: true });
  expect(logged).toMatchObject({ endpoint: "insertmicroapprow", status: 200, session: null });
  expect(logged?.userID).not.toBeNull();
  emulator.setFaults({ faults: [{ kind: "reset", endpoint: "removemicroapprow", count: 1 }] });
  const request = { rowID: (inserted.body as { body: { rowID: string } }).body.rowID };
  expect((await call(emulator, "removemicroapprow", request)).body).toEqual({ status: 0, body: null });
  expect((await call(emulator, "removemicroapprow", request)).body).toMatchObject({ status: 200 });
  expect((await call(emulator, "removemicroapprow", request)).body).toMatchObject({ status: 404 });
});

test("unknown endpoints are refused, and so is whoever lacks the token", async () => {
  const emulator = await start();
  expect((await call(emulator, "constructor", {})).status).toBe(404);
  const stranger = await fetch(`${emulator.url}/_emulator/call/readteam`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  expect(stranger.status).toBe(403);
  expect(emulator.calls()).toEqual([]);
});
