import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Folders, type Files } from "./testing/twoFolders.ts";

const folders = new Folders();
afterAll(() => folders.remove());

const seed = (csv: string, more = "", file = "data.csv"): Files => ({
  "env.yaml": `seeds:\n  cities: { table: cities, key: Code, source: ${file}${more} }\n`,
  [file]: csv,
});

test("rows by natural key, with the old and the new value of each field, and the line", async () => {
  const thing = await folders.thing(
    seed("Code,Name,Area\nA,Aachen,1\nB,Berlin,2\nC,Celle,3\n"),
    seed("Code,Name,Area\nA,Aachen,1\nB,Bern,2\nD,Dresden,\n"),
  );
  expect(thing.rows).toEqual({ add: 1, change: 1, remove: 1, same: 1 });
  expect(thing.columns).toEqual(["Name", "Area"]);
  expect(thing.changes).toEqual([
    {
      kind: "row",
      op: "remove",
      name: "C",
      place: "data.csv:4",
      fields: [
        { name: "Code", before: "C" },
        { name: "Name", before: "Celle" },
        { name: "Area", before: "3" },
      ],
    },
    {
      kind: "row",
      op: "change",
      name: "B",
      place: "data.csv:3",
      fields: [{ name: "Name", before: "Berlin", after: "Bern" }],
      same: { Area: "2" },
    },
    {
      kind: "row",
      op: "add",
      name: "D",
      place: "data.csv:4",
      fields: [
        { name: "Code", after: "D" },
        { name: "Name", after: "Dresden" },
      ],
    },
  ]);
});

test("line ends, the order of rows and of columns, and where the file lies are no change of a row", async () => {
  const before = seed("Code,Name\nA,Aachen\nB,Berlin\n");
  expect((await folders.compare(before, seed("Code,Name\r\nA,Aachen\r\nB,Berlin\r\n"))).section.things).toEqual([]);
  expect((await folders.compare(before, seed("Name,Code\nBerlin,B\nAachen,A\n"))).section.things).toEqual([]);
  const moved = await folders.thing(before, seed("Code,Name\nA,Aachen\nB,Berlin\n", "", "seeds/cities.csv"));
  expect(moved.rows).toBeUndefined(); // the file is the same, and is not read
  expect(moved.changes).toMatchObject([
    { kind: "setting", name: "source", fields: [{ before: "data.csv", after: "seeds/cities.csv" }] },
  ]);
});

test("rows that move from the file into a source are the same rows", async () => {
  const inline = { "env.yaml": "seeds:\n  cities: { table: cities, key: Code, rows: [{ Code: A, Name: Aachen }] }\n" };
  const thing = await folders.thing(inline, seed("Code,Name\nA,Aachen\n"));
  expect(thing.rows).toEqual({ add: 0, change: 0, remove: 0, same: 1 });
});

test("verbs of a layer change rows of the source, and stand where the layer has them", async () => {
  const csv = "Code,Name\nA,Aachen\nB,Berlin\nC,Celle\n";
  const base = { ...seed(csv), "base.yaml": seed(csv)["env.yaml"] ?? "", "env.yaml": "extends: base.yaml\n" };
  const verbs = "{ rows+: [{ Code: D, Name: Dresden }], rows~: [{ Code: B, Name: Bern }], rows-: [C] }";
  const thing = await folders.thing(base, { ...base, "env.yaml": `extends: base.yaml\nseeds: { cities: ${verbs} }\n` });
  expect(thing.rows).toEqual({ add: 1, change: 1, remove: 1, same: 1 });
  expect(thing.changes).toMatchObject([
    { kind: "row", op: "remove", name: "C", place: "data.csv:4" },
    { kind: "row", op: "change", name: "B", fields: [{ name: "Name", before: "Berlin", after: "Bern" }] },
    { kind: "row", op: "add", name: "D", place: "env.yaml:2:28" },
  ]);
  // The other way round they come back.
  const back = await folders.thing({ ...base, "env.yaml": `extends: base.yaml\nseeds: { cities: ${verbs} }\n` }, base);
  expect(back.rows).toEqual({ add: 1, change: 1, remove: 1, same: 1 });
});

describe("a key that changes", () => {
  const file = "Code,ISO,Name\nA,AA,Aachen\nB,BB,Berlin\n";
  test("still matches rows that have the column of the base", async () => {
    const after = { ...seed(file), "env.yaml": "seeds:\n  cities: { table: cities, key: ISO, source: data.csv }\n" };
    const thing = await folders.thing(seed(file), after);
    expect(thing).toMatchObject({
      rows: { add: 0, change: 0, remove: 0, same: 2 },
      notes: ["rows are matched by Code"],
    });
  });

  test("or the new one, when the base has it too", async () => {
    const after = {
      "data.csv": "ISO,Name\nAA,Aachen\nBB,Bern\n",
      "env.yaml": "seeds:\n  cities: { table: cities, key: ISO, source: data.csv }\n",
    };
    const thing = await folders.thing(seed(file), after);
    expect(thing.notes).toEqual(["rows are matched by ISO"]);
    expect(thing.rows).toEqual({ add: 0, change: 2, remove: 0, same: 0 });
  });

  test("and where neither does, all rows count and none is listed", async () => {
    const after = {
      "data.csv": "ISO,Name\nAA,Aachen\n",
      "env.yaml": "seeds:\n  cities: { table: cities, key: ISO, source: data.csv }\n",
    };
    const thing = await folders.thing(seed("Code,Name\nA,Aachen\nB,Berlin\n"), after);
    expect(thing).toMatchObject({ rows: { add: 1, remove: 2 }, omitted: 3, guards: [] });
    expect(thing.notes[0]).toContain("rows are not compared one by one");
  });
});

