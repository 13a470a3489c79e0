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
  async function deleted(name: string, { id, outputs }: Made): Promise<void> {
    scene.host.resource = name;
    await scene.host.delete("SeedRows", id, outputs);
  }
  const nextRun = (): Promise<void> => scene.host.restart();

  test("a seed that is renamed keeps its rows, also when the run ended between the two", async () => {
    const old = await created("offices", declared());
    const before = await ids("continents");
    await nextRun();
    const calls = await scene.calls(async () => {
      const made = await created("branches", declared());
      await nextRun();
      expect((await updated("branches", made, declared())).changed).toBe(false);
      await deleted("offices", old);
    });
    expect(calls).toEqual([]);
    expect(await ids("continents")).toEqual(before);
    expect(scene.host.told).toContain('info: table continents: 2 stay: SeedRows "branches" declares them');
  });

  test("a renamed seed that gave up rows at once removes these alone", async () => {
    const old = await created("offices", declared());
    await nextRun();
    await created("branches", declared({ rows: [europe] }));
    await deleted("offices", old);
    expect(await live("continents")).toMatchObject([{ Code: "EU" }, { Code: "XX" }]);
  });

  test("a renamed seed whose natural key changed at once keeps its rows", async () => {
    const old = await created("offices", declared());
    const before = await ids("continents");
    await nextRun();
    expect(
      await scene.calls(async () => {
        await created("branches", declared({ key: "Name" }));
        await deleted("offices", old);
      }),
    ).toEqual([]);
    expect(await ids("continents")).toEqual(before);
  });

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

  test("a row that moves to a seed that comes later keeps its ID when the program tells of it, edited or not", async () => {
    const a = await created("a", declared());
    const before = await ids("continents");
    await nextRun();
    const moved = { ...africa, Name: "Afrika" };
    const urn = scene.host.urn("SeedRows").replace("::a", "::b");
    const siblings = [{ urn, table: "continents", key: ["Code"], rows: [{ Code: "AF" }] }];
    scene.host.told.length = 0;
    const left = await updated("a", a, declared({ rows: [europe], siblings }));
    expect(scene.host.told[0]).toContain("rows: 1 to leave to another seed, 1 unchanged");
    expect(left.inputs).not.toHaveProperty("siblings");
    expect(left.outputs).toMatchObject({ rowCount: 1 });
    scene.host.told.length = 0;
    const calls = await scene.calls(async () => {
      const made = await created("b", declared({ rows: [moved] }));
      expect(made.outputs).toMatchObject({ rowCount: 1 });
    });
    expect(scene.host.told[0]).toContain("rows: 1 to take over from another seed");
    expect(calls).toEqual(["updatemicroapprow"]);
    expect(await ids("continents")).toEqual(before);
  });

  test("a row that moves to a seed nobody told of is there in the end", async () => {
    const a = await created("a", declared());
    await nextRun();
    await updated("a", a, declared({ rows: [europe] }));
    const made = await created("b", declared({ rows: [africa] }));
    expect(await live("continents")).toMatchObject([{ Code: "AF" }, { Code: "EU" }, { Code: "XX" }]);
    expect(made.outputs).toMatchObject({ rowCount: 1, renewals: 1 });
  });

  test("another table gets the rows first; the old ones go last, and not from a table that is mistyped", async () => {
    const old = await created("a", declared());
    await nextRun();
    const { inputs } = await checked("a", declared({ table: "region" }), old.inputs);
    expect(await scene.host.diff("SeedRows", old.id, old.outputs, inputs)).toMatchObject({ replaces: ["table"] });
    await checked("a", declared({ table: "region" }));
    await expect(scene.host.create("SeedRows", inputs)).rejects.toThrow(/region/);
    expect(await live("continents")).toHaveLength(3);

    await nextRun();
    const right = await checked("a", declared({ table: "regions" }));
    await scene.host.create("SeedRows", right.inputs);
    await deleted("a", old);
    expect(await live("continents")).toMatchObject([{ Code: "XX" }]);
    expect(await live("regions")).toMatchObject([{ Code: "AF" }, { Code: "EU" }]);
  });

  test("another table of many rows is refused by preview as other mass removals are", async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ Code: `c${index}`, Name: "N" }));
    const old = await created("a", declared({ rows: many }));
    await nextRun();
    const { inputs } = await checked("a", declared({ rows: many, table: "regions" }), old.inputs);
    await expect(scene.host.diff("SeedRows", old.id, old.outputs, inputs)).rejects.toThrow(
      "table continents → regions: 20 of 20 rows would be removed, more than maxRemovals allows (25 %). If that is meant, set maxRemovals to 1 for this run.",
    );
    const allowed = await checked("a", declared({ rows: many, table: "regions", maxRemovals: 1 }), old.inputs);
    await scene.host.diff("SeedRows", old.id, old.outputs, allowed.inputs);
    expect(scene.host.told).toContain(
      "info: table continents → regions: once the rows are there, the 20 rows of continents are removed, but for those that another seed declares",
    );
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
      "info: rows: 2 unchanged; about 2 calls",
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

  test("an engine that replaces a seed whatever its diff says takes no row from it", async () => {
    const old = await created("a", declared());
    const before = await ids("continents");
    await nextRun();
    await checked("a", declared(), old.inputs);
    const { inputs } = await checked("a", declared());
    let made = old;
    const calls = await scene.calls(async () => {
      made = { ...(await scene.host.create("SeedRows", inputs)), inputs };
      await deleted("a", old);
      // Killed before: the next run only deletes.
      await nextRun();
      expect((await updated("a", made, declared())).changed).toBe(false);
      await deleted("a", old);
    });
    expect(calls).toEqual([]);
    expect(await ids("continents")).toEqual(before);
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

  test("a row that others refer to does not leave, whichever seed comes first", async () => {
    const a = await created("a", declared());
    const c = await created("c", countries());
    await nextRun();
    const { inputs } = await checked("a", declared({ rows: [europe] }), a.inputs);
    await scene.host.diff("SeedRows", a.id, a.outputs, inputs);
    expect((await checked("c", countries(), c.inputs)).problems).toEqual([
      'rows: rows[1]: Continent refers to "AF", which SeedRows "a" is about to remove\nKeep those rows, or change what refers to them in the same run.',
    ]);
    await nextRun();
    await checked("c", countries(), c.inputs);
    const again = await checked("a", declared({ rows: [europe] }), a.inputs);
    await expect(scene.host.diff("SeedRows", a.id, a.outputs, again.inputs)).rejects.toThrow(
      'rows[1]: Continent of SeedRows "c" refers to "AF"',
    );
    expect(await live("continents")).toHaveLength(3);
  });

  test("rows of a seed that left the program stay while others refer to them", async () => {
    const a = await created("a", declared());
    const c = await created("c", countries());
    await nextRun();
    await checked("c", countries(), c.inputs);
    await expect(deleted("a", a)).rejects.toThrow(/nothing was removed, since rows that other seeds declare refer/);
    expect(await live("continents")).toHaveLength(3);
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

  test("rows that were removed by hand and put back take the links to them along, in the same run", async () => {
    const a = await created("a", declared());
    const c = await created("c", countries({ onConflict: "keepLive" }));
    await scene.client.removemicroapprow({ rowID: (await ids("continents"))[0] ?? "" });
    await nextRun();
    scene.host.resource = "a";
    const seen = await scene.host.read("SeedRows", a.id, a.outputs);
    const repaired = await updated("a", { ...a, outputs: seen.outputs }, declared());
    expect(repaired.outputs).toMatchObject({ renewals: 1 });
    scene.host.told.length = 0;
    const followed = await updated("c", c, countries({ onConflict: "keepLive" }));
    expect(scene.host.told[0]).toBe("info: rows of table continents are made anew: the links to them are renewed");
    expect(followed.changed).toBe(true);
    const [kenya] = await live("countries");
    expect(kenya).toMatchObject({ Code: "KE", Continent: { crossAppRowID: (await ids("continents"))[0] } });
  });

  test("a run that ended before the links followed is finished by the next one", async () => {
    const a = await created("a", declared());
    const c = await created("c", countries({ linkRenewals: { Continent: 0 } }));
    await scene.client.removemicroapprow({ rowID: (await ids("continents"))[0] ?? "" });
    await nextRun();
    scene.host.resource = "a";
    const seen = await scene.host.read("SeedRows", a.id, a.outputs);
    const repaired = await updated("a", { ...a, outputs: seen.outputs }, declared());
    await nextRun();
    expect((await updated("a", repaired, declared())).changed).toBe(false);
    const times = repaired.outputs["renewals"];
    expect((await updated("c", c, countries({ linkRenewals: { Continent: times } }))).changed).toBe(true);
    const [kenya] = await live("countries");
    expect(kenya).toMatchObject({ Code: "KE", Continent: { crossAppRowID: (await ids("continents"))[0] } });
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
    expect(scene.host.told[0]).toBe('info: rows whose links lead nowhere any more: 1 ("KE"); about 6 calls');
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
