import { describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { type Made, SeedStory } from "./seedStory.ts";

const tables = {
  continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text", Note: "text" } },
  countries: {
    name: "Countries",
    fields: {
      ...{ Code: { type: "text", sort: 1 }, Name: "text", People: "number" },
      Continent: { type: "linked", table: "continents", field: "Code" },
    },
  },
};
const row = (Code: string, Name: string) => ({ Code, Name });
const [europe, africa, asia] = [row("EU", "Europe"), row("AF", "Africa"), row("AS", "Asia")];
const rows = [europe, africa];

throughBothKinds({ tables }, (scene) => {
  const begin = async (news?: Properties, table = "continents"): Promise<SeedStory> => {
    const seed = new SeedStory(scene, { table, key: "Code" });
    if (news) await seed.up(news);
    return seed;
  };
  const names = (seed: SeedStory) => seed.live("Code", "Name");
  const write = (file: string, ...lines: string[]): Promise<void> =>
    writeFile(join(scene.host.folder, file), [...lines, ""].join("\n"));

  describe("edits by hand", () => {
    const edited = async (): Promise<SeedStory> => {
      const seed = await begin({ rows });
      await seed.byHand("AF", { Name: "By hand" });
      await seed.byHand("EU");
      expect((await seed.refresh())["drift"]).toEqual({
        ...{ changed: 1, missing: 1, changedKeys: ["AF"], missingKeys: ["EU"] },
        found: { AF: row("AF", "By hand") },
      });
      return seed;
    };

    test("are repaired, which the preview tells by row; with keepLive they are kept", async () => {
      const seed = await edited();
      const seen = 'rows edited by hand: 1 changed ("AF": Name "Africa" => "By hand"), 1 gone ("EU")';
      const said: [Properties, string[]][] = [
        [{}, [`${seen}; up repairs it`]],
        [{ onConflict: "error" }, ["rows: 2 unchanged", `${seen}; onConflict is "error", so an update stops at them`]],
        [{ mode: "insertOnly" }, ["rows: 2 unchanged", 'rows edited by hand: 1 gone ("EU"); up repairs it']],
      ];
      for (const [more, told] of said)
        expect(await seed.preview({ rows, ...more })).toMatchObject({ changes: true, told });
      const { outputs } = seed.state;
      await seed.up({ rows, onConflict: "keepLive" }, false);
      expect(await names(seed)).toEqual(["AF By hand"]);
      seed.made = { ...seed.state, outputs };
      const since = scene.emulator.lastCall();
      await seed.up({ rows }, false);
      expect(scene.emulator.calls({ since })).toHaveLength(6);
      await seed.isSettled({ rows });
      expect(await names(seed)).toEqual(["AF Africa", "EU Europe"]);
    });
  });

  test("of a large seed too, a preview refuses too many removals, and rows that are gone are named", async () => {
    const lines = Array.from({ length: 20_010 }, (_, at) => `K${at},Name`);
    await write("large.csv", "Code,Name", ...lines);
    const news = { source: "large.csv" };
    const seed = await begin(news);
    const optViewFilters = [{ Code: { $in: ["K4", "K7"] } }];
    const { microAppRows } = await scene.client.microappdata({ microAppID: "continents", optViewFilters });
    for (const { _id } of microAppRows) await scene.client.removemicroapprow({ rowID: _id });
    const { outputs } = seed.state;
    const missing = { changed: 0, missing: 2, changedKeys: [], missingKeys: ["K4", "K7"] };
    expect((await seed.refresh())["drift"]).toEqual(missing);
    seed.made = { ...seed.state, outputs };

    await write("large.csv", "Code,Name", ...lines.slice(10_005));
    await expect(seed.preview(news)).rejects.toThrow(
      "10005 of 20010 rows would be removed, more than maxRemovals allows (25 %)",
    );
    expect(scene.host.told[0]).toBe(
      "info: at least 10005 rows to add, change or remove (-10005 rows in all); " +
        "only counts are known: the large.csv that was applied is neither here nor in the last Git commit",
    );
    expect(scene.host.told.slice(1)).toEqual(
      scene.providerKind.modern
        ? [expect.stringContaining("info: rows that move to a seed which waits for this one are removed here")]
        : [],
    );
    await seed.refresh();
    expect(scene.host.told.at(-1)).toContain("so edits by hand in table continents show only in the update");
    expect(await seed.preview({ ...news, mode: "upsert" })).toMatchObject({ changes: true });
  });

  test("a CSV with references and types; a reference that leads nowhere is named by line before anything is sent", async () => {
    await begin({ rows });
    const source = "countries.csv";
    await write(source, "Code,Name,People,Continent", "PT,Portugal,10,EU", "KE,Kenya,,AF");
    const references = { Continent: { table: "continents", key: "Code" } };
    const news = { source, types: { People: "number" }, references };
    const seed = await begin(news, "countries");
    expect(await seed.rows()).toMatchObject([
      { Code: "KE", Continent: { value: { label: "Code", value: "AF" } } },
      { Code: "PT", People: 10, Continent: { value: { value: "EU" } } },
    ]);
    await write(source, "Code,Name,People,Continent", "PT,Portugal,10,EU", "KE,Kenya,,AN");
    await seed.refused(news, 'countries.csv:3: Continent refers to "AN", but there is no row with that key');
  });

  test("a row that the platform refuses is named by line; the good ones go in, and the next run sends the rest", async () => {
    const bad = Object.entries({ PT: 10, KE: "many", BR: "more", JP: 120 }).map(([Code, People]) => ({ Code, People }));
    const seed = await begin(undefined, "countries");
    expect((await seed.fails({ rows: bad })).split("\n")).toEqual([
      "2 rows of table countries are as declared, but:",
      'rows[1] "KE" and 1 more: People must be a number',
    ]);
    expect(await seed.refresh()).toMatchObject({ rowCount: 2 });
    const told = ['rows: 2 to add if they do not exist yet ("KE", "BR"), 2 unchanged'];
    expect(await seed.preview({ rows: bad })).toMatchObject({ changes: true, told });
    await seed.up({ rows: bad.map((one) => ({ ...one, People: 1 })) });
    expect((await seed.rows()).map(({ Code, People }) => [Code, People])).toEqual([
      ...["BR", "JP", "KE", "PT"].map((code) => [code, 1]),
    ]);
  });

  test("rows of a file show the cells that change where the file of the last run is in Git, or that they are not known", async () => {
    const file = (name: string) => write("cells.csv", "Code,Name", `EU,${name}`, "AF,Africa");
    const news = { source: "cells.csv" };
    await file("Europe");
    const seed = await begin(news);
    await file("Europa");
    expect((await seed.preview(news)).told.at(-1)).toBe(
      'rows: 1 to change ("EU"), 1 unchanged; ' +
        "only counts and keys are known: the cells.csv that was applied is neither here nor in the last Git commit",
    );
    await file("Europe");
    const author = ["user.name=x", "user.email=x@example.com", "commit.gpgsign=false"].flatMap((one) => ["-c", one]);
    for (const words of [
      ["init", "-q"],
      ["add", "cells.csv"],
      [...author, "commit", "-qm", "rows"],
    ])
      execFileSync("git", words, { cwd: scene.host.folder });
    await file("Europa");
    expect((await seed.preview(news)).told.at(-1)).toBe(
      'rows: 1 to change ("EU": Name "Europe" => "Europa"), 1 unchanged',
    );
  });

  describe("what is done to a source", () => {
    const source = "continents.csv";
    const lines = ["Code,Name", "AF,Africa", "EU,Europe", "AS,Asia"];
    const [antarctica, europa] = [row("AN", "Antarctica"), row("EU", "Europa")];
    const edits = { additions: [antarctica], changes: [europa], removals: ["AS"] };
    const news = { source, ...edits };

    test("rows are added, changed and left out of it, and it stays as it is", async () => {
      await write(source, ...lines);
      const seed = await begin(news);
      expect(await names(seed)).toEqual(["AF Africa", "AN Antarctica", "EU Europa"]);
      expect(seed.state.outputs).toMatchObject({ rowCount: 3, keys: ["AF", "EU", "AN"] });
      const next = { source, additions: [row("AN", "Antarctis")], removals: ["AF"], maxRemovals: 1 };
      expect((await seed.preview(next)).told).toEqual([
        `rows: 1 to add if they do not exist yet ("AS"), 2 to change ("EU": Name "Europa" => "Europe"; "AN": Name "Antarctica" => "Antarctis"), 1 to remove ("AF")`,
      ]);
      await seed.up(next);
      expect(await names(seed)).toEqual(["AN Antarctis", "AS Asia", "EU Europe"]);
      await seed.destroy();
      expect(await names(seed)).toEqual([]);
    });

    test("rows that move between it and what is done to it keep their IDs, and nothing is sent", async () => {
      await write(source, ...lines);
      const seed = await begin(news);
      const before = await seed.rows();
      const moves: [string[], Properties][] = [
        [["Code,Name", "AF,Africa", "EU,Europa", "AN,Antarctica"], { source }],
        [["Code,Name", "AF,Africa", "AS,Asia"], { source, additions: [antarctica, europa], removals: ["AS"] }],
        [lines, news],
        [lines, { rows: [africa, europe], changes: [europa], additions: [antarctica] }],
      ];
      for (const [text, declared] of moves) {
        await write(source, ...text);
        expect(await scene.calls(() => seed.up(declared))).toEqual([]);
        expect(await seed.rows()).toEqual(before);
      }
    });

    test("what meets no row, or one that is there, is named by its place, and nothing is sent", async () => {
      await write(source, ...lines);
      const wrong = {
        additions: [row("AF", "Again"), { Name: "Nowhere" }],
        changes: [row("XX", "None"), { Name: "Of whom?" }],
        removals: ["YY", ["AS", "EU"]],
      };
      const problems = await (await begin()).problems({ source, ...wrong });
      expect(problems.join("\n").split("\n")).toEqual([
        "source: removals[1] and 1 more: names no row: give it Code",
        'continents.csv:2: the row "AF" stands here, and additions[0] adds it: change it there, or remove it first',
        'changes[0]: continents.csv has no row "XX" to change: correct the key, or leave it out',
        'removals[0]: continents.csv has no row "YY" to remove: correct the key, or leave it out',
        "additions[1]: the row has no Code, which is its natural key: give it one",
      ]);
      expect(scene.emulator.calls({ mutating: true })).toEqual([]);
    });
  });

  /** How an engine comes to a replacement: what it asks before, and whether it read the state. */
  const orders: Readonly<Record<string, (made: Made, news: Properties) => Promise<unknown>>> = {
    /** `replaceOnChanges`: the diff came first. */
    "after a diff": async ({ id, inputs, outputs }, news) => {
      const checked = await scene.host.check("SeedRows", news, inputs);
      await scene.host.diff("SeedRows", id, outputs, checked.inputs);
    },
    /** Another provider, or `deletedWith`: the inputs alone are compared. */
    "without a diff": ({ inputs }, news) => scene.host.check("SeedRows", news, inputs),
    /** `--replace` and a taint, where the engine reads first. */
    "after a read": ({ id, outputs }) => scene.host.read("SeedRows", id, outputs),
  };

  test.each(Object.entries(orders))(
    "a seed that an engine replaces %s takes over what the old one had, and the preview says it",
    async (_, order) => {
      const seed = await begin({ rows: [europe, africa, asia] });
      const { state: old } = seed;
      const [asiaID, africaID, europeID] = [(await seed.ids())[1], (await seed.ids())[0], (await seed.ids())[2]];
      const wanted = { rows: [row("EU", "another"), africa, row("OC", "Oceania")] };
      scene.host.told.length = 0;
      await order(old, { table: "continents", key: "Code", ...wanted });
      const { inputs, problems } = await scene.host.check("SeedRows", { table: "continents", key: "Code", ...wanted });
      expect(problems).toEqual([]);
      const change = '1 to add if they do not exist yet ("OC"), 1 to change ("EU"), 1 to remove ("AS"), 1 unchanged';
      expect([...new Set(scene.host.told)]).toEqual([`info: rows: ${change}`]);
      seed.made = { inputs, ...(await scene.host.create("SeedRows", inputs)) };
      await scene.host.delete("SeedRows", old.id, old.outputs);
      expect(await names(seed)).toEqual(["AF Africa", "EU another", "OC Oceania"]);
      const [africaNow, europeNow, oceania] = await seed.ids();
      expect([africaNow, europeNow, oceania === asiaID]).toEqual([africaID, europeID, false]);
      expect(seed.state.outputs).toMatchObject({ rowCount: 3 });
      await seed.isSettled(wanted);
    },
  );

  test("where nothing tells what the replaced one had, the refusal says how to go on", async () => {
    await scene.client.insertmicroapprows({ microAppID: "continents", rows: [europe] });
    await (await begin()).refused({ rows: [row("EU", "another")] }, "run the same command with --refresh");
  });
});