test("mistakes of the new rows are problems by line; those of the base only leave rows out", async () => {
  const fine = seed("Code,Name\nA,Aachen\n");
  const twice = seed("Code,Name\nA,Aachen\nA,Berlin\n");
  const { problems } = await folders.compare(fine, twice);
  expect(problems).toEqual([
    {
      text: 'data.csv:3: the natural key "A" stands at line 2 already: remove one of the two, or name more labels in key',
    },
  ]);
  const broken = await folders.thing(seed("Code,Name\nA\n"), fine);
  expect(broken.notes[0]).toContain("rows not compared: those of the base have a mistake: data.csv:2");
});

test("what Git LFS leaves in place of a file is named, and its text is not taken for rows", async () => {
  const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
  const thing = await folders.thing(seed("Code,Name\nA,Aachen\n"), seed(pointer));
  expect(thing.notes).toEqual([
    'rows not compared: data.csv is a pointer of Git LFS: fetch the file with "git lfs pull"',
  ]);
});

test("secret rows are counted, and neither their keys nor their values are there", async () => {
  const thing = await folders.thing(
    seed("Code,Name\nhush,one\nkept,two\n", ", sensitive: true"),
    seed("Code,Name\nhush2,one\nkept,three\n"),
  );
  expect(thing.rows).toEqual({ add: 1, change: 1, remove: 1, same: 0 });
  expect(thing.omitted).toBe(3);
  expect(JSON.stringify(thing)).not.toMatch(/hush|kept|two|three/);
});

describe("guards and modes", () => {
  const csv = (from: number, to: number): string =>
    `Code,Name\n${Array.from({ length: to - from }, (_, at) => `c${from + at},n\n`).join("")}`;
  test("more removals than maxRemovals allows", async () => {
    const thing = await folders.thing(seed(csv(0, 20)), seed(csv(6, 20)));
    expect(thing.guards).toEqual([
      "6 of 20 rows would be removed, more than maxRemovals allows (25 %). If that is meant, set maxRemovals to 0.3 for this run.",
    ]);
    expect((await folders.thing(seed(csv(0, 20)), seed(csv(6, 20), ", mode: upsert"))).guards).toEqual([]);
  });

  test("what a mode leaves on the platform is said", async () => {
    const thing = await folders.thing(
      seed("Code,Name\nA,a\nB,b\n", ", mode: insertOnly"),
      seed("Code,Name\nA,x\n", ", mode: insertOnly"),
    );
    expect(thing.notes).toEqual([
      'mode is "insertOnly": rows that leave the source stay on the platform',
      'mode is "insertOnly": rows that are there are not changed',
    ]);
  });

  test("another table replaces, and a removed seed counts its rows", async () => {
    const thing = await folders.thing(seed(csv(0, 12)), {
      ...seed(csv(0, 12)),
      "env.yaml": "seeds:\n  cities: { table: towns, key: Code, source: data.csv }\n",
    });
    expect(thing.op).toBe("replace");
    const gone = await folders.thing(seed(csv(0, 12)), { "env.yaml": "seeds: {}\n" });
    expect(gone).toMatchObject({ op: "remove", rows: { remove: 12 } });
  });
});

test("10,000 changed rows of 60,000 are counted and listed, in little memory beside", async () => {
  const csv = (edit: (at: number) => string): string =>
    `Code,Name\n${Array.from({ length: 60_000 }, (_, at) => `c${at},${edit(at)}\n`).join("")}`;
  const [before, after] = [
    folders.declared(seed(csv(() => "x"))),
    folders.declared(seed(csv((at) => (at % 6 === 0 ? "y" : "x")))),
  ];
  const { compareDeclarations } = await import("./declarations.ts");
  globalThis.gc?.();
  const began = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const { section } = await compareDeclarations({ base: before, head: after });
  expect(section.things[0]?.rows).toEqual({ add: 0, change: 10_000, remove: 0, same: 50_000 });
  expect(section.things[0]?.changes).toHaveLength(10_000);
  const used = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers - began;
  expect(used).toBeLessThan(150_000_000); // bytes; garbage that is not collected yet among them
});

test("of more rows than are listed the counts stay exact", async () => {
  const csv = (letter: string): string =>
    `Code,Name\n${Array.from({ length: 12_000 }, (_, at) => `${letter}${at},n\n`).join("")}`;
  const thing = await folders.thing(seed(csv("a")), seed(csv("b")));
  expect(thing.rows).toEqual({ add: 12_000, change: 0, remove: 12_000, same: 0 });
  expect([thing.changes.length, thing.omitted]).toEqual([20_000, 4_000]);
});

test("from A to B, then from B to C, is from A to C", async () => {
  const table = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), fc.constantFrom("1", "2", "3"), { minKeys: 1 });
  const csv = (rows: Record<string, string>): Files =>
    seed(
      `Code,Name\n${Object.entries(rows)
        .map(([key, value]) => `${key},${value}\n`)
        .join("")}`,
    );
  const applied = async (from: Record<string, string>, to: Record<string, string>, onto: Record<string, string>) => {
    const { section } = await folders.compare(csv(from), csv(to));
    const result = { ...onto };
    for (const { op, name, fields } of section.things[0]?.changes ?? []) {
      if (op === "remove") Reflect.deleteProperty(result, name);
      else result[name] = String(fields.find((field) => field.name === "Name")?.after);
    }
    return result;
  };
  await fc.assert(
    fc.asyncProperty(table, table, table, async (a, b, c) => {
      const twoSteps = await applied(b, c, await applied(a, b, a));
      expect(twoSteps).toEqual(await applied(a, c, a));
      expect(twoSteps).toEqual({ ...c });
    }),
    { numRuns: 25 },
  );
});
