import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { eventually } from "../harness/processes.ts";
import type { Properties } from "../harness/providerHost.ts";
import { SeedStory } from "./seedStory.ts";

const tables = {
  countries: { name: "Countries", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  orders: {
    name: "Orders",
    fields: { Code: { type: "text", sort: 1 }, Status: "text", Country: "text", Note: "text" },
  },
};
const order = (Code: string, Status = "open", more: object = {}) => ({ Code, Status, ...more });
const statuses = { acceptedValues: { Status: ["open", "done"] } };
const otherStatus =
  'expect.acceptedValues: 1 row has another value under "Status" than those: "open", "done": "9" ("lost")';

throughBothKinds({ tables }, (scene) => {
  const begin = async (news?: Properties): Promise<SeedStory> => {
    const seed = new SeedStory(scene, { table: "orders", key: "Code" });
    if (news) await seed.up(news);
    return seed;
  };
  const live = (seed: SeedStory) => seed.live("Code", "Status", "Country", "Note");

  test("declared rows that break an expectation are refused by line, before anything is sent", async () => {
    const seed = await begin();
    const expected = { ...statuses, unique: ["Note"], notNull: ["Status"], rowCount: { max: 3 } };
    const rows = [order("1", "open", { Note: "x" }), order("2", "opne", { Note: "x" }), order("3", ""), order("4")];
    const problems = await seed.problems({ rows, expect: expected });
    expect(problems.join("\n").split("\n")).toEqual([
      expect.stringContaining('rows[1] "2": Status is "opne", none of expect.acceptedValues: "open", "done"'),
      'rows[1] "2": Note is "x" as at rows[0], and expect.unique takes each value once',
      'rows[2] "3": Status has no value, and expect.notNull takes no row without one',
      "rows[0]: 4 rows begin here, and expect.rowCount takes at most 3",
    ]);
    const secret = await seed.problems({ rows, expect: expected, secretLabels: ["Status", "Note"] });
    expect(secret.join()).not.toMatch(/opne|"x"/);
  });

  test("an expectation that rows of others break stops the run before it writes, with these rows", async () => {
    const rows = [order("1"), order("2", "done")];
    const seed = await begin({ rows });
    await seed.theirs([order("9", "lost")]);
    const now = { rows: [...rows, order("3")], expect: statuses };
    await seed.refused(now, otherStatus);
    await seed.byHand("9", { Status: "done" });
    await seed.up(now);
    expect(await live(seed)).toEqual(["1 open", "2 done", "3 open", "9 done"]);
  });

  test("rows that leave in the same run, and those that it changes, are judged as they will be", async () => {
    const seed = await begin({ rows: [order("1", "lost"), order("2", "lost"), order("3")] });
    const expected = { acceptedValues: { Status: ["open"] }, rowCount: { min: 2, max: 2 } };
    await seed.up({ rows: [order("1"), order("3")], expect: expected });
  });

  test("a table that is not as expected after a run fails it with the rows, and the next run tries again", async () => {
    const seed = await begin({ rows: [order("1")] });
    const now = { rows: [order("1", "done")], expect: statuses };
    // While the row is written, others write one.
    scene.emulator.setFaults({ faults: [{ kind: "slow", endpoint: "updatemicroapprow", milliseconds: 1_500 }] });
    const failing = seed.fails(now);
    await eventually("the change", () => scene.emulator.faults().some(({ hit }) => hit > 0));
    await seed.theirs([order("9", "lost")]);
    expect(await failing).toContain(`table orders is not as expected:\n${otherStatus}`);
    scene.emulator.setFaults();
    expect(seed.state.outputs).toMatchObject({ unfinished: true, rowCount: 1 });
    expect(await live(seed)).toEqual(["1 done", "9 lost"]);
    expect(await seed.preview(now)).toMatchObject({ changes: true });
    await seed.byHand("9", { Status: "open" });
    await seed.up(now);
  });

  test("an expectation that breaks later is seen by a refresh, shown by the preview, and refused until it holds", async () => {
    const now = { rows: [order("1")], expect: { unique: ["Status"], rowCount: { max: 2 } } };
    const seed = await begin(now);
    await seed.theirs([order("8", "open"), order("9", "open")]);
    expect((await seed.refresh())["unmet"]).toEqual([
      'expect.unique: 2 rows have a value under "Status" that another row has: "8" ("open" as "1"), "9" ("open" as "1")',
      "expect.rowCount: 3 rows, more than 2",
    ]);
    const { changes, told } = await seed.preview(now);
    expect(changes).toBe(true);
    expect(told.join("\n")).toContain("as of the last look table orders is not as expected:\nexpect.unique: 2 rows");
    await seed.refused(now, "expect.rowCount: 3 rows, more than 2");
    await seed.up({ rows: [order("1")] });
  });

  test("values that rows of another table have, links or not, are looked up there", async () => {
    const seed = await begin();
    await seed.theirs([{ Code: "AT", Name: "Austria" }], undefined, "countries");
    const now = (Country: string) => ({
      rows: [order("1", "open", { Country })],
      expect: { relationships: { Country: { table: "countries", key: "Code" } } },
    });
    await seed.up(now("AT"));
    await seed.refused(
      now("XX"),
      'expect.relationships: 1 row has a value under "Country" that no row of table countries has under "Code": "1" ("XX")',
    );
    await seed.isSettled(now("AT"));
  });

  test.each<[Properties, string]>([
    [{ mode: "updateOnly", viewers: ["u1"] }, "viewers acts when a row is inserted, and mode updateOnly inserts none"],
    [{ ignoreLabels: ["Code"] }, '"Code" is part of the natural key, by which rows are known'],
    [{ expect: { rowCount: { min: 3, max: 2 } } }, "expect.rowCount takes at least 3 rows and at most 2"],
    [{ expect: { uniqe: ["Code"] } }, "uniqe"],
  ])("settings that contradict each other are refused: %j", async (settings, message) => {
    expect((await (await begin()).problems({ rows: [order("1")], ...settings })).join()).toContain(message);
  });

  test("updateOnly changes rows of others, owns none of them, and refuses a key that the table lacks", async () => {
    const seed = await begin();
    await seed.theirs([order("1", "lost", { Note: "kept" }), order("2", "open"), order("9", "lost")]);
    const now = { mode: "updateOnly", rows: [order("1"), order("2")] };
    const all = ["1 open kept", "2 open", "9 lost"];
    await seed.up(now);
    expect(await live(seed)).toEqual(all);
    const lacks = 'table orders has no row for 1 natural key ("3"), and mode "updateOnly" inserts none';
    await seed.refused({ ...now, rows: [...now.rows, order("3")] }, lacks);
    // One fewer, then an edit by hand, which is repaired.
    const fewer = { ...now, rows: [order("1")] };
    await seed.up(fewer);
    await seed.byHand("1", { Status: "lost" });
    await seed.refresh();
    await seed.up(fewer);
    expect(await live(seed)).toEqual(all);
    await seed.destroy();
    expect(await live(seed)).toEqual(all);
  });

  test("updateOnly, then exact and back: rows of others stay others', and what exact inserted is ours", async () => {
    const rows = [order("1"), order("2")];
    const seed = await begin();
    await seed.theirs([order("1", "lost"), order("2", "lost")]);
    await seed.up({ mode: "updateOnly", rows });
    const all = { rows: [...rows, order("3")] };
    await seed.up(all);
    expect(await live(seed)).toEqual(["1 open", "2 open", "3 open"]);
    await seed.up({ mode: "updateOnly", ...all });
    await seed.up(all);
    // Rows that leave: a row of others stays, ours goes.
    await seed.up({ rows: [order("2")] });
    expect(await live(seed)).toEqual(["1 open", "2 open"]);
    await seed.destroy();
    expect(await live(seed)).toEqual(["1 open", "2 open"]);
  });

  test("an ignored label goes into new rows, and is neither compared, changed nor cleared afterwards", async () => {
    const now = { rows: [order("1", "open", { Note: "first" }), order("2")], ignoreLabels: ["Note"] };
    const seed = await begin(now);
    expect(await live(seed)).toEqual(["1 open first", "2 open"]);
    for (const code of ["1", "2"]) await seed.byHand(code, { Note: "theirs" });
    await seed.isSettled(now);
    await seed.up({ ...now, rows: [order("1", "done", { Note: "second" }), order("2", "done")] });
    expect(await live(seed)).toEqual(["1 done theirs", "2 done theirs"]);
  });

  test("addresses of viewers and creator are looked up, and stay addresses in the state", async () => {
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    const viewerIDs = { "ada@example.com": userID };
    const now = { rows: [order("1")], viewers: ["ada@example.com", userID], userID: "ada@example.com" };
    const seed = await begin(now);
    expect((await seed.rows())[0]?.viewers).toEqual([userID]);
    expect(seed.state.outputs).toMatchObject({ viewers: now.viewers, userID: now.userID, viewerIDs });
    // The ID in place of the address, and back: the same user.
    await seed.up({ ...now, viewers: [userID], userID });
    await seed.up({ ...now, viewers: ["ada@example.com"] });
    expect(seed.state.outputs).toMatchObject({ viewerIDs });
  });

  test("an address that nobody has, or another user by now, is refused before anything is sent", async () => {
    const seed = await begin();
    const now = { rows: [order("1")], viewers: ["ada@example.com"] };
    const nobody = 'viewers[1]: no user of the platform has the address "eve@example.com"';
    await seed.refused({ ...now, viewers: [...now.viewers, "eve@example.com"] }, nobody);
    await seed.up(now);
    const { outputs } = seed.state;
    seed.made = { ...seed.state, outputs: { ...outputs, viewerIDs: { "ada@example.com": "former" } } };
    const more = { ...now, rows: [order("1"), order("2")] };
    await seed.refused(more, '"ada@example.com" is user ');
    await seed.up({ ...more, onViewersChange: "newRows" });
  });
});
