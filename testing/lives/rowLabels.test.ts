import { expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { SeedStory } from "./seedStory.ts";

const tables = {
  regions: { name: "Regions", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  items: {
    name: "Items",
    fields: {
      Code: { type: "text", sort: 1 },
      ...{ Name: "text", Extra: "text", Note: "text", Tags: "checkbox" },
      Region: { type: "linked", table: "regions", field: "Code" },
    },
  },
};
const row = (Code: string, more: object = {}) => ({ Code, Name: Code.toLowerCase(), ...more });
const many = <One>(count: number, of: (at: number) => One): One[] => Array.from({ length: count }, (_, at) => of(at));
const linked = { references: { Region: { table: "regions", key: "Code" } } };

throughBothKinds({ tables }, (scene) => {
  const begin = async (news: Properties): Promise<SeedStory> => {
    const seed = new SeedStory(scene, { table: "items", key: "Code" });
    await seed.up(news);
    return seed;
  };
  const live = async (seed: SeedStory) =>
    (await seed.rows()).map((one) =>
      ["Code", "Name", "Extra", "Note"].map((label) => (typeof one[label] === "string" ? one[label] : "-")).join(" "),
    );

  test("a column of the key that is called otherwise now is cleared, and maxRemovals holds that off in a preview", async () => {
    const seed = await begin({ rows: many(12, (at) => ({ Code: `C${at}`, Name: `n${at}` })) });
    const renamed = many(12, (at) => ({ Note: `C${at}`, Name: `n${at}` }));
    const left = many(12, (at) => ({ Name: `n${at}` }));
    for (const news of [
      { key: "Note", rows: renamed },
      { key: "Name", rows: left },
    ])
      await expect(seed.preview(news)).rejects.toThrow(
        "Code would be cleared in 12 of 12 rows, more than maxRemovals allows (25 %)",
      );
    await seed.up({ key: "Note", rows: renamed, maxRemovals: 1 });
    expect((await live(seed))[0]).toBe("- n0 - C0");
  });

  test("a label that leaves one row is cleared there, and previewed", async () => {
    const rows = [row("A", { Extra: "old" }), row("B", { Extra: "stays" }), row("C")];
    const seed = await begin({ rows });
    const now = { rows: [row("A"), ...rows.slice(1)] };
    expect(await seed.preview(now)).toMatchObject({
      changes: true,
      told: ['rows: 1 to change ("A"), 2 unchanged', "clears Extra in 1 row: it is not declared there any more"],
    });
    const told = await seed.up(now);
    expect(await live(seed)).toEqual(["A a - -", "B b stays -", "C c - -"]);
    expect(told).toMatch(/1 changed, 2 unchanged.*cleared Extra in 1 row/s);
  });

  test.each([3, 20_001])("a column that goes from a file of %d rows is cleared where rows have it", async (count) => {
    const write = async (withExtra: boolean): Promise<void> => {
      const lines = many(count, (at) => `K${at},n${withExtra ? `,${at < 2 ? "old" : ""}` : ""}`).join("\n");
      await writeFile(join(scene.host.folder, "items.csv"), `Code,Name${withExtra ? ",Extra" : ""}\n${lines}\n`);
    };
    await write(true);
    const news = { source: "items.csv" };
    const seed = await begin(news);
    await write(false);
    const { changes, told } = await seed.preview(news);
    expect([changes, told.join("\n")]).toEqual([true, expect.stringContaining("clears Extra in 2 rows")]);
    expect(await seed.up(news)).toContain(`2 changed, ${count - 2} unchanged`);
    expect((await live(seed)).filter((one) => one.includes("old"))).toEqual([]);
  });

  test("more rows than maxRemovals allows are refused by the preview already; fewer than ten are not", async () => {
    const rows = (first: number) => many(12, (at) => row(`K${at}`, at < first ? {} : { Extra: "x" }));
    const seed = await begin({ rows: rows(0) });
    const refusal = "Extra would be cleared in 4 of 12 rows, more than maxRemovals allows (25 %)";
    await expect(seed.preview({ rows: rows(4) })).rejects.toThrow(refusal);
    await seed.refused({ rows: rows(4) }, refusal);
    expect((await seed.preview({ rows: rows(3) })).told.at(-1)).toContain("clears Extra in 3 rows");
    await seed.up({ rows: rows(3) });
  });

  test.each(["upsert", "insertOnly"])(
    "mode %s leaves a label that is not declared any more, and says so",
    async (mode) => {
      const rows = [row("A", { Extra: "old" }), row("B", { Extra: "stays" })];
      const seed = await begin({ rows, mode });
      const one = { rows: [row("A"), rows[1]], mode };
      const { changes, told } = await seed.preview(one);
      expect(changes).toBe(true);
      expect(told.join("\n")).toContain(
        `Extra stays as it is in 1 row, where it is not declared any more: mode ${mode} clears nothing`,
      );
      for (const news of [one, { rows: [row("A"), row("B")], mode }]) {
        expect(await scene.calls(() => seed.up(news))).toEqual([]);
        expect(await live(seed)).toEqual(["A a old -", "B b stays -"]);
      }
    },
  );

  test("links and checkbox lists are cleared, also when a row became linked since", async () => {
    await scene.create("SeedRows", { table: "regions", key: "Code", rows: [row("EU")] });
    const seed = await begin({ rows: [row("A", { Tags: ["x", "y"], Region: "EU" })], ...linked });
    await seed.up({ rows: [row("A")] });
    const [cleared] = await seed.rows();
    expect([cleared?.["Tags"] ?? null, cleared?.["Region"] ?? null]).toEqual([null, null]);
    // And back, with another key at the same time as a label leaves.
    await seed.up({ rows: [row("A", { Extra: "e", Note: "n" })] });
    await seed.up({ key: "Name", rows: [row("A", { Note: "n" })] });
    expect(await live(seed)).toEqual(["A a - n"]);
  });

  test("a value that stays although it was set to nothing is an error that names it, and the next run tries again", async () => {
    await scene.create("SeedRows", { table: "regions", key: "Code", rows: [row("EU")] });
    const seed = await begin({ rows: [row("A", { Region: "EU" })], ...linked });
    scene.emulator.behave({ linkNull: "ignored" });
    expect(await seed.fails({ rows: [row("A")] })).toContain(
      'table items kept a value under "Region", which was set to nothing',
    );
    expect(await seed.refresh()).toMatchObject({ unfinished: true, labels: ["Code", "Name", "Region"] });
    scene.emulator.behave();
    await seed.up({ rows: [row("A")] });
  });

  test("rows of the landed version, whose state does not say how many had a value: what is not known is said", async () => {
    const seed = await begin({ rows: [row("A", { Extra: "old" }), row("B")] });
    const { labelled: _, ...outputs } = seed.state.outputs;
    seed.made = { ...seed.state, outputs };
    const bare = { rows: [row("A"), row("B")] };
    expect((await seed.preview(bare)).told).toContain(
      "clears Extra where rows have it, in up to 1 row: it is not declared there any more",
    );
    await seed.up(bare);
  });
});
