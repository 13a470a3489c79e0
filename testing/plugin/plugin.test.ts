import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { here } from "../harness/inProcessPlugin.ts";
import { plugin } from "../harness/kinds.ts";
import { type Properties } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});
const tables = { continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };
const struct = (properties: Properties) => structProto.Struct.fromJavaScript(properties as Record<string, never>);

let stage: Stage;
const start = async (config: Readonly<Record<string, string>> = {}, providerKind = here): Promise<void> => {
  stage = await Stage.set({ tables, users: [{ email: "ada@example.com" }] }, config, providerKind);
};
beforeEach(() => start());
afterEach(() => stage.clear());

type Of<Name extends keyof typeof providerProto> = InstanceType<
  Extract<(typeof providerProto)[Name], new () => unknown>
>;

const create = (type: string, inputs: Properties, set: (request: Of<"CreateRequest">) => void = () => undefined) => {
  const request = new providerProto.CreateRequest().setUrn(stage.host.urn(type)).setProperties(struct(inputs));
  set(request);
  return stage.host.ask<Of<"CreateResponse">>((client, done) => client.create(request, done));
};

test("says who it is and what it understands", async () => {
  const greeting = new providerProto.ProviderHandshakeRequest();
  const hands = await stage.host.ask<Of<"ProviderHandshakeResponse">>((client, done) =>
    client.handshake(greeting, done),
  );
  expect(hands.getAcceptSecrets()).toBe(true);
  const info = await stage.host.ask<InstanceType<typeof pluginProto.PluginInfo>>((client, done) =>
    client.getPluginInfo(new emptyProto.Empty(), done),
  );
  expect(info.getVersion()).toMatch(/^\d+\.\d+\.\d+$/);
  const schema = await stage.host.ask<Of<"GetSchemaResponse">>((client, done) =>
    client.getSchema(new providerProto.GetSchemaRequest(), done),
  );
  expect(JSON.parse(schema.getSchema())).toMatchObject({ name: "microapps", version: info.getVersion() });
});

test("what it does not offer is unimplemented, and a resource type that it does not know is named", async () => {
  await stage.clear();
  await start({}, plugin); // gRPC answers this
  await expect(
    stage.host.ask((client, done) => client.parameterize(new providerProto.ParameterizeRequest(), done)),
  ).rejects.toThrow("does not implement the method");
  await expect(create("Planet", {})).rejects.toThrow("no resource type microapps:index:Planet");
});

test("a preview refuses a new seed whose rows others have with other content, as up does; with adopt: true neither does", async () => {
  const { userID } = await stage.client.userid({ email: "ada@example.com" });
  const rows = [
    { Code: "AF", Name: "Africa" },
    { Code: "EU", Name: "europe" },
  ];
  await stage.client.insertmicroapprows({ microAppID: "continents", rows, userID });
  const seed = { table: "continents", key: "Code", rows: [rows[0], { Code: "EU", Name: "Europe" }] };
  const preview = (request: Of<"CreateRequest">): unknown => request.setPreview(true);
  const refusal =
    'table continents has rows with these keys and other content that are not ours: "EU". Set adopt: true';
  // An engine's next step; the harness takes it after each check.
  await expect(stage.host.check("SeedRows", seed)).rejects.toThrow(refusal);
  const adopting = await stage.host.check("SeedRows", { ...seed, adopt: true });
  await create("SeedRows", adopting.inputs, preview);
  expect((await stage.client.microappdata({ microAppID: "continents" })).microAppRows).toMatchObject(rows);
  await stage.host.check("SeedRows", { ...seed, rows: [rows[0], { Code: "AS", Name: "Asia" }] });
  expect(stage.host.told.at(-1)).toBe("info: rows: 1 to add, 1 already as declared");
  // Nobody is refused by a platform that can't be read: it is said.
  stage.emulator.setFaults({ faults: [{ kind: "status", status: 403, endpoint: "microappdata" }] });
  await stage.host.check("SeedRows", seed);
  expect(stage.host.told.join("\n")).toContain("whether others made rows with these keys is seen by up alone: ");
  stage.emulator.setFaults({ faults: [] });
  await stage.clear();
  await start({ "microapps:driftOnPreview": "false" });
  await stage.host.check("SeedRows", seed);
});

describe("configuration", () => {
  test("a changed password is a change, and shown by its name alone", async () => {
    const request = new providerProto.DiffRequest()
      .setOldInputs(struct({ endpoint: "https://a.example.com", password: secret("one") }))
      .setNews(struct({ endpoint: "https://b.example.com", password: secret("two") }));
    const answer = await stage.host.ask<Of<"DiffResponse">>((client, done) => client.diffConfig(request, done));
    expect(
      answer
        .getDetaileddiffMap()
        .getEntryList()
        .map(([path]) => path),
    ).toEqual(["endpoint", "password"]);
    expect(answer.getReplacesList()).toEqual([]);
  });
});

