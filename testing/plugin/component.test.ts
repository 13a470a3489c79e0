import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { testInLong } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { byHand, changingCalls } from "../harness/platform.ts";
import { Project, repository, type StateResource } from "../harness/project.ts";

/** The class of the SDK. */
const ofSdk = (name: string): string => `
import { Environment } from "pulumi-microapps";
export const { organizations, teams, seeds, apps } = new Environment("${name}", { file: "dev.yaml" });
`;

/** The component of the plugin, as a generated SDK declares it. */
const ofPlugin = (...declared: string[]): string => `
import pulumi from "@pulumi/pulumi";
class Environment extends pulumi.ComponentResource {
  constructor(name: string, args: object, options?: pulumi.ComponentResourceOptions) {
    const outputs = { organizations: undefined, teams: undefined, seeds: undefined, apps: undefined };
    super("microapps:index:Environment", name, { ...outputs, ...args }, options, true);
  }
}
${declared.map((each, at) => `const environment${at} = new Environment(${each}) as unknown as Record<string, unknown>;`).join("\n")}
export const { organizations, teams, seeds, apps } = environment0;
`;
const file = '"environment", { file: "dev.yaml" }';

let project: Project;
/** The program of the example, which has the class. */
let example: string;
beforeAll(async () => {
  project = await Project.environment();
  const settings = await project.read("../../Pulumi.yaml");
  const plugin = join(repository, "plugin");
  await project.write(
    "../../Pulumi.yaml",
    `${settings}\nplugins:\n  providers:\n    - { name: microapps, path: ${plugin} }\n`,
  );
  await project.succeed("stack init dev");
  example = await project.read("index.ts");
  await program(ofPlugin(file));
  await up();
});
afterAll(() => endedCleanly(project));

const program = (text: string): Promise<void> => project.write("index.ts", text);
const up = (): Promise<string> => project.succeed("up --yes --skip-preview");

/**
 * A resource without the parts that differ between kinds of provider and between runs: IDs, random digests, links of
 * generated apps.
 */
function plainly(resource: StateResource, names: ReadonlyMap<string, string>): object {
  const named = (value: unknown): unknown =>
    JSON.parse([...names].reduce((text, [id, name]) => text.replaceAll(id, name), JSON.stringify(value))) as unknown;
  const shown = (properties: Record<string, unknown>): object =>
    Object.fromEntries(Object.entries(properties).filter(([name]) => !name.startsWith("__") && name !== "drift"));
  const last = (urn: unknown): string => String(urn).split("::").at(-1) ?? "";
  return {
    type: String(resource["type"]).split(":").at(-1),
    parent: last(resource["parent"]),
    dependencies: resource.dependencies.map(last).toSorted(),
    outputs: named(shown(resource.outputs)),
    protect: resource["protect"],
  };
}

async function everything(): Promise<Record<string, object>> {
  const state = await project.state();
  const names = new Map<string, string>();
  for (const [name, { id, outputs }] of state) {
    if (id !== undefined && id.length > 8) names.set(id, `<${name}>`);
    for (const key of ["appID", "memberUserID"]) {
      if (typeof outputs[key] === "string") names.set(outputs[key], `<${key} of ${name}>`);
    }
  }
  return Object.fromEntries([...state].map(([name, resource]) => [name, plainly(resource, names)]));
}

