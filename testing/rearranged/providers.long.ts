import { afterAll, beforeAll, beforeEach, describe, expect } from "@jest/globals";
import { readdir } from "node:fs/promises";
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

    const byDefault = (one: Declared): Declared => ({ ...one, by: "default" });

    test("a provider whose settings change is the same one", async () => {
      await scene.begin(program([byDefault(first)], []));
      await scene.write(program([byDefault({ ...first, codes: "N" })], []), 2);
      const key = "microapps:consistencySeconds";
      await scene.project.succeed(`config set ${key} 1`);
      expect(await removals(() => scene.project.succeed("up --yes --skip-preview"))).toHaveLength(2);
      await scene.project.succeed(`config rm ${key}`);
    });

    test("rows are added by both, removed by neither, and removed once there is one", async () => {
      const second = (codes: string): Declared => ({ seed: "sites", codes, by: "two" });
      await scene.write(program([first, second("W")]), 2);
      await scene.project.succeed("up --yes --skip-preview");
      await scene.write(program([{ ...first, codes: "NA" }, second("WX")]), 3);
      const calls = await removals(async () => {
        const { status, output } = await scene.up();
        expect([status, output]).toEqual([1, expect.stringContaining("this run has another provider of http")]);
      });
      expect(calls).toEqual([]);
      // The way out: what is as declared stays the stack's own when it moves.
      const all = { ...first, codes: "NAES" };
      const retained = program([all, second("WX")]).replaceAll("{ dependsOn", "{ retainOnDelete: true, dependsOn");
      await scene.write(retained, 4);
      await scene.project.succeed("up --yes --skip-preview");
      await scene.write(program([all, second("WX")].map(byDefault), []), 5);
      await scene.project.succeed("up --yes --skip-preview");
      await scene.write(program([byDefault({ ...first, codes: "NA" })], []), 6);
      expect((await removals(() => scene.project.succeed("up --yes --skip-preview"))).sort()).toEqual(
        Array.from("ESWX", () => "removemicroapprow"),
      );
      expect([...(await scene.rows("regions")).keys()].toSorted()).toEqual(["A", "N", "theirs"]);
      await scene.isSettled();
      expect(await readdir(join(scene.project.folder, ".state/pulumi-microapps/running"))).toEqual([]);
    });
  },
);
