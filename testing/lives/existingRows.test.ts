import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pages } from "../../platform/client/lists.ts";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { SeedStory } from "./seedStory.ts";

const tables = { regions: { name: "Regions", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };
const region = (Code: string) => ({ Code, Name: `region ${Code}` });
const regions = (codes: string) => ({ rows: codes.split("").map(region) });

throughBothKinds({ tables, users: [{ email: "ada@example.com" }, { email: "eve@example.com" }] }, (scene) => {
  const seedNamed = (name?: string): SeedStory => new SeedStory(scene, { table: "regions", key: "Code" }, name);
  /** A seed of these regions, where others have made some. */
  const begin = async (theirs: string, codes: string): Promise<SeedStory> => {
    const seed = seedNamed();
    if (theirs !== "") await seed.theirs(regions(theirs).rows);
    await seed.up(regions(codes));
    return seed;
  };
  const codes = async (seed: SeedStory): Promise<string> => (await seed.live()).join("");
  /** Destroys it, after which these are left. */
  const leaves = async (seed: SeedStory, left: string): Promise<string> => {
    const told = await seed.destroy();
    expect(await codes(seed)).toBe(left);
    return told;
  };
  /** A clone of the repository with an empty home. */
  const clone = async (): Promise<void> => {
    for (const folder of [".microapps", ".state"])
      await rm(join(scene.host.folder, folder), { recursive: true, force: true });
    await scene.host.restart();
  };

  test("rows that others made stay when the seed goes; those that this account made do not", async () => {
    const seed = await begin("ABC", "ABCD");
    const { outputs } = seed.state;
    expect(outputs).toMatchObject({ rowCount: 4, existing: expect.anything() as unknown });
    expect(await seed.refresh()).toMatchObject({ existing: outputs["existing"] });
    await clone();
    expect(await leaves(seed, "ABC")).toContain("table regions: 3 rows that others made are kept");
  });

  test("an existing row is never changed, and stays when it leaves the source, as the preview says", async () => {
    const seed = await begin("AB", "ABD");
    const others = { rows: [{ ...region("A"), Name: "changed" }, region("B"), region("D")] };
    await seed.refused(others, /not ours: "A".* Set adopt: true/);
    const { told } = await seed.preview(regions("B"));
    expect(told).toEqual([`rows: 1 to remove ("D"), 1 unchanged`, "1 row that others made is kept"]);
    await seed.up(regions("B"));
    expect(await codes(seed)).toBe("AB");
    await leaves(seed, "AB");
  });

  test("a row that is refused for its content is not told as one that is as declared", async () => {
    const seed = await begin("", "C");
    await seed.theirs([{ ...region("B"), Name: "other" }]);
    await scene.client.insertmicroapprow({ microAppID: "regions", rowData: region("A") });
    await seed.refused(regions("ABC"), 'not ours: "B"');
    expect(scene.host.told.join("\n")).not.toContain("existed before");
  });

  test("adopt: true owns what others made, at once or later", async () => {
    const seed = await begin("AB", "AB");
    await seed.up({ ...regions("AB"), adopt: true });
    expect(seed.state.outputs).not.toHaveProperty("existing");
    await seed.up({ ...regions("A"), adopt: true, maxRemovals: 1 });
    expect(await codes(seed)).toBe("A");
    await leaves(seed, "");
  });

  test("an existing row that was removed by hand and made again is the seed's", async () => {
    const seed = await begin("A", "AB");
    await seed.byHand("A");
    await seed.refresh();
    await seed.up(regions("AB"));
    expect(seed.state.outputs).not.toHaveProperty("existing");
    await leaves(seed, "");
  });

  test("what a run inserted that ended before its state was written is the seed's", async () => {
    const seed = await begin("A", "AB");
    const { made } = seed;
    // The update is done, and its state lost.
    await seed.up(regions("ABC"));
    seed.made = made;
    await clone();
    await seed.up(regions("ABC"));
    await leaves(seed, "A");
    // The same with a create.
    await seed.up(regions("B"));
    seed.made = undefined;
    await scene.host.restart();
    await seed.up(regions("B"));
    await leaves(seed, "A");
    // So are rows that this account wrote by hand, and those of others are not, at any time.
    await clone();
    await seed.up(regions("B"));
    await scene.client.insertmicroapprow({ microAppID: "regions", rowData: region("W") });
    await seed.theirs([region("X")]);
    await seed.up(regions("BWX"));
    await leaves(seed, "AX");
  });

  test("rows that move to another seed are whose they were", async () => {
    const [one, two] = [seedNamed("one"), seedNamed("two")];
    await one.theirs([region("A")]);
    await one.up(regions("ABCD"));
    // A run of its own: what is declared otherwise is another process.
    await scene.host.restart();
    const fewer = { ...regions("CD"), maxRemovals: 1 };
    await one.check(fewer);
    await two.check(regions("AB"));
    await one.preview(fewer);
    await two.up(regions("AB"), false);
    await one.up(fewer, false);
    await leaves(two, "ACD");
  });

  test("a state of the landed version, which knows of no existing rows, owns all", async () => {
    const seed = await begin("A", "AB");
    const { existing: _, ...outputs } = seed.state.outputs;
    seed.made = { ...seed.state, outputs };
    await leaves(seed, "");
  });

  test("of two equal rows the one that this account made is removed", async () => {
    const seed = await begin("", "AB");
    const own = new Set(await seed.ids());
    await seed.theirs([region("A")]);
    expect(await leaves(seed, "A")).toContain("deletes 2 rows");
    expect((await seed.ids()).filter((id) => own.has(id))).toEqual([]);
  });

  test("of many rows a sketch tells others made, and where it can't none is removed", async () => {
    const all = Array.from({ length: 20_001 }, (_, at) => region(`K${at}`));
    const declared = async (rows: object[]) => {
      const lines = [...rows, region("mine")].map((row) => Object.values(row).join());
      await writeFile(join(scene.host.folder, "regions.csv"), `Code,Name\n${lines.join("\n")}\n`);
      return { source: "regions.csv" };
    };
    const live = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const page of pages(scene.client, { microAppID: "regions" }))
        found.push(...page.map((row) => String(row["Code"])));
      return found.toSorted();
    };
    const seed = seedNamed();
    await seed.theirs(all);
    await seed.up(await declared(all), false);
    await seed.up(await declared(all.slice(0, 20_000)), false);
    expect(await live()).toHaveLength(20_002);
    await seed.destroy();
    expect(await live()).toEqual(all.map(({ Code }) => Code).toSorted());
  });

  const values = { Code: fc.constantFrom("A", "B", "C", "D"), Name: fc.constantFrom("x", "y") };
  const row = fc.record({ ...values, by: fc.constantFrom("admin@example.com", "ada@example.com", "eve@example.com") });
  const source = fc.uniqueArray(fc.record(values), { selector: ({ Code }) => Code, minLength: 1 });
  test("rows of others are never changed or deleted without adopt: true", async () => {
    const property = fc.asyncProperty(fc.array(row, { maxLength: 5 }), source, source, async (there, first, second) => {
      await clone();
      const seed = seedNamed();
      for (const { by, ...values } of there) await seed.theirs([values], by);
      const { userID: own } = await scene.client.userid({ email: "admin@example.com" });
      const ofOthers = async () => (await seed.rows()).filter(({ userID }) => userID !== own);
      const before = await ofOthers();
      await seed.up({ rows: first }, false).catch(() => undefined);
      if (seed.made) {
        await seed.up({ rows: second, maxRemovals: 1 }, false).catch(() => undefined);
        await seed.destroy();
      }
      expect(await ofOthers()).toEqual(before);
      for (const rowID of await seed.ids()) await scene.client.removemicroapprow({ rowID });
    });
    await fc.assert(property, { numRuns: 12 });
  });
});
