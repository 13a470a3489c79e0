import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
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

const cases = [
  ["depends on the first", "in one command", true, ["up --yes"]],
  ["races with it", "in two commands", false, ["preview", "up --yes --skip-preview"]],
] as const;

testInLong(
  "without a preview a row that moves to a later seed gets another ID, and keeps what users wrote",
  async () => {
    const before = await begun(true);
    await scene.write(program({ A: "a" }, { B: "b", C: "changed", D: "d", E: "e", F: "f" }, true), 2);
    const output = await scene.project.succeed("up --yes --skip-preview");
    expect(output).toContain("2 rows of another seed got another ID and kept the cells that no seed declares");
    const after = await kept();
    for (const code of ["A", "D", "E", "F"]) expect(after[code]).toEqual(before[code]);
    for (const code of ["B", "C"]) expect(after[code]).toEqual([expect.any(String), `of ${code}`]);
    expect((await scene.rows("regions")).get("C")?.values["Name"]).toBe("changed");
    expect(await readdir(join(scene.project.folder, ".state/pulumi-microapps/runs"))).toEqual([]);
    await scene.isSettled();
  },
);

const links =
  'seeds.push(new SeedRows("links", { table: "offices", key: "Code", rows: [{ Code: "o", Region: "B" }], ' +
  "references: { Region: linked(seeds[0]) } }, { dependsOn: [...seeds] }));\n";

test.each(
  sampleOf<[string, boolean]>(
    [
      ["depends on the first", true],
      ["races with it", false],
    ],
    1,
  ),
)("what a preview says of a row that moves to a seed that %s is what the up does", async (_, inOrder) => {
  await scene.begin(program({ A: "a", B: "b", C: "c" }, { D: "d" }, inOrder) + links);
  await scene.write(program({ A: "a", C: "c" }, { B: "b", D: "d" }, inOrder) + links, 2);
  const output = await scene.project.succeed("preview");
  expect(output).toMatch(/1 row of those to remove stays: SeedRows "bb" declares it|1 to leave to another seed/);
  expect(output).toContain("1 to take over from another seed");
  expect(output).not.toContain("made anew");
  const changing = async (command: string): Promise<string[]> =>
    (await scene.project.steps(command)).filter((step) => !step.startsWith("refresh"));
  const steps = await changing("preview");
  expect(steps).toEqual(["update aa", "update bb", "update last"]);
  const calls = await scene.calls(async () => expect(await changing("up --yes --skip-preview")).toEqual(steps));
  expect(calls.map(({ endpoint }) => endpoint)).toEqual(["updateorganization"]);
  await scene.isSettled();
});

test.each(sampleOf(cases, 1))(
  "rows that move to a seed that %s keep their IDs after a preview (%s)",
  async (_, __, inOrder, commands) => {
    const before = await begun(inOrder);
    await scene.write(program({ A: "a" }, { B: "b", C: "changed", D: "d", E: "e", F: "f" }, inOrder), 2);
    for (const command of commands) await scene.project.succeed(command);
    expect(await kept()).toEqual(before);
    expect((await scene.rows("regions")).get("C")?.values["Name"]).toBe("changed");
    await scene.isSettled();
    // All rows change places, and say something else.
    await scene.write(program({ D: "d", E: "e", F: "f", B: "new" }, { A: "a", C: "c" }, inOrder), 3);
    for (const command of commands) await scene.project.succeed(command);
    expect(await kept()).toEqual(before);
    await scene.isSettled();
  },
);

test("a seed that is split for one that waits for it is refused with the way out, by preview and up alike", async () => {
  const rows = (from: number, to: number): Rows =>
    Object.fromEntries(Array.from({ length: to - from }, (_, at) => [`M${from + at}`, `m${from + at}`]));
  const split = (more: object): string =>
    seed("aa", rows(0, 10), "{}", more) + seed("bb", rows(10, 20), "{ dependsOn: [...seeds] }");
  await scene.begin(seed("aa", rows(0, 20)));
  const before = await kept();
  await scene.write(split({}), 2);
  for (const command of ["preview", "up --yes --skip-preview"]) {
    const { status, output } = await scene.project.run(command);
    expect([status, output]).toEqual([1, expect.stringContaining("10 of 20 rows would be removed")]);
    expect(output).toContain("rows that move to a seed which waits for this one stay");
  }
  await scene.write(split({ maxRemovals: 0.5 }), 2);
  expect(await scene.project.succeed("up --yes")).toContain(
    '10 rows of those to remove stay: SeedRows "bb" declares them',
  );
  expect(await kept()).toEqual(before);
  await scene.isSettled();
});