describe("preview", () => {
  const added = Object.fromEntries(
    `__digest __fingerprint drift __keys labels __ledger rowCount __linkRenewals renewals __forms __existing __labelSets __labelled __unproven __unseen unmet viewerIDs`
      .split(" ")
      .map((name) => [name, unknown]),
  );

  test("what is unknown in the inputs is unknown in the outputs, and so is what the platform adds", async () => {
    const inputs = { teamID: unknown, email: "ada@example.com", role: "admin" };
    const platform = stage.emulator.url;
    const calls = await stage.calls(async () => {
      const answer = await create("TeamMember", inputs, (request) => request.setPreview(true));
      expect(answer.getProperties()?.toJavaScript()).toEqual({
        ...inputs,
        memberUserID: unknown,
        platform,
      });
      const rows = await create("SeedRows", { table: "continents", key: ["Code"], rows: unknown }, (request) =>
        request.setPreview(true),
      );
      expect(rows.getProperties()?.toJavaScript()).toEqual({
        ...{ table: "continents", key: ["Code"], platform, ...added },
        __salt: expect.objectContaining({ value: unknown }) as unknown, // a secret
        __foundSecrets: expect.objectContaining({ value: unknown }) as unknown,
      });
    });
    expect(calls).toEqual([]);
  });

  test("what it chooses at random it chooses by the engine's seed: a plan that was saved can be carried out", async () => {
    const news = struct({ table: "continents", key: "Code", rows: [{ Code: "EU" }] });
    const checked = async (seed: number): Promise<unknown> => {
      const request = new providerProto.CheckRequest()
        .setUrn(stage.host.urn("SeedRows"))
        .setNews(news)
        .setRandomseed(new Uint8Array(32).fill(seed));
      const answer = await stage.host.ask<Of<"CheckResponse">>((client, done) => client.check(request, done));
      return answer.getInputs()?.toJavaScript();
    };
    const [planned, carried, other] = [await checked(1), await checked(1), await checked(2)];
    expect(planned).toMatchObject({
      __salt: secret(expect.stringMatching(/^2:/)),
      __digest: expect.any(String) as unknown,
    });
    expect(carried).toEqual(planned);
    expect(other).not.toEqual(planned);
  });

  test("what an update leaves as it is stays known, so that nothing that uses it is replaced", async () => {
    const request = new providerProto.UpdateRequest()
      .setUrn(stage.host.urn("TeamMember"))
      .setPreview(true)
      .setOlds(struct({ teamID: "t", email: "ada@example.com", memberUserID: "u" }))
      .setNews(struct({ teamID: "t", email: "ada@example.com", role: "admin" }));
    const answer = await stage.host.ask<Of<"UpdateResponse">>((client, done) => client.update(request, done));
    expect(answer.getProperties()?.toJavaScript()).toEqual({
      teamID: "t",
      email: "ada@example.com",
      role: "admin",
      memberUserID: "u",
      platform: stage.emulator.url,
    });
  });
});

test("a diff names each property that changes, by path", async () => {
  const same = { table: "countries", mode: "exact", onConflict: "overwrite", maxRemovals: 0.25, onDestroy: "delete" };
  const old = {
    ...same,
    key: ["Code"],
    digest: "1",
    references: { Continent: { table: "continents", key: "Code" }, "Time zone": { table: "zones", key: "ID" } },
  };
  const news = {
    ...same,
    key: ["Code", "Name"],
    digest: "2",
    references: { Continent: { table: unknown, key: "Code" }, Currency: { table: "currencies", key: "Code" } },
  };
  expect(await stage.host.details("SeedRows", "x", old, news)).toEqual({
    "key[1]": "ADD",
    rows: "UPDATE",
    "references.Continent.table": "UPDATE",
    'references["Time zone"]': "DELETE",
    "references.Currency": "ADD",
  });
});

