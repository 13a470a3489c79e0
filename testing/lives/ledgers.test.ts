import { expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, rowDigester } from "../../provider/seedRows/digests.ts";
import { throughBothKinds, unknown } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

const tables = { continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };
const table = { table: "continents", key: "Code" };
const europe = { Code: "EU", Name: "Europe" };

/** Two names whose digests without a salt begin with the same 64 bits, which were searched for a few minutes. */
const [name, twin] = ["eb8dcdad11a377c1", "42bdd57834206292"];

throughBothKinds({ tables }, (scene) => {
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
  test("rows that had one digest are told apart by preview, refresh and up", async () => {
    const { host, client } = scene;
    const text = (one: string): string => `"Code":"1:A,"Name":"16:${one},`;
    const [one, other] = [digestOf(text(name)), digestOf(text(twin))];
    expect([other.high, other.low]).toEqual([one.high, one.low]);
    const state = await scene.create("SeedRows", { ...table, rows: [{ Code: "A", Name: name }] });
    const { id, outputs, inputs } = state;
    await host.restart();
    const swapped = await previewed({ rows: [{ Code: "A", Name: twin }] }, state);
    expect(swapped).toMatchObject({
      changes: true,
      told: ['info: rows: 1 to change ("A")'],
    });
    const [row] = (await client.microappdata({ microAppID: "continents" })).microAppRows;
    await client.updatemicroapprow({ rowID: row?._id ?? "", rowData: { Name: twin } });
    expect((await host.read("SeedRows", id, outputs)).outputs["drift"]).toMatchObject({ changedKeys: ["A"] });
    expect(await scene.calls(() => host.update("SeedRows", id, outputs, inputs))).toEqual(["updatemicroapprow"]);
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
    const derived = ["digest", "fingerprint", "ledger"];
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
