import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { applied, type Seeded } from "../harness/seeds/seeded.ts";

const tables = {
  items: {
    name: "Items",
    fields: {
      Code: { type: "text", sort: 1 },
      Name: "text",
      Size: "number",
      Day: "date",
      Open: "checkbox",
    },
  },
};
const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ Code: `K${index}`, Name: "one" }));
const seed = (rows: readonly object[], rest: object = {}) => ({ table: "items", key: "Code", rows, ...rest });

throughBothKinds({ tables }, (scene) => {
  const up = (news: Properties, made?: Seeded): Promise<Seeded> => applied(scene.stage, news, made);
  const live = async () => (await scene.client.microappdata({ microAppID: "items", optLimit: 1_000 })).microAppRows;
  const codes = async () => (await live()).map(({ Code }) => Code);

  test("a batch that is kept in part and answered as whole is named row by row, and the next run sends the rest alone", async () => {
    scene.emulator.setFaults({ faults: [{ kind: "keepsPart", endpoint: "insertmicroapprows", rows: 50 }] });
    const rows = rowsOf(120);
    const first = await up(seed(rows));
    expect(first.failed).toContain("51 rows of table items are as declared, but:");
    expect(first.failed).toContain('69 rows of table items are not there after they were sent: rows[51] "K51", ');
    expect(first.failed).toContain('rows[70] "K70" and 49 more. Run up again');
    expect(first.outputs).toMatchObject({ rowCount: 51, unfinished: true });
    scene.emulator.setFaults();
    const { inputs } = await scene.host.check("SeedRows", seed(rows), first.inputs);
    expect(await scene.host.diff("SeedRows", first.id, first.outputs, inputs)).toMatchObject({ changes: true });
    const since = scene.emulator.lastCall();
    const done = await up(seed(rows), first);
    expect(done.failed).toBeUndefined();
    const [batch, ...others] = scene.emulator.calls({ since, mutating: true });
    expect([batch?.endpoint, others]).toEqual(["insertmicroapprows", []]);
    expect((batch?.request as { rows: unknown[] }).rows).toHaveLength(69);
    expect(new Set(await codes())).toEqual(new Set(rows.map(({ Code }) => Code)));
    expect(await live()).toHaveLength(120);
    expect(await scene.calls(() => up(seed(rows), done))).toEqual([]);
  });

  test.each(["up", "destroy"])(
    "a row that could not be taken away again is taken away by the next %s",
    async (next) => {
      scene.emulator.setFaults({ faults: [{ kind: "status", status: 403, endpoint: "removemicroapprow", count: 1 }] });
      const failed = await up(seed([{ code: "K0", Name: "one" }], { key: "code" }));
      expect(failed.failed).toContain("it could not be taken away again");
      expect(failed.outputs).toMatchObject({ rowCount: 0, unproven: [expect.any(String)] });
      expect(await live()).toHaveLength(1);
      if (next === "destroy") await scene.host.destroy("SeedRows", failed.id, failed.outputs);
      else await up(seed(rowsOf(1)), failed);
      expect(await codes()).toEqual(next === "destroy" ? [] : ["K0"]);
    },
  );

  const odd = [
    { Code: "A", Day: "1237-10-28", Size: 12, Open: ["true"] },
    { Code: "B", Day: "2026-11-21T08:00:00Z", Size: 0.5, Open: [] },
  ];
  const otherwise = {
    kind: "otherForms" as const,
    forms: ["midnight" as const, "numberAsText" as const, "checkboxAsText" as const],
  };
  const types = { Day: "date", Size: "number", Open: "checkbox" };

  test("what a declared type makes of a value is the same value, of rows in the program too", async () => {
    scene.emulator.setFaults({ faults: [otherwise] });
    const made = await up(seed(odd, { types }));
    expect(made.failed).toBeUndefined();
    const { outputs } = await scene.host.read("SeedRows", made.id, made.outputs);
    expect(outputs).not.toHaveProperty("drift");
    const { inputs } = await scene.host.check("SeedRows", seed(odd, { types }), made.inputs);
    expect(await scene.host.diff("SeedRows", made.id, outputs, inputs)).toMatchObject({ changes: false });
    expect(await scene.calls(() => up(seed(odd, { types }), made))).toEqual([]);
    const [first, ...rest] = odd;
    const changed = [{ ...first, Size: 13 }, ...rest];
    expect(await scene.calls(() => up(seed(changed, { types }), made))).toEqual(["updatemicroapprow"]);
    scene.emulator.setFaults();
    expect(await live()).toMatchObject([{ Code: "A", Size: 13, Day: "1237-10-28" }, { Code: "B" }]);
  });

  test("any other value is refused with its row, label, what was sent and what came; the others go on", async () => {
    scene.emulator.setFaults({ faults: [otherwise] });
    const made = await up(seed(odd));
    const gaveBack = (line: string): string =>
      `table items gave back ${line}, and both are the same, or write it as the table has it`;
    expect(made.failed?.split("\n").slice(1).toSorted()).toEqual([
      `rows[0] "A": ${gaveBack('"12" in "Size", where 12 was sent: declare types: {Size: number}')}`,
      `rows[0] "A": ${gaveBack('"1237-10-28T00:00:00.000Z" in "Day", where "1237-10-28" was sent: declare types: {Day: date}')}`,
      `rows[0] "A": ${gaveBack('"true" in "Open", where ["true"] was sent: declare types: {Open: checkbox}')}`,
      `rows[1] "B": ${gaveBack('"0.5" in "Size", where 0.5 was sent: declare types: {Size: number}')}`,
      `rows[1] "B": ${gaveBack('"2026-11-21T08:00:00.000Z" in "Day", where "2026-11-21T08:00:00Z" was sent: declare types: {Day: date}')}`,
    ]);
    expect(await codes()).toEqual(["A", "B"]);
    // With found values in the state, no row counts as edited.
    const again = await up(seed(odd, { onConflict: "error" }), made);
    expect(again.failed).toContain('rows[0] "A"');
    expect(again.failed).not.toContain("edited");
    const done = await up(seed(odd, { types }), again);
    expect(done.failed).toBeUndefined();
    expect(await scene.calls(() => up(seed(odd, { types }), done))).toEqual([]);
  });
});
