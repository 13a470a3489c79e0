import { beforeEach, expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { SeedStory } from "./seedStory.ts";

const fields = { Code: { type: "text", sort: 1 }, Name: "text" } as const;
const Continent = { type: "linked", table: "continents", field: "Code" } as const;
const tables = {
  continents: { name: "Continents", fields },
  regions: { name: "Regions", fields },
  countries: { name: "Countries", fields: { Code: { type: "text", sort: 1 }, Continent } },
};
const row = (Code: string, Name: string) => ({ Code, Name });
const [europe, africa, asia] = [row("EU", "Europe"), row("AF", "Africa"), row("AS", "Asia")];
const both = { rows: [europe, africa] };
const countries = {
  rows: [
    { Code: "PT", Continent: "EU" },
    { Code: "KE", Continent: "AF" },
  ],
  references: { Continent: { table: "continents", key: "Code" } },
};

throughBothKinds({ tables }, (scene) => {
  beforeEach(async () => {
    await scene.client.insertmicroapprow({ microAppID: "continents", rowData: { Code: "XX", Name: "Theirs" } });
  });
  const seed = (name: string, table = "continents") => new SeedStory(scene, { table, key: "Code" }, name);
  const made = async (name: string, news: Properties, table?: string): Promise<SeedStory> => {
    const story = seed(name, table);
    await story.up(news, false);
    return story;
  };
  const nextRun = (): Promise<void> => scene.host.restart();

  test("another natural key names the same rows, which keep their IDs and their links; edits of it are changes", async () => {
    const a = await made("a", both);
    const links = await made("c", { ...countries, rows: countries.rows.slice(0, 1) }, "countries");
    const before = await a.ids();
    await nextRun();
    const named = { key: "Name", ...both };
    expect((await a.preview(named)).told.slice(0, 2)).toEqual([
      "the natural key changes from Code to Name: rows keep their IDs",
      "rows: 2 unchanged",
    ]);
    await a.up(named);
    expect(await a.ids()).toEqual(before);
    expect(a.state.outputs).toMatchObject({ rowCount: 2, key: ["Name"] });
    await nextRun();
    // Key and content at once: what has no wanted name is known by its code.
    await a.up({ rows: [row("EU", "Europa"), row("AFR", "Africa")] });
    expect(await a.live("Code", "Name")).toEqual(["AFR Africa", "EU Europa", "XX Theirs"]);
    expect(new Set(await a.ids())).toEqual(new Set(before));
    expect(a.state.outputs).toMatchObject({ rowCount: 2 });
    expect((await links.rows())[0]).toMatchObject({ Continent: { crossAppRowID: (await a.ids())[1] } });
  });

  test("two seeds with one row are refused by line with both names", async () => {
    await made("a", both);
    expect(await seed("b").problems({ rows: [asia, africa] })).toEqual([
      'rows: SeedRows "a" declares these rows of table continents as well: rows[1] "AF". A row has one owner: keep each in one of the two',
    ]);
    expect(await seed("b").problems({ key: "Name", rows: [africa] })).toHaveLength(1);
    expect(await seed("b", "regions").problems(both)).toEqual([]);
  });

  test("a reference that names a seed is answered by the rows of its table's seeds, offline", async () => {
    await made("a", both);
    const linkedSeeds = { Continent: scene.host.urn("SeedRows") };
    const wrong = { ...countries, rows: [{ Code: "JP", Continent: "AS" }], linkedSeeds };
    const calls = await scene.calls(async () => {
      expect(await seed("c", "countries").problems(wrong)).toEqual([
        'rows: rows[0]: Continent refers to "AS", but there is no row with that key\nRows are looked up by the natural key of the seed: Continent by "Code" of table continents. Add those rows to the seed, or correct the references; for rows that no seed has, refer to a table and its key instead of a seed.',
      ]);
    });
    expect(calls).toEqual([]);
    expect(await seed("c", "countries").problems({ ...countries, linkedSeeds })).toEqual([]);
  });

  test("a seed that did not wait for the one that it refers to is told which that is", async () => {
    await seed("a").check(both);
    await seed("c", "countries").refused(
      countries,
      'SeedRows "a" declares them, and this seed did not wait for it. Let it depend on that one: name the table by its output (table: <seed>.table), or set dependsOn.',
    );
  });

  test("keepLive keeps edits, and a link that lost its row is no edit", async () => {
    const kept = { ...countries, onConflict: "keepLive" };
    const a = await made("a", both);
    const c = await made("c", kept, "countries");
    await a.byHand("AF");
    await nextRun();
    a.made = undefined; // its state is lost, and the row of Africa has another ID now
    await a.up({ ...both, adopt: true }, false);
    await c.refresh();
    expect((await c.preview(kept)).told[0]).toBe('rows whose links lead nowhere any more: 1 ("KE")');
    await c.up(kept, false);
    const africaID = (await a.rows()).find(({ Code }) => Code === "AF")?._id;
    expect(await c.rows()).toMatchObject([{ Code: "KE", Continent: { crossAppRowID: africaID } }, { Code: "PT" }]);
    await c.byHand("KE", { Continent: null });
    await c.refresh();
    expect(await c.preview(kept)).toMatchObject({ changes: false });
  });

  test("who may see rows does not change silently", async () => {
    const viewers = [await scene.client.callerID()];
    const a = await made("a", both);
    const before = await a.ids();
    await nextRun();
    await expect(a.preview({ ...both, viewers })).rejects.toThrow(
      "2 rows keep their viewers, which act when a row is inserted. Put viewers under the label of their field to change them in rows that are there, or set onViewersChange to newRows if new rows alone are meant.",
    );
    const meant = { ...both, viewers, onViewersChange: "newRows" };
    expect((await a.preview(meant)).told[0]).toBe("2 rows keep their viewers: the declared ones are for new rows");
    await a.up(meant, false);
    expect([await a.ids(), a.state.outputs]).toEqual([before, expect.objectContaining({ rowCount: 2 })]);
    expect(await a.problems({ ...both, viewers, onViewersChange: "recreate" })).toEqual([
      expect.stringContaining("onViewersChange: recreate is gone"),
    ]);
  });

  test("a check answers the same whichever seed comes first, and also when one of them leaves: a saved plan fits", async () => {
    const news = { a: both, b: { rows: [asia] }, c: countries };
    const stories = {
      a: await made("a", news.a),
      b: await made("b", news.b),
      c: await made("c", news.c, "countries"),
    };
    for (const order of ["abc", "cba", "bca", "ca", "b"]) {
      await nextRun();
      for (const name of order.split("") as (keyof typeof stories)[]) {
        const { inputs, problems } = await stories[name].check(news[name]);
        expect([problems, inputs]).toEqual([[], stories[name].state.inputs]);
      }
    }
  });
});
