import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { cp, rm } from "node:fs/promises";
import { sampleOf } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { temporaryFolder } from "../harness/folders.ts";
import { byHand, changingCalls } from "../harness/platform.ts";
import { Project, runsInPulumi } from "../harness/project.ts";

let project: Project;
/** What each test begins with: `dev` as it was brought up, or a stack with nothing on it. */
const begun = { dev: temporaryFolder(), nothing: temporaryFolder() };
beforeAll(async () => {
  project = await Project.environment();
  await project.succeed("stack init dev");
  await cp(project.folder, begun.nothing, { recursive: true });
  await project.write("dev.yaml", dev);
  await project.succeed("up --yes --skip-preview");
  await cp(project.folder, begun.dev, { recursive: true });
});
afterAll(() => endedCleanly(project));
async function begin(from: string): Promise<void> {
  await rm(project.folder, { recursive: true });
  await cp(from, project.folder, { recursive: true });
}
beforeEach(() => begin(begun.dev));

/** IDs of all resources but seeds, whose IDs are their tables. */
async function ids(): Promise<string[]> {
  return [...(await project.state()).values()].map(({ id = "" }) => id).toSorted();
}

const dev = `extends: base.yaml
organizations:
  acme:
    name: Acme
    teams:
      crew: { name: Crew, members: { ada@example.com: admin, grace@example.com: member } }
      support: { name: Support, roster: { members: { kay@example.com: member } } }
seeds:
  offices:
    table: offices
    key: Name
    references: { Country: { seed: countries } }
    rows: [{ Name: Lisbon, Country: PT, Desks: 12 }, { Name: Osaka, Country: JP, Desks: 8 }]
    teamViewers: [{ team: acme/crew }]
apps:
  portal: { userEmail: admin@example.com, appPrompt: A portal. }
`;

test("keys of organizations, teams, seeds and apps change at once, once more and back again, and nothing is sent", async () => {
  const before = await ids();
  const renamed = dev
    .replace("  acme:\n", "  apex:\n    formerly: acme\n")
    .replace("crew: {", "core: { formerly: [crew],")
    .replace("support: {", "desk: { formerly: [helpdesk, support],")
    .replace("  offices:\n", "  branches:\n    formerly: offices\n")
    .replace("portal: {", "gate: { formerly: portal,")
    .replace("acme/crew", "apex/core");
  await project.write("dev.yaml", renamed);
  expect(await project.succeed("preview --expect-no-changes")).not.toMatch(/create|delete/);
  expect(await changingCalls(project, () => project.succeed("up --yes --skip-preview"))).toEqual([]);
  expect(await ids()).toEqual(before);
  expect([...(await project.state()).keys()].toSorted()).toEqual([
    "environment",
    "environment/apex",
    "environment/apex/core",
    "environment/apex/core/ada@example.com",
    "environment/apex/core/grace@example.com",
    "environment/apex/desk",
    "environment/apex/desk/roster",
    "environment/branches",
    "environment/countries",
    "environment/currencies",
    "environment/gate",
    "environment/gate-ready",
  ]);

  // Twice more, with an edit; a stack that has not seen the key between them is served as well.
  await project.write(
    "dev.yaml",
    renamed
      .replace("  apex:\n    formerly: acme", "  zenith:\n    formerly: [apex, acme]")
      .replace("branches:\n    formerly: offices", "sites:\n    formerly: [branches, offices]")
      .replace("apex/core", "zenith/core")
      .replace("name: Crew", "name: Core"),
  );
  expect(await project.changes("preview")).toEqual(["update environment/zenith/core"]);
  expect(await changingCalls(project, () => project.succeed("up --yes --skip-preview"))).toEqual(["updateteam"]);
  expect(await ids()).toEqual(before);

  await project.write(
    "dev.yaml",
    dev
      .replace("  acme:\n", "  acme:\n    formerly: zenith\n")
      .replace("crew: {", "crew: { formerly: core,")
      .replace("support: {", "support: { formerly: desk,")
      .replace("  offices:\n", "  offices:\n    formerly: sites\n")
      .replace("portal: {", "portal: { formerly: gate,"),
  );
  expect(await changingCalls(project, () => project.succeed("up --yes --skip-preview"))).toEqual(["updateteam"]);
  expect(await ids()).toEqual(before);
  await project.write("dev.yaml", dev); // done everywhere
  await project.succeed("preview --expect-no-changes --refresh");
});

