import { expect, test } from "@jest/globals";
import { sampleOf, testInLong } from "../harness/drawn.ts";
import type { Place } from "../harness/project.ts";
import { kindNames, programKinds, Scene, type Declared, type KindName } from "./scene.ts";
import { programOf, type Seed, seed } from "./seeds.ts";

// A story is told twice: in a folder that other stacks have used, and with each command in a fresh clone
// with an empty home, as pipelines have it. Nothing beside the state and the platform may change a result.

interface Step {
  seeds: readonly Seed[];
  commands?: readonly string[];
  /** Codes that are there afterwards, without those of others. */
  rows: string;
  /** Sentences that the last command prints. */
  says?: RegExp;
}

const all = { maxRemovals: 1 };
const of = (name: string, codes: string): Seed => seed(name, codes, { more: all });
const up = "up --yes --skip-preview --parallel 1"; // seeds that meet in a table read it more often
const twice = ["preview", up];
const stories: Readonly<Record<string, readonly Step[]>> = {
  "a seed is renamed without saying so, then rows leave": [
    { seeds: [of("customers", "ABCDEF")], rows: "ABCDEF" },
    {
      seeds: [of("clients", "ABCDEF")],
      commands: twice,
      rows: "ABCDEF",
      says: /6 rows stay: (SeedRows|seed) "clients"/,
    },
    { seeds: [of("clients", "ABCD")], commands: twice, rows: "ABCD", says: /2 removed/ },
  ],
  "a seed is split, then one half leaves": [
    { seeds: [of("all", "ABCDEF")], rows: "ABCDEF" },
    { seeds: [of("all", "A"), of("rest", "BC")], commands: twice, rows: "ABC" },
    { seeds: [of("all", "A")], rows: "A" },
  ],
  "a row moves back and forth": [
    { seeds: [of("aa", "AH"), of("bb", "B")], rows: "ABH" },
    { seeds: [of("aa", "A"), of("bb", "BH")], commands: twice, rows: "ABH" },
    { seeds: [of("aa", "AH"), of("bb", "B")], commands: twice, rows: "ABH" },
    { seeds: [of("aa", "A"), of("bb", "BH")], rows: "ABH" },
  ],
  "a preview saw a row move to a seed that the program of the up does not have": [
    { seeds: [of("aa", "AH")], rows: "AH" },
    { seeds: [of("aa", "A"), of("bb", "H")], commands: ["preview"], rows: "AH" },
    { seeds: [of("aa", "A")], rows: "A", says: /1 removed/ },
  ],
};

/** What differs from run to run, in a text. */
const accidents: readonly [RegExp, string][] = [
  [/127\.0\.0\.1:\d+/g, "<platform>"],
  [/\d+(\.\d+)? ?m?s\b/g, "<time>"],
  [/\/tmp\/[\w-]+/g, "<folder>"],
  [/sha256:\S+/g, "<plan>"],
  [/[├└│─ ]+/g, " "],
];
/** Lines in an order of their own: what is done side by side ends in any order. */
const plain = (text: string): string[] =>
  accidents
    .reduce((all, [pattern, word]) => all.replaceAll(pattern, word), text)
    .split("\n")
    .toSorted();

/** Tells a story, and answers what it printed, sent and left in the state, step by step. */
async function told(scene: Scene, place: Place, steps: readonly Step[], written: Written): Promise<unknown[]> {
  const { project } = scene;
  const codes = async (): Promise<string> =>
    [...(await scene.rows("regions")).keys()]
      .filter((code) => code !== "theirs")
      .toSorted()
      .join("");
  const state = async () =>
    [...(await project.state())]
      .map(([name, { outputs }]) => [name, outputs["rowCount"], outputs["unfinished"]])
      .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  await scene.begin();
  project.place = place;
  if (place === "folder") await project.soil();
  const seen: unknown[] = [];
  const take = async (command: string): Promise<string> => {
    let printed = "";
    const calls = await scene.calls(async () => (printed = await project.succeed(command)));
    seen.push([command, plain(printed), calls.map(({ endpoint }) => endpoint).toSorted(), await state()]);
    return printed;
  };
  for (const [at, { seeds, commands = [up], rows, says }] of steps.entries()) {
    await scene.write(written({ seeds }), at + 1);
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

type Written = (declared: { seeds: readonly Seed[] }) => Declared;

async function isTheSame(kind: KindName, steps: readonly Step[], written: Written = (each) => each): Promise<void> {
  const scene = await Scene.open(kind);
  try {
    const used = await told(scene, "folder", steps, written);
    expect(await told(scene, "clones", steps, written)).toEqual(used);
  } finally {
    expect(await scene.close()).toEqual([]);
  }
}

const cases = sampleOf(kindNames, 1).flatMap((kind) =>
  Object.entries(stories).map(([name, steps]) => ({ kind, name, steps })),
);
test.each(cases)("with $kind, $name: the same in clones as in a used folder", ({ kind, steps }) =>
  isTheSame(kind, steps),
);

/** In programs, of a seed of which no other knows until its table is known. */
const late: Written = ({ seeds }) =>
  programOf(seeds).replace(/("bb", )\{"table":"regions"/, '$1{ table: seeds[0].urn.apply(() => "regions")');
for (const kind of programKinds)
  testInLong(
    `with ${kind}, a row moves to a seed that is known late, and back: the same in clones as in a used folder`,
    () => isTheSame(kind, stories["a row moves back and forth"]?.slice(0, 3) ?? [], late),
  );
