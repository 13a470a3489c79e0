import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pages } from "../../platform/client/lists.ts";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

const tables = { regions: { name: "Regions", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };
const table = { table: "regions", key: "Code" };
const region = (Code: string) => ({ Code, Name: `region ${Code}` });
const regions = (count: number, first = 0) => Array.from({ length: count }, (_, at) => region(`K${first + at}`));

interface Made {
  id: string;
  inputs: Properties;
  outputs: Properties;
}

throughBothKinds({ tables, users: [{ email: "ada@example.com" }, { email: "eve@example.com" }] }, (scene) => {
  const live = async (): Promise<string[]> => {
    const codes: string[] = [];
    for await (const page of pages(scene.client, { microAppID: "regions" }))
      codes.push(...page.map((row) => String(row["Code"])));
    return codes.toSorted();
  };
  /** Somebody else writes rows. */
  const theirs = async (rows: Record<string, unknown>[], email = "ada@example.com"): Promise<void> => {
    const { userID } = await scene.client.userid({ email });
    for (let at = 0; at < rows.length; at += 10_000)
      await scene.client.insertmicroapprows({ microAppID: "regions", rows: rows.slice(at, at + 10_000), userID });
  };
  /** A clone of the repository with an empty home. */
  const clone = async (): Promise<void> => {
    for (const folder of [".microapps", ".state"])
      await rm(join(scene.host.folder, folder), { recursive: true, force: true });
    await scene.host.restart();
  };
  const make = (rows: unknown[], more: object = {}): Promise<Made> =>
    scene.create("SeedRows", { ...table, rows, ...more });
  const preview = async (state: Made, rows: unknown[], more: object = {}) => {
    scene.host.told.length = 0;
    const { inputs } = await scene.host.check("SeedRows", { ...table, rows, ...more }, state.inputs);
    const { changes } = await scene.host.diff("SeedRows", state.id, state.outputs, inputs);
    return { changes, told: scene.host.told.map((text) => text.replace(/^info: /, "")) };
  };
  const up = async (state: Made, rows: unknown[], more: object = {}): Promise<Made> => {
    const { inputs } = await scene.host.check("SeedRows", { ...table, rows, ...more }, state.inputs);
    await scene.host.diff("SeedRows", state.id, state.outputs, inputs);
    return { id: state.id, inputs, outputs: await scene.host.update("SeedRows", state.id, state.outputs, inputs) };
  };
  /** Destroys as an engine does, in a separate run. */
  const destroy = async (state: Made): Promise<string[]> => {
    await scene.host.restart();
    scene.host.told.length = 0;
    await scene.host.delete("SeedRows", state.id, state.outputs);
    return scene.host.told;
  };

  test("rows that others made stay when the seed goes; those that this account made do not", async () => {
    await theirs([region("A"), region("B"), region("C")]);
    const rows = ["A", "B", "C", "D"].map(region);
    const made = await make(rows);
    expect(made.outputs).toMatchObject({ rowCount: 4 });
    expect(await preview(made, rows)).toEqual({ changes: false, told: [] });
    const seen = await scene.host.read("SeedRows", made.id, made.outputs);
    expect(seen.outputs).toMatchObject({ existing: made.outputs["existing"] });
    await clone();
    expect((await destroy(made)).join("\n")).toContain("table regions: 3 rows that others made are kept");
    expect(await live()).toEqual(["A", "B", "C"]);
  });

  test("an existing row is never changed, and stays when it leaves the source, as the preview says", async () => {
    await theirs([region("A"), region("B")]);
    const made = await make(["A", "B", "D"].map(region));
    const others = [{ ...region("A"), Name: "changed" }, region("B"), region("D")];
    expect(
      await scene.calls(() => expect(up(made, others)).rejects.toThrow(/not ours: "A".* Set adopt: true/)),
    ).toEqual([]);
    const { told } = await preview(made, [region("B")]);
    expect(told).toEqual([`rows: 1 to remove ("D"), 1 unchanged`, "1 row that others made is kept"]);
    const last = await up(made, [region("B")]);
    expect(await live()).toEqual(["A", "B"]);
    expect(await preview(last, [region("B")])).toEqual({ changes: false, told: [] });
    await destroy(last);
    expect(await live()).toEqual(["A", "B"]);
  });

  test("a row that is refused for its content is not told as one that is as declared", async () => {
    const made = await make([region("C")]);
    await theirs([{ ...region("B"), Name: "other" }]);
    await scene.client.insertmicroapprow({ microAppID: "regions", rowData: region("A") });
    await expect(up(made, ["A", "B", "C"].map(region))).rejects.toThrow('not ours: "B"');
    expect(scene.host.told.join("\n")).not.toContain("existed before");
  });

  test("adopt: true owns what others made, at once or later", async () => {
    await theirs([region("A"), region("B")]);
    const first = await make([region("A"), region("B")]);
    const adopted = await up(first, [region("A"), region("B")], { adopt: true });
    expect(adopted.outputs).not.toHaveProperty("existing");
    const left = await up(adopted, [region("A")], { adopt: true, maxRemovals: 1 });
    expect(await live()).toEqual(["A"]);
    await destroy(left);
    expect(await live()).toEqual([]);
  });

  test("an existing row that was removed by hand and made again is the seed's", async () => {
    await theirs([region("A")]);
    const made = await make([region("A"), region("B")]);
    const { microAppRows } = await scene.client.microappdata({ microAppID: "regions" });
    const row = microAppRows.find(({ Code }) => Code === "A");
    await scene.client.removemicroapprow({ rowID: row?._id ?? "" });
    const seen = await scene.host.read("SeedRows", made.id, made.outputs);
    const next = await up({ ...made, outputs: seen.outputs }, [region("A"), region("B")]);
    expect(next.outputs).not.toHaveProperty("existing");
    await destroy(next);
    expect(await live()).toEqual([]);
  });

  test("what a run inserted that ended before its state was written is the seed's", async () => {
    await theirs([region("A")]);
    const made = await make([region("A"), region("B")]);
    // The update is done, and its state lost.
    await up(made, ["A", "B", "C"].map(region));
    await clone();
    const next = await up(made, ["A", "B", "C"].map(region));
    await destroy(next);
    expect(await live()).toEqual(["A"]);
    // The same with a create.
    await make([region("B")]);
    await scene.host.restart();
    const again = await make([region("B")]);
    await destroy(again);
    expect(await live()).toEqual(["A"]);
    // So are rows that this account wrote by hand, and those of others are not, at any time.
    await clone();
    const last = await make([region("B")]);
    await scene.client.insertmicroapprow({ microAppID: "regions", rowData: region("W") });
    await theirs([region("X")]);
    const more = await up(last, ["B", "W", "X"].map(region));
    await destroy(more);
    expect(await live()).toEqual(["A", "X"]);
  });

  test("rows that move to another seed are whose they were", async () => {
    const { host } = scene;
    await theirs([region("A")]);
    host.resource = "one";
    const one = await make(["A", "B", "C", "D"].map(region));
    const [oneLater, twoRows] = [["C", "D"].map(region), ["A", "B"].map(region)];
    // A run of its own: what is declared otherwise is another process.
    await host.restart();
    const { inputs } = await host.check("SeedRows", { ...table, rows: oneLater, maxRemovals: 1 }, one.inputs);
    const two = { ...table, rows: twoRows };
    host.resource = "two";
    const twoInputs = (await host.check("SeedRows", two)).inputs;
    host.resource = "one";
    await host.diff("SeedRows", one.id, one.outputs, inputs);
    host.resource = "two";
    const madeTwo = await host.create("SeedRows", twoInputs);
    host.resource = "one";
    await host.update("SeedRows", one.id, one.outputs, inputs);
    host.resource = "two";
    await destroy({ ...madeTwo, inputs: twoInputs });
    expect(await live()).toEqual(["A", "C", "D"]);
  });

  test("a state of the landed version, which knows of no existing rows, owns all", async () => {
    await theirs([region("A")]);
    const { outputs, ...made } = await make([region("A"), region("B")]);
    const { existing: _, ...landed } = outputs;
    await destroy({ ...made, outputs: landed });
    expect(await live()).toEqual([]);
  });

  test("of two equal rows the one that this account made is removed", async () => {
    const made = await make(["A", "B"].map(region));
    await theirs([region("A")]);
    const { microAppRows } = await scene.client.microappdata({ microAppID: "regions" });
    const own = new Set(microAppRows.slice(0, 2).map(({ _id }) => _id));
    const told = await destroy(made);
    expect(told.join("\n")).toContain("deletes 2 rows");
    const left = (await scene.client.microappdata({ microAppID: "regions" })).microAppRows;
    expect(left.map(({ Code, _id }) => [Code, own.has(_id)])).toEqual([["A", false]]);
  });

  test("of many rows a sketch tells others made, and where it can't none is removed", async () => {
    const all = regions(20_001);
    const declared = async (rows: object[]) => {
      const lines = [...rows, region("mine")].map((row) => Object.values(row).join());
      await writeFile(join(scene.host.folder, "regions.csv"), `Code,Name\n${lines.join("\n")}\n`);
      return { rows: undefined, source: "regions.csv" };
    };
    await theirs(all);
    const made = await make([], await declared(all));
    const next = await up(made, [], await declared(all.slice(0, 20_000)));
    expect(await live()).toHaveLength(20_002);
    await destroy(next);
    expect(await live()).toEqual(all.map(({ Code }) => Code).toSorted());
  });

  const creators = ["admin@example.com", "ada@example.com", "eve@example.com"] as const;
  const row = fc.record({
    Code: fc.constantFrom("A", "B", "C", "D"),
    Name: fc.constantFrom("x", "y"),
    by: fc.constantFrom(...creators),
  });
  const source = fc.uniqueArray(
    fc.record({ Code: fc.constantFrom("A", "B", "C", "D"), Name: fc.constantFrom("x", "y") }),
    {
      selector: ({ Code }) => Code,
      minLength: 1,
    },
  );
  test("rows of others are never changed or deleted without adopt: true", async () => {
    const property = fc.asyncProperty(fc.array(row, { maxLength: 5 }), source, source, async (there, first, second) => {
      await clone();
      for (const { by, ...values } of there) await theirs([values], by);
      const { userID: own } = await scene.client.userid({ email: "admin@example.com" });
      const ofOthers = async () =>
        (await scene.client.microappdata({ microAppID: "regions" })).microAppRows.filter(
          ({ userID }) => userID !== own,
        );
      const before = await ofOthers();
      const made = await make(first).catch(() => undefined);
      const more = made && (await up(made, second, { maxRemovals: 1 }).catch(() => made));
      if (more) await destroy(more);
      expect(await ofOthers()).toEqual(before);
      const { microAppRows: left } = await scene.client.microappdata({ microAppID: "regions" });
      for (const { _id } of left) await scene.client.removemicroapprow({ rowID: _id });
    });
    await fc.assert(property, { numRuns: 12 });
  });
});