describe("rows that change are shown by their key,", () => {
  const seed = { table: "continents", key: "Code" };
  const rows = [
    { Code: "EU", Name: "Europe" },
    { Code: "AF", Name: "Africa" },
    { Code: "AS", Name: "Asai" },
  ];
  const wanted = [
    { Code: "OC", Name: "Oceania" },
    { Code: "EU", Name: "Europe" },
    { Code: "AS", Name: "Asia" },
  ];
  const byHand = async (code: string, change: (rowID: string) => Promise<unknown>): Promise<void> => {
    const { microAppRows } = await stage.client.microappdata({ microAppID: "continents" });
    await change(microAppRows.find((row) => row["Code"] === code)?._id ?? "");
  };

  test("label by label when the program has them, in any order", async () => {
    const made = await stage.create("SeedRows", { ...seed, rows });
    expect(made.inputs).toMatchObject({ rows: { EU: rows[0], AF: rows[1], AS: rows[2] }, keys: ["EU", "AF", "AS"] });
    const { inputs } = await stage.host.check("SeedRows", { ...seed, rows: wanted }, made.inputs);
    expect(await stage.host.details("SeedRows", made.id, made.outputs, inputs, made.inputs)).toEqual({
      'rows["AS"].Name': "UPDATE",
      'rows["OC"]': "ADD",
      'rows["AF"]': "DELETE",
    });
  });

  test("and edits by hand with what is there now", async () => {
    const made = await stage.create("SeedRows", { ...seed, rows });
    await byHand("EU", (rowID) => stage.client.updatemicroapprow({ rowID, rowData: { Name: "By hand" } }));
    await byHand("AF", (rowID) => stage.client.removemicroapprow({ rowID }));
    const seen = await stage.host.read("SeedRows", made.id, made.outputs, made.inputs);
    expect(seen.inputs).toMatchObject({ rows: { EU: { Code: "EU", Name: "By hand" }, AS: rows[2] } });
    expect(seen.inputs?.["rows"]).not.toHaveProperty("AF");
    expect(await stage.host.details("SeedRows", made.id, seen.outputs, made.inputs, seen.inputs)).toEqual({
      'rows["EU"].Name': "UPDATE",
      'rows["AF"]': "ADD",
    });
    // A manual correction leads back to the declared row.
    await stage.host.update("SeedRows", made.id, seen.outputs, made.inputs);
    const repaired = await stage.host.read("SeedRows", made.id, seen.outputs, seen.inputs);
    expect(repaired.inputs?.["rows"]).toEqual(made.inputs["rows"]);
  });

  test("the first of each kind when a file has them, and how many more there are", async () => {
    const file = join(stage.host.folder, "continents.csv");
    const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `C${from + i},Name`);
    await writeFile(file, ["Code,Name", ...lines(0, 100)].join("\n"));
    const made = await stage.create("SeedRows", { ...seed, source: "continents.csv" });
    expect(made.inputs).not.toHaveProperty("rows");
    await writeFile(file, ["Code,Name", "C10,Other", ...lines(11, 160)].join("\n"));
    const { inputs } = await stage.host.check("SeedRows", { ...seed, source: "continents.csv" }, made.inputs);
    const found = await stage.host.details("SeedRows", made.id, made.outputs, inputs, made.inputs);
    expect(found).toMatchObject({ 'rows["C100"]': "ADD", 'rows["C10"]': "UPDATE", 'rows["C9"]': "DELETE" });
    expect(Object.keys(found)).toHaveLength(20 + 1 + 10 + 1);
    expect(found).toHaveProperty(['rows["and 40 more of 71"]']);
  });
});

describe("secrets", () => {
  test("a Notification to a secret address has an ID that does not tell it, and an older ID stays", async () => {
    const app = await stage.create("GeneratedApp", { userEmail: "admin@example.com", appPrompt: "A shop" });
    const declared = { appID: app.id, email: secret("ada@example.com"), message: "Hello" };
    const { inputs } = await stage.host.check("Notification", declared);
    const { id, outputs } = await stage.host.create("Notification", inputs);
    expect(id).toMatch(/^[0-9A-Za-z]{24}$/);
    const old = `${app.id}/ada@example.com`;
    const sent = await stage.calls(async () => {
      const change = await stage.host.diff("Notification", old, outputs, inputs);
      expect(change).toMatchObject({ changes: false, replaces: [] });
      expect((await stage.host.read("Notification", old, outputs, inputs)).id).toBe(old);
      await stage.host.update("Notification", old, outputs, inputs);
    });
    expect(sent).toEqual([]);
  });
});

describe("what was changed by hand", () => {
  test("is left to a refresh when the configuration says so", async () => {
    await stage.clear();
    await start({ "microapps:driftOnPreview": "false" });
    expect((await create("Organization", { name: "Acme" })).getRefreshBeforeUpdate()).toBe(false);
  });
});

test("a timeout ends a call, and says so", async () => {
  stage.emulator.setFaults({ faults: [{ endpoint: "insertorganization", kind: "timeout" }] });
  const slow = create("Organization", { name: "Acme" }, (request) => request.setTimeout(0.2));
  await expect(slow).rejects.toThrow("not done within the 0.2 s of its timeout");
});

describe("the process", () => {
  test("says its port first, and ends when an engine interrupts it", async () => {
    const child = spawn(process.execPath, [plugin.program], { stdio: ["ignore", "pipe", "ignore"] });
    const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string]; // the only argument
    expect(port).toMatch(/^\d+$/);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("ends with its parent", async () => {
    const script = `require("node:child_process").spawn(process.execPath, [${JSON.stringify(plugin.program)}], { stdio: "inherit" });`;
    const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
    await once(createInterface({ input: parent.stdout }), "line");
    const closed = once(parent, "close"); // when the plugin has let go of its output as well
    parent.kill("SIGKILL");
    await closed;
  });
});
