import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { eventually } from "../harness/processes.ts";
import type { Properties } from "../harness/providerHost.ts";
import { seedStory, type Made } from "./seedStory.ts";

const tables = {
  countries: { name: "Countries", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  orders: {
    name: "Orders",
    fields: { Code: { type: "text", sort: 1 }, Status: "text", Country: "text", Note: "text" },
  },
};
const table = { table: "orders", key: "Code" };
const order = (Code: string, Status = "open", more: object = {}) => ({ Code, Status, ...more });

throughBothKinds({ tables }, (scene) => {
  const live = async (microAppID = "orders"): Promise<string[]> => {
    const { microAppRows } = await scene.client.microappdata({ microAppID, optViewSort: { sortVal: 1 } });
    return microAppRows.map((row) =>
      ["Code", "Status", "Country", "Note"]
        .flatMap((label) => (typeof row[label] === "string" ? row[label] : []))
        .join(" "),
    );
  };
  const theirs = (rows: Record<string, unknown>[], microAppID = "orders", more: { userID?: string } = {}) =>
    scene.client.insertmicroapprows({ microAppID, rows, ...more });
  const edit = async (code: string, rowData: Record<string, unknown>): Promise<void> => {
    const { microAppRows } = await scene.client.microappdata({ microAppID: "orders" });
    await scene.client.updatemicroapprow({
      rowID: microAppRows.find((row) => row["Code"] === code)?._id ?? "",
      rowData,
    });
  };
  const { check, preview, up, make } = seedStory(scene, table);
  const isSettled = async (state: Made, news: Properties): Promise<void> => {
    expect(await preview(state, news)).toMatchObject({ changes: false, told: [] });
    const seen = await scene.host.read("SeedRows", state.id, state.outputs);
    expect(seen.outputs).not.toHaveProperty("drift");
    expect(seen.outputs).not.toHaveProperty("unmet");
  };
  const destroy = async (state: Made): Promise<void> => {
    await scene.host.restart();
    await scene.host.delete("SeedRows", state.id, state.outputs);
  };
  /** Ends with a refusal, and without a changing call. */
  const refused = async (work: () => Promise<unknown>, message: string): Promise<void> => {
    const before = await live();
    expect(await scene.calls(() => expect(work()).rejects.toThrow(message))).toEqual([]);
    expect(await live()).toEqual(before);
  };

  test("declared rows that break an expectation are refused by line, before anything is sent", async () => {
    const expected = {
      unique: ["Note"],
      notNull: ["Status"],
      acceptedValues: { Status: ["open", "done"] },
      rowCount: { max: 3 },
    };
    const rows = [order("1", "open", { Note: "x" }), order("2", "opne", { Note: "x" }), order("3", ""), order("4")];
    const { problems } = await check({ rows, expect: expected });
    expect(problems.join("\n").split("\n")).toEqual([
      expect.stringContaining('rows[1] "2": Status is "opne", none of expect.acceptedValues: "open", "done"'),
      'rows[1] "2": Note is "x" as at rows[0], and expect.unique takes each value once',
      'rows[2] "3": Status has no value, and expect.notNull takes no row without one',
      "rows[0]: 4 rows begin here, and expect.rowCount takes at most 3",
    ]);
    const secret = await check({ rows, expect: expected, secretLabels: ["Status", "Note"] });
    expect(secret.problems.join()).not.toContain("opne");
    expect(secret.problems.join()).not.toContain('"x"');
  });

  test("an expectation that rows of others break stops the run before it writes, with these rows", async () => {
    const rows = [order("1"), order("2", "done")];
    const made = await make({ rows });
    await theirs([order("9", "lost")]);
    const now = { rows: [...rows, order("3")], expect: { acceptedValues: { Status: ["open", "done"] } } };
    await refused(
      () => up(made, now),
      'expect.acceptedValues: 1 row has another value under "Status" than those: "open", "done": "9" ("lost")',
    );
    await edit("9", { Status: "done" });
    const next = await up(made, now);
    await isSettled(next, now);
    expect(await live()).toEqual(["1 open", "2 done", "3 open", "9 done"]);
  });

  test("rows that leave in the same run, and those that it changes, are judged as they will be", async () => {
    const made = await make({ rows: [order("1", "lost"), order("2", "lost"), order("3")] });
    const now = {
      rows: [order("1"), order("3")],
      expect: { acceptedValues: { Status: ["open"] }, rowCount: { min: 2, max: 2 } },
    };
    await isSettled(await up(made, now), now);
  });

  test("a table that is not as expected after a run fails it with the rows, and the next run tries again", async () => {
    const made = await make({ rows: [order("1")] });
    const now = { rows: [order("1", "done")], expect: { acceptedValues: { Status: ["open", "done"] } } };
    const { inputs } = await preview(made, now);
    // While the row is written, others write one.
    scene.emulator.setFaults({ faults: [{ kind: "slow", endpoint: "updatemicroapprow", milliseconds: 1_500 }] });
    const failing = scene.failure(scene.host.update("SeedRows", made.id, made.outputs, inputs));
    await eventually("the change", () => scene.emulator.faults().some(({ hit }) => hit > 0));
    await theirs([order("9", "lost")]);
    const failed = await failing;
    scene.emulator.setFaults();
    expect(failed.message).toContain(
      'table orders is not as expected:\nexpect.acceptedValues: 1 row has another value under "Status" than those: "open", "done": "9" ("lost")',
    );
    expect(failed.state).toMatchObject({ unfinished: true, rowCount: 1 });
    expect(await live()).toEqual(["1 done", "9 lost"]);
    const left = { ...made, inputs, outputs: failed.state };
    expect(await preview(left, now)).toMatchObject({ changes: true });
    await edit("9", { Status: "open" });
    await isSettled(await up(left, now), now);
  });

  test("an expectation that breaks later is seen by a refresh, shown by the preview, and refused until it holds", async () => {
    const now = { rows: [order("1")], expect: { unique: ["Status"], rowCount: { max: 2 } } };
    const made = await make(now);
    await theirs([order("8", "open"), order("9", "open")]);
    const seen = await scene.host.read("SeedRows", made.id, made.outputs);
    expect(seen.outputs["unmet"]).toEqual([
      'expect.unique: 2 rows have a value under "Status" that another row has: "8" ("open" as "1"), "9" ("open" as "1")',
      "expect.rowCount: 3 rows, more than 2",
    ]);
    const known = { ...made, outputs: seen.outputs };
    const { changes, told } = await preview(known, now);
    expect(changes).toBe(true);
    expect(told.join("\n")).toContain("as of the last look table orders is not as expected:\nexpect.unique: 2 rows");
    await refused(() => up(known, now), "expect.rowCount: 3 rows, more than 2");
    const without = { rows: [order("1")] };
    await isSettled(await up(known, without), without);
  });

  test("values that rows of another table have, links or not, are looked up there", async () => {
    await theirs([{ Code: "AT", Name: "Austria" }], "countries");
    const now = (Country: string) => ({
      rows: [order("1", "open", { Country })],
      expect: { relationships: { Country: { table: "countries", key: "Code" } } },
    });
    const made = await make(now("AT"));
    await refused(
      () => up(made, now("XX")),
      'expect.relationships: 1 row has a value under "Country" that no row of table countries has under "Code": "1" ("XX")',
    );
    await isSettled(made, now("AT"));
  });

  test("settings that contradict each other are refused", async () => {
    const rows = [order("1")];
    const contradictions: [Properties, string][] = [
      [
        { mode: "updateOnly", viewers: ["u1"] },
        "viewers acts when a row is inserted, and mode updateOnly inserts none",
      ],
      [{ ignoreLabels: ["Code"] }, '"Code" is part of the natural key, by which rows are known'],
      [{ expect: { rowCount: { min: 3, max: 2 } } }, "expect.rowCount takes at least 3 rows and at most 2"],
      [{ expect: { uniqe: ["Code"] } }, "uniqe"],
    ];
    for (const [settings, message] of contradictions)
      expect((await check({ rows, ...settings })).problems.join()).toContain(message);
  });

  test("updateOnly changes rows of others, owns none of them, and refuses a key that the table lacks", async () => {
    await theirs([order("1", "lost", { Note: "kept" }), order("2", "open"), order("9", "lost")]);
    const now = { mode: "updateOnly", rows: [order("1"), order("2")] };
    const made = await make(now);
    expect(await live()).toEqual(["1 open kept", "2 open", "9 lost"]);
    await isSettled(made, now);
    const more = { ...now, rows: [...now.rows, order("3")] };
    await refused(
      () => up(made, more),
      'table orders has no row for 1 natural key ("3"), and mode "updateOnly" inserts none',
    );
    // One fewer, then an edit by hand, which is repaired.
    const fewer = { ...now, rows: [order("1")] };
    const next = await up(made, fewer);
    await edit("1", { Status: "lost" });
    const seen = await scene.host.read("SeedRows", next.id, next.outputs);
    const last = await up({ ...next, outputs: seen.outputs }, fewer);
    expect(await live()).toEqual(["1 open kept", "2 open", "9 lost"]);
    await destroy(last);
    expect(await live()).toEqual(["1 open kept", "2 open", "9 lost"]);
  });

  test("updateOnly, then exact and back: rows of others stay others', and what exact inserted is ours", async () => {
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    await theirs([order("1", "lost"), order("2", "lost")], "orders", { userID });
    const rows = [order("1"), order("2")];
    const made = await make({ mode: "updateOnly", rows });
    const all = { rows: [...rows, order("3")] };
    const exact = await up(made, all);
    expect(await live()).toEqual(["1 open", "2 open", "3 open"]);
    await isSettled(exact, all);
    const back = await up(exact, { mode: "updateOnly", ...all });
    await isSettled(back, { mode: "updateOnly", ...all });
    const again = await up(back, all);
    // Rows that leave: a row of others stays, ours goes.
    const fewer = { rows: [order("2")] };
    const last = await up(again, fewer);
    expect(await live()).toEqual(["1 open", "2 open"]);
    await destroy(last);
    expect(await live()).toEqual(["1 open", "2 open"]);
  });

  test("an ignored label goes into new rows, and is neither compared, changed nor cleared afterwards", async () => {
    const now = { rows: [order("1", "open", { Note: "first" }), order("2")], ignoreLabels: ["Note"] };
    const made = await make(now);
    expect(await live()).toEqual(["1 open first", "2 open"]);
    await edit("1", { Note: "theirs" });
    await edit("2", { Note: "theirs" });
    await isSettled(made, now);
    const changed = { ...now, rows: [order("1", "done", { Note: "second" }), order("2", "done")] };
    const next = await up(made, changed);
    expect(await live()).toEqual(["1 done theirs", "2 done theirs"]);
    await isSettled(next, changed);
  });

  const viewersOf = async (code: string): Promise<unknown> => {
    const { microAppRows } = await scene.client.microappdata({ microAppID: "orders" });
    return microAppRows.find((row) => row["Code"] === code)?.viewers;
  };

  test("addresses of viewers and creator are looked up, and stay addresses in the state", async () => {
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    const now = { rows: [order("1")], viewers: ["ada@example.com", userID], userID: "ada@example.com" };
    const made = await make(now);
    expect(await viewersOf("1")).toEqual([userID]);
    expect(made.outputs).toMatchObject({
      viewers: ["ada@example.com", userID],
      userID: "ada@example.com",
      viewerIDs: { "ada@example.com": userID },
    });
    await isSettled(made, now);
    // The ID in place of the address, and back: the same user.
    const byID = { ...now, viewers: [userID], userID };
    const next = await up(made, byID);
    await isSettled(next, byID);
    const again = await up(next, { ...now, viewers: ["ada@example.com"] });
    expect(again.outputs).toMatchObject({ viewerIDs: { "ada@example.com": userID } });
  });

  test("an address that nobody has, or another user by now, is refused before anything is sent", async () => {
    const make1 = { rows: [order("1")], viewers: ["ada@example.com", "eve@example.com"] };
    const { inputs } = await check(make1);
    await refused(
      () => scene.host.create("SeedRows", inputs),
      'viewers[1]: no user of the platform has the address "eve@example.com"',
    );
    const now = { rows: [order("1")], viewers: ["ada@example.com"] };
    const made = await make(now);
    const moved = { ...made, outputs: { ...made.outputs, viewerIDs: { "ada@example.com": "former" } } };
    const more = { ...now, rows: [order("1"), order("2")] };
    await refused(() => up(moved, more), '"ada@example.com" is user ');
    const meant = { ...more, onViewersChange: "newRows" };
    const next = await up(moved, meant);
    await isSettled(next, meant);
  });
});
