import { expect, test } from "@jest/globals";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { eventually } from "../../testing/harness/processes.ts";
import { administrate, replyOf, signIn, start, type Caller } from "../testing/platform.ts";
import { maxOnDemand } from "./hosted.ts";

const country = { microAppID: "countries", rowData: { Code: "CZ" } };
const codes = async (caller: Caller) =>
  ((await caller.get("body.microAppRows", "microappdata", { microAppID: "countries" })) as { Code: string }[]).map(
    ({ Code }) => Code,
  );

test("instances are made of the seed or of a snapshot, and share nothing", async () => {
  const emulator = await start();
  const admin = await signIn(emulator.url);
  await admin.get("rowID", "insertmicroapprow", country);
  emulator.saveSnapshot("one");
  const [fresh, one, two] = [
    await emulator.instance(),
    await emulator.instance({ from: "one" }),
    await emulator.instance({ from: "one" }),
  ];
  const [inFresh, inOne, inTwo] = [await signIn(fresh.url), await signIn(one.url), await signIn(two.url)];
  expect([await codes(inFresh), await codes(inOne), await codes(inTwo)]).toEqual([[], ["CZ"], ["CZ"]]);
  await inOne.get("rowID", "insertmicroapprow", { ...country, rowData: { Code: "SK" } });
  expect([await codes(inFresh), await codes(inOne), await codes(inTwo)]).toEqual([[], ["CZ", "SK"], ["CZ"]]);
  expect(one.calls({ mutating: true })).toHaveLength(1);
  one.setFaults({ faults: [{ kind: "status", endpoint: "microappdata" }] });
  expect(await codes(inTwo)).toEqual(["CZ"]);
  const headers = { "x-auth-token": inOne.token, "x-user-id": inOne.userID };
  expect((await inTwo.call("readteam", { teamID: "t" }, headers)).status).toBe(401);
  // A snapshot saved a second time is another template.
  await admin.get("rowID", "insertmicroapprow", { ...country, rowData: { Code: "PL" } });
  emulator.saveSnapshot("one");
  expect(await codes(await signIn((await emulator.instance({ from: "one" })).url))).toEqual(["CZ", "PL"]);
  await expect(emulator.instance({ from: "none" })).rejects.toThrow("Snapshot not found: none");
  await one.close();
  await one.close();
  expect((await fetch(`${one.url}/openapi.json`)).status).toBe(404);
  expect(await codes(inTwo)).toEqual(["CZ"]);
});

test("an instance is in memory alone, with its snapshots", async () => {
  const emulator = await start();
  await (await signIn(emulator.url)).get("rowID", "insertmicroapprow", country);
  emulator.saveSnapshot("one");
  const usual = process.env["TMPDIR"];
  process.env["TMPDIR"] = join(temporaryFolder(), "none");
  try {
    const instance = await emulator.instance({ from: "one" });
    const caller = await signIn(instance.url);
    const rows = [{ Code: "SK" }, { Currency: "SKK" }];
    expect((await caller.call("insertmicroapprows", { microAppID: "countries", rows })).status).toBe(400);
    instance.saveSnapshot("two");
    await caller.get("rowID", "insertmicroapprow", country);
    instance.loadSnapshot("two");
    expect(await codes(caller)).toEqual(["CZ"]);
  } finally {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
  }
});

test("instances are made and ended over the admin interface, each with a token of its own", async () => {
  const emulator = await start();
  const ask = async (method: string, path: string, on = emulator as { url: string; token: string }) =>
    replyOf(await administrate(on, path, { method }));
  const made = await ask("POST", "instances?from=seed&ttl=60");
  const [name, url, token] = ["name", "address", "token"].map((key) => String(made.at(key)));
  const instance = { url: url ?? "", token: token ?? "" };
  expect(url).toBe(`${emulator.url}/instances/${name}`);
  expect((await ask("GET", "tables", instance)).status).toBe(200);
  expect((await ask("GET", "tables", { ...instance, token: emulator.token })).status).toBe(200);
  expect((await ask("GET", "tables", { url: emulator.url, token: instance.token })).status).toBe(403);
  expect((await ask("POST", "instances", instance)).status).toBe(403);
  expect((await ask("GET", "instances")).at("instances")).toEqual([name]);
  expect((await ask("POST", "instances?from=none")).status).toBe(404);
  for (const ttl of ["0", "-1", "x", "1e9"]) expect((await ask("POST", `instances?ttl=${ttl}`)).status).toBe(400);
  expect((await ask("DELETE", `instances/${name}`)).status).toBe(200);
  expect((await ask("DELETE", `instances/${name}`)).status).toBe(404);
  expect((await ask("GET", "tables", instance)).status).toBe(404);
});

test("one that nobody calls ends after its time, and a call under way is answered first", async () => {
  const emulator = await start();
  const { url } = await emulator.instance({ ttl: 0.05 });
  await eventually("the end", () => emulator.instances().length === 0);
  expect((await fetch(`${url}/openapi.json`)).status).toBe(404);
  const slow = await emulator.instance({ ttl: 1 }); // in which even a busy machine begins the call
  slow.setFaults({ faults: [{ kind: "slow", milliseconds: 1_500, endpoint: "microappdata" }] });
  const admin = await signIn(slow.url);
  const read = admin.call("microappdata", { microAppID: "countries" });
  await eventually("the end", () => emulator.instances().length === 0);
  expect((await read).status).toBe(200);
});

test("there is a bound on their number, and room again when one ends", async () => {
  const emulator = await start({ seed: undefined });
  const made = await Promise.all(Array.from({ length: maxOnDemand }, () => emulator.instance()));
  await expect(emulator.instance()).rejects.toThrow(`There are ${maxOnDemand} instances, and no more are made`);
  await made[0]?.close();
  await emulator.instance();
  expect(emulator.instances()).toHaveLength(maxOnDemand);
});
