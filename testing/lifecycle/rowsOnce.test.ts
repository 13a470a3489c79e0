import { expect, test } from "@jest/globals";
import type { FaultPlan } from "../../emulator/platform/faults.ts";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { applied, type Seeded } from "../harness/seeds/seeded.ts";

// Platforms that store what they refuse, or store it twice, or otherwise: nothing that a state names is left after a destroy,
// nothing of others is gone, and no run that ends well has left a row of its own beside.

const fields = { Code: { type: "text", sort: 1 }, Name: "text" } as const;
const rowsOf = (count: number) => Array.from({ length: count }, (_, at) => ({ Code: `K${at}`, Name: "one" }));
type Faults = NonNullable<FaultPlan["faults"]>;

throughBothKinds({ tables: { items: { fields } } }, (scene) => {
  const up = (rows: readonly object[], made?: Seeded, rest: object = {}): Promise<Seeded> =>
    applied(scene.stage, { table: "items", key: "Code", rows, ...rest }, made);
  const live = async () => (await scene.client.microappdata({ microAppID: "items", optLimit: 1_000 })).microAppRows;
  const codes = async () => (await live()).map(({ Code }) => String(Code)).sort();
  const fault = (...faults: Faults): void => scene.emulator.setFaults({ faults });
  const theirs = () => scene.client.insertmicroapprow({ microAppID: "items", rowData: { Code: "theirs" } });

  const stored: readonly [string, Faults][] = [
    [
      "a batch that was stored in part and refused",
      [{ kind: "partialBatch", rows: 17, endpoint: "insertmicroapprows", count: 1 }],
    ],
    [
      "batches that are all stored in part and refused",
      [{ kind: "partialBatch", rows: 3, endpoint: "insertmicroapprows" }],
    ],
    [
      "a first row that was stored and refused",
      [{ kind: "status", status: 400, commit: true, endpoint: "insertmicroapprow", count: 1 }],
    ],
    [
      "a batch that was stored and refused",
      [{ kind: "status", status: 400, commit: true, endpoint: "insertmicroapprows", count: 1 }],
    ],
  ];
  test.each(stored)("%s: no row is sent twice, and all of them are ours", async (_, faults) => {
    await theirs();
    fault(...faults);
    const made = await up(rowsOf(25));
    fault();
    expect(await codes()).toEqual([...new Set(await codes())]);
    const done = await up(rowsOf(25), made);
    expect(done.failed).toBeUndefined();
    expect(await codes()).toEqual([...rowsOf(25).map(({ Code }) => Code), "theirs"].sort());
    await scene.host.destroy("SeedRows", done.id, done.outputs);
    expect(await codes()).toEqual(["theirs"]);
  });

  test.each(["insertmicroapprow", "insertmicroapprows"] as const)(
    "a %s that is delivered twice leaves one row of each",
    async (endpoint) => {
      await theirs();
      fault({ kind: "twice", endpoint, count: 1 });
      const made = await up(rowsOf(25));
      fault();
      expect(made.failed).toBeUndefined();
      expect(await codes()).toEqual([...rowsOf(25).map(({ Code }) => Code), "theirs"].sort());
      await scene.host.destroy("SeedRows", made.id, made.outputs);
      expect(await codes()).toEqual(["theirs"]);
    },
  );

  test("the only row of a seed that is delivered twice is there once", async () => {
    fault({ kind: "twice", endpoint: "insertmicroapprow", count: 1 });
    const made = await up(rowsOf(1));
    expect([made.failed, await codes()]).toEqual([undefined, ["K0"]]);
  });

  test("a row by hand beside ours and equal to it stays, or is named", async () => {
    const made = await up(rowsOf(3));
    await scene.client.insertmicroapprow({ microAppID: "items", rowData: rowsOf(1)[0] ?? {} });
    const since = scene.emulator.lastCall();
    await scene.host.destroy("SeedRows", made.id, made.outputs);
    expect(scene.emulator.calls({ since, endpoint: "removemicroapprow" })).toHaveLength(3);
    expect(await codes()).toEqual(["K0"]);
  });

  const changed: readonly [string, string, Faults[number], string][] = [
    [
      "in another Unicode form",
      "Caf\u00e9",
      { kind: "changedTexts", endpoint: ["insertmicroapprow", "insertmicroapprows"] },
      "Cafe\u0301",
    ],
    [
      "cut",
      "K-and-many-more",
      { kind: "changedTexts", length: 5, endpoint: ["insertmicroapprow", "insertmicroapprows"] },
      "K-and",
    ],
  ];
  test.each(changed)(
    "a key that the table keeps %s is named, and its row is taken away again",
    async (_, Code, changing, kept) => {
      await theirs();
      const rows = [...rowsOf(24), { Code, Name: "one" }];
      fault(changing);
      const made = await up(rows);
      expect(made.failed).toContain(`the table keeps the key ${JSON.stringify(Code)} as ${JSON.stringify(kept)}`);
      for (let again = 0; again < 2; again++) expect((await up(rows, made)).failed).toContain("as ");
      expect(await codes()).toEqual([...rowsOf(24).map(({ Code }) => Code), "theirs"].sort());
      await scene.host.destroy("SeedRows", made.id, made.outputs);
      expect(await codes()).toEqual(["theirs"]);
    },
  );

  test("rows whose IDs are listed otherwise are not doubled, and a removal that finds none of them is no success", async () => {
    fault({ kind: "otherIDs", endpoint: "microappdata" });
    const made = await up(rowsOf(4));
    expect(made.failed).toBeUndefined();
    expect(await scene.calls(() => up(rowsOf(4), made))).toEqual([]);
    const failing = scene.host.destroy("SeedRows", made.id, made.outputs);
    await expect(failing).rejects.toThrow(
      "4 rows of table items that the platform answered to have removed are still there",
    );
    fault();
    await scene.host.destroy("SeedRows", made.id, made.outputs);
    expect(await codes()).toEqual([]);
  });

  test("viewers that the platform drops are seen with the first row, before any other is sent", async () => {
    const { userID } = await scene.client.userid({ email: "ada@example.com" });
    fault({ kind: "dropsViewers", endpoint: ["insertmicroapprow", "insertmicroapprows"] });
    const failed = await up(rowsOf(12), undefined, { viewers: [userID] });
    expect(failed.failed).toContain("viewers");
    expect(await live()).toEqual([]);
  });

  test("a large change that was killed midway is finished by the next run, and all of it leaves with the seed", async () => {
    await theirs();
    const made = await up(rowsOf(6_000));
    const kept = rowsOf(5_694).map((row, at) => (at < 200 ? { ...row, Name: "two" } : row));
    const added = Array.from({ length: 3_000 }, (_, at) => ({ Code: `N${at}`, Name: "new" }));
    // What the killed run had done, of which no state knows.
    const { microAppRows } = await scene.client.microappdata({ microAppID: "items", optLimit: 60 });
    for (const { _id, Code } of microAppRows.filter(({ Code }) => /^K\d{1,2}$/.test(String(Code))))
      await scene.client.updatemicroapprow({ rowID: _id, rowData: { Code, Name: "two" } });
    await scene.client.insertmicroapprows({ microAppID: "items", rows: added.slice(0, 1_700) });
    const done = await up([...kept, ...added], made);
    expect([done.failed, done.outputs["rowCount"]]).toEqual([undefined, 8_694]);
    await scene.host.destroy("SeedRows", done.id, done.outputs);
    expect(await codes()).toEqual(["theirs"]);
  });

  test("a row that can't be removed is named by key and ID, and the others go", async () => {
    const made = await up(rowsOf(30));
    const [first] = await live();
    const rowID = first?._id ?? "";
    fault({ kind: "status", status: 403, message: "The row is locked", endpoint: "removemicroapprow", count: 1 });
    const failing = scene.host.destroy("SeedRows", made.id, made.outputs);
    await expect(failing).rejects.toThrow(/K\d+.*The row is locked/);
    expect(rowID).not.toBe("");
    expect(await live()).toHaveLength(1);
  });
});
