import { afterAll, beforeAll, beforeEach, describe, expect } from "@jest/globals";
import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { drawnFrom, sampleStories } from "../harness/drawn.ts";
import { kindNames, Scene, type KindName } from "./scene.ts";

/** Rows and a member, by one of two providers or by the one of the stack. */
interface Declared {
  seed: string;
  codes?: string;
  member?: string;
  by: "one" | "two" | "default";
}

describe.each(drawnFrom(kindNames, "providers"))(
  "two providers of one program, with the %s provider:",
  (providerKind: KindName) => {
    const test = sampleStories();
    let scene: Scene;
    beforeAll(async () => void (scene = await Scene.open(providerKind)));
    afterAll(async () => expect(await scene.close()).toEqual([]));

    const declared = ({ seed, codes = "NES", member, by }: Declared): string => {
      const options = by === "default" ? "{}" : `{ provider: ${by} }`;
      const inOrder = options.replace("{", "{ dependsOn: [...seeds],"); // an engine configures providers side by side
      const rows = Array.from(codes, (Code) => ({ Code, Name: Code, Note: "" }));
      return `
seeds.push(new SeedRows(${JSON.stringify(seed)}, ${JSON.stringify({ table: "regions", key: "Code", rows })}, ${inOrder}));
${member === undefined ? "" : `new TeamMember("${member}", { teamID: crew.id, email: "ada@example.com" }, ${options});`}
`;
    };
    const program = (declarations: readonly Declared[], providers = ["one", "two"]): string => {
      const settings = { endpoint: scene.emulator.url, email: "admin@example.com", password: "correct-horse" };
      const made = providers.map((name) => `const ${name} = provider("${name}", ${JSON.stringify(settings)});\n`);
      return `${made.join("")}
const acme = new Organization("acme", { name: "Acme" });
const crew = new Team("crew", { organizationID: acme.id, name: "Crew" });
${declarations.map(declared).join("")}`;
    };
    const first: Declared = { seed: "depots", member: "ada", by: "one" };
    beforeEach(() => scene.begin(program([first])));

    /** Removals by a piece of work, by endpoint. */
    const removals = async (work: () => Promise<unknown>): Promise<string[]> =>
      (await scene.calls(work)).map(({ endpoint }) => endpoint).filter((endpoint) => /^(delete|remove)/.test(endpoint));

    test("what gets another name and moves to another provider, or to the stack's own, is not removed", async () => {
      const before = await scene.rows("regions");
      /** Brings an edited program up: nothing is removed, and staying rows are reported. */
      const moves = async (to: Declared, up: () => Promise<{ output: string }>): Promise<void> => {
        let output = "";
        expect(await removals(async () => void ({ output } = await up()))).toEqual([]);
        expect(output).toContain(`SeedRows "${to.seed}" declares them`);
        expect(output).toContain(`TeamMember "${to.member ?? ""}" declares that`);
        expect(await scene.rows("regions")).toEqual(before);
        await scene.isSettled();
      };
      // Killed before the old ones are deleted: the next run removes nothing either.
      const second: Declared = { seed: "sites", member: "lead", by: "two" };
      await scene.write(program([second]), 2);
      await moves(second, () => scene.upKilledBetween());
      const third: Declared = { seed: "spots", member: "chief", by: "default" };
      await scene.write(program([third], []), 2);
      await moves(third, () => scene.up());
      // The providers' messages to each other are gone, and so are those of the killed run.
      const runs = join(scene.project.folder, ".state/pulumi-microapps/runs");
      expect((await stat(runs)).mode & 0o777).toBe(0o700);
      expect(await readdir(runs)).toEqual([]);
      // And back again, with one row less.
      await scene.write(program([{ ...first, codes: "NE" }]), 3);
      expect(await removals(() => scene.project.succeed("up --yes --skip-preview"))).toEqual(["removemicroapprow"]);
      expect([...(await scene.rows("regions")).keys()].toSorted()).toEqual(["E", "N", "theirs"]);
      await scene.isSettled();
    });

    test.each([
      ["one", "two"],
      ["default", "one"],
      ["one", "default"],
    ] as const)(
      "what moves from provider %s to %s stays where paths are long, and is refused where nothing can be noted",
      async (from, to) => {
        const { project } = scene;
        const { XDG_STATE_HOME: state = "" } = project.environment;
        const there: Declared = { seed: "depots", member: "ada", by: from };
        await scene.begin(program([there]));
        const before = await scene.rows("regions");
        const teamID = (await project.state()).get("crew")?.id ?? "";
        const members = () => scene.client.teammembers({ teamIDs: [teamID] });
        const people = await members();
        await scene.write(program([{ seed: "sites", member: "lead", by: to }]), 2);
        try {
          const closed = join(project.folder, "closed");
          await mkdir(join(closed, "pulumi-microapps/runs"), { recursive: true, mode: 0o755 });
          await chmod(join(closed, "pulumi-microapps/runs"), 0o755);
          project.environment["XDG_STATE_HOME"] = closed;
          const calls = await scene.calls(async () => {
            const { status, output } = await scene.up();
            expect(status).toBe(1);
            expect(output).toContain(`the notes of this run can't be kept in ${join(closed, "pulumi-microapps/runs")}`);
          });
          expect(calls).toEqual([]);
          const long = join(project.folder, "l".repeat(100), "o".repeat(100));
          await mkdir(long, { recursive: true });
          Object.assign(project.environment, { XDG_STATE_HOME: long, TMPDIR: long });
          expect(await removals(() => project.succeed("up --yes --skip-preview"))).toEqual([]);
        } finally {
          Object.assign(project.environment, { XDG_STATE_HOME: state, TMPDIR: undefined });
        }
        expect(await scene.rows("regions")).toEqual(before);
        expect(await members()).toEqual(people);
        await scene.isSettled();
      },
    );

    test("a row of both is refused by preview, with both names", async () => {
      const second = { seed: "sites", codes: "SW", by: "two" } as const;
      await scene.write(program([first, second]));
      for (const command of ["preview", "up --yes --skip-preview"]) {
        const calls = await scene.calls(async () => {
          const { status, output } = await scene.project.run(command);
          expect(`${String(status)}\n${output}`).not.toMatch(/^0\n/);
          expect(output).toMatch(/SeedRows "(depots|sites)" declares these rows of table regions as well: .*"S"/);
        });
        expect(calls).toEqual([]);
      }
    });
  },
);
