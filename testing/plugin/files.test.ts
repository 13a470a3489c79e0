import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { testInLong } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { byHand, changingCalls } from "../harness/platform.ts";
import { Project, runsInPulumi, repository } from "../harness/project.ts";

const head = "name: microapps-example\nbackend: { url: file://. }\n";
const plugin = `plugins: { providers: [{ name: microapps, path: ${join(repository, "plugin")} }] }\n`;
const outputs = ["organizations", "teams", "seeds", "apps"];

/** A project of files alone, which names the plugin for the Pulumi CLI. `more`: for the Environment. */
const files = (more = "", name = "environment"): string => `${head}runtime: yaml
${plugin}resources:
  ${name}:
    type: microapps:Environment
    properties: { file: "\${pulumi.stack}.yaml" }
${more}outputs:
${outputs.map((each) => `  ${each}: \${${name}.${each}}\n`).join("")}`;

const program = (text: string): Record<string, string> => ({
  "Pulumi.yaml": `${head}runtime: { name: nodejs, options: { typescript: false } }\nmain: index.ts\n${plugin}`,
  "index.ts": text,
});
const ofClass = `import { Environment } from "pulumi-microapps";
export const { ${outputs.join(", ")} } = new Environment("environment", { file: "dev.yaml" });
`;
let project: Project;
beforeAll(async () => {
  project = await Project.environment();
  await project.edit("platform.yaml", "Desks: number", "Desks: number\n      Plan: { type: file, id: plan }");
  await project.edit(
    "dev.yaml",
    "apps:",
    `    files: { plan-lisbon: { row: Lisbon, fieldID: plan, filename: lisbon.svg, size: 12 } }
notifications:
  welcome: { appID: { app: portal }, email: ada@example.com, message: The portal is there., triggers: { version: 1 } }
apps:`,
  );
  await declared(files());
  await project.succeed("stack init dev");
  await up();
});
afterAll(() => endedCleanly(project));

const changes = async (): Promise<string[]> =>
  (await project.steps("up --yes --skip-preview")).filter((step) => !step.startsWith("refresh"));
const up = (): Promise<string> => project.succeed("up --yes --skip-preview");
async function declared(written: string | Record<string, string>): Promise<void> {
  await rm(join(project.folder, "index.ts"), { force: true });
  const all = typeof written === "string" ? { "Pulumi.yaml": written } : written;
  for (const [file, text] of Object.entries(all)) await project.write(file, text);
}

/** What the Pulumi CLI does otherwise: it starts the plugin's folder, and knows the rest of Pulumi's YAML. */
const testEmbedded: typeof test | ((title: string) => void) = runsInPulumi ? () => undefined : test;

