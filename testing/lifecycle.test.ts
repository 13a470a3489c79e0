import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import * as doors from "./doors.ts";
import { Stage } from "./stage.ts";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const tables = {
  continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  countries: {
    name: "Countries",
    fields: {
      Code: { type: "text", sort: 1 },
      Name: "text",
      People: "number",
      Continent: { type: "linked", table: "continents", field: "Code" },
    },
  },
  cities: { name: "Cities", parent: "countries", fields: { Name: "text" } },
};

// What happened in each case, door by door.
const traces = new Map<string, Record<string, string[]>>();

let stage: Stage;

describe.each(Object.values(doors))("through the $name door:", (door) => {
  const set = (seed: object): Promise<Stage> => Stage.set({ users: [{ email: "ada@example.com" }], ...seed }, {}, door);

  beforeEach(async () => {
    stage = await set({ tables, settings: { generationSeconds: 0 } });
  });
  afterEach(async () => {
    const name = (expect.getState().currentTestName ?? "").replace(/^.*? door: /, "");
    traces.set(name, { ...traces.get(name), [door.name]: stage.trace() });
    await stage.clear();
  });

  const organization = async (name = "Acme"): Promise<string> => {
    const { organizationID } = await stage.client.insertorganization({ organizationInfo: { name } });
    return organizationID;
  };
  const team = async (organizationID: string, name = "Crew"): Promise<string> =>
    (await stage.client.insertteam({ teamInfo: { organizationID, name } })).teamID;

  describe("Organization", () => {
    test("is created, left alone, renamed in place, seen to drift and deleted", async () => {
      const { host, client } = stage;
      const made = await stage.create("Organization", { name: "Acme", description: "Makes everything." });
      expect(await client.readorganization({ organizationID: made.id })).toMatchObject({
        organization: { _id: made.id, name: "Acme", description: "Makes everything." },
      });
      expect(await host.diff("Organization", made.id, made.outputs, made.inputs)).toMatchObject({ changes: false });

      const renamed = { ...made.inputs, name: "Acme & Co", description: null };
      expect(await host.diff("Organization", made.id, made.outputs, renamed)).toMatchObject({
        changes: true,
        replaces: [],
      });
      const outputs = await host.update("Organization", made.id, made.outputs, renamed);
      expect(outputs).toMatchObject({ name: "Acme & Co", description: null });
      const { organization } = await client.readorganization({ organizationID: made.id });
      expect(organization?.name).toBe("Acme & Co");
      expect(organization?.description ?? "").toBe("");

      await client.updateorganization({ organizationID: made.id, organizationInfo: { name: "By hand" } });
      const seen = await host.read("Organization", made.id, outputs);
      expect(seen).toMatchObject({
        id: made.id,
        outputs: { name: "By hand", description: null },
        inputs: { name: "By hand" },
      });
      expect(await host.diff("Organization", made.id, seen.outputs, renamed)).toMatchObject({ changes: true });

      await host.delete("Organization", made.id, outputs);
      await host.delete("Organization", made.id, outputs); // what is missing is deleted
      expect((await host.read("Organization", made.id, outputs)).id).toBe("");
    });

    test("what is unset is left alone, and no drift", async () => {
      const made = await stage.create("Organization", { name: "Acme" });
      await stage.client.updateorganization({ organizationID: made.id, organizationInfo: { description: "By hand" } });
      const seen = await stage.host.read("Organization", made.id, made.outputs);
      expect(seen.outputs).toEqual(made.outputs);
      expect(await stage.host.diff("Organization", made.id, seen.outputs, made.inputs)).toMatchObject({
        changes: false,
      });
    });

    test("is found again by a run that remembers nothing, and not doubled", async () => {
      const first = await stage.create("Organization", { name: "Acme" });
      let second: { id: string } | undefined;
      expect(await stage.calls(async () => (second = await stage.create("Organization", { name: "Acme" })))).toEqual(
        [],
      );
      expect(second?.id).toBe(first.id);
      expect(stage.host.told.join()).toContain("was already there");
    });

    test("what is there with other content is not taken unless it is told to", async () => {
      const { id } = await stage.create("Organization", { name: "Acme" });
      await stage.client.updateorganization({ organizationID: id, organizationInfo: { name: "Theirs" } });
      await expect(stage.create("Organization", { name: "Acme" })).rejects.toThrow("Set adopt: true to take it over");
      await stage.create("Organization", { name: "Acme", adopt: true });
      expect((await stage.client.readorganization({ organizationID: id })).organization?.name).toBe("Acme");
    });

    test("is not deleted while it has teams, which are named; forceDestroy deletes them too", async () => {
      const made = await stage.create("Organization", { name: "Acme" });
      await team(made.id, "Crew");
      await expect(stage.host.delete("Organization", made.id, made.outputs)).rejects.toThrow(/still has teams: "Crew"/);
      await stage.host.delete("Organization", made.id, { ...made.outputs, forceDestroy: true });
      expect((await stage.host.read("Organization", made.id, made.outputs)).id).toBe("");
    });

    test("its administrator can't be changed afterwards", async () => {
      const olds = { name: "Acme", adminID: "u1" };
      const { problems } = await stage.host.check("Organization", { name: "Acme", adminID: "u2" }, olds);
      expect(problems).toEqual([expect.stringContaining("adminID: the administrator of an existing organization")]);
    });
  });

  describe("Team", () => {
    test("is created, renamed in place, replaced when its organization changes, gone when somebody deletes it", async () => {
      const { host, client } = stage;
      const organizationID = await organization();
      const made = await stage.create("Team", { organizationID, name: "Crew" });
      const renamed = { ...made.inputs, name: "The Crew" };
      expect(await host.diff("Team", made.id, made.outputs, renamed)).toMatchObject({ changes: true, replaces: [] });
      expect(await stage.calls(() => host.update("Team", made.id, made.outputs, renamed))).toEqual(["updateteam"]);
      expect(await stage.calls(() => host.update("Team", made.id, made.outputs, renamed))).toEqual([]);

      const moved = { ...renamed, organizationID: unknown };
      expect(await host.diff("Team", made.id, made.outputs, moved)).toEqual({
        changes: true,
        replaces: ["organizationID"],
        deleteBeforeReplace: true,
      });
      await client.deleteteam({ teamID: made.id });
      expect((await host.read("Team", made.id, made.outputs)).id).toBe("");
    });

    test("an import reads everything", async () => {
      const organizationID = await organization();
      const teamID = await team(organizationID);
      const seen = await stage.host.import("Team", teamID);
      expect(seen.inputs).toMatchObject({ organizationID, name: "Crew" });
    });

    test("is not deleted while it has members of others, who are named", async () => {
      const organizationID = await organization();
      const made = await stage.create("Team", { organizationID, name: "Crew" });
      await stage.client.insertteammembers({ teamIDs: [made.id], emails: ["grace@example.com"] });
      await expect(stage.host.delete("Team", made.id, made.outputs)).rejects.toThrow(/grace@example\.com/);
      await stage.host.delete("Team", made.id, { ...made.outputs, forceDestroy: true });
      expect((await stage.host.read("Team", made.id, made.outputs)).id).toBe("");
    });

    test("a new administrator is added", async () => {
      const organizationID = await organization();
      const made = await stage.create("Team", { organizationID, name: "Crew" });
      const { userID } = await stage.client.userid({ email: "ada@example.com" });
      await stage.host.update("Team", made.id, made.outputs, { ...made.inputs, adminID: userID });
      const { teamMembers } = await stage.client.teammembers({ teamIDs: [made.id] });
      expect(teamMembers).toContainEqual(expect.objectContaining({ userID, role: "admin" }));
    });
  });

  describe.each(["objects", "ids"] as const)("TeamMember, with lists of %s", (memberForm) => {
    beforeEach(async () => {
      await stage.clear();
      stage = await set({ settings: { memberForm } });
    });

    test("is added, promoted, put back when removed by hand, and removed alone", async () => {
      const { host, client } = stage;
      const teamID = await team(await organization());
      const made = await stage.create("TeamMember", { teamID, email: "Ada@example.com", role: "admin" });
      const { userID } = await client.userid({ email: "ada@example.com" });
      expect(made.id).toBe(`${teamID}/${userID}`);
      expect(await host.diff("TeamMember", made.id, made.outputs, made.inputs)).toMatchObject({ changes: false });
      expect(await host.read("TeamMember", made.id, made.outputs)).toMatchObject({ outputs: { role: "admin" } });

      const demoted = { ...made.inputs, role: "member" };
      expect(await host.diff("TeamMember", made.id, made.outputs, demoted)).toMatchObject({
        changes: true,
        replaces: [],
      });
      const outputs = await host.update("TeamMember", made.id, made.outputs, demoted);
      await client.updateteammember({ teamID, userID, role: "admin" });
      await new Promise((resolve) => setTimeout(resolve, 0));
      // Our own update dropped the snapshot of the list, so the edit by hand is seen at once.
      expect(await host.read("TeamMember", made.id, outputs)).toMatchObject({ outputs: { role: "admin" } });

      await host.delete("TeamMember", made.id, outputs);
      expect((await host.read("TeamMember", made.id, outputs)).id).toBe("");
      await host.delete("TeamMember", made.id, outputs);
    });

    test("many at a time are one call for each team", async () => {
      const organizationID = await organization();
      const teams = [await team(organizationID, "A"), await team(organizationID, "B")];
      const people = ["ada", "grace", "alan", "edsger"].map((name) => `${name}@example.com`);
      const calls = await stage.calls(() =>
        Promise.all(teams.flatMap((teamID) => people.map((email) => stage.create("TeamMember", { teamID, email })))),
      );
      expect(calls).toEqual(["insertteammembers", "insertteammembers"]);
    });
  });

  test("TeamMember: an administrator is not made a plain member unless told to", async () => {
    const teamID = await team(await organization());
    const { userID } = await stage.client.userid({ email: "ada@example.com" });
    await stage.client.insertteammembers({ teamIDs: [teamID], userIDs: [userID] });
    await stage.client.updateteammember({ teamID, userID, role: "admin" });
    const news = { teamID, userID, role: "member" };
    await expect(stage.create("TeamMember", news)).rejects.toThrow("Set adopt: true");
    await stage.create("TeamMember", { ...news, adopt: true });
  });

  test("TeamMember: a team that is gone is told by its ID, and takes the member along", async () => {
    const teamID = await team(await organization());
    const made = await stage.create("TeamMember", { teamID, email: "ada@example.com" });
    await stage.client.deleteteammember({ teamID, userID: made.id.split("/")[1] ?? "" });
    await stage.client.deleteteam({ teamID });
    await stage.host.delete("TeamMember", made.id, made.outputs);
    expect((await stage.host.read("TeamMember", made.id, made.outputs)).id).toBe("");
    await expect(stage.create("TeamMember", { teamID, email: "ada@example.com" })).rejects.toThrow(teamID);
  });

  describe("SeedRows", () => {
    const rows = [
      { Code: "EU", Name: "Europe" },
      { Code: "AF", Name: "Africa" },
    ];
    const live = async (microAppID: string) => {
      const { microAppRows } = await stage.client.microappdata({ microAppID, optViewSort: { sortVal: 1 } });
      return microAppRows;
    };

    test("rows are added, changed and removed as the source has them; those of others are left alone", async () => {
      const { host, client } = stage;
      await client.insertmicroapprow({ microAppID: "continents", rowData: { Code: "XX", Name: "Theirs" } });
      const made = await stage.create("SeedRows", { table: "continents", key: "Code", rows });
      expect(made.outputs).toMatchObject({ rowCount: 2, keys: ["EU", "AF"] });
      expect(made.outputs).not.toHaveProperty("rows");
      expect(await host.diff("SeedRows", made.id, made.outputs, made.inputs)).toMatchObject({ changes: false });

      const wanted = [
        { Code: "EU", Name: "Europa" },
        { Code: "AS", Name: "Asia" },
      ];
      host.told.length = 0;
      const { inputs } = await host.check("SeedRows", { table: "continents", key: "Code", rows: wanted }, made.inputs);
      expect(await stage.calls(() => host.diff("SeedRows", made.id, made.outputs, inputs))).toEqual([]);
      expect(host.told).toEqual([
        'info: rows: 1 to add ("AS"), 1 to change ("EU"), 1 to remove ("AF"), 0 unchanged; about 6 calls',
      ]);
      let outputs = {};
      const calls = await stage.calls(
        async () => (outputs = await host.update("SeedRows", made.id, made.outputs, inputs)),
      );
      expect(calls.toSorted()).toEqual(["insertmicroapprows", "removemicroapprow", "updatemicroapprow"]);
      expect(await live("continents")).toMatchObject([
        { Code: "AS", Name: "Asia" },
        { Code: "EU", Name: "Europa" },
        { Code: "XX", Name: "Theirs" },
      ]);

      await host.delete("SeedRows", made.id, outputs);
      expect(await live("continents")).toMatchObject([{ Code: "XX" }]);
    });

    test("edits by hand are seen and repaired; with keepLive they are kept", async () => {
      const { host, client } = stage;
      const made = await stage.create("SeedRows", { table: "continents", key: "Code", rows });
      const [africa, europe] = await live("continents");
      await client.updatemicroapprow({ rowID: africa?._id ?? "", rowData: { Name: "By hand" } });
      await client.removemicroapprow({ rowID: europe?._id ?? "" });
      const seen = await host.read("SeedRows", made.id, made.outputs);
      expect(seen.outputs["drift"]).toEqual({ changed: 1, missing: 1, changedKeys: ["AF"], missingKeys: ["EU"] });
      expect(await host.diff("SeedRows", made.id, seen.outputs, made.inputs)).toMatchObject({ changes: true });
      const kept = { ...made.inputs, onConflict: "keepLive" };
      await host.update("SeedRows", made.id, seen.outputs, kept);
      expect(await live("continents")).toMatchObject([{ Name: "By hand" }]);
      const outputs = await host.update("SeedRows", made.id, seen.outputs, made.inputs);
      expect(outputs).not.toHaveProperty("drift");
      expect(await live("continents")).toMatchObject([{ Name: "Africa" }, { Name: "Europe" }]);
    });

    test("a CSV with references and types; a reference that leads nowhere is named by line before anything is sent", async () => {
      const { host } = stage;
      await stage.create("SeedRows", { table: "continents", key: "Code", rows });
      const source = "countries.csv";
      await writeFile(join(host.folder, source), "Code,Name,People,Continent\nPT,Portugal,10,EU\nKE,Kenya,,AF\n");
      const news = {
        table: "countries",
        key: "Code",
        source,
        types: { People: "number" },
        references: { Continent: { table: "continents", key: "Code" } },
      };
      const made = await stage.create("SeedRows", news);
      expect(await live("countries")).toMatchObject([
        { Code: "KE", Continent: { value: { label: "Code", value: "AF" } } },
        { Code: "PT", People: 10, Continent: { value: { value: "EU" } } },
      ]);
      const seen = await host.read("SeedRows", made.id, made.outputs);
      expect(seen.outputs).not.toHaveProperty("drift");

      await writeFile(join(host.folder, source), "Code,Name,People,Continent\nPT,Portugal,10,EU\nKE,Kenya,,AN\n");
      const { inputs } = await host.check("SeedRows", news, made.inputs);
      const calls = await stage.calls(() =>
        expect(host.update("SeedRows", made.id, made.outputs, inputs)).rejects.toThrow(
          'countries.csv:3: Continent refers to "AN", but there is no row with that key',
        ),
      );
      expect(calls).toEqual([]);
    });

    test("rows of a sub-table belong to their parent rows", async () => {
      const { host, client } = stage;
      await stage.create("SeedRows", { table: "countries", key: "Code", rows: [{ Code: "PT" }, { Code: "KE" }] });
      const news = {
        table: "cities",
        key: ["Country", "Name"],
        rows: [
          { Country: "PT", Name: "Lisbon" },
          { Country: "KE", Name: "Nairobi" },
        ],
        parent: { table: "countries", key: "Code", by: "Country" },
      };
      const made = await stage.create("SeedRows", news);
      const [kenya] = await live("countries");
      const { microAppRows } = await client.microappdata({
        microAppID: "cities",
        optViewFilters: [{ embeddingRowID: kenya?._id }],
      });
      expect(microAppRows).toMatchObject([{ Name: "Nairobi" }]);
      expect((await host.read("SeedRows", made.id, made.outputs)).outputs).not.toHaveProperty("drift");
      expect(await stage.calls(() => host.update("SeedRows", made.id, made.outputs, made.inputs))).toEqual([]);
    });

    test("a run that remembers nothing doubles nothing, and takes nothing that is not as declared", async () => {
      await stage.create("SeedRows", { table: "continents", key: "Code", rows });
      expect(await stage.calls(() => stage.create("SeedRows", { table: "continents", key: "Code", rows }))).toEqual([]);
      const other = [{ Code: "EU", Name: "Europa" }];
      const again = { table: "continents", key: "Code", rows: other };
      await expect(stage.create("SeedRows", again)).rejects.toThrow(/not ours: "EU"\. Set adopt: true/);
      await stage.create("SeedRows", { ...again, adopt: true });
      expect(await live("continents")).toMatchObject([{ Name: "Africa" }, { Name: "Europa" }]);
    });

    test("a label that the table lacks is noticed, with what was done kept in the state", async () => {
      const news = { table: "continents", key: "Code", rows: [{ Code: "EU", Nmae: "Europe" }] };
      await expect(stage.create("SeedRows", news)).rejects.toMatchObject({
        message: expect.stringContaining('rows[0]: table continents did not keep the label "Nmae"') as unknown,
        id: "continents/Code",
        // The host of dynamic resources forgets the provider of what failed in part.
        properties: { rowCount: 1, ...(door === doors.dynamic ? { __provider: expect.any(String) as unknown } : {}) },
      });
      expect(await live("continents")).toHaveLength(1);
    });

    test("a row that the platform refuses is named by line; the good ones go in, and the next run sends the rest", async () => {
      const { host } = stage;
      const bad = [
        { Code: "PT", People: 10 },
        { Code: "KE", People: "many" },
        { Code: "JP", People: 120 },
      ];
      const failed = await stage
        .create("SeedRows", { table: "countries", key: "Code", rows: bad })
        .catch((error: unknown) => error as { id: string; properties: Record<string, unknown>; message: string });
      expect(failed).toMatchObject({
        message: expect.stringContaining("rows[1]:") as unknown,
        properties: { rowCount: 2 },
      });
      const good = bad.map((row) => ({ ...row, People: 1 }));
      const { inputs } = await host.check("SeedRows", { table: "countries", key: "Code", rows: good });
      const state = "properties" in failed ? failed.properties : {};
      await host.update("SeedRows", "countries/Code", state, inputs);
      expect(await live("countries")).toMatchObject([
        { Code: "JP", People: 1 },
        { Code: "KE", People: 1 },
        { Code: "PT" },
      ]);
    });

    test("a lost answer to a batch is resolved by looking", async () => {
      stage.emulator.setFaults({ faults: [{ endpoint: "insertmicroapprows", kind: "reset", commit: true, count: 1 }] });
      await stage.create("SeedRows", { table: "continents", key: "Code", rows });
      expect(await live("continents")).toHaveLength(2);
    });

    test.each([
      ["a,b\n", "rows.csv: has no rows"],
      [
        "Code,Name\nEU,Europe\nAF,Africa\nEU,Europa\n",
        'source: rows.csv:4: the natural key "EU" stands at line 2 already: remove one of the two, or name more labels in key',
      ],
      ["Code,Name\n,Europe\n", "source: rows.csv:2: the row has no Code, which is its natural key: give it one"],
      ["Code,Name\nEU,Europe,more\n", "source: rows.csv:2: the row has another number of cells than the first line"],
      ["Code,_id\nEU,1\n", "source: rows.csv:2: \"_id\" is the platform's own and can't be written"],
    ])("a source that is wrong is told by line before anything is sent: %j", async (text, message) => {
      await writeFile(join(stage.host.folder, "rows.csv"), text);
      const { problems } = await stage.host.check("SeedRows", { table: "continents", key: "Code", source: "rows.csv" });
      expect(problems.join()).toContain(message);
      expect(stage.emulator.calls()).toEqual([]);
    });

    test("secret rows are counted and not named", async () => {
      const secret = [{ Code: "S3CRET-KEY", Name: "x" }];
      const made = await stage.create("SeedRows", { table: "continents", key: "Code", rows: secret, sensitive: true });
      expect(JSON.stringify([stage.host.told, stage.host.printed, made.outputs])).not.toContain("S3CRET");
    });

    test("digests of secret rows are salted, so that nobody guesses the rows by them", async () => {
      const news = { table: "continents", key: "Code", rows: [{ Code: "PIN", Name: "1234" }], sensitive: true };
      const made = await stage.create("SeedRows", news);
      const other = await stage.host.check("SeedRows", news);
      expect(other.inputs["digest"]).not.toBe(made.inputs["digest"]);
      const again = await stage.host.check("SeedRows", news, made.inputs);
      expect(again.inputs["digest"]).toBe(made.inputs["digest"]);
      expect(await stage.host.diff("SeedRows", made.id, made.outputs, again.inputs)).toMatchObject({ changes: false });
      expect((await stage.host.read("SeedRows", made.id, made.outputs)).outputs).not.toHaveProperty("drift");
      const open = await stage.host.check("SeedRows", { ...news, sensitive: false });
      expect(open.inputs).not.toHaveProperty("salt");
    });

    test("rows that are not known yet are changed, not replaced", async () => {
      const made = await stage.create("SeedRows", { table: "continents", key: "Code", rows });
      const { inputs } = await stage.host.check("SeedRows", {
        table: "continents",
        key: "Code",
        rows: [{ Code: unknown }],
      });
      expect(await stage.host.diff("SeedRows", made.id, made.outputs, inputs)).toMatchObject({
        changes: true,
        replaces: [],
      });
    });
  });

  describe("GeneratedApp", () => {
    const news = { userEmail: "admin@example.com", appPrompt: "An atlas." };

    test("is generated once, waited for as a step of its own, and forgotten with its link", async () => {
      const { host } = stage;
      const made = await stage.create("GeneratedApp", news);
      expect(made.outputs).toMatchObject({
        appID: made.id,
        appLink: expect.stringContaining(`/app/${made.id}`) as unknown,
      });
      const ready = await stage.create("AppReadiness", { appID: made.id });
      expect(ready.outputs).toMatchObject({ status: "completed" });

      // White space does not count; another prompt is an error unless it is meant.
      const spaced = await host.check("GeneratedApp", { ...news, appPrompt: " An\n atlas. " }, made.inputs);
      expect(spaced.problems).toEqual([]);
      expect(await host.diff("GeneratedApp", made.id, made.outputs, spaced.inputs)).toMatchObject({ changes: false });
      const other = { ...news, appPrompt: "Another." };
      expect((await host.check("GeneratedApp", other, made.inputs)).problems).toEqual([
        expect.stringContaining("appPrompt: has changed, and a new generation costs money"),
      ]);
      const meant = await host.check("GeneratedApp", { ...other, onPromptChange: "replace" }, made.inputs);
      expect(await host.diff("GeneratedApp", made.id, made.outputs, meant.inputs)).toMatchObject({
        replaces: ["appPrompt"],
      });
      const ignored = await host.check("GeneratedApp", { ...other, onPromptChange: "ignore" }, made.inputs);
      expect(await host.diff("GeneratedApp", made.id, made.outputs, ignored.inputs)).toMatchObject({ changes: false });

      expect(await stage.calls(() => host.delete("GeneratedApp", made.id, made.outputs))).toEqual([]);
      expect(host.told.at(-1)).toContain(made.outputs["editLink"]);
    });

    test("an answer that arrived and was not saved is gone on with", async () => {
      const first = await stage.create("GeneratedApp", news);
      let second: { id: string } | undefined;
      expect(await stage.calls(async () => (second = await stage.create("GeneratedApp", news)))).toEqual([]);
      expect(second?.id).toBe(first.id);
    });

    test("an answer that never arrived is not paid for twice", async () => {
      stage.emulator.setFaults({
        faults: [{ endpoint: "createappwithprompt", kind: "reset", commit: true, count: 1 }],
      });
      await expect(stage.create("GeneratedApp", news)).rejects.toThrow(/Nothing is repeated.*\.microapps\/intents\//s);
      const again = await stage.calls(() => expect(stage.create("GeneratedApp", news)).rejects.toThrow(/may exist/));
      expect(again).toEqual([]);
    });

    test("a refusal leaves nothing behind", async () => {
      stage.emulator.setFaults({
        faults: [{ endpoint: "createappwithprompt", kind: "status", status: 403, count: 1 }],
      });
      await expect(stage.create("GeneratedApp", news)).rejects.toThrow("createappwithprompt");
      await stage.create("GeneratedApp", news);
    });
  });
});

test("the same case makes the same calls and gives the same outputs through both doors", () => {
  for (const [name, { dynamic, plugin }] of traces) {
    if (dynamic && plugin) expect([name, ...plugin]).toEqual([name, ...dynamic]);
  }
});
