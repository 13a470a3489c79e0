import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import * as sdk from "../../sdk/index.ts";
import { casesIn } from "../harness/cases.ts";
import { plugin } from "../harness/kinds.ts";
import { eventually } from "../harness/processes.ts";
import type { Properties } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";

const tables = {
  countries: {
    name: "Countries",
    fields: {
      Code: { type: "text", sort: 1 },
      Name: "text",
      People: "number",
      Currency: { type: "linked", table: "currencies", field: "Code" },
      Flag: { type: "file", id: "flag" },
    },
  },
  currencies: { name: "Currencies", fields: { Code: "text" } },
  cities: { name: "Cities", parent: "countries", fields: { Name: "text" } },
};
const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

let stage: Stage;
let provider: sdk.Provider;
const ids: Record<string, string> = {};

beforeAll(async () => {
  stage = await Stage.set(
    { tables, users: [{ email: "ada@example.com" }], settings: { generationSeconds: 0 } },
    {},
    plugin,
  );
  const { client, emulator } = stage;
  ids["acme"] = (
    await client.insertorganization({ organizationInfo: { name: "Acme", description: "All." } })
  ).organizationID;
  ids["crew"] = await stage.team(ids["acme"]);
  await client.insertteammembers({ teamIDs: [ids["crew"]], emails: ["ada@example.com", "grace@example.com"] });
  ids["ada"] = (await client.userid({ email: "ada@example.com" })).userID;
  await client.updateteammember({ teamID: ids["crew"], userID: ids["ada"], role: "admin" });
  ids["yen"] = (await client.insertmicroapprow({ microAppID: "currencies", rowData: { Code: "JPY" } })).rowID;
  for (const [Code, Name, People] of [
    ["PT", "Portugal", 10],
    ["JP", "Japan", 124],
    ["KE", "Kenya", 55],
  ] as const) {
    const rowData = { Code, Name, People, ...(Code === "JP" ? { Currency: { crossAppRowID: ids["yen"] } } : {}) };
    ids[Code] = (await client.insertmicroapprow({ microAppID: "countries", rowData })).rowID;
  }
  const osaka = { microAppID: "cities", rowData: { Name: "Osaka" }, embeddingRowID: ids["JP"] ?? "" };
  ids["Osaka"] = (await client.insertmicroapprow(osaka)).rowID;
  const { link } = await client.createappwithprompt({ userEmail: "admin@example.com", appPrompt: "An atlas." });
  ids["atlas"] = link.split("/").at(-1) ?? "";
  const { url: endpoint } = emulator;
  await pulumi.runtime.setMocks({ newResource: ({ name }) => ({ id: name, state: {} }), call: () => ({}) });
  provider = new sdk.Provider("it", {
    endpoint,
    email: "admin@example.com",
    password: "correct-horse",
    apiKey: "key-of-the-operator",
  });
});
afterAll(() => stage.clear());

type Name = "getUserID" | "getOrganization" | "getTeam" | "getTeamMembers" | "getRows" | "getRow" | "getAppStatus";

/** Asks through the SDK; a failure is its sentence. */
async function inProgram(name: Name, args: Properties): Promise<unknown> {
  const asked = sdk[name] as (args: Properties, options: sdk.FunctionOptions) => Promise<unknown>; // the function itself reports mistakes
  return asked(args, { provider }).catch((error: unknown) => (error as Error).message.replace(`${name}: `, ""));
}

/** Asks the plugin; a failure is its sentence. */
async function throughPlugin(name: Name, args: Properties): Promise<unknown> {
  const request = new providerProto.InvokeRequest()
    .setTok(`microapps:index:${name}`)
    .setArgs(structProto.Struct.fromJavaScript(JSON.parse(JSON.stringify(args)) as Record<string, never>));
  const answer = await stage.host.ask<InstanceType<typeof providerProto.InvokeResponse>>((client, done) =>
    client.invoke(request, done),
  );
  const failures = answer.getFailuresList().map((one) => `${one.getProperty()}: ${one.getReason()}`);
  return failures.length > 0 ? failures.join("; ") : answer.getReturn()?.toJavaScript();
}

/** The names of things stand for their IDs. */
const withIDs = <Value>(value: Value): Value =>
  JSON.parse(
    JSON.stringify(value).replaceAll(/<(\w+)>/g, (_, name: string) => ids[name] ?? (name === "unknown" ? unknown : "")),
  ) as Value; // the same shape

const japan = { rowID: "<JP>", values: { Code: "JP", Name: "Japan", People: 124 } };
const linked = { ...japan.values, Currency: expect.objectContaining({ crossAppRowID: expect.any(String) }) };
const calls = (since: number): string[] =>
  stage.emulator
    .calls({ since })
    .map(({ endpoint }) => endpoint)
    .filter((name) => name !== "login");

