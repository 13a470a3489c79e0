import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

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

throughBothKinds({ tables }, (scene) => {
  const rows = [
    { Code: "EU", Name: "Europe" },
    { Code: "AF", Name: "Africa" },
  ];
  const live = async (microAppID: string) => {
    const { microAppRows } = await scene.client.microappdata({ microAppID, optViewSort: { sortVal: 1 } });
    return microAppRows;
  };

  test("SeedRows: edits by hand are seen and repaired; with keepLive they are kept", async () => {
    const { host, client } = scene;
    const made = await scene.create("SeedRows", { table: "continents", key: "Code", rows });
    const [africa, europe] = await live("continents");
    await client.updatemicroapprow({ rowID: africa?._id ?? "", rowData: { Name: "By hand" } });
    await client.removemicroapprow({ rowID: europe?._id ?? "" });
    const seen = await host.read("SeedRows", made.id, made.outputs);
    expect(seen.outputs["drift"]).toEqual({
      ...{ changed: 1, missing: 1, changedKeys: ["AF"], missingKeys: ["EU"] },
      found: { AF: { Code: "AF", Name: "By hand" } },
    });
    expect(await host.diff("SeedRows", made.id, seen.outputs, made.inputs)).toMatchObject({ changes: true });
    const kept = { ...made.inputs, onConflict: "keepLive" };
    await host.update("SeedRows", made.id, seen.outputs, kept);
    expect(await live("continents")).toMatchObject([{ Name: "By hand" }]);
    const outputs = await host.update("SeedRows", made.id, seen.outputs, made.inputs);
    expect(outputs).not.toHaveProperty("drift");
    expect(await live("continents")).toMatchObject([{ Name: "Africa" }, { Name: "Europe" }]);
  });

  test("SeedRows: an update says what of the edits by hand it repairs, and with how many calls", async () => {
    const { host, client } = scene;
    const made = await scene.create("SeedRows", { table: "continents", key: "Code", rows });
    const [africa, europe] = await live("continents");
    await client.updatemicroapprow({ rowID: africa?._id ?? "", rowData: { Name: "By hand" } });
    await client.removemicroapprow({ rowID: europe?._id ?? "" });
    const { outputs } = await host.read("SeedRows", made.id, made.outputs);
    const told = async (news: Properties): Promise<string[]> => {
      host.told.length = 0;
      await host.diff("SeedRows", made.id, outputs, { ...made.inputs, ...news });
      return host.told;
    };
    const seen = 'info: rows edited by hand: 1 changed ("AF": Name "Africa" => "By hand"), 1 gone ("EU")';
    expect(await told({})).toEqual([seen]);
    expect(await told({ onConflict: "error" })).toEqual([
      "info: rows: 2 unchanged",
      `${seen}; onConflict is "error", so an update stops at them`,
    ]);
    expect(await told({ mode: "insertOnly" })).toEqual([
      "info: rows: 2 unchanged",
      'info: rows edited by hand: 1 gone ("EU")',
    ]);
    const since = scene.emulator.lastCall();
    await host.update("SeedRows", made.id, outputs, made.inputs);
    expect(scene.emulator.calls({ since })).toHaveLength(6);
  });

  test("SeedRows: of a large seed too, a preview refuses too many removals, and rows that are gone are named", async () => {
    const { host, client } = scene;
    const write = (first: number): Promise<void> => {
      const lines = Array.from({ length: 20_010 - first }, (_, at) => `K${first + at},Name\n`);
      return writeFile(join(host.folder, "large.csv"), `Code,Name\n${lines.join("")}`);
    };
    await write(0);
    const news = { table: "continents", key: "Code", source: "large.csv" };
    const made = await scene.create("SeedRows", news);
    const { microAppRows } = await client.microappdata({
      microAppID: "continents",
      optViewFilters: [{ Code: { $in: ["K4", "K7"] } }],
    });
    for (const { _id } of microAppRows) await client.removemicroapprow({ rowID: _id });
    const { outputs } = await host.read("SeedRows", made.id, made.outputs);
    expect(outputs["drift"]).toEqual({ changed: 0, missing: 2, changedKeys: [], missingKeys: ["K4", "K7"] });

    await write(10_005);
    const { inputs } = await host.check("SeedRows", news, made.inputs);
    host.told.length = 0;
    await expect(host.diff("SeedRows", made.id, made.outputs, inputs)).rejects.toThrow(
      "10005 of 20010 rows would be removed, more than maxRemovals allows (25 %)",
    );
    expect(host.told).toEqual([
      "info: at least 10005 rows to add, change or remove (-10005 rows in all); " +
        "only counts are known: the large.csv that was applied is neither here nor in the last Git commit",
      ...(scene.providerKind.modern
        ? [
            expect.stringContaining(
              "info: rows that move to a seed which waits for this one are removed here",
            ) as unknown,
          ]
        : []),
    ]);
    await host.read("SeedRows", made.id, made.outputs);
    expect(host.told.at(-1)).toContain("so edits by hand in table continents show only in the update");
    const kept = { ...inputs, mode: "upsert" };
    expect(await host.diff("SeedRows", made.id, made.outputs, kept)).toMatchObject({ changes: true });
  });

  test("SeedRows: a CSV with references and types; a reference that leads nowhere is named by line before anything is sent", async () => {
    const { host } = scene;
    await scene.create("SeedRows", { table: "continents", key: "Code", rows });
    const source = "countries.csv";
    await writeFile(join(host.folder, source), "Code,Name,People,Continent\nPT,Portugal,10,EU\nKE,Kenya,,AF\n");
    const news = {
      table: "countries",
      key: "Code",
      source,
      types: { People: "number" },
      references: { Continent: { table: "continents", key: "Code" } },
    };
    const made = await scene.create("SeedRows", news);
    expect(await live("countries")).toMatchObject([
      { Code: "KE", Continent: { value: { label: "Code", value: "AF" } } },
      { Code: "PT", People: 10, Continent: { value: { value: "EU" } } },
    ]);
    const seen = await host.read("SeedRows", made.id, made.outputs);
    expect(seen.outputs).not.toHaveProperty("drift");

    await writeFile(join(host.folder, source), "Code,Name,People,Continent\nPT,Portugal,10,EU\nKE,Kenya,,AN\n");
    const { inputs } = await host.check("SeedRows", news, made.inputs);
    const calls = await scene.calls(() =>
      expect(host.update("SeedRows", made.id, made.outputs, inputs)).rejects.toThrow(
        'countries.csv:3: Continent refers to "AN", but there is no row with that key',
      ),
    );
    expect(calls).toEqual([]);
  });

  test("SeedRows: a row that the platform refuses is named by line; the good ones go in, and the next run sends the rest", async () => {
    const { host } = scene;
    const bad = [
      { Code: "PT", People: 10 },
      { Code: "KE", People: "many" },
      { Code: "BR", People: "more" },
      { Code: "JP", People: 120 },
    ];
    const failed = await scene.failure(scene.create("SeedRows", { table: "countries", key: "Code", rows: bad }));
    expect(failed).toMatchObject({ state: { rowCount: 2 } });
    expect(failed.message.split("\n")).toEqual([
      "2 rows of table countries are as declared, but:",
      'rows[1] "KE" and 1 more: People must be a number',
    ]);
    const { outputs } = await host.read("SeedRows", failed.id, failed.state);
    const again = await host.check("SeedRows", { table: "countries", key: "Code", rows: bad }, outputs);
    host.told.length = 0;
    expect(await host.diff("SeedRows", failed.id, outputs, again.inputs)).toMatchObject({ changes: true });
    expect(host.told).toEqual(['info: rows: 2 to add if they do not exist yet ("KE", "BR"), 2 unchanged']);
    const good = bad.map((row) => ({ ...row, People: 1 }));
    const { inputs } = await host.check("SeedRows", { table: "countries", key: "Code", rows: good });
    await host.update("SeedRows", "countries/Code", failed.state, inputs);
    expect(await live("countries")).toMatchObject([
      { Code: "BR", People: 1 },
      { Code: "JP", People: 1 },
      { Code: "KE", People: 1 },
      { Code: "PT" },
    ]);
  });

  test("SeedRows: rows of a file show the cells that change where the file of the last run is in Git, or that they are not known", async () => {
    const { host } = scene;
    const source = "cells.csv";
    const write = (name: string) => writeFile(join(host.folder, source), `Code,Name\nEU,${name}\nAF,Africa\n`);
    await write("Europe");
    const news = { table: "continents", key: "Code", source };
    const made = await scene.create("SeedRows", news);
    await write("Europa");
    const { inputs } = await host.check("SeedRows", news, made.inputs);
    const told = async (): Promise<string | undefined> => {
      await host.diff("SeedRows", made.id, made.outputs, inputs);
      return host.told.at(-1);
    };
    expect(await told()).toBe(
      'info: rows: 1 to change ("EU"), 1 unchanged; ' +
        "only counts and keys are known: the cells.csv that was applied is neither here nor in the last Git commit",
    );
    await write("Europe");
    const git = (...words: string[]) => execFileSync("git", words, { cwd: host.folder });
    git("init", "-q");
    git("add", source);
    const author = ["user.name=x", "user.email=x@example.com", "commit.gpgsign=false"].flatMap((one) => ["-c", one]);
    git(...author, "commit", "-qm", "rows");
    await write("Europa");
    expect(await told()).toBe('info: rows: 1 to change ("EU": Name "Europe" => "Europa"), 1 unchanged');
  });
});
