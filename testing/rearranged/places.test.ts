import { expect } from "@jest/globals";
import { sampleOf, testThrough } from "../harness/drawn.ts";
import type { Place } from "../harness/project.ts";
import { kindNames, Scene } from "./scene.ts";

// A story is told twice for each kind of provider: in a folder that other stacks have used, and with each command in a fresh clone
// with an empty home, as pipelines have it. Nothing beside the state and the platform may change a result.

type Rows = Readonly<Record<string, string>>;

const seed = (name: string, rows: Rows, options = "{}"): string => {
  const declared = Object.entries(rows).map(([Code, Name]) => ({ Code, Name }));
  const args = { table: "regions", key: "Code", rows: declared, maxRemovals: 1 };
  return `seeds.push(new SeedRows("${name}", ${JSON.stringify(args)}, ${options}));\n`;
};
/** A seed that waits for those before it. */
const later = (name: string, rows: Rows): string => seed(name, rows, "{ dependsOn: [...seeds] }");
/** One of which no other knows until its table is known. */
const late = (name: string, rows: Rows): string =>
  later(name, rows).replace('"table":"regions"', 'table: seeds[0].urn.apply(() => "regions")');

const six = { A: "a", B: "b", C: "c", D: "d", E: "e", F: "f" };
const four = { A: "a", B: "b", C: "c", D: "d" };

interface Step {
  program: string;
  commands?: readonly string[];
  /** Codes that are there afterwards, without those of others. */
  rows: string;
  /** Sentences that the last command prints. */
  says?: RegExp;
}

const up = "up --yes --skip-preview";
const stories: Readonly<Record<string, readonly Step[]>> = {
  "a seed is renamed without saying so, then rows leave": [
    { program: seed("customers", six), rows: "ABCDEF" },
    { program: seed("clients", six), commands: ["preview", up], rows: "ABCDEF", says: /6 stay: SeedRows "clients"/ },
    { program: seed("clients", four), commands: ["preview", up], rows: "ABCD", says: /2 removed/ },
  ],
  "a seed is split, then one half leaves": [
    { program: seed("all", six), rows: "ABCDEF" },
    { program: seed("all", { A: "a" }) + later("rest", { B: "b", C: "c" }), commands: ["preview", up], rows: "ABC" },
    { program: seed("all", { A: "a" }), rows: "A" },
  ],
  "a row moves back and forth": [
    { program: seed("aa", { A: "a", H: "h" }) + later("bb", { B: "b" }), rows: "ABH" },
    { program: seed("aa", { A: "a" }) + later("bb", { B: "b", H: "h" }), commands: ["preview", up], rows: "ABH" },
    { program: seed("aa", { A: "a", H: "h" }) + later("bb", { B: "b" }), commands: ["preview", up], rows: "ABH" },
    { program: seed("aa", { A: "a" }) + later("bb", { B: "b", H: "h" }), rows: "ABH" },
  ],
  "a row moves to a seed that is known late, and back": [
    { program: seed("aa", { A: "a", H: "h" }) + late("bb", { B: "b" }), rows: "ABH" },
    { program: seed("aa", { A: "a" }) + late("bb", { B: "b", H: "h" }), commands: ["preview", up], rows: "ABH" },
    { program: seed("aa", { A: "a", H: "h" }) + late("bb", { B: "b" }), commands: ["preview", up], rows: "ABH" },
  ],
  "a preview saw a row move to a seed that the program of the up does not have": [
    { program: seed("aa", { A: "a", H: "h" }), rows: "AH" },
    { program: seed("aa", { A: "a" }) + later("bb", { H: "h" }), commands: ["preview"], rows: "AH" },
    { program: seed("aa", { A: "a" }), rows: "A", says: /1 removed/ },
  ],
};

/** What differs from run to run, in a text. */
const accidents: readonly [RegExp, string][] = [
  [/127\.0\.0\.1:\d+/g, "<platform>"],
  [/\d+(\.\d+)? ?m?s\b/g, "<time>"],
  [/\/tmp\/[\w-]+/g, "<folder>"],
];
const plain = (text: string): string => accidents.reduce((all, [pattern, word]) => all.replaceAll(pattern, word), text);

/** Tells a story, and answers what it printed, sent and left in the state, step by step. */
async function told(scene: Scene, place: Place, steps: readonly Step[]): Promise<unknown[]> {
  const { project } = scene;
  const codes = async (): Promise<string> =>
    [...(await scene.rows("regions")).keys()]
      .filter((code) => code !== "theirs")
      .toSorted()
      .join("");
  const state = async () =>
    [...(await project.state())].map(([name, { outputs }]) => [name, outputs["rowCount"], outputs["unfinished"]]);
  await scene.begin();
  project.place = place;
  if (place === "folder") await project.soil();
  const seen: unknown[] = [];
  const take = async (command: string): Promise<string> => {
    let printed = "";
    const calls = await scene.calls(async () => (printed = await project.succeed(command)));
    seen.push([command, plain(printed), calls.map(({ endpoint }) => endpoint), await state()]);
    return printed;
  };
  for (const [at, { program, commands = [up], rows, says }] of steps.entries()) {
    await scene.write(program, at + 1);
    let printed = "";
    for (const command of commands) printed = await take(command);
    expect([at, await codes()]).toEqual([at, rows]);
    if (says) expect(printed).toMatch(says);
  }
  await take("destroy --yes --skip-preview");
  expect(await codes()).toBe("");
  expect(scene.touched()).toEqual([]);
  return seen;
}

for (const kind of kindNames) {
  testThrough(kind).each(sampleOf(Object.entries(stories), 2))(
    `with the ${kind} provider, %s: the same in clones as in a used folder`,
    async (_, steps) => {
      const scene = await Scene.open(kind);
      try {
        const used = await told(scene, "folder", steps);
        expect(await told(scene, "clones", steps)).toEqual(used);
      } finally {
        expect(await scene.close()).toEqual([]);
      }
    },
  );
}
