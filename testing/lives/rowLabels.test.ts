import { expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { seedStory, type Made } from "./seedStory.ts";

const tables = {
  regions: { name: "Regions", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  items: {
    name: "Items",
    fields: {
      Code: { type: "text", sort: 1 },
      Name: "text",
      Extra: "text",
      Note: "text",
      Tags: "checkbox",
      Region: { type: "linked", table: "regions", field: "Code" },
    },
  },
};
const table = { table: "items", key: "Code" };

throughBothKinds({ tables }, (scene) => {
  const live = async (): Promise<string[]> => {
    const { microAppRows } = await scene.client.microappdata({ microAppID: "items", optViewSort: { sortVal: 1 } });
    return microAppRows.map((row) =>
      ["Code", "Name", "Extra", "Note"].map((label) => (typeof row[label] === "string" ? row[label] : "-")).join(" "),
    );
  };
  const { preview, up, make } = seedStory(scene, table);
  /** Nothing is left to do, and the platform has nothing that the state does not know. */
  const isSettled = async (state: Made, news: Properties): Promise<void> => {
    expect(await preview(state, news)).toMatchObject({ changes: false, told: [] });
    const seen = await scene.host.read("SeedRows", state.id, state.outputs);
    expect(seen.outputs).not.toHaveProperty("drift");
    expect(await scene.calls(() => up(state, news))).toEqual([]);
  };

  test("a column of the key that is called otherwise now is cleared, and maxRemovals holds that off in a preview", async () => {
    const made = await make({ rows: Array.from({ length: 12 }, (_, at) => ({ Code: `C${at}`, Name: `n${at}` })) });
    const refusal = "Code would be cleared in 12 of 12 rows, more than maxRemovals allows (25 %)";
    const renamed = Array.from({ length: 12 }, (_, at) => ({ Note: `C${at}`, Name: `n${at}` }));
    const left = renamed.map(({ Name }) => ({ Name }));
    for (const news of [
      { key: "Note", rows: renamed },
      { key: "Name", rows: left },
    ])
      await expect(preview(made, news)).rejects.toThrow(refusal);
    const next = await up(made, { key: "Note", rows: renamed, maxRemovals: 1 });
    expect((await live())[0]).toBe("- n0 - C0");
    await isSettled(next, { key: "Note", rows: renamed, maxRemovals: 1 });
  });

  test("a label that leaves one row is cleared there, and previewed", async () => {
    const rows = [
      { Code: "A", Name: "a", Extra: "old" },
      { Code: "B", Name: "b", Extra: "stays" },
      { Code: "C", Name: "c" },
    ];
    const made = await make({ rows });
    const now = { rows: [{ Code: "A", Name: "a" }, ...rows.slice(1)] };
    const { changes, told } = await preview(made, now);
    expect(changes).toBe(true);
    expect(told).toEqual([
      'rows: 1 to change ("A"), 2 unchanged',
      "clears Extra in 1 row: it is not declared there any more",
    ]);
    const next = await up(made, now);
    expect(await live()).toEqual(["A a - -", "B b stays -", "C c - -"]);
    expect(next.told.join()).toContain("1 changed, 2 unchanged");
    expect(next.told.join()).toContain("cleared Extra in 1 row");
    await isSettled(next, now);
  });

  test.each([3, 20_001])("a column that goes from a file of %d rows is cleared where rows have it", async (count) => {
    const write = (withExtra: boolean) =>
      writeFile(
        join(scene.host.folder, "items.csv"),
        `Code,Name${withExtra ? ",Extra" : ""}\n` +
          Array.from({ length: count }, (_, at) => `K${at},n${withExtra ? `,${at < 2 ? "old" : ""}` : ""}\n`).join(""),
      );
    await write(true);
    const news = { source: "items.csv" };
    const made = await make(news);
    await write(false);
    const { changes, told } = await preview(made, news);
    expect(changes).toBe(true);
    expect(told.join("\n")).toContain("clears Extra in 2 rows");
    const next = await up(made, news);
    expect((await live()).filter((row) => row.includes("old"))).toEqual([]);
    expect(next.told.join()).toContain(`2 changed, ${count - 2} unchanged`);
    await isSettled(next, news);
  });

  test("more rows than maxRemovals allows are refused by the preview already; fewer than ten are not", async () => {
    const rows = (first: number, count = 12) =>
      Array.from({ length: count }, (_, at) => ({ Code: `K${at}`, Name: "n", ...(at < first ? {} : { Extra: "x" }) }));
    const made = await make({ rows: rows(0) });
    const refusal = "Extra would be cleared in 4 of 12 rows, more than maxRemovals allows (25 %)";
    await expect(preview(made, { rows: rows(4) })).rejects.toThrow(refusal);
    expect(await scene.calls(() => expect(up(made, { rows: rows(4) })).rejects.toThrow(refusal))).toEqual([]);
    expect((await preview(made, { rows: rows(3) })).told.at(-1)).toContain("clears Extra in 3 rows");
    const next = await up(made, { rows: rows(3) });
    await isSettled(next, { rows: rows(3) });
  });

  test.each(["upsert", "insertOnly"])(
    "mode %s leaves a label that is not declared any more, and says so",
    async (mode) => {
      const rows = [
        { Code: "A", Name: "a", Extra: "old" },
        { Code: "B", Name: "b", Extra: "stays" },
      ];
      const made = await make({ rows, mode });
      const one = { rows: [{ Code: "A", Name: "a" }, rows[1]], mode };
      const { changes, told } = await preview(made, one);
      expect(changes).toBe(true);
      expect(told.join("\n")).toContain(
        `Extra stays as it is in 1 row, where it is not declared any more: mode ${mode} clears nothing`,
      );
      expect(await scene.calls(() => up(made, one))).toEqual([]);
      const next = await up(made, one);
      expect(await live()).toEqual(["A a old -", "B b stays -"]);
      await isSettled(next, one);
      const none = {
        rows: [
          { Code: "A", Name: "a" },
          { Code: "B", Name: "b" },
        ],
        mode,
      };
      const last = await up(next, none);
      expect(await live()).toEqual(["A a old -", "B b stays -"]);
      await isSettled(last, none);
    },
  );

  test("links and checkbox lists are cleared, also when a row became linked since", async () => {
    await scene.create("SeedRows", { table: "regions", key: "Code", rows: [{ Code: "EU", Name: "Europe" }] });
    const references = { Region: { table: "regions", key: "Code" } };
    const rows = [{ Code: "A", Name: "a", Tags: ["x", "y"], Region: "EU" }];
    const made = await make({ rows, references });
    const bare = { rows: [{ Code: "A", Name: "a" }] };
    const next = await up(made, bare);
    const { microAppRows } = await scene.client.microappdata({ microAppID: "items" });
    expect(microAppRows[0]?.["Tags"] ?? null).toBeNull();
    expect(microAppRows[0]?.["Region"] ?? null).toBeNull();
    await isSettled(next, bare);
    // And back, with another key at the same time as a label leaves.
    const again = await up(next, { rows: [{ Code: "A", Name: "a", Extra: "e", Note: "n" }] });
    const rekeyed = { key: "Name", rows: [{ Code: "A", Name: "a", Note: "n" }] };
    const last = await up(again, rekeyed);
    expect(await live()).toEqual(["A a - n"]);
    await isSettled(last, rekeyed);
  });

  test("a value that stays although it was set to nothing is an error that names it, and the next run tries again", async () => {
    await scene.create("SeedRows", { table: "regions", key: "Code", rows: [{ Code: "EU", Name: "Europe" }] });
    const references = { Region: { table: "regions", key: "Code" } };
    const made = await make({ rows: [{ Code: "A", Name: "a", Region: "EU" }], references });
    const bare = { rows: [{ Code: "A", Name: "a" }] };
    scene.emulator.behave({ linkNull: "ignored" });
    const failed = await scene.failure(up(made, bare));
    expect(failed.message).toContain('table items kept a value under "Region", which was set to nothing');
    const seen = await scene.host.read("SeedRows", failed.id, failed.state);
    expect(seen.outputs).toMatchObject({ unfinished: true, labels: ["Code", "Name", "Region"] });
    scene.emulator.behave();
    const left = { id: failed.id, inputs: made.inputs, outputs: seen.outputs };
    await isSettled(await up(left, bare), bare);
  });

  test("rows of the landed version, whose state does not say how many had a value: what is not known is said", async () => {
    const rows = [
      { Code: "A", Name: "a", Extra: "old" },
      { Code: "B", Name: "b" },
    ];
    const made = await make({ rows });
    const { labelled: _, ...outputs } = made.outputs;
    const old = { ...made, outputs };
    const bare = { rows: [{ Code: "A", Name: "a" }, rows[1]] };
    expect((await preview(old, bare)).told).toContain(
      "clears Extra where rows have it, in up to 1 row: it is not declared there any more",
    );
    await isSettled(await up(old, bare), bare);
  });
});
