import { afterAll, beforeAll, expect } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "../../../provider/client/index.ts";
import { loadFacts } from "../../../provider/conformance/load.ts";
import { sampleStories } from "../../../testing/harness/drawn.ts";
import { parts } from "./rehearsal/parts.ts";
import { screenOf } from "./rendering.ts";
import { account, Stand } from "./testing/stand.ts";

const test = sampleStories();

let stand: Stand;
beforeAll(async () => (stand = await Stand.open()));
afterAll(() => stand.close());

const some = (...beginnings: string[]): ReturnType<typeof loadFacts> =>
  loadFacts().filter(({ id }) => beginnings.some((each) => id.startsWith(each)));

test("on the emulator every fact holds that was tried, and nothing is left", async () => {
  const { status, outcome } = await stand.verify();
  if (!outcome) throw new Error("there is no outcome");
  expect(outcome).toMatchObject({
    version: 1,
    status: 0,
    stack: null,
    platform: stand.emulator.url,
    changes: null,
    left: [],
  });
  expect(outcome.differences).toEqual([]);
  expect(outcome.answer).toMatchObject({ works: "yes", settings: [], missing: [] });
  expect(outcome.answer.resources.map(({ status }) => status)).toEqual(parts.map(() => "works"));
  expect(outcome.profile).toEqual({
    ...{ version: 1, platform: stand.emulator.url, seenAt: new Date().toISOString().slice(0, 10) },
    ...{ habits: {}, limits: {}, wireNames: {}, statusWords: {} },
  });
  expect(status).toBe(0);
  const reasons = new Set(outcome.notTried.map(({ why }) => why.replace(/:.*/, "")));
  expect([...reasons].sort()).toEqual(["it needs an emulator", "the sandbox has no manyRows"]);
  const { all, endpoints, evidence } = outcome.score;
  expect(all.holds + all.notTried).toBe(loadFacts().length);
  for (const tallies of [endpoints, evidence]) {
    expect(tallies.reduce((sum, { holds }) => sum + holds, 0)).toBe(all.holds);
  }
  expect(stand.differences()).toEqual([]);
  const screen = screenOf(outcome, 80);
  expect(screen.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(screen).toMatch(/^It works on http:\S+ as it is\.\n\nworks {4}Organization makes, renames and deletes/);
  expect(screen).toMatch(/^endpoint +holds +differs +not tried$/m);
  expect(screen).toMatch(/Facts: \d+ hold, \d+ not tried\. Nothing differs\. \d+ requests in run\s+mv[0-9a-f]{10}\.$/);
});

test("a difference says what was expected and seen, what it means, and what adapts", async () => {
  stand.emulator.setProfile({ version: 1, habits: { roleChange: "ignored", memberForm: "ids" } });
  const facts = some("updateteammember", "teammembers");
  const first = await stand.verify({ writeProfile: "platform-profile.yaml" }, { facts });
  expect(first.status).toBe(3);
  expect(first.errors).toContain("Wrote platform-profile.yaml.");
  expect(first.outcome?.differences.map(({ habit, adapts }) => [habit?.name, habit?.value, adapts.text])).toEqual([
    ["roleChange", "ignored", "Nothing adapts: TeamMember refuses by name."],
    ["memberForm", "ids", "The client takes all forms by itself."],
  ]);
  const written = await stand.read("platform-profile.yaml");
  expect(written).toContain("habits:\n  memberForm: ids\n  roleChange: ignored\n");

  // Held against the profile, nothing has changed until the platform does. What is missing stays missing.
  const profile = "platform-profile.yaml";
  expect(await stand.verify({ profile }, { facts })).toMatchObject({ status: 3, outcome: { changes: [] } });
  stand.emulator.setProfile({ version: 1, habits: { memberForm: "ids" } });
  const changed = await stand.verify({ profile }, { facts });
  expect(changed).toMatchObject({
    status: 3,
    outcome: { changes: [{ what: "roleChange", before: "ignored", now: "yes" }] },
  });
  const refusal = "platform-profile.yaml is there and says something else: it stays as it is; --force writes over it";
  await expect(stand.verify({ writeProfile: profile }, { facts })).rejects.toThrow(refusal);
  expect(await stand.read(profile)).toBe(written);
  // Untried habits stay those of the profile.
  await stand.verify({ profile, writeProfile: profile, force: true }, { facts: some("login") });
  expect(await stand.read(profile)).toBe(written);
  await stand.verify({ profile, writeProfile: profile, force: true }, { facts });
  expect(await stand.read(profile)).not.toContain("roleChange");
  stand.emulator.setProfile();
});

test("what facts leave is removed in the form that they found", async () => {
  stand.emulator.setProfile({ version: 1, habits: { teamParameter: "teamID" } });
  // The facts' own removals are refused: a client that asks by teamIDs could not list who stands in the way.
  stand.emulator.setFaults({
    faults: [{ kind: "status", endpoint: ["deleteteammember", "deleteteam"], status: 400, count: 9 }],
  });
  const { outcome } = await stand.verify({}, { facts: some("insertteammembers", "insertteam", "teammembers") });
  expect(stand.emulator.faults()[0]?.hit).toBe(9);
  expect(outcome?.left).toEqual([]);
  expect(stand.differences()).toEqual([]);
  stand.emulator.setFaults();
  stand.emulator.setProfile();
});

test("a status word that is not known is shown, and written as the client takes it, for a person to say more", async () => {
  const facts = some("createappwithpromptStatus");
  stand.emulator.setProfile({ version: 1, statusWords: { kneading: "pending" } });
  const { outcome } = await stand.verify({}, { facts });
  expect(outcome?.differences).toMatchObject([
    {
      ...{ fact: "createappwithpromptStatus: known words", habit: null, seen: 'status: "kneading"' },
      adapts: { by: "setting", text: expect.stringContaining("statusWords") as unknown },
    },
  ]);
  expect(outcome?.profile.statusWords).toEqual({ kneading: "pending" });
  stand.emulator.setProfile(outcome?.profile);
  expect((await stand.verify({}, { facts })).outcome?.score).toEqual(outcome?.score);
  stand.emulator.setProfile();
});

test("limits are found up to as many rows as may be inserted", async () => {
  stand.emulator.setProfile({ version: 1, limits: { defaultLimit: 5, maximumLimit: 9, maximumBatch: 7 } });
  const { outcome } = await stand.verify({ rows: "12" }, { facts: [] });
  expect(outcome?.profile.limits).toMatchObject({ defaultLimit: 5, maximumBatch: 7 });
  stand.emulator.setProfile();
  expect(stand.differences()).toEqual([]);
});

const step = (call: string, request: object): string => JSON.stringify({ call, with: request });

test("facts of a file reach nothing outside of the sandbox", async () => {
  const client = createClient({ endpoint: stand.emulator.url, ...account });
  const { rowID } = await client
    .insertmicroapprow({ microAppID: "bed-cities", rowData: {}, embeddingRowID: undefined })
    .catch(() => ({ rowID: "row-of-others" }));
  const theirs = await client.insertorganization({ organizationInfo: { name: "Theirs" } });
  await client.insertteam({ teamInfo: { organizationID: theirs.organizationID, _id: "team-of-others", name: "Crew" } });
  await client.close();
  stand.emulator.saveSnapshot("before");
  const steps = [
    step("updateorganization", { organizationID: theirs.organizationID, organizationInfo: { name: "Ours" } }),
    step("deleteorganization", { organizationID: theirs.organizationID }),
    step("deleteteam", { teamID: "team-of-others" }),
    step("insertteam", { teamInfo: { organizationID: theirs.organizationID, name: "Spies" } }),
    step("insertteammembers", { teamIDs: ["team-of-others"], emails: ["$invitee.email"] }),
    step("insertteammembers", { teamIDs: ["team-of-others"], userIDs: ["$other.userID"] }),
    step("updatemicroapprow", { rowID, rowData: { Name: "x" } }),
    step("removemicroapprow", { rowID }),
    step("insertmicroapprow", { microAppID: "another-table", rowData: { Code: "x" } }),
    step("sendnotification", { appID: "$app", email: "boss@corp.test", message: "Hello" }),
    step("createappwithprompt", { userEmail: "boss@corp.test", appPrompt: "An app" }),
    step("enforceteammembership", { teamIDs: [], email: "$admin.email" }),
  ];
  steps.push(
    `{ call: login, with: { email: $admin.email, password: $admin.password }, keep: { token: authToken } }, ` +
      step("insertmicroapprow", { microAppID: "$countries", rowData: { Name: "${token}!" } }),
  );
  const yaml = steps.map((each, index) => {
    const name = /call\W+(\w+)/.exec(each)?.[1] ?? "";
    return `  "${name}: ${index}": { rule: x, evidence: { kind: assumed, place: x }, steps: [${each}] }`;
  });
  await writeFile(join(stand.folder, "theirs.yaml"), `version: 1\nfacts:\n${yaml.join("\n")}\n`);
  const since = stand.emulator.lastCall();
  const { outcome } = await stand.verify({ facts: ["theirs.yaml"] }, { facts: [] });
  expect(outcome?.notTried).toHaveLength(steps.length);
  for (const { why } of outcome?.notTried ?? []) expect(why).toMatch(/^it would touch /);
  const sent = new Set(stand.emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint));
  expect(
    [...sent].filter((name) =>
      ["updateorganization", "deleteteam", "insertteam", "sendnotification", "updatemicroapprow"].includes(name),
    ),
  ).toEqual([]);
  expect(stand.differences()).toEqual([]);
});

test("a run in an organization that is there leaves it, and makes none", async () => {
  const facts = some("insertteam", "insertorganization", "deleteteam");
  const { outcome } = await stand.verify({ new: false, in: stand.organization }, { facts });
  expect(outcome).toMatchObject({ status: 0, left: [] });
  const none = outcome?.notTried.filter(({ fact }) => fact.startsWith("insertorganization")) ?? [];
  expect(none).toHaveLength(some("insertorganization").length);
  // Its team of all members keeps the people of the sandbox; no call lists that team by its ID.
  expect(stand.differences()).toEqual([{ table: "members", added: expect.any(Array), removed: [], changed: [] }]);
});
