import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { FaultPlan } from "../../emulator/platform/faults.ts";
import { pages } from "../../platform/client/lists.ts";
import type { RowData } from "../../platform/contract/values.ts";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { sampleOf } from "../harness/drawn.ts";
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
  const all = async () => {
    const found: RowData[] = [];
    for await (const page of pages(scene.client, { microAppID: "items" })) found.push(...page);
    return found.toSorted((a, b) => (String(a["_id"]) < String(b["_id"]) ? -1 : 1));
  };
  const theirs = () => scene.client.insertmicroapprow({ microAppID: "items", rowData: { Code: "theirs" } });

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
      expect(made.failed?.includes("(the two differ by Unicode form alone)")).toBe(Code.normalize("NFD") === kept);
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

  /** Does something with a provider that is killed after so many calls; `isLost`: the next one is still carried out. */
  const killed = async (after: number, isLost: boolean, work: () => Promise<unknown>): Promise<void> => {
    const ends = { kind: "status", status: 401, after } as const;
    fault(...(isLost ? [{ ...ends, commit: true, count: 1 }] : []), ends);
    await work().catch(() => undefined);
    fault();
    await scene.host.restart();
  };

  // Rows go one by one: many of them take minutes.
  const sizes = sampleOf(
    [
      [10, 6],
      [300, 1],
      [5_000, 2],
      [20_000, 2],
      [50_000, 1],
    ] as const,
    2,
  );
  test.each(sizes)(
    "killed at any call with %i rows: an up and a destroy leave all of others and none of ours",
    async (size, numRuns) => {
      const part = (most: number) => fc.integer({ min: 0, max: Math.min(Math.floor(most), 40) });
      const drawn = fc.record({
        ...{
          changed: part(size / 3),
          removed: part(size / 3),
          added: fc.integer({ min: 0, max: size > 20_000 ? 1_000 : size }),
        },
        ...{ begins: fc.nat(12), goes: fc.nat(120), ends: fc.nat(120), isLost: fc.boolean(), theirs: part(size / 5) },
      });
      await fc.assert(
        fc.asyncProperty(drawn, async ({ changed, removed, added, begins, goes, ends, isLost, theirs }) => {
          const { userID } = await scene.client.userid({ email: "ada@example.com" });
          const equal = rowsOf(theirs);
          const rows = [...equal, { Code: "theirs", Name: "theirs" }];
          await scene.client.insertmicroapprows({ microAppID: "items", rows, userID });
          const others = await all();
          const first = rowsOf(size);
          await killed(begins, isLost, () => up(first));
          const made = await up(first, undefined, { maxRemovals: 1 });
          const next = rowsOf(size + added)
            .slice(theirs)
            .slice(0, -removed || undefined);
          const edited = next.map((row, at) => (at < changed ? { ...row, Name: "two" } : row));
          const wanted = [...equal, ...edited];
          await killed(goes, isLost, () => up(wanted, made, { maxRemovals: 1 }));
          const done = await up(wanted, made, { maxRemovals: 1 });
          expect([made.failed, done.failed]).toEqual([undefined, undefined]);
          const declared = [...wanted, { Code: "theirs", Name: "theirs" }].map(({ Code, Name }) => `${Code} ${Name}`);
          expect((await all()).map(({ Code, Name }) => `${String(Code)} ${String(Name)}`).sort()).toEqual(
            declared.sort(),
          );
          await killed(ends, isLost, () => scene.host.destroy("SeedRows", done.id, done.outputs));
          await scene.host.destroy("SeedRows", done.id, done.outputs);
          expect(await all()).toEqual(others);
          for (const row of others) await scene.client.removemicroapprow({ rowID: String(row["_id"]) });
        }),
        { numRuns },
      );
    },
  );

  const conflict = (endpoint: Faults[number]["endpoint"], count?: number): Faults[number] => ({
    ...{ kind: "status", status: 409, message: "edited meanwhile", endpoint },
    ...(count === undefined ? {} : { count }),
  });

  test("a row whose change meets another one is sent once more, then it is named and the others go on", async () => {
    fault(conflict("insertmicroapprow", 1), conflict("insertmicroapprows", 1));
    const made = await up(rowsOf(12));
    expect([made.failed, await codes()]).toEqual([
      undefined,
      rowsOf(12)
        .map(({ Code }) => Code)
        .sort(),
    ]);
    const next = rowsOf(11).map((row) => ({ ...row, Name: "two" }));
    fault(conflict(["updatemicroapprow", "removemicroapprow"], 1));
    const done = await up(next, made);
    expect([done.failed, await codes()]).toEqual([undefined, next.map(({ Code }) => Code).sort()]);
    fault(conflict("updatemicroapprow"));
    const failed = await up(rowsOf(11), done);
    expect(failed.failed).toMatch(/"K\d+".*edited meanwhile/s);
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
