import { expect, test } from "@jest/globals";
import { pages } from "../../provider/client/lists/pages.ts";
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

throughBothKinds({ tables }, (scene) => {
  const live = async (): Promise<string[]> => {
    const codes: string[] = [];
    for await (const page of pages(scene.client, { microAppID: "regions" }))
      codes.push(...page.map((row) => String(row["Code"])));
    return codes.toSorted();
  };
  /** Others write rows, such as another stack. */
  const theirs = (rows: Record<string, unknown>[]) => scene.client.insertmicroapprows({ microAppID: "regions", rows });
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

  test("rows that were there as declared stay when the seed goes; those that it made do not", async () => {
    await theirs([region("A"), region("B"), region("C")]);
    const rows = ["A", "B", "C", "D"].map(region);
    const made = await make(rows);
    expect(made.outputs).toMatchObject({ rowCount: 4 });
    expect(await preview(made, rows)).toEqual({ changes: false, told: [] });
    const seen = await scene.host.read("SeedRows", made.id, made.outputs);
    expect(seen.outputs).toMatchObject({ found: made.outputs["found"] });
    expect((await destroy(made)).join("\n")).toContain("table regions: 3 found, they stay");
    expect(await live()).toEqual(["A", "B", "C"]);
  });

  test("a found row that leaves the source stays and is counted in the preview; what the seed changed in it is its own matter", async () => {
    await theirs([region("A"), region("B")]);
    const made = await make(["A", "B", "D"].map(region));
    const next = await up(made, [{ ...region("A"), Name: "changed" }, region("B"), region("D")]);
    const { told } = await preview(next, [region("B")]);
    const calls = scene.providerKind.modern ? 5 : 4;
    expect(told).toEqual([`rows: 1 to remove ("D"), 1 unchanged; about ${calls} calls`, "1 found, it stays"]);
    const last = await up(next, [region("B")]);
    expect(await live()).toEqual(["A", "B"]);
    expect(await preview(last, [region("B")])).toEqual({ changes: false, told: [] });
    await destroy(last);
    expect(await live()).toEqual(["A", "B"]);
  });

  test("adopt: true owns what was found, at once or later", async () => {
    await theirs([region("A"), region("B")]);
    const first = await make([region("A"), region("B")]);
    const adopted = await up(first, [region("A"), region("B")], { adopt: true });
    expect(adopted.outputs).not.toHaveProperty("found");
    const left = await up(adopted, [region("A")], { adopt: true, maxRemovals: 1 });
    expect(await live()).toEqual(["A"]);
    await destroy(left);
    expect(await live()).toEqual([]);
  });

  test("a found row that was removed by hand and made again is the seed's", async () => {
    await theirs([region("A")]);
    const made = await make([region("A"), region("B")]);
    const { microAppRows } = await scene.client.microappdata({ microAppID: "regions" });
    const row = microAppRows.find(({ Code }) => Code === "A");
    await scene.client.removemicroapprow({ rowID: row?._id ?? "" });
    const seen = await scene.host.read("SeedRows", made.id, made.outputs);
    const next = await up({ ...made, outputs: seen.outputs }, [region("A"), region("B")]);
    expect(next.outputs).not.toHaveProperty("found");
    await destroy(next);
    expect(await live()).toEqual([]);
  });

  test("what a run inserted that ended before its state was written is the seed's", async () => {
    await theirs([region("A")]);
    const made = await make([region("A"), region("B")]);
    // The update is done, and its state lost.
    await up(made, ["A", "B", "C"].map(region));
    await scene.host.restart();
    const next = await up(made, ["A", "B", "C"].map(region));
    await destroy(next);
    expect(await live()).toEqual(["A"]);
    // The same with a create.
    await make([region("B")]);
    await scene.host.restart();
    const again = await make([region("B")]);
    await destroy(again);
    expect(await live()).toEqual(["A"]);
    // Rows that others write later do not belong to a run that has ended well.
    const last = await make([region("B")]);
    await theirs([region("X")]);
    const more = await up(last, [region("B"), region("X")]);
    await destroy(more);
    expect(await live()).toEqual(["A", "X"]);
  });

  test("rows that move to another seed are found or made there as they were", async () => {
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

  test("rows of a seed that leaves the program are made, not found, for the one that declares them now", async () => {
    const { host } = scene;
    host.resource = "one";
    await theirs([region("A")]);
    const one = await make(["A", "B", "C"].map(region));
    await host.restart();
    host.resource = "two";
    const two = await make(["A", "B", "C"].map(region));
    host.resource = "one";
    await host.delete("SeedRows", one.id, one.outputs);
    expect(await live()).toEqual(["A", "B", "C"]);
    host.resource = "two";
    await destroy(two);
    expect(await live()).toEqual(["A"]);
  });

  test("a state of the landed version, which knows of no found rows, owns all", async () => {
    await theirs([region("A")]);
    const { outputs, ...made } = await make([region("A"), region("B")]);
    const { found: _, ...landed } = outputs;
    await destroy({ ...made, outputs: landed });
    expect(await live()).toEqual([]);
  });

  test("of many rows a sketch tells which were found, and where it can't none is removed", async () => {
    const all = regions(4_200);
    await theirs(all);
    const made = await make([...all, region("mine")]);
    const fewer = all.slice(0, 4_199);
    const next = await up(made, [...fewer, region("mine")]);
    expect(await live()).toHaveLength(4_201);
    await destroy(next);
    expect(await live()).toEqual(all.map(({ Code }) => Code).toSorted());
  });
});