describe("an Environment as a component of the plugin", () => {
  testInLong("is the same as the class of the SDK, resource by resource, and one becomes the other", async () => {
    await project.succeed("destroy --yes --skip-preview");
    await program(example);
    await up();
    const asClass = await everything();
    await project.succeed("destroy --yes --skip-preview");
    await program(ofPlugin(file));
    await up();
    const asComponent = await everything();
    expect(Object.keys(asComponent).toSorted()).toEqual(Object.keys(asClass).toSorted());
    expect(asComponent).toEqual(asClass);
    const types = [...(await project.state()).values()].map(({ type }) => String(type));
    expect(types.filter((type) => !type.startsWith("microapps:index:"))).toEqual([]);
    // Where resources come from would be lines of this package.
    expect(await project.stateText()).not.toContain("construct.js");
    expect(await changingCalls(project.platform, () => project.succeed("preview --expect-no-changes"))).toEqual([]);

    const ids = async (): Promise<(string | undefined)[]> =>
      [...(await project.state()).values()].map(({ id }) => id).toSorted();
    const before = await ids();
    await program(ofSdk("environment"));
    expect(
      (await project.steps("up --yes --skip-preview")).filter((step) => /create|delete|replace/.test(step)),
    ).toEqual([]);
    await project.succeed("preview --expect-no-changes --refresh");
    await program(ofPlugin(file));
    expect(await changingCalls(project.platform, up)).toEqual([]);
    await project.succeed("preview --expect-no-changes");
    expect(await ids()).toEqual(before);
    expect(await everything()).toEqual(asClass);
  });

  test("an edit of the file and one by hand show in a plain preview by name, and an up mends both", async () => {
    await project.succeed("refresh --yes --skip-preview");
    const id = (await project.state()).get("environment/acme/crew")?.id ?? "";
    await byHand(project.platform, (client) => client.updateteam({ teamID: id, teamInfo: { name: "By hand" } }));
    await project.edit("dev.yaml", "name: Support", "name: Helpers");
    const preview = await project.succeed("preview --diff");
    expect(preview).toContain('~ name: "By hand" => "Crew"');
    expect(preview).toContain('~ name: "Support" => "Helpers"');
    expect(await changingCalls(project.platform, up)).toEqual(["updateteam", "updateteam"]);
    await project.succeed("preview --expect-no-changes");
  });

  testInLong("options that engines leave to a component reach the things at their places", async () => {
    const withOptions = (options: object): Promise<void> => program(ofPlugin(`${file}, ${JSON.stringify(options)}`));
    await project.edit("dev.yaml", "name: Helpers", "name: Others");
    await project.edit("dev.yaml", "ada@example.com: admin", "ada@example.com: member");
    const [member, name] = [
      'organizations.acme.teams.crew.members["ada@example.com"].role',
      "organizations.acme.teams.*.name",
    ];
    await withOptions({ ignoreChanges: [member, name], customTimeouts: { create: "5m" } });
    await project.succeed("preview --expect-no-changes");
    await withOptions({ replaceOnChanges: [name], ignoreChanges: [member] });
    expect((await project.steps("preview")).filter((step) => step.includes("replace"))).not.toEqual([]);
    await withOptions({ ignoreChanges: ["organizations.acmee.name"] });
    const { status, output } = await project.run("preview");
    expect(status).not.toBe(0);
    expect(output).toContain(
      "ignoreChanges names organizations.acmee.name, which is no property of what the Environment",
    );
    await project.edit("dev.yaml", "name: Others", "name: Helpers");
    await project.edit("dev.yaml", "ada@example.com: member", "ada@example.com: admin");
    await program(ofPlugin(file));
  });

  test("what is wrong with a file is said with its place, before anything is sent", async () => {
    await project.edit("dev.yaml", "name: Helpers", "nme: Helpers");
    const calls = await changingCalls(project.platform, async () => {
      const { status, output } = await project.run("up --yes --skip-preview");
      expect(status).not.toBe(0);
      expect(output).toContain(
        "microapps:index:Environment resource 'environment' has a problem: environment dev.yaml has a problem:\n" +
          '      dev.yaml:15:9: unknown key "nme"; did you mean "name"?',
      );
    });
    expect(calls).toEqual([]);
    await project.edit("dev.yaml", "nme: Helpers", "name: Helpers");
  });

  testInLong("a new name keeps what there is by an alias, and the file may move", async () => {
    await program(ofPlugin('"renamed", { file: "moved/dev.yaml" }, { aliases: [{ name: "environment" }] }'));
    const text = await project.read("dev.yaml");
    await project.write("moved/dev.yaml", text.replace("extends: base.yaml", "extends: ../base.yaml"));
    expect(await changingCalls(project.platform, up)).toEqual([]);
    expect([...(await project.state()).keys()].filter((name) => !name.startsWith("renamed"))).toEqual([]);
    await project.succeed("preview --expect-no-changes");
  });

  testInLong("two components in one program stand beside each other", async () => {
    await project.write("apex.yaml", "organizations: { apex: { name: Apex, teams: { crew: { name: Other } } } }\n");
    const aliased = '"renamed", { file: "moved/dev.yaml" }, { aliases: [{ name: "environment" }] }';
    await program(ofPlugin(aliased, '"second", { file: "apex.yaml" }, { protect: true }'));
    expect(await changingCalls(project.platform, up)).toEqual(["insertorganization", "insertteam"]);
    const state = await project.state();
    expect(state.get("second/apex/crew")).toMatchObject({
      protect: true,
      dependencies: [state.get("second/apex")?.urn],
    });
    await program(ofPlugin(aliased, '"second", { declaration: {}, file: "dev.yaml" }'));
    const { output } = await project.run("preview");
    expect(output).toContain("declaration of an Environment is gone: write it to a file and name that");
    await program(ofPlugin(aliased, '"second", { fil: "dev.yaml" }'));
    expect((await project.run("preview")).output).toContain("fil is no input of an Environment: it has file");
  });
});
