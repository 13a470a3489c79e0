import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { changeSet, type ChangeSet } from "../../cli/changes/model/changeSet.ts";
import { sealRun } from "../../cli/changes/sealing/sealing.ts";
import { Folders, type Files } from "../../cli/changes/testing/twoFolders.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { dayVariable } from "../../machine/settings/today.ts";
import { Enforcement } from "../../provider/approval/enforcement.ts";
import { sealDigest, type Seal } from "../../provider/approval/seal.ts";
import { Use } from "../../provider/approval/used.ts";
import { settlePeople } from "../../provider/resources/members/declaredPeople.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { isLong } from "../harness/drawn.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { freshFolder, Project, repository } from "../harness/project.ts";
import { programs } from "./approvalFiles.ts";

const folders = new Folders();
const ownFolder = process.env["XDG_STATE_HOME"];
beforeAll(() => void (process.env["XDG_STATE_HOME"] = folders.make({}))); // of notes about approvals
afterEach(() => void Reflect.deleteProperty(process.env, dayVariable));
afterAll(() => {
  folders.remove();
  if (ownFolder === undefined) Reflect.deleteProperty(process.env, "XDG_STATE_HOME");
  else process.env["XDG_STATE_HOME"] = ownFolder;
});

const [monday, tuesday] = ["2026-11-23", "2026-11-24"];
const team = (content: string): Files => ({
  "env.yaml": `organizations:\n  acme:\n    name: Acme\n    teams:\n      crew:\n        name: Crew\n${content}`,
  "people.csv": `email,role,until\nada@example.com,admin,\neve@example.com,member,${monday}\n`,
});
const links = { organizationID: "o1", teamID: "t1" };

/** The seal of a run on a day, on a stack whose one resource below the team is applied. */
async function sealOn(
  day: string,
  files: Files,
  applied: { kind: string; name: string; values: object },
): Promise<Seal> {
  process.env[dayVariable] = day;
  const below = (kind: string, name: string, id: string, values: object) => ({
    ...{ kind, name: `environment/${name}`, id, values: { ...links, ...values } },
  });
  const resources = [
    { kind: "Environment", name: "environment", id: "", values: {} },
    below("Organization", "acme", "o1", { name: "Acme" }),
    below("Team", "acme/crew", "t1", { name: "Crew" }),
    below(applied.kind, applied.name, "t1/u1", applied.values),
  ];
  const seal = await sealRun({
    ...{ entry: { name: "dev", stack: "dev", file: "env.yaml", after: [] }, declared: folders.declared(files) },
    ...{ base: undefined, state: { resources, interrupted: 0 }, version: undefined, commit: "c0ffee" },
    ...{ code: "", endpoint: null, account: null, profile: null, unchangedSeeds: new Set<string>() },
  });
  if ("why" in seal) throw new Error(seal.why);
  return seal;
}

const cases = [
  {
    ...{ what: "a member", kind: "TeamMember", name: "acme/crew/eve@example.com" },
    files: team(`        members: { eve@example.com: { role: admin, until: ${monday} } }\n`),
    values: { email: "eve@example.com", role: "member", until: monday },
    inputs: { teamID: "t1", email: "eve@example.com", role: "admin", until: monday },
  },
  {
    ...{ what: "a roster of a file", kind: "TeamRoster", name: "acme/crew/roster" },
    files: team("        roster: { source: people.csv, maxRemovals: 1 }\n"),
    values: {
      source: "people.csv",
      maxRemovals: 0.5,
      members: { "ada@example.com": "admin", "eve@example.com": "member" },
    },
    inputs: { teamID: "t1", source: "people.csv", maxRemovals: 1 },
  },
  {
    ...{ what: "a roster", kind: "TeamRoster", name: "acme/crew/roster" },
    files: team(
      `        roster: { maxRemovals: 1, members: { ada@example.com: admin, eve@example.com: { role: member, until: ${monday} } } }\n`,
    ),
    values: { maxRemovals: 0.5, members: { "ada@example.com": "admin", "eve@example.com": "member" } },
    inputs: {
      ...{ teamID: "t1", maxRemovals: 1, members: { "ada@example.com": "admin", "eve@example.com": "member" } },
      until: { "eve@example.com": monday },
    },
  },
];

test.each(cases)("$what: what was approved before a last day has passed is refused after it", async (one) => {
  const { kind, name, files, values, inputs } = one;
  const resource = resourceNamed(kind);
  if (!resource) throw new Error(`there is no ${kind}`);
  const folder = folders.declared(files).folder;
  const seals = new Map([
    [monday, await sealOn(monday, files, { kind, name, values })],
    [tuesday, await sealOn(tuesday, files, { kind, name, values })],
  ]);
  const urn = `urn:pulumi:dev::p::microapps:index:Environment$microapps:index:${kind}::environment/${name}`;
  const run = async (sealed: string, day: string): Promise<void> => {
    const seal = seals.get(sealed);
    if (!seal) throw new Error(`no seal of ${sealed}`);
    const use = new Use(folder, `${sealed}-${day}`);
    const enforcement = new Enforcement({ seal, use }, { folder, project: folder }, "run", () => false);
    const checked = await settlePeople(kind, inputs, { directory: folder, day });
    enforcement.updates({ resource, urn }, "t1/u1", { ...links, ...values }, checked);
  };
  await run(monday, monday);
  await run(tuesday, tuesday);
  await expect(run(monday, tuesday)).rejects.toThrow("or somebody's last day has passed since");
  await expect(run(tuesday, monday)).rejects.toThrow("declared otherwise than in the approved report");
});

