import { expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { applied } from "../harness/seeds/seeded.ts";

const tables = {
  continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text", Note: "text" } },
  countries: {
    name: "Countries",
    fields: { Code: { type: "text", sort: 1 }, Continent: { type: "linked", table: "continents", field: "Code" } },
  },
};
const seed = { table: "continents", key: "Code", source: "continents.csv" };
const lines = ["Code,Name", "AF,Africa", "EU,Europe", "AS,Asia"];

throughBothKinds({ tables }, (scene) => {
  const write = (...rows: string[]): Promise<void> =>
    writeFile(join(scene.host.folder, seed.source), [...rows, ""].join("\n"));
  const live = async () => {
    const { microAppRows } = await scene.client.microappdata({
      microAppID: "continents",
      optViewSort: { sortVal: 1 },
    });
    return microAppRows.map((row) => [row._id, String(row["Code"]), String(row["Name"])] as const);
  };
  const names = async () => (await live()).map(([, code, name]) => `${code} ${name}`);
  const edits = {
    additions: [{ Code: "AN", Name: "Antarctica" }],
    changes: [{ Code: "EU", Name: "Europa" }],
    removals: ["AS"],
  };

  test("rows are added, changed and left out of a source, which stays as it is", async () => {
    const { host, stage } = scene;
    await write(...lines);
    const made = await applied(stage, { ...seed, ...edits });
    expect(await names()).toEqual(["AF Africa", "AN Antarctica", "EU Europa"]);
    expect(made.outputs).toMatchObject({ rowCount: 3, keys: ["AF", "EU", "AN"] });
    const { inputs } = await host.check("SeedRows", { ...seed, ...edits }, made.inputs);
    expect(await host.diff("SeedRows", made.id, made.outputs, inputs)).toMatchObject({ changes: false });

    host.told.length = 0;
    const news = { ...seed, additions: [{ Code: "AN", Name: "Antarctis" }], removals: ["AF"] };
    const next = await host.check("SeedRows", { ...news, maxRemovals: 1 }, made.inputs);
    expect(next.problems).toEqual([]);
    await host.diff("SeedRows", made.id, made.outputs, next.inputs);
    expect(host.told).toEqual([
      `info: rows: 1 to add if they do not exist yet ("AS"), 2 to change ("EU": Name "Europa" => "Europe"; "AN": Name "Antarctica" => "Antarctis"), 1 to remove ("AF")`,
    ]);
    const outputs = await host.update("SeedRows", made.id, made.outputs, next.inputs);
    expect(await names()).toEqual(["AN Antarctis", "AS Asia", "EU Europe"]);
    await host.destroy("SeedRows", made.id, outputs);
    expect(await names()).toEqual([]);
  });

  test("rows that move between the source and what is done to it keep their IDs, and nothing is sent", async () => {
    const { stage } = scene;
    await write(...lines);
    let made = await applied(stage, { ...seed, ...edits });
    const before = await live();
    const moves: [string[], Properties][] = [
      [["Code,Name", "AF,Africa", "EU,Europa", "AN,Antarctica"], {}],
      [["Code,Name", "AF,Africa", "AS,Asia"], { additions: [...edits.additions, ...edits.changes], removals: ["AS"] }],
      [lines, edits],
    ];
    for (const [rows, more] of moves) {
      await write(...rows);
      expect(await scene.calls(async () => (made = await applied(stage, { ...seed, ...more }, made)))).toEqual([]);
      expect(await live()).toEqual(before);
    }
    const rows = [
      { Code: "AF", Name: "Africa" },
      { Code: "EU", Name: "Europe" },
    ];
    const inline = { table: "continents", key: "Code", rows, changes: edits.changes, additions: edits.additions };
    expect(await scene.calls(async () => (made = await applied(stage, inline, made)))).toEqual([]);
    expect(await live()).toEqual(before);
  });

  test("what meets no row, or one that is there, is named by its place, and nothing is sent", async () => {
    await write(...lines);
    const wrong = {
      additions: [{ Code: "AF", Name: "Again" }, { Name: "Nowhere" }],
      changes: [{ Code: "XX", Name: "None" }, { Name: "Of whom?" }],
      removals: ["YY", ["AS", "EU"]],
    };
    const calls = await scene.calls(async () => {
      const { problems } = await scene.host.check("SeedRows", { ...seed, ...wrong });
      expect(problems.join("\n").split("\n")).toEqual([
        "source: removals[1] and 1 more: names no row: give it Code",
        'continents.csv:2: the row "AF" stands here, and additions[0] adds it: change it there, or remove it first',
        'changes[0]: continents.csv has no row "XX" to change: correct the key, or leave it out',
        'removals[0]: continents.csv has no row "YY" to remove: correct the key, or leave it out',
        "additions[1]: the row has no Code, which is its natural key: give it one",
      ]);
    });
    expect(calls).toEqual([]);
  });
});