describe("List:", () => {
  const listed = (token: string, query: Properties, limit = 0): Promise<object[]> =>
    stage.host.ask((client, done) => {
      const request = new providerProto.ListRequest().setToken(token).setLimit(limit);
      request.setQuery(structProto.Struct.fromJavaScript(query as Record<string, never>));
      const answers: object[] = [];
      client
        .list(request)
        .on("data", (answer: InstanceType<typeof providerProto.ListResponse>) => answers.push(answer.toObject()))
        .on("error", done)
        .on("end", () => done(null, answers));
    });
  const members = "microapps:index:TeamMember";

  test("the members of a team come by IDs that import them", async () => {
    const all = await listed(members, { teamID: ids["crew"] });
    const results = all.map((answer) => (answer as { result: { id: string; name: string } }).result);
    expect(results).toContainEqual({ id: `${String(ids["crew"])}/${String(ids["ada"])}`, name: "ada@example.com" });
    for (const { id } of results) expect((await stage.host.import("TeamMember", id)).id).toBe(id);
    expect(await listed(members, { teamID: ids["crew"] }, 1)).toEqual(all.slice(0, 1));
  });

  test("rows of a table come by their key, and each imports as a seed of that row, unchanged and owned", async () => {
    const rows = await listed("microapps:index:SeedRows", { table: "countries", key: "Code" });
    const results = rows.map((answer) => (answer as { result: { id: string; name: string } }).result);
    expect(results.map(({ name }) => name).toSorted()).toEqual(["JP", "KE", "PT"]);
    const { host, emulator } = stage;
    for (const { id } of results) {
      const since = emulator.calls().length;
      const found = await host.import("SeedRows", id);
      expect(found.id).toBe("countries/Code");
      const { inputs, problems } = await host.check("SeedRows", found.inputs ?? {}, found.inputs);
      expect(problems).toEqual([]);
      expect(await host.diff("SeedRows", found.id, found.outputs, inputs)).toMatchObject({ changes: false });
      expect((await host.read("SeedRows", found.id, found.outputs)).outputs).toMatchObject({ rowCount: 1 });
      const called = emulator.calls({ since }).map(({ endpoint }) => endpoint);
      expect(called.filter((name) => /^(insert|update|remove)/.test(name))).toEqual([]);
    }
    const japan = await host.import("SeedRows", "countries/Code=JP&Name=Japan");
    // A link has more than a value, so it is left out.
    expect(japan).toMatchObject({
      id: "countries/Code+Name",
      inputs: { table: "countries", key: ["Code", "Name"], rows: [{ Code: "JP", Name: "Japan", People: 124 }] },
    });
    expect((await host.import("SeedRows", "countries/Code=XX")).id).toBe("");
    await expect(host.import("SeedRows", "cities/Name=Osaka")).rejects.toThrow("declare it by a SeedRows with parent");
    await expect(listed("microapps:index:SeedRows", { table: "none", key: "Code" })).rejects.toThrow("no such table");
    expect(await listed("microapps:index:SeedRows", { table: "countries", key: "Code" }, 2)).toHaveLength(2);
    expect(await listed("microapps:index:SeedRows", { table: "countries", key: "Nothing" })).toEqual([]);
  });

  test("files of a row come by its key or its ID, and import", async () => {
    const { client, host } = stage;
    const content = { filename: "pt.svg", url: "https://files.example.com/pt.svg" };
    const place = { microAppResourceID: "countries", appID: ids["PT"] ?? "", fieldID: "flag" };
    const { childID } = await client.microappchildCreate({ ...place, content });
    for (const [row, part] of [
      ["Code=PT", "Code=PT"],
      [ids["PT"] ?? "", ids["PT"] ?? ""],
    ]) {
      const id = `countries/${String(part)}/flag/${childID}`;
      const [found] = await listed("microapps:index:RowFile", { table: "countries", row, fieldID: "flag" });
      expect(found).toMatchObject({ result: { id, name: "pt.svg" } });
      expect((await host.import("RowFile", id)).inputs).toMatchObject({ table: "countries", fieldID: "flag" });
    }
    const nowhere = { table: "countries", row: "Code=XX", fieldID: "flag" };
    await expect(listed("microapps:index:RowFile", nowhere)).rejects.toThrow("row: there is no such row in the table");
  });

  test("what is not known yet has no list, and what has none says so", async () => {
    expect(await listed(members, { teamID: unknown })).toMatchObject([{ computed: {} }]);
    await expect(listed(members, { teamID: "none" })).rejects.toThrow(/teamID/);
    await expect(listed(members, {})).rejects.toThrow(/teamID/);
    await expect(listed("microapps:index:Team", {})).rejects.toThrow("does not list microapps:index:Team");
  });
});