test("a key that changed without it is hinted at by the preview", async () => {
  const renamed = dev.replace("  offices:\n", "  branches:\n");
  await project.write("dev.yaml", renamed.replaceAll("crew: {", "core: {").replaceAll("acme/crew", "acme/core"));
  const hints = [
    'perhaps "offices" is "branches" now: to keep it the same thing, add "formerly: offices" under seeds.branches. ' +
      'Without it, 2 rows stay for "branches" and none is removed',
    'perhaps "crew" is "core" now: to keep it the same thing, add "formerly: crew" under organizations.acme.teams.core. ' +
      "Without it, it is another team, and the first one goes with all that is in it",
  ];
  const preview = await project.succeed("preview");
  expect(preview).toContain("rows: 2 to take over from another seed");
  expect(preview).not.toMatch(/\d+ to add/);
  const shown = preview.split("\n").flatMap((line) => /perhaps .*/.exec(line) ?? []);
  expect([...new Set(shown)].toSorted()).toEqual(hints.toSorted());
  // They are true.
  await project.write("dev.yaml", renamed);
  expect(await changingCalls(project, () => project.succeed("up --yes --skip-preview"))).toEqual([]);
});

test("an organization's key that changed without it is refused, with the line to write; undone or written, nothing is sent", async () => {
  const before = await ids();
  await project.write("dev.yaml", dev.replace("  acme:\n", "  apex:\n").replace("acme/crew", "apex/crew"));
  for (const command of ["preview", "up --yes --skip-preview"]) {
    const refused = await changingCalls(project, async () => {
      const { status, output } = await project.run(command);
      expect([command, status, output]).toEqual([
        command,
        1,
        expect.stringContaining('the name "Acme" is that of organization "acme", which leaves the program') as unknown,
      ]);
      expect(output).toContain(
        'nothing was sent. If its key "acme" became "apex", say so under "apex": formerly: ["acme"]',
      );
      expect(output).not.toMatch(/^\s+at /m);
    });
    expect(refused).toEqual([]);
  }
  await project.write("dev.yaml", dev);
  await project.succeed("preview --expect-no-changes");
  await project.write(
    "dev.yaml",
    dev.replace("  acme:\n", "  apex:\n    formerly: [acme]\n").replace("acme/crew", "apex/crew"),
  );
  expect(await changingCalls(project, () => project.succeed("up --yes --skip-preview"))).toEqual([]);
  expect(await ids()).toEqual(before);
  await project.succeed("preview --expect-no-changes --refresh");
  await byHand(project.platform, async (client) => {
    const teamID = (await project.state()).get("environment/apex/crew")?.id ?? "";
    expect((await client.teammembers({ teamIDs: [teamID] })).teamMembers).toHaveLength(3);
  });
});

test("whoever has retain stays in the team when the declaration goes, once an up has saved that", async () => {
  const retained = dev
    .replace("grace@example.com: member", "grace@example.com: { role: member, retain: true }")
    .replace("roster: {", "roster: { retain: true,");
  await project.write("dev.yaml", retained);
  expect(await changingCalls(project, () => project.succeed("up --yes --skip-preview"))).toEqual([]);
  const without = dev
    .replace("ada@example.com: admin, grace@example.com: member", "")
    .replace(/, roster: .*\n/, " }\n");
  await project.write("dev.yaml", without);
  // Ada has not got it.
  const calls = await changingCalls(project, () => project.succeed("up --yes --skip-preview"));
  expect(calls).toEqual(["deleteteammember"]);
  expect([...(await project.state()).keys()].filter((name) => /@|roster/.test(name))).toEqual([]);
});

test("a seed and an organization with retain leave the file, and all that is in them stays", async () => {
  const retained = dev
    .replace("    table: offices", "    retain: true\n    table: offices")
    .replace("acme:", "acme:\n    retain: true");
  await project.write("dev.yaml", retained);
  await project.succeed("up --yes --skip-preview");
  const calls = changingCalls(project, async () => {
    await project.write("dev.yaml", "extends: base.yaml\n");
    await project.succeed("up --yes");
  });
  expect(await calls).toEqual([]);
  expect([...(await project.state()).keys()].filter((name) => /offices|acme/.test(name))).toEqual([]);
});

