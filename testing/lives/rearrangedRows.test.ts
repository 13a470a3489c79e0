import { beforeEach, expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

const tables = {
  continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  regions: { name: "Regions", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  countries: {
    name: "Countries",
    fields: { Code: { type: "text", sort: 1 }, Continent: { type: "linked", table: "continents", field: "Code" } },
  },
};

const europe = { Code: "EU", Name: "Europe" };
const africa = { Code: "AF", Name: "Africa" };
const rows = [europe, africa];

interface Made {
  id: string;
  inputs: Properties;
  outputs: Properties;
}

throughBothKinds({ tables }, (scene) => {
  beforeEach(async () => {
    await scene.client.insertmicroapprow({ microAppID: "continents", rowData: { Code: "XX", Name: "Theirs" } });
  });
  const live = async (microAppID: string): Promise<{ _id: string; [label: string]: unknown }[]> =>
    (await scene.client.microappdata({ microAppID, optViewSort: { sortVal: 1 } })).microAppRows;
  const ids = async (table: string): Promise<string[]> => (await live(table)).map(({ _id }) => _id);
  const declared = (more: object = {}): Properties => ({ table: "continents", key: "Code", rows, ...more });

  /** Registers a seed as an engine does that has no state of it. */
  async function created(name: string, news: Properties): Promise<Made> {
    scene.host.resource = name;
    return scene.create("SeedRows", news);
  }
  async function checked(name: string, news: Properties, old: Properties = {}) {
    scene.host.resource = name;
    return scene.host.check("SeedRows", news, old);
  }
  /** Registers a seed that is in the state, and updates it when its diff shows changes. */
  async function updated(name: string, old: Made, news: Properties): Promise<Made & { changed: boolean }> {
    const { inputs, problems } = await checked(name, news, old.inputs);
    expect(problems).toEqual([]);
    const { changes, replaces } = await scene.host.diff("SeedRows", old.id, old.outputs, inputs);
    expect(replaces).toEqual([]);
    const outputs = changes ? await scene.host.update("SeedRows", old.id, old.outputs, inputs) : old.outputs;
    return { id: old.id, inputs, outputs, changed: changes };
  }
  const nextRun = (): Promise<void> => scene.host.restart();

  test("a row that moves to a seed checked before stays, with its ID", async () => {
    const a = await created("a", declared());
    const b = await created("b", declared({ table: "continents", rows: [{ Code: "AS", Name: "Asia" }] }));
    const before = await ids("continents");
    await nextRun();
    const taken = await updated("b", b, declared({ rows: [{ Code: "AS", Name: "Asia" }, africa] }));
    const calls = await scene.calls(() => updated("a", a, declared({ rows: [europe] })));
    expect(calls).toEqual([]);
    expect(await ids("continents")).toEqual(before);
    expect(taken.outputs).toMatchObject({ rowCount: 2 });
    expect(scene.host.told).toContain('info: table continents: 1 stay: SeedRows "b" declares them');
  });

  test("another natural key names the same rows, which keep their IDs and their links; edits of it are changes", async () => {
    const old = await created("a", declared());
    const links = await created("c", {
      table: "countries",
      key: "Code",
      rows: [{ Code: "PT", Continent: "EU" }],
      references: { Continent: { table: "continents", key: "Code" } },
    });
    const before = await ids("continents");
    await nextRun();
    scene.host.told.length = 0;
    const named = await updated("a", old, declared({ key: "Name" }));
    expect(scene.host.told.slice(0, 2)).toEqual([
      "info: the natural key changes from Code to Name: rows keep their IDs",
      "info: rows: 2 unchanged",
    ]);
    expect(await ids("continents")).toEqual(before);
    expect(named.outputs).toMatchObject({ rowCount: 2, key: ["Name"] });
    await nextRun();
    // Key and content at once: what has no wanted name is known by its code.
    const back = await updated(
      "a",
      named,
      declared({
        key: "Code",
        rows: [
          { Code: "EU", Name: "Europa" },
          { Code: "AFR", Name: "Africa" },
        ],
      }),
    );
    expect(await live("continents")).toMatchObject([
      { Code: "AFR", Name: "Africa" },
      { Code: "EU", Name: "Europa" },
      { Code: "XX" },
    ]);
    expect(new Set(await ids("continents"))).toEqual(new Set(before));
    expect(back.outputs).toMatchObject({ rowCount: 2 });
    const [portugal] = await live("countries");
    expect(portugal).toMatchObject({ Continent: { crossAppRowID: (await ids("continents"))[1] } });
    expect(links.outputs).toMatchObject({ rowCount: 1 });
  });

  test("two seeds with one row are refused by line with both names", async () => {
    await created("a", declared());
    const { problems } = await checked("b", declared({ rows: [{ Code: "AS", Name: "Asia" }, africa] }));
    expect(problems).toEqual([
      'rows: SeedRows "a" declares these rows of table continents as well: rows[1] "AF". A row has one owner: keep each in one of the two',
    ]);
    const byName = await checked("b", declared({ key: "Name", rows: [africa] }));
    expect(byName.problems).toHaveLength(1);
    expect((await checked("b", declared({ table: "regions" }))).problems).toEqual([]);
  });

  const countries = (more: object = {}): Properties => ({
    table: "countries",
    key: "Code",
    rows: [
      { Code: "PT", Continent: "EU" },
      { Code: "KE", Continent: "AF" },
    ],
    references: { Continent: { table: "continents", key: "Code" } },
    ...more,
  });

  test("a reference that names a seed is answered by the rows of its table's seeds, offline", async () => {
    await created("a", declared());
    const linkedSeeds = { Continent: scene.host.urn("SeedRows") };
    const wrong = countries({ rows: [{ Code: "JP", Continent: "AS" }], linkedSeeds });
    const calls = await scene.calls(async () => {
      expect((await checked("c", wrong)).problems).toEqual([
        'rows: rows[0]: Continent refers to "AS", but there is no row with that key\nRows are looked up by the natural key of the seed: Continent by "Code" of table continents. Add those rows to the seed, or correct the references; for rows that no seed has, refer to a table and its key instead of a seed.',
      ]);
    });
    expect(calls).toEqual([]);
    expect((await checked("c", countries({ linkedSeeds }))).problems).toEqual([]);
  });

  test("a seed that did not wait for the one that it refers to is told which that is", async () => {
    await checked("a", declared());
    await expect(created("c", countries())).rejects.toThrow(
      'SeedRows "a" declares them, and this seed did not wait for it. Let it depend on that one: name the table by its output (table: <seed>.table), or set dependsOn.',
    );
    expect(await live("countries")).toEqual([]);
  });

  test("keepLive keeps edits, and a link that lost its row is no edit", async () => {
    await created("a", declared());
    const c = await created("c", countries({ onConflict: "keepLive" }));
    await scene.client.removemicroapprow({ rowID: (await ids("continents"))[0] ?? "" });
    await nextRun();
    await created("a", declared({ adopt: true })); // the row of Africa has another ID now
    await nextRun();
    scene.host.resource = "c";
    const seen = await scene.host.read("SeedRows", c.id, c.outputs);
    scene.host.told.length = 0;
    const renewed = await updated("c", { ...c, outputs: seen.outputs }, countries({ onConflict: "keepLive" }));
    expect(scene.host.told[0]).toBe('info: rows whose links lead nowhere any more: 1 ("KE")');
    const africa = (await live("continents")).find(({ Code }) => Code === "AF")?._id;
    const kenya = (await live("countries")).find(({ Code }) => Code === "KE");
    expect(kenya).toMatchObject({ Continent: { crossAppRowID: africa } });

    await scene.client.updatemicroapprow({ rowID: kenya?._id ?? "", rowData: { Continent: null } });
    await nextRun();
    scene.host.resource = "c";
    const edited = await scene.host.read("SeedRows", c.id, renewed.outputs);
    const kept = countries({ onConflict: "keepLive" });
    expect((await updated("c", { ...renewed, outputs: edited.outputs }, kept)).changed).toBe(false);
  });

  test("who may see rows does not change silently", async () => {
    const [user] = [await scene.client.callerID()];
    const old = await created("a", declared());
    const before = await ids("continents");
    await nextRun();
    const { inputs } = await checked("a", declared({ viewers: [user] }), old.inputs);
    await expect(scene.host.diff("SeedRows", old.id, old.outputs, inputs)).rejects.toThrow(
      "2 rows keep their viewers, which act when a row is inserted. Put viewers under the label of their field to change them in rows that are there, or set onViewersChange to newRows if new rows alone are meant.",
    );
    scene.host.told.length = 0;
    const kept = await updated("a", old, declared({ viewers: [user], onViewersChange: "newRows" }));
    expect(scene.host.told[0]).toBe("info: 2 rows keep their viewers: the declared ones are for new rows");
    expect(await ids("continents")).toEqual(before);
    const { problems } = await scene.host.check("SeedRows", declared({ viewers: [user], onViewersChange: "recreate" }));
    expect(problems).toEqual([expect.stringContaining("onViewersChange: recreate is gone")]);
    expect(kept.outputs).toMatchObject({ rowCount: 2 });
  });

  test("a check answers the same whichever seed comes first, and also when one of them leaves: a saved plan fits", async () => {
    const asia = declared({ rows: [{ Code: "AS", Name: "Asia" }] });
    const made = { a: await created("a", declared()), b: await created("b", asia), c: await created("c", countries()) };
    const news = { a: declared(), b: asia, c: countries() };
    for (const order of ["abc", "cba", "bca", "ca", "b"]) {
      await nextRun();
      for (const name of order.split("") as (keyof typeof made)[]) {
        const { inputs, problems } = await checked(name, news[name], made[name].inputs);
        expect([problems, inputs]).toEqual([[], made[name].inputs]);
      }
    }
  });
});
