import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { doorNames, Scene, type DoorName } from "./scene.ts";
import { offices, seed } from "./seeds.ts";

/** An edit of a program that declares the same rows before and after. */
interface Story {
  name: string;
  before: string;
  after: string;
  /** Names of the resources between which rows change their owner: the run tells them. */
  names?: readonly string[];
  /** Rows that may get other IDs, by code, where no SDK tells a seed of those that come after it. */
  anew?: string;
  /** Also killed when all is created and nothing is deleted yet. */
  killed?: boolean;
}

const stories: Story[] = [
  {
    name: "a seed gets another name",
    before: seed("depots", "NES") + offices("NE"),
    after: seed("branches", "NES") + offices("NE"),
    names: ["depots", "branches"],
    killed: true,
  },
  {
    name: "a row moves to a seed that comes before",
    before: seed("a", "N") + seed("b", "ES") + offices("ES"),
    after: seed("a", "NE") + seed("b", "S") + offices("ES"),
  },
  {
    name: "a row moves to a seed that comes after",
    before: seed("a", "NE") + seed("b", "S") + offices("NE"),
    after: seed("a", "N") + seed("b", "ES") + offices("NE"),
    anew: "E",
  },
  {
    name: "a row moves to a seed that comes after, and what refers to it gets another name",
    before: seed("a", "NE") + seed("b", "S") + offices("NE"),
    after: seed("a", "N") + seed("b", "ES") + offices("NE", {}, "sites"),
    names: ["offices", "sites"],
    anew: "E",
    killed: true,
  },
  {
    name: "a seed is split into two",
    before: seed("a", "NESW") + offices("NESW"),
    after: seed("a", "NE") + seed("b", "SW") + offices("NESW"),
    anew: "SW",
  },
  {
    name: "two seeds become one of another name",
    before: seed("a", "NE") + seed("b", "SW") + offices("NESW"),
    after: seed("all", "NESW") + offices("NESW"),
    names: ["a", "b", "all"],
  },
  {
    name: "a seed gets another key, and its name in the next line as well",
    before: seed("depots", "NES") + offices("NES"),
    after:
      seed("branches", "NES", { key: "Name" }) + offices("NES", { N: "Name of N", E: "Name of E", S: "Name of S" }),
    names: ["depots", "branches"],
    killed: true,
  },
  {
    name: "a seed gets another key",
    before: seed("depots", "NES") + seed("offices", "NE", { table: "offices" }),
    after: seed("depots", "NES", { key: "Name" }) + seed("offices", "NE", { table: "offices", key: "Name" }),
  },
  {
    name: "a seed gets another name, and is split",
    before: seed("depots", "NES") + offices("NES"),
    after: seed("north", "NE") + seed("south", "S") + offices("NES"),
    names: ["depots", "north", "south"],
  },
];

type Rows = Awaited<ReturnType<Scene["rows"]>>;

describe.each(doorNames)("through the %s door:", (door: DoorName) => {
  let scene: Scene;
  beforeAll(async () => void (scene = await Scene.open(door)));
  afterAll(async () => expect(await scene.close()).toEqual([]));

  const all = async (): Promise<[Rows, Rows]> => [await scene.rows("regions"), await scene.rows("offices")];
  const succeeded = ({ status, output }: { status: number | null; output: string }): string => {
    expect(`${String(status)}\n${output}`).toMatch(/^0\n/);
    return output;
  };

  /** What holds after each story: nothing is gone, doubled, renamed, or led astray, and nothing is left to do. */
  async function judge(before: [Rows, Rows], anew: string): Promise<void> {
    const now = await all();
    for (const [at, rows] of before.entries()) {
      const stays = ([code]: [string, unknown]): boolean => at > 0 || !anew.includes(code) || door === "dynamic";
      const told = (some: Rows): unknown[] =>
        [...some]
          .filter(stays)
          .map(([code, { id, link }]) => [code, id, link])
          .toSorted();
      expect(told(now[at] ?? new Map<never, never>())).toEqual(told(rows));
      expect([...(now[at] ?? [])].map(([code]) => code).toSorted()).toEqual([...rows.keys()].toSorted());
    }
    await scene.isSettled();
  }

  test.each(stories)("$name", async ({ before, after, names = [], anew = "" }) => {
    await scene.begin(before);
    const rows = await all();
    await scene.write(after);
    const told: string[] = [];
    const calls = await scene.calls(async () => told.push(succeeded(await scene.up())));
    for (const name of names) expect(told.join()).toContain(name);
    const removed = calls.filter(({ endpoint }) => endpoint === "removemicroapprow");
    expect(removed.length).toBeLessThanOrEqual(door === "plugin" ? anew.length : 0);
    await judge(rows, anew);
  });

  test.each(stories.filter(({ killed }) => killed))(
    "$name, killed in between",
    async ({ before, after, anew = "" }) => {
      await scene.begin(before);
      const rows = await all();
      await scene.write(after, 2);
      succeeded(await scene.upKilledBetween());
      await judge(rows, anew);
    },
  );

  test("a seed is renamed, once more, and back again", async () => {
    await scene.begin(seed("depots", "NES") + offices("NE"));
    const rows = await all();
    for (const name of ["branches", "sites", "depots"]) {
      await scene.write(seed(name, "NES") + offices("NE"));
      succeeded(await scene.up());
    }
    await judge(rows, "");
  });

  test("a seed is renamed and a row of it edited at once: it is taken over when it is told to, and never lost", async () => {
    await scene.begin(seed("depots", "NES") + offices("NE"));
    const rows = await all();
    const edited = (more: string): string => seed("branches", "NES", { note: "edited ", more }) + offices("NE");
    await scene.write(edited(""));
    const { status, output } = await scene.up();
    if (status !== 0) {
      expect(output).toContain("adopt: true");
      expect(await all()).toEqual(rows);
      await scene.write(edited("adopt: true, "));
      succeeded(await scene.up());
    }
    expect((await scene.rows("regions")).get("N")?.values["Note"]).toBe("edited N");
    await judge(rows, "");
  });
});