const single = `import { GeneratedApp, Organization, SeedRows, Team, TeamMember, TeamRoster } from "pulumi-microapps";
const acme = new Organization("acme", { name: "Acme" });
const team = (key, name) => new Team(key, { organizationID: acme.id, name });
new TeamMember("ada", { teamID: team("crew", "Crew").id, email: "ada@example.com", role: "admin" });
new TeamRoster("helpers", { teamID: team("support", "Support").id, members: { "kay@example.com": "member" } });
const countries = new SeedRows("countries", { table: "countries", key: ["Code"], rows: [{ Code: "PT", Name: "Portugal" }] });
const rows = [{ Name: "Lisbon", Country: "PT", Desks: 12 }];
new SeedRows("offices", { table: "offices", key: ["Name"], rows, references: { Country: countries } });
new GeneratedApp("portal", { userEmail: "admin@example.com", appPrompt: "A portal." });
`;

const asFile = `organizations: { acme: { name: Acme, <Organization acme> teams: {
  crew: { name: Crew, <Team crew> members: { ada@example.com: { role: admin, <TeamMember ada> } } },
  support: { name: Support, <Team support> roster: { <TeamRoster helpers> members: { kay@example.com: member } } } } } }
seeds:
  countries: { table: countries, key: Code, <SeedRows countries> rows: [{ Code: PT, Name: Portugal }] }
  offices:
    { table: offices, key: Name, <SeedRows offices> references: { Country: { seed: countries } },
      rows: [{ Name: Lisbon, Country: PT, Desks: 12 }] }
apps: { portal: { userEmail: admin@example.com, <GeneratedApp portal> appPrompt: A portal. } }
`;

test.each(sampleOf(["files", "a program"], 1))(
  "single resources become an Environment of %s: the preview names the lines, and nothing is sent",
  async (kind) => {
    await begin(begun.nothing);
    const files = await project.read("Pulumi.yaml");
    const nodejs = "runtime: { name: nodejs, options: { typescript: false } }\nmain: index.js";
    const program = files.replace("runtime: yaml", nodejs).replace(/^(resources|outputs):\n(?: .*\n)+/gm, "");
    const written = { "Pulumi.yaml": program, "package.json": '{ "type": "module" }', "index.js": single };
    for (const [file, text] of Object.entries(written)) await project.write(file, text);
    await project.succeed("up --yes --skip-preview");
    const before = await ids();
    const environment = `new Environment("environment", { file: "dev.yaml" });`;
    if (kind === "files") await project.write("Pulumi.yaml", files);
    else await project.write("index.js", `import { Environment } from "pulumi-microapps";\n${environment}\n`);
    const lines = new Map<string, string>();
    const write = () =>
      project.write(
        "dev.yaml",
        asFile.replaceAll(/<.*?>/g, (mark) => lines.get(mark) ?? ""),
      );
    await write();
    const rounds = [["Organization"], ["Team", "SeedRows", "GeneratedApp"], ["TeamMember", "TeamRoster"]];
    for (const [round, kinds] of rounds.entries()) {
      // Each preview of the embedded engine names the lines that can be known by then; of a program the first one is read.
      const isRead = !runsInPulumi && (kind === "files" || round === 0);
      const { output } = isRead ? await project.run("preview") : { output: "" };
      for (const [mark, type = "", name = ""] of asFile.matchAll(/<(\w+) (\w+)>/g)) {
        if (!kinds.includes(type)) continue;
        const urn = `urn:pulumi:dev::microapps-example::pulumi-nodejs:dynamic/microapps:${type}::${name}`;
        if (isRead) expect(output).toContain(`formerly: ${urn}`);
        lines.set(mark, `formerly: "${urn.replace("dev", "any")}",`);
      }
      await write();
    }
    expect(await project.changes("preview")).toEqual(["create environment"]); // the name that all is below
    expect(await changingCalls(project, () => project.succeed("up --yes --skip-preview"))).toEqual([]);
    expect((await ids()).filter((id) => id !== "")).toEqual(before);
    lines.clear();
    await write();
    await project.succeed("preview --expect-no-changes --refresh");
  },
);
