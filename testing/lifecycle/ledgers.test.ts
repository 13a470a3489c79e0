import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { digestOf, rowDigester } from "../../provider/reconcile/digests.ts";
import { decodeLedger, encodeLedger, ledgerOf } from "../../provider/reconcile/ledger.ts";
import { RowSet } from "../../provider/reconcile/rowSet.ts";
import { throughBothKinds, unknown } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

const tables = { continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };
const table = { table: "continents", key: "Code" };
const [europe, africa, asia] = [
  { Code: "EU", Name: "Europe" },
  { Code: "AF", Name: "Africa" },
  { Code: "AS", Name: "Asia" },
];

/** Two names that had one digest in states of the first format: its 64 bits were searched for a few minutes. */
const [name, twin] = ["eb8dcdad11a377c1", "42bdd57834206292"];

const properties = z.record(z.string(), z.unknown());
/** States of seeds as the last version before salts wrote them. */
const first = z
  .record(z.enum(["rows", "source", "secret", "collision"]), z.object({ inputs: properties, outputs: properties }))
  .parse(
    JSON.parse(
      readFileSync(join(import.meta.dirname, "../../../testing/lifecycle/testdata/firstLedgers.json"), "utf8"),
    ),
  );

const isSalted = (value: unknown): boolean => JSON.stringify(value ?? null).includes('"2:');