describe("with both kinds of provider", () => {
  test.each(casesIn("testing/plugin/testdata/functions.yaml") as [Name, Properties, unknown, string[]][])(
    "%s %j",
    async (name, args, expected, sent) => {
      for (const asked of [inProgram, throughPlugin]) {
        const since = stage.emulator.calls().at(-1)?.sequence ?? 0;
        expect(await asked(name, withIDs(args))).toEqual(withIDs(expected));
        expect(calls(since)).toEqual(sent);
      }
    },
  );

  test("members come by address, with role, also from a list that has IDs alone", async () => {
    const members = [
      { userID: ids["ada"], email: "ada@example.com", role: "admin" },
      { userID: expect.any(String), email: "grace@example.com", role: "member" },
    ];
    const admin = { userID: expect.any(String), email: "admin@example.com", role: "admin" };
    for (const asked of [inProgram, throughPlugin]) {
      expect(await asked("getTeamMembers", { teamID: ids["crew"] })).toEqual({
        teamID: ids["crew"],
        members: [members[0], admin, members[1]],
      });
    }
  });

  test.each<[Properties, string[]]>([
    [{}, ["PT", "JP", "KE"]],
    [{ limit: 2 }, ["PT", "JP"]],
    [{ sort: [{ label: "People", order: "descending" }], limit: 2 }, ["JP", "KE"]],
    [{ sort: [{ label: "Currency" }, { label: "Name" }] }, ["JP", "KE", "PT"]],
    [{ where: { Code: "KE" } }, ["KE"]],
    [{ where: { People: "55" } }, ["KE"]],
    [{ where: { Currency: "<yen>" } }, ["JP"]],
    [{ where: { Currency: null }, sort: [{ label: "Code" }] }, ["KE", "PT"]],
    [{ filters: [{ sortVal: { $gte: "K" } }], sort: [{ label: "Code" }] }, ["KE", "PT"]],
    [{ where: { Code: "KE" }, filters: [{ sortVal: "PT" }] }, []],
  ])("getRows %j", async (query, codes) => {
    for (const asked of [inProgram, throughPlugin]) {
      const { rows } = (await asked("getRows", withIDs({ table: "countries", ...query }))) as {
        rows: { values: { Code: string } }[];
      };
      expect(rows.map(({ values }) => values.Code)).toEqual(codes);
    }
  });

  test("a row has its values by label and none of the platform's own", async () => {
    for (const asked of [inProgram, throughPlugin]) {
      expect(await asked("getRow", { table: "countries", key: { Code: "JP" } })).toEqual({
        rowID: ids["JP"],
        values: linked,
      });
      expect(await asked("getRows", { table: "cities", parentRowID: ids["JP"] })).toEqual({
        rows: [{ rowID: ids["Osaka"], values: { Name: "Osaka" }, parentRowID: ids["JP"] }],
      });
    }
  });

  test("a key that several rows have is told with their number", async () => {
    await stage.client.insertmicroapprows({ microAppID: "currencies", rows: [{ Code: "EUR" }, { Code: "EUR" }] });
    for (const asked of [inProgram, throughPlugin]) {
      const told = await asked("getRow", { table: "currencies", key: { Code: "EUR" } });
      expect(told).toBe("key: there is not one such row in the table but 2: name more labels");
    }
  });
});

describe("secrets", () => {
  test("what is asked with a secret is answered as one, and no failure shows it", async () => {
    expect(await throughPlugin("getTeam", { teamID: secret(ids["crew"]) })).toMatchObject({ name: secret("Crew") });
    const told = await throughPlugin("getTeam", { teamID: secret("hush-hush") });
    expect(told).toBe("teamID: there is no such team on the platform");
    const output = sdk.getTeamOutput({ teamID: pulumi.secret(ids["crew"] ?? "") }, { provider });
    expect(await pulumi.isSecret(output)).toBe(true);
    const clear = sdk.getTeamOutput({ teamID: ids["crew"] ?? "" }, { provider });
    expect(await pulumi.isSecret(clear)).toBe(false); // although the provider has a password
  });

  test("a wrong configuration is one sentence without what it holds", async () => {
    const wrong = new sdk.Provider("wrong", {
      endpoint: stage.emulator.url,
      email: "admin@example.com",
      password: "not-this",
    });
    const asked = sdk.getTeam({ teamID: "x" }, { provider: wrong });
    await expect(asked).rejects.toThrow(/^getTeam: login: .*Check the e-mail address and password/);
    await expect(asked).rejects.not.toThrow("not-this");
    await expect(asked).rejects.toBeInstanceOf(pulumi.RunError);
  });
});

test("an output among the arguments is not asked for, and the function that takes it is named", async () => {
  const asked = sdk.getTeam({ teamID: pulumi.output("x") as never }, { provider });
  await expect(asked).rejects.toThrow("getTeam: teamID is an output, which has no value yet: use getTeamOutput");
});

test("a function that there is not is named", async () => {
  const request = new providerProto.InvokeRequest().setTok("microapps:index:getPlanet");
  const asked = stage.host.ask((client, done) => client.invoke(request, done));
  await expect(asked).rejects.toThrow("no function microapps:index:getPlanet");
});

test("a cancellation ends what is asked", async () => {
  stage.emulator.setFaults({ faults: [{ endpoint: "readteam", kind: "slow", milliseconds: 1_000, count: 1 }] });
  const asked = expect(throughPlugin("getTeam", { teamID: ids["crew"] ?? "" })).rejects.toThrow(
    "Run it again to go on",
  );
  await eventually("a call", () => stage.emulator.faults().some(({ hit }) => hit > 0));
  const empty = (await import("google-protobuf/google/protobuf/empty_pb.js")).default;
  await stage.host.ask((client, done) => client.cancel(new empty.Empty(), done));
  await asked;
});
