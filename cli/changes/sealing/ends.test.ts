import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { dayVariable } from "../../../machine/settings/today.ts";
import { Enforcement } from "../../../provider/approval/enforcement.ts";
import type { Seal } from "../../../provider/approval/seal.ts";
import { Use } from "../../../provider/approval/used.ts";
import { settlePeople } from "../../../provider/resources/members/declaredPeople.ts";
import { resourceNamed } from "../../../provider/resources/resources.ts";
import { Folders, type Files } from "../testing/twoFolders.ts";
import { sealRun } from "./sealing.ts";

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