describe("a project of files alone", () => {
  test("an edit of the file and one by hand show in a plain preview by name, and an up mends both", async () => {
    const id = (await project.state()).get("environment/acme/crew")?.id ?? "";
    const theirs = await byHand(project.platform, async (client) => {
      await client.updateteam({ teamID: id, teamInfo: { name: "By hand" } });
      const { microAppRows } = await client.microappdata({ microAppID: "offices" });
      const lisbon = microAppRows.find(({ Name }) => Name === "Lisbon");
      await client.updatemicroapprow({ rowID: lisbon?._id ?? "", rowData: { Desks: 99 } });
      return client.insertmicroapprow({ microAppID: "offices", rowData: { Name: "Theirs", Desks: 1 } });
    });
    await project.edit("dev.yaml", "name: Support", "name: Helpers");
    const drift = 'rows edited by hand: 1 changed ("Lisbon": Desks 12 => 99); up repairs it';
    for (const command of ["preview --diff", "refresh --yes --skip-preview --diff", "preview --diff"]) {
      const told = await project.succeed(command);
      expect(told).toMatch(/~ name: ("By hand" => "Crew"|"Crew" => "By hand")/);
      expect(new Set(told.match(/rows edited by hand.*/g))).toEqual(new Set([drift]));
      if (command.startsWith("preview")) expect(told).toContain('~ name: "Support" => "Helpers"');
    }
    const told: string[] = [];
    const sent = await changingCalls(project.platform, async () => told.push(await up()));
    expect(sent).toEqual(["updatemicroapprow", "updateteam", "updateteam"]);
    expect(told.join("")).toMatch(/1 changed.*1 of others left alone/);
    await byHand(project.platform, (client) => client.removemicroapprow({ rowID: theirs.rowID }));
    await project.succeed("preview --expect-no-changes");
    await project.edit("dev.yaml", "name: Helpers", "name: Support");
    await up();
  });

  test("an edit by hand that the file declares since is done, in the preview as in the run", async () => {
    await byHand(project.platform, async (client) => {
      const { microAppRows } = await client.microappdata({ microAppID: "offices" });
      for (const { _id, Name } of microAppRows)
        if (Name !== "Nairobi") await client.updatemicroapprow({ rowID: _id, rowData: { Desks: 99 } });
    });
    await project.edit("dev.yaml", "Desks: 12", "Desks: 99");
    const told = await project.succeed("preview");
    expect(told).toMatch(/rows: 3 unchanged\n/);
    expect(told).toContain('rows edited by hand: 1 changed ("Osaka"); up repairs it');
    expect(await changingCalls(project.platform, up)).toEqual(["updatemicroapprow"]);
    await project.edit("dev.yaml", "Desks: 99", "Desks: 12");
    await up();
  });

  test("the preview of a roster on a team that is there says whom it takes out, and refuses too many", async () => {
    const members = "members:\n          ada@example.com: admin\n          grace@example.com: member";
    await project.edit("dev.yaml", members, "roster: { members: { alan@example.com: admin } }");
    expect((await project.run("preview")).output).toMatch(
      /2 of 2 members would be removed.*\n.*ada@example.com, grace@example.com/,
    );
    await project.edit("dev.yaml", "roster: {", "roster: { maxRemovals: 1,");
    const told = await project.succeed("preview");
    expect(told).toMatch(/members: 1 to add \(alan@.*\), 2 to remove \(ada@.*, grace@example.com\), 0 unchanged\n/);
    await project.edit("dev.yaml", "roster: { maxRemovals: 1, members: { alan@example.com: admin } }", members);
    await project.succeed("preview --expect-no-changes");
  });

  test("files on rows and notifications are declared, changed and taken back like the rest", async () => {
    const state = await project.state();
    expect(state.get("environment/offices/plan-lisbon")?.dependencies.length).toBeGreaterThan(0);
    await project.edit("dev.yaml", "size: 12", "size: 13");
    await project.edit("dev.yaml", "version: 1", "version: 2");
    expect(await changingCalls(project.platform, up)).toEqual(["microappchildUpdate", "sendnotification"]);
    await project.edit("dev.yaml", "plan-lisbon: {", "plan: { formerly: plan-lisbon,");
    expect(await changingCalls(project.platform, up)).toEqual([]);
    await project.edit("dev.yaml", "    files:", "    #");
    expect(await changingCalls(project.platform, up)).toEqual(["microappchildDelete"]);
  });

  test("goes on with the state of a program's class, through dynamic resources, and hands it back", async () => {
    const ids = async () => [...(await project.state()).values()].map(({ id }) => id).toSorted();
    const before = await ids();
    const types = async () => [...(await project.state()).values()].map(({ type }) => String(type));
    await declared(program(ofClass));
    // Each resource gets the provider by which the host of dynamic resources finds it: nothing is sent.
    expect(await changingCalls(project.platform, up)).toEqual([]);
    expect((await types()).filter((type) => type.startsWith("microapps:"))).toEqual(["microapps:index:Environment"]);
    await declared(files());
    await project.succeed("preview --expect-no-changes");
    expect(await changingCalls(project.platform, up)).toEqual([]);
    expect((await types()).filter((type) => !type.startsWith("microapps:"))).toEqual([]);
    expect(await ids()).toEqual(before);
  });

  testInLong("is what a program's class is that the plugin serves, and both go on with one state", async () => {
    const resources = async () =>
      [...(await project.state())].map(([name, { type, id, inputs }]) => [name, type, id, inputs]).toSorted();
    const before = await resources();
    await declared(program(ofClass));
    await project.succeed("config set microapps:providerKind plugin");
    expect(await changingCalls(project.platform, () => project.succeed("preview --expect-no-changes"))).toEqual([]);
    expect(await changingCalls(project.platform, up)).toEqual([]);
    expect(await resources()).toEqual(before);
    await project.succeed("config rm microapps:providerKind");
    await declared(files());
    await project.succeed("preview --expect-no-changes");
  });

  testEmbedded("runs nothing of its folder", async () => {
    const trap = `require("node:fs").writeFileSync(${JSON.stringify(join(project.folder, "ran"))}, "");\n`;
    await declared(files().replace(join(repository, "plugin"), "./plugin"));
    for (const file of ["index.js", "plugin/start.js", "plugin/index.js", "node.js"]) await project.write(file, trap);
    await project.write("plugin/pulumi-resource-microapps", `#!/bin/sh\ntouch ${join(project.folder, "ran")}\n`);
    await project.write("package.json", '{ "main": "index.js", "scripts": { "preinstall": "node index.js" } }');
    await project.edit("dev.yaml", "name: Support", "name: Helpers");
    expect(await changes()).toEqual(["update environment/acme/support"]);
    await project.succeed("refresh --yes --skip-preview");
    expect(existsSync(join(project.folder, "ran"))).toBe(false);
    await project.edit("dev.yaml", "name: Helpers", "name: Support");
    await up();
  });

  test("has options as Pulumi has them, and a new name by an alias", async () => {
    const options = `    options:
      protect: true
      aliases: [{ name: environment }]
      ignoreChanges: ["organizations.acme.teams.*.name"]
`;
    await declared(files(options, "renamed"));
    await project.edit("dev.yaml", "name: Support", "name: Helpers");
    expect(await changingCalls(project.platform, up)).toEqual([]);
    const state = await project.state();
    expect([...state.keys()].filter((name) => !name.startsWith("renamed"))).toEqual([]);
    expect(state.get("renamed/acme/crew")).toMatchObject({ protect: true, ignoreChanges: ["name"] });
    await declared(files("    options: { aliases: [{ name: renamed }] }\n"));
    expect(await changes()).toEqual(["update environment/acme/support"]);
    await project.edit("dev.yaml", "name: Helpers", "name: Support");
    await declared(files());
    await up();
  });

  test("an Environment waits for the one that it depends on, and outputs are parts of them", async () => {
    await project.write("apex.yaml", "organizations: { apex: { name: Apex, teams: { crew: { name: Other } } } }\n");
    const second = `  second:
    type: microapps:index:Environment
    properties: { file: apex.yaml }
    options: { dependsOn: ["\${environment}"] }
`;
    const more = '  crew: ${second.teams["apex/crew"]}\n  apex: ${second.organizations.apex}\n';
    await declared(files(second) + more);
    const preview = await project.succeed("preview");
    expect(preview).toContain("second/apex/crew");
    expect(await changingCalls(project.platform, up)).toEqual(["insertorganization", "insertteam"]);
    const state = await project.state();
    expect(state.get("second")).toMatchObject({ dependencies: [state.get("environment")?.urn] });
    const { crew, apex } = JSON.parse(await project.succeed("stack output --json")) as Record<string, string>;
    expect([crew, apex]).toEqual([state.get("second/apex/crew")?.id, state.get("second/apex")?.id]);
    await declared(files());
    expect(await changingCalls(project.platform, up)).toEqual(["deleteorganization", "deleteteam"]);
  });

  testEmbedded("refuses a retained organization whose key changed in a preview, as up does", async () => {
    const apex = (key: string) => `organizations: { ${key}: { name: Apex, retain: true } }\n`;
    await project.write("apex.yaml", apex("apex"));
    await declared(files("  second: { type: microapps:Environment, properties: { file: apex.yaml } }\n"));
    await up();
    await project.write("apex.yaml", apex("summit"));
    for (const command of ["preview", "up --yes --skip-preview"])
      expect(await project.run(command)).toMatchObject({
        status: 1,
        output: expect.stringContaining('say so under "summit": formerly: ["apex"]') as unknown,
      });
    await declared(files());
    expect(await changingCalls(project.platform, up)).toEqual([]);
  });

  testEmbedded("refuses everything else by name, before anything is sent", async () => {
    const refusals: [string, string][] = [
      [files().replace("microapps:Environment", "random:RandomId"), 'resources.environment.type is "random:RandomId"'],
      [files().replace("microapps:Environment", "microapps:Team"), 'resources.environment.type is "microapps:Team"'],
      [`${files()}variables: { a: 1 }\n`, 'it has "variables"'],
      [`${files()}main: program\n`, 'it has "main"'],
      [files("    options: { version: 1.0.0 }\n"), 'resources.environment.options has "version"'],
      [files('    options: { dependsOn: ["${other}"] }\n'), 'resources.environment depends on "other"'],
      [files('    options: { dependsOn: ["${environment}"] }\n'), "resources.environment depends on itself"],
      [files("    get: { id: a }\n"), 'resources.environment has "get"'],
      [files().replace("${pulumi.stack}", "${name}"), "resources.environment.properties.file has an expression"],
      [`${files()}  url: https://\${environment.apps}\n`, "outputs.url is not a part of an Environment"],
      [`${head}runtime: yaml\n`, "it has no resources"],
    ];
    for (const [text, reason] of refusals) {
      await declared(text);
      const calls = await changingCalls(project.platform, async () => {
        const { status, output } = await project.run("up --yes --skip-preview");
        expect({ status, output }).toMatchObject({ status: 1 });
        expect(output).toContain(reason);
        expect(output).toContain("the Pulumi CLI runs it");
      });
      expect(calls).toEqual([]);
    }
    await declared(files().replace("{ file:", "{ fil:"));
    expect((await project.run("preview")).output).toContain("properties.file is no text");
    await declared(files());
    await project.edit("dev.yaml", "name: Support", "nme: Support");
    expect((await project.run("preview")).output).toContain(
      "microapps:index:Environment resource 'environment' has a problem: environment dev.yaml has a problem:\n" +
        '      dev.yaml:15:9: unknown key "nme"; did you mean "name"?',
    );
    await project.edit("dev.yaml", "nme: Support", "name: Support");
  });
});