test("who leaves on a last day is an update of the run, and who comes back a new member", async () => {
  const files = (until: string): Files =>
    team(`        members: { eve@example.com: { role: member, until: ${until} } }\n`);
  const left = { email: "eve@example.com", role: "member", until: monday };
  const operations = async (day: string, until: string, values: object): Promise<unknown> => {
    const applied = { kind: "TeamMember", name: "acme/crew/eve@example.com", values };
    const { resources } = await sealOn(day, files(until), applied);
    return resources["TeamMember acme/crew/eve@example.com"]?.operations;
  };
  expect(await operations(monday, monday, left)).toEqual(["same"]);
  expect(await operations(tuesday, monday, left)).toEqual(["update"]);
  expect(await operations(tuesday, monday, { ...left, ended: true })).toEqual(["same"]);
  expect(await operations(tuesday, "2026-12-31", { ...left, ended: true })).toEqual(["replace"]);
});

const login = { email: "admin@example.com", password: "correct-horse" };

const declared = (bob: string, cyd: string): string => `organizations:
  acme:
    name: Acme
    teams:
      crew: { name: Crew, members: { bob@example.com: ${bob} } }
      watch: { name: Watch, roster: { maxRemovals: 1, members: { bob@example.com: member, cyd@example.com: ${cyd} } } }
`;

// Six commands each: of the same refusals as above.
const testedKinds = isLong ? (["dynamic", "plugin"] as const) : [];
for (const providerKind of testedKinds)
  describe(`by reports and runs with the ${providerKind} provider`, () => {
    let project: Project;
    let emulator: Emulator;
    let outside: string;
    beforeEach(async () => {
      emulator = await createEmulator({ seed: { administrator: login } });
      const given = Object.entries({ endpoint: emulator.url, ...login });
      const config = Object.fromEntries(given.map(([name, value]) => [`microapps:${name}`, value]));
      const plugins = { providers: [{ name: "microapps", path: join(repository, "plugin") }] };
      project = await Project.running("", config, providerKind === "plugin" ? { plugins } : {});
      outside = await freshFolder();
      const files = { "index.js": programs[providerKind], "dev.yaml": declared("member", "member") };
      for (const [file, text] of Object.entries({ ...files, "environments.yaml": "dev: { file: dev.yaml }\n" }))
        await project.write(file, text);
      await project.succeed("stack init dev");
      await project.succeed("up --yes --skip-preview");
      const git = (...words: string[]) => execFileSync("git", words, { cwd: project.folder });
      git("init", "--quiet", "--initial-branch=main");
      git(..."add index.js package.json dev.yaml environments.yaml Pulumi.yaml Pulumi.dev.yaml".split(" "));
      git(..."-c user.name=Tests -c user.email=tests@example.com commit --quiet -m first".split(" "));
      project.environment["MICROAPPS_APPROVAL_KEY"] = "a key that the apply job alone knows";
    });
    afterEach(async () => {
      rmSync(outside, { recursive: true, force: true });
      await endedCleanly(project, emulator);
    });

    /** The report of a day, approved. */
    async function approvedOn(day: string): Promise<{ file: string; report: ChangeSet }> {
      project.environment["MICROAPPS_TODAY"] = day;
      const file = join(outside, `${day}.json`);
      await project.succeed("report dev --format json --output", file);
      const report = changeSet.parse(JSON.parse(readFileSync(file, "utf8")));
      const seal = report.environments[0]?.seal;
      if (!seal || "why" in seal) throw new Error("there is no seal");
      await project.succeed("approve", file, "--expect", sealDigest(seal));
      return { file, report };
    }
    async function up(file: string) {
      const since = emulator.lastCall();
      const { status, output } = await project.run("up --yes --skip-preview --approved", file);
      return { status, output, sent: emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint) };
    }

    test("nobody leaves by a last day that passed after the report; the next one names them, and they go", async () => {
      const until = "until: 2026-11-23 }";
      await project.write("dev.yaml", declared(`{ role: admin, ${until}`, `{ role: member, ${until}`));
      const monday = await approvedOn("2026-11-23");
      project.environment["MICROAPPS_TODAY"] = "2026-11-24";
      expect(await up(monday.file)).toEqual({
        ...{ status: 2, sent: [] },
        output: expect.stringContaining("somebody's last day has passed since"),
      });
      const { file, report } = await approvedOn("2026-11-24");
      const changes = report.environments.flatMap(
        ({ pending }) => pending?.things.flatMap(({ changes }) => changes) ?? [],
      );
      const people = changes.map(({ op, name }) => `${op} ${name}`);
      expect(people.toSorted()).toEqual(["remove bob@example.com", "remove cyd@example.com"]);
      expect(await up(file)).toMatchObject({ status: 0, sent: ["deleteteammember", "deleteteammember"] });
      await project.succeed("preview --expect-no-changes");
    });
  });
