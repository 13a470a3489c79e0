import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sampleOf, testInLong } from "../harness/drawn.ts";
import { Scene } from "./scene.ts";

// A case brings a program up several times.

// As a program in YAML, Python or Go: no seed knows of the others before they are registered.
let scene: Scene;
beforeAll(async () => void (scene = await Scene.open("plugin")));
afterAll(async () => expect(await scene.close()).toEqual([]));

type Rows = Readonly<Record<string, string>>;

const seed = (name: string, rows: Rows, options = "{}", more = {}): string => {
  const declared = Object.entries(rows).map(([Code, Name]) => ({ Code, Name }));
  const args = { table: "regions", key: "Code", rows: declared, ...more };
  return `seeds.push(new SeedRows("${name}", ${JSON.stringify(args)}, ${options}));\n`;
};
const program = (aa: Rows, bb: Rows, inOrder: boolean): string =>
  seed("aa", aa) + seed("bb", bb, inOrder ? "{ dependsOn: [...seeds] }" : "{}");

/** IDs and notes of users by code, without the row of others. */
const kept = async (): Promise<Record<string, unknown>> => {
  const rows = await scene.rows("regions");
  return Object.fromEntries(
    [...rows].filter(([code]) => code !== "theirs").map(([code, { id, values }]) => [code, [id, values["Note"]]]),
  );
};

/** Two seeds are up, and users have written into cells that no seed declares. */
async function begun(inOrder: boolean): Promise<Record<string, unknown>> {
  await scene.begin(program({ A: "a", B: "b", C: "c" }, { D: "d", E: "e", F: "f" }, inOrder));
  for (const [code, { id }] of await scene.rows("regions")) {
    if (code === "theirs") continue;
    await scene.client.updatemicroapprow({ microAppID: "regions", rowID: id, rowData: { Note: `of ${code}` } });
  }
  return kept();
}

testInLong(
  "a row that moves to a later seed gets another ID, keeps what users wrote, and is owned by that seed",
  async () => {
    const before = await begun(true);
    await scene.write(program({ A: "a" }, { B: "b", C: "changed", D: "d", E: "e", F: "f" }, true), 2);
    const output = await scene.project.succeed("up --yes");
    expect(output).toContain(
      '2 rows of those to remove are added again, with another ID: SeedRows "bb" declares them, and is known only once this seed is applied',
    );
    expect(output).toContain("2 rows of another seed got another ID and kept the cells that no seed declares");
    const after = await kept();
    for (const code of ["A", "D", "E", "F"]) expect(after[code]).toEqual(before[code]);
    for (const code of ["B", "C"]) expect(after[code]).toEqual([expect.any(String), `of ${code}`]);
    expect((await scene.rows("regions")).get("C")?.values["Name"]).toBe("changed");
    await scene.isSettled();
    // And back: the giver comes last, so the rows stay.
    await scene.write(program({ A: "a", B: "b" }, { C: "c", D: "d", E: "e", F: "f" }, true), 3);
    await scene.project.succeed("up --yes");
    expect((await kept())["B"]).toEqual(after["B"]);
    await scene.isSettled();
    await scene.project.succeed("destroy --yes");
    expect([...(await scene.rows("regions")).keys()]).toEqual(["theirs"]);
  },
);

const links =
  'seeds.push(new SeedRows("links", { table: "offices", key: "Code", rows: [{ Code: "o", Region: "B" }], ' +
  "references: { Region: linked(seeds[0]) } }, { dependsOn: [...seeds] }));\n";

test("what a preview says of a row that moves to a seed that waits is what the up does", async () => {
  await scene.begin(program({ A: "a", B: "b", C: "c" }, { D: "d" }, true) + links);
  await scene.write(program({ A: "a", C: "c" }, { B: "b", D: "d" }, true) + links, 2);
  const output = await scene.project.succeed("preview");
  expect(output).toContain("1 row of those to remove is added again, with another ID");
  expect(output).toContain("made anew");
  const changing = async (command: string): Promise<string[]> =>
    (await scene.project.steps(command)).filter((step) => !step.startsWith("refresh"));
  const steps = await changing("preview");
  expect(steps).toEqual(["update aa", "update bb", "update links", "update last"]);
  const calls = await scene.calls(async () => expect(await changing("up --yes --skip-preview")).toEqual(steps));
  expect(calls.map(({ endpoint }) => endpoint)).toEqual([
    ...["removemicroapprow", "insertmicroapprows", "updatemicroapprow", "updateorganization"],
  ]);
  await scene.isSettled();
});

test.each(sampleOf([["one"], ["more"]], 1))(
  "rows that move between seeds that race are %s: there once, owned once, and gone with their seeds",
  async (how) => {
    await begun(false);
    const rounds: [Rows, Rows][] = [
      [{ A: "a" }, { B: "b", C: "changed", D: "d", E: "e", F: "f" }],
      [
        { D: "d", E: "e", F: "f", B: "new" },
        { A: "a", C: "c" },
      ],
      [
        { A: "a", B: "b", C: "c" },
        { D: "d", E: "e", F: "f" },
      ],
    ];
    for (const [at, [aa, bb]] of rounds.slice(0, how === "one" ? 1 : 3).entries()) {
      await scene.write(program(aa, bb, false), at + 2);
      await scene.project.succeed("up --yes");
      const codes = [...(await scene.rows("regions")).keys()].toSorted();
      expect(codes).toEqual([...Object.keys({ ...aa, ...bb }), "theirs"].toSorted());
      await scene.isSettled();
    }
    await scene.project.succeed("destroy --yes");
    expect([...(await scene.rows("regions")).keys()]).toEqual(["theirs"]);
  },
);

test("a seed that is split for one that waits for it is refused with the way out, by preview and up alike", async () => {
  const rows = (from: number, to: number): Rows =>
    Object.fromEntries(Array.from({ length: to - from }, (_, at) => [`M${from + at}`, `m${from + at}`]));
  const split = (more: object): string =>
    seed("aa", rows(0, 10), "{}", more) + seed("bb", rows(10, 20), "{ dependsOn: [...seeds] }");
  await scene.begin(seed("aa", rows(0, 20)));
  await scene.write(split({}), 2);
  for (const command of ["preview", "up --yes --skip-preview"]) {
    const { status, output } = await scene.project.run(command);
    expect([status, output]).toEqual([1, expect.stringContaining("10 of 20 rows would be removed")]);
    expect(output).toContain("rows that move to a seed which waits for this one are removed here and added there");
  }
  await scene.write(split({ maxRemovals: 0.5 }), 2);
  expect(await scene.project.succeed("up --yes")).toContain("10 rows of those to remove are added again");
  expect(Object.keys(await kept())).toHaveLength(20);
  await scene.isSettled();
});