throughBothKinds({ tables }, (scene) => {
  /** A state of the first format whose rows are on the platform. */
  const known = (which: keyof typeof first) => {
    const { inputs, outputs } = first[which];
    const platform = scene.emulator.url;
    const state = scene.providerKind.given("SeedRows", scene.host.urn("SeedRows"), { ...outputs, platform });
    return { id: "continents/Code", inputs, outputs: state };
  };
  const insert = (...rows: Record<string, unknown>[]) =>
    scene.client.insertmicroapprows({ microAppID: "continents", rows });
  const live = async () => {
    const { microAppRows } = await scene.client.microappdata({
      microAppID: "continents",
      optViewSort: { sortVal: 1 },
    });
    return microAppRows.map(({ Code, Name }) => `${String(Code)} ${String(Name)}`);
  };
  const previewed = async (news: Properties, state: { id: string; inputs: Properties; outputs: Properties }) => {
    scene.host.told.length = 0;
    const { inputs, problems } = await scene.host.check("SeedRows", { ...table, ...news }, state.inputs);
    expect(problems).toEqual([]);
    const { changes } = await scene.host.diff("SeedRows", state.id, state.outputs, inputs);
    return { inputs, changes, told: [...scene.host.told] };
  };
  const renewal = (count: number): string =>
    `info: the record of ${count} rows in the state is renewed with a salt, so that nobody guesses rows by it; no row changes for that. The update compares each row anew: what somebody hid from the old record shows only then`;

  test("a state of the first format is salted by the next up, which changes no row", async () => {
    const { host } = scene;
    await writeFile(join(host.folder, "rows.csv"), "Code,Name\nEU,Europe\nAF,Africa\n");
    await insert(europe, africa);
    const programs = {
      rows: { rows: [europe, africa], maxRemovals: 1 },
      source: { source: "rows.csv" },
      secret: { rows: [europe, africa], sensitive: true },
    };
    for (const which of ["rows", "source", "secret"] as const) {
      const old = known(which);
      const seen = await host.read("SeedRows", old.id, old.outputs);
      expect(seen.outputs).not.toHaveProperty("drift");
      const { inputs, changes, told } = await previewed(programs[which], { ...old, outputs: seen.outputs });
      expect({ changes, told }).toEqual({ changes: true, told: [renewal(2)] });
      let outputs: Properties = {};
      const calls = await scene.calls(async () => {
        outputs = await host.update("SeedRows", old.id, seen.outputs, inputs);
      });
      expect(calls).toEqual([]);
      expect(isSalted(outputs["salt"])).toBe(true);
      expect(outputs["departed"]).toBe(which === "rows" ? "*" : undefined);
      const next = { id: old.id, inputs, outputs };
      expect(await previewed(programs[which], next)).toMatchObject({ changes: false, told: [] });
      expect(await previewed({ ...programs[which], salt: unknown }, next)).toMatchObject({ changes: false, told: [] });
      expect((await host.read("SeedRows", old.id, outputs)).outputs).not.toHaveProperty("drift");
    }
    expect(await live()).toEqual(["AF Africa", "EU Europe"]);
  });

  test("a preview in which nothing may be chosen at random tells the same of a state of the first format", async () => {
    await writeFile(join(scene.host.folder, "rows.csv"), "Code,Name\nEU,Europe\nAF,Africa\n");
    const { inputs, changes, told } = await previewed({ source: "rows.csv", salt: unknown }, known("source"));
    expect({ changes, told }).toEqual({ changes: true, told: [renewal(2)] });
    expect(inputs).toMatchObject({ digest: unknown, fingerprint: unknown });
    expect(JSON.stringify(inputs)).not.toContain('"2:');
  });

  test("a state of the first format is salted by an up that changes rows, repairs edits and hands over others", async () => {
    const { host, client } = scene;
    await insert(europe, africa, { Code: "XX", Name: "Theirs" });
    const [, found] = (await client.microappdata({ microAppID: "continents", optViewSort: { sortVal: 1 } }))
      .microAppRows;
    const old = known("rows");
    host.resource = "a";
    const { inputs, told } = await previewed({ rows: [{ ...europe, Name: "Europa" }, asia], maxRemovals: 1 }, old);
    expect(told).toEqual([
      renewal(2),
      `info: rows: 1 to add unless there ("AS"), 1 to change ("EU"), 1 to remove ("AF"); about ${scene.providerKind.modern ? 9 : 8} calls`,
    ]);
    host.resource = "b";
    const other = await host.check("SeedRows", { ...table, rows: [africa] });
    await client.updatemicroapprow({ rowID: found?._id ?? "", rowData: { Name: "By hand" } });
    host.resource = "a";
    const outputs = await host.update("SeedRows", old.id, old.outputs, inputs);
    host.resource = "b";
    const made = await scene.calls(() => host.create("SeedRows", other.inputs));
    expect(made).toEqual([]);
    expect(await live()).toEqual(["AF Africa", "AS Asia", "EU Europa", "XX Theirs"]);
    expect(outputs).toMatchObject({ rowCount: 2, departed: "*" });
    await host.destroy("SeedRows", old.id, outputs);
    expect(await live()).toEqual(["AF Africa", "XX Theirs"]);
  });

  test("a sketch of the first format is salted as well", async () => {
    const { host } = scene;
    const rows = Array.from({ length: 5_000 }, (_, at) => ({ Code: `K${at}`, Name: `Name ${at}` }));
    const write = (end: number) =>
      writeFile(
        join(host.folder, "rows.csv"),
        ["Code,Name", ...rows.slice(0, end).map(({ Code, Name }) => `${Code},${Name}`), ""].join("\n"),
      );
    await write(4_999);
    await insert(...rows.slice(0, 4_999));
    const digester = rowDigester({ key: ["Code"], labels: ["Code", "Name"] });
    const set = new RowSet();
    for (const row of rows.slice(0, 4_999)) set.add(digester.key(row) ?? digestOf(""), digester.content(row));
    const ledger = encodeLedger(ledgerOf(set)).replace(/^sketch:2/, "sketch:1");
    const small = known("source");
    const { keys: _, ...state } = small.outputs;
    const old = { ...small, outputs: { ...state, ledger, rowCount: 4_999 } };
    expect(decodeLedger(ledger)).toMatchObject({ kind: "sketch", count: 4_999 });
    const same = await previewed({ source: "rows.csv" }, old);
    expect(same.told).toEqual([renewal(4_999)]);
    await write(5_000);
    const { inputs } = await previewed({ source: "rows.csv" }, old);
    let outputs: Properties = {};
    expect(
      await scene.calls(async () => {
        outputs = await host.update("SeedRows", old.id, old.outputs, inputs);
      }),
    ).toEqual(["insertmicroapprows"]);
    expect(String(outputs["ledger"])).toMatch(/^sketch:2:5000:/);
    expect(await previewed({ source: "rows.csv" }, { id: old.id, inputs, outputs })).toMatchObject({ changes: false });
  });

  test("rows that had one digest are told apart by preview, refresh and up", async () => {
    const { host, client } = scene;
    const text = (one: string): string => `"Code":"1:A,"Name":"16:${one},`;
    const [one, other] = [digestOf(text(name)), digestOf(text(twin))];
    expect([other.high, other.low]).toEqual([one.high, one.low]);
    await insert({ Code: "A", Name: name });
    const old = known("collision");
    const { inputs } = await previewed({ rows: [{ Code: "A", Name: name }] }, old);
    const outputs = await host.update("SeedRows", old.id, old.outputs, inputs);
    const state = { id: old.id, inputs, outputs };
    const swapped = await previewed({ rows: [{ Code: "A", Name: twin }] }, state);
    expect(swapped).toMatchObject({
      changes: true,
      told: ['info: rows: 1 to change ("A"); about 4 calls'],
    });
    const [row] = (await client.microappdata({ microAppID: "continents" })).microAppRows;
    await client.updatemicroapprow({ rowID: row?._id ?? "", rowData: { Name: twin } });
    expect((await host.read("SeedRows", old.id, outputs)).outputs["drift"]).toMatchObject({ changedKeys: ["A"] });
    expect(await scene.calls(() => host.update("SeedRows", old.id, outputs, inputs))).toEqual(["updatemicroapprow"]);
    expect(await live()).toEqual([`A ${name}`]);
  });

  test("nothing that a state keeps of rows can be compared with guesses, nor with another seed's state", async () => {
    const { host } = scene;
    const rows = Array.from({ length: 50 }, (_, at) => ({ Code: `K${at}`, Name: String(1_000 + at) }));
    const states: Properties[] = [];
    for (const resource of ["a", "b"]) {
      await writeFile(
        join(host.folder, "rows.csv"),
        ["Code,Name", ...rows.map((row) => `${row.Code},${row.Name}`), ""].join("\n"),
      );
      // In a run of its own: two seeds of one program may not declare one row.
      await host.restart();
      host.resource = resource;
      const made = await scene.create("SeedRows", { ...table, source: "rows.csv", maxRemovals: 1 });
      await writeFile(join(host.folder, "rows.csv"), "Code,Name\nK0,1000\nK1,1001\n");
      const { inputs } = await host.check("SeedRows", { ...table, source: "rows.csv", maxRemovals: 1 }, made.inputs);
      await host.diff("SeedRows", made.id, made.outputs, inputs);
      states.push({ ...inputs, ...(await host.update("SeedRows", made.id, made.outputs, inputs)) });
    }
    const derived = ["digest", "fingerprint", "ledger", "departed"];
    const [mine = {}, theirs = {}] = states;
    for (const one of derived) {
      expect(typeof mine[one]).toBe("string");
      expect(mine[one]).not.toBe(theirs[one]);
    }
    const digester = rowDigester({ key: ["Code"], labels: ["Code", "Name"] });
    const guesses = Array.from({ length: 10_000 }, (_, at) => ({ Code: `K${at % 50}`, Name: String(at) }));
    const kept = derived.map((one) => Buffer.from(String(mine[one]).split(":").at(-1) ?? "", "base64"));
    const spelled = ({ high, low }: { high: number; low: number }): Buffer[] => {
      const [big, little] = [Buffer.alloc(8), Buffer.alloc(8)];
      big.writeUInt32BE(high);
      big.writeUInt32BE(low, 4);
      little.writeUInt32LE(high);
      little.writeUInt32LE(low, 4);
      return [big, little];
    };
    const hits = guesses.filter((row) =>
      [digester.key(row), digester.content(row)]
        .flatMap((digest) => (digest ? spelled(digest) : []))
        .some((bytes) => kept.some((text) => text.includes(bytes))),
    );
    expect(hits).toEqual([]);
    // With the salt, which only who can decrypt the stack's secrets has, they are found: the search itself works.
    const salt = /2:[\w-]{22}/.exec(JSON.stringify(mine["salt"]))?.[0];
    const keyed = rowDigester({ key: ["Code"], labels: ["Code", "Name"], salt });
    const found = guesses.filter((row) => spelled(keyed.content(row)).some((bytes) => kept[2]?.includes(bytes)));
    expect(found).toEqual([
      { Code: "K0", Name: "1000" },
      { Code: "K1", Name: "1001" },
    ]);
  });

  test("a preview of a new seed tells nothing that is chosen at random, and an older check's salt stays", async () => {
    const { host } = scene;
    const { inputs } = await host.check("SeedRows", { ...table, rows: [europe], salt: unknown });
    expect(inputs).toMatchObject({ digest: unknown });
    expect(JSON.stringify(inputs)).not.toContain('"2:');
    const made = await host.check("SeedRows", { ...table, rows: [europe], salt: "2:chosen-by-a-program" });
    expect(JSON.stringify(made.inputs)).not.toContain("chosen");
    const again = await host.check("SeedRows", { ...table, rows: [europe], salt: unknown }, made.inputs);
    expect(again.inputs).toEqual(made.inputs);
  });
});
