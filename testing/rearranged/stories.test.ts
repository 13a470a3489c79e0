import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { drawnFrom, sampleStories } from "../harness/drawn.ts";
import { programKinds, Scene, type KindName } from "./scene.ts";
import { type Seed, seedsOf } from "./seeds.ts";

/** An edit of a program that declares the same rows before and after. */
interface Story {
  edit: (world: ReturnType<typeof seedsOf>) => { before: Seed[]; after: Seed[] };
  /** Seeds that keep rows removed from others: the run reports them. */
  owners?: readonly string[];
  /** Rows that may get other IDs, by code, where no SDK announces later seeds. */
  anew?: string;
  /** The same when the edit is taken back. */
  anewAgain?: string;
}

const stories: Readonly<Record<string, Story>> = {
  "a seed gets another name": {
    edit: ({ seed, offices }) => ({
      before: [seed("depots", "NES"), offices("NE")],
      after: [seed("branches", "NES"), offices("NE")],
    }),
    owners: ["branches"],
  },
  "a row moves to a seed that comes before": {
    edit: ({ seed, offices }) => ({
      before: [seed("a", "N"), seed("b", "ES"), offices("ES")],
      after: [seed("a", "NE"), seed("b", "S"), offices("ES")],
    }),
    anewAgain: "E",
  },
  "a row moves to a seed that comes after": {
    edit: ({ seed, offices }) => ({
      before: [seed("a", "NE"), seed("b", "S"), offices("NE")],
      after: [seed("a", "N"), seed("b", "ES"), offices("NE")],
    }),
    anew: "E",
  },
  "a row moves to a seed that comes after, and what refers to it gets another name": {
    edit: ({ seed, offices }) => ({
      before: [seed("a", "NE"), seed("b", "S"), offices("NE")],
      after: [seed("a", "N"), seed("b", "ES"), offices("NE", {}, "sites")],
    }),
    owners: ["sites"],
    anew: "E",
  },
  "a seed is split into two": {
    edit: ({ seed, offices }) => ({
      before: [seed("a", "NESW"), offices("NESW")],
      after: [seed("a", "NE"), seed("b", "SW"), offices("NESW")],
    }),
    anew: "SW",
  },
  "two seeds become one of another name": {
    edit: ({ seed, offices }) => ({
      before: [seed("a", "NE"), seed("b", "SW"), offices("NESW")],
      after: [seed("all", "NESW"), offices("NESW")],
    }),
    owners: ["all"],
  },
  "a seed gets another key, and its name in the next line as well": {
    edit: ({ seed, offices }) => ({
      before: [seed("depots", "NES"), offices("NES")],
      after: [
        seed("branches", "NES", { key: "Name" }),
        offices("NES", { N: "Name of N", E: "Name of E", S: "Name of S" }),
      ],
    }),
    owners: ["branches"],
  },
  "a seed gets another key": {
    edit: ({ seed }) => ({
      before: [seed("depots", "NES"), seed("offices", "NE", { table: "offices" })],
      after: [seed("depots", "NES", { key: "Name" }), seed("offices", "NE", { table: "offices", key: "Name" })],
    }),
  },
  "a seed gets another name, and is split": {
    edit: ({ seed, offices }) => ({
      before: [seed("depots", "NES"), offices("NES")],
      after: [seed("north", "NE"), seed("south", "S"), offices("NES")],
    }),
    owners: ["north", "south"],
  },
};

/** The stories take place side by side, each on tables of its own. */
const told = Object.entries(stories).map(([name, { edit, ...story }], at) => {
  const world = `-${at + 1}`;
  return { name, world, ...edit(seedsOf(world)), ...story };
});
const before = { seeds: told.flatMap((story) => story.before) };
const after = { seeds: told.flatMap((story) => story.after) };

describe.each(drawnFrom(programKinds, "stories"))("with the %s provider:", (providerKind: KindName) => {
  const test = sampleStories();
  let scene: Scene;
  beforeAll(
    async () =>
      void (scene = await Scene.open(
        providerKind,
        undefined,
        told.map(({ world }) => world),
      )),
  );
  afterAll(async () => expect(await scene.close()).toEqual([]));

  /** By name of the story, rows and their links; without IDs of rows that may be made again. */
  async function rows(anew: "anew" | "anewAgain"): Promise<Record<string, string[]>> {
    const all = told.map(async ({ name, world, ...story }) => {
      const regions = `regions${world}`;
      const mayBeNew = (code: string): boolean => providerKind === "plugin" && (story[anew] ?? "").includes(code);
      const found = [await scene.rows(regions, regions), await scene.rows(`offices${world}`, regions)];
      const lines = found.flatMap((table, at) =>
        [...table].map(([code, { id, link = "" }]) => `${code}: ${at === 0 && mayBeNew(code) ? "" : id} → ${link}`),
      );
      return [name, lines.toSorted()] as const;
    });
    return Object.fromEntries(await Promise.all(all));
  }

  /** Brings the edited program up: nothing is gone, doubled, renamed, or led astray, and nothing is left to do. */
  async function goesWell(up: () => Promise<{ status: number | null; output: string }>, anew: "anew" | "anewAgain") {
    const was = await rows(anew);
    let output = "";
    const calls = await scene.calls(async () => {
      const ended = await up();
      expect(`${String(ended.status)}\n${ended.output}`).toMatch(/^0\n/);
      ({ output } = ended);
    });
    expect(await rows(anew)).toEqual(was);
    const most = providerKind === "plugin" ? told.map((story) => story[anew] ?? "").join("").length : 0;
    const removed = calls.filter(({ endpoint }) => endpoint === "removemicroapprow");
    expect(removed.length).toBeLessThanOrEqual(most);
    await scene.isSettled();
    return output;
  }

  test("whatever is edited, nothing is lost, nor when it is taken back", async () => {
    await scene.begin(before);
    await scene.write(after);
    const output = await goesWell(() => scene.up(), "anew");
    for (const { owners = [], world } of told) {
      for (const name of owners) expect(output).toContain(`SeedRows "${name}${world}" declares `);
    }
    await scene.write(before);
    await goesWell(() => scene.up(), "anewAgain");
  });

  test("nor when the run is killed in between", async () => {
    await scene.begin(before);
    await scene.write(after, 2);
    await goesWell(() => scene.upKilledBetween(), "anew");
  });

  test("a seed is renamed and a row of it edited at once: it is taken over when it is told to, and never lost", async () => {
    await scene.begin(before);
    const [first, ...others] = told;
    const { seed, offices } = seedsOf(first?.world ?? "");
    const was = await rows("anew");
    const edited = (more: object) => ({
      seeds: [
        ...[seed("branches", "NES", { note: "edited ", more }), offices("NE")],
        ...others.flatMap((one) => one.before),
      ],
    });
    await scene.write(edited({}));
    for (const command of ["preview", "up --yes --skip-preview"]) {
      const { status, output } = await scene.project.run(command);
      expect([command, status]).toEqual([command, 1]);
      expect(output).toContain("adopt: true");
    }
    expect(await rows("anew")).toEqual(was);
    await scene.write(edited({ adopt: true }));
    await goesWell(() => scene.up(), "anew");
    expect((await scene.rows("regions-1", "regions-1")).get("N")?.values["Note"]).toBe("edited N");
  });
});
