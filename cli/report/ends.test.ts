import { afterAll, afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { dayVariable } from "../../machine/today.ts";
import { checkEnvironment } from "../../provider/environment/checks.ts";
import { declaration } from "../../provider/environment/declaration.ts";
import { things } from "../../provider/environment/things.ts";
import { describeEnds, peopleByHand, planPutBack } from "./drift.ts";
import { pending } from "./section.ts";
import { stateOf } from "./state.ts";
import { stateUrn } from "./testing/made.ts";
import { type Files, Folders } from "./testing/twoFolders.ts";

const folders = new Folders();
afterAll(() => folders.remove());
beforeEach(() => void (process.env[dayVariable] = "2026-11-23"));
afterEach(() => void Reflect.deleteProperty(process.env, dayVariable));

const roster = (content: string, more: Files = {}): Files => ({
  "env.yaml": `organizations:\n  acme:\n    name: Acme\n    teams:\n      crew:\n        name: Crew\n        roster: { ${content} }\n`,
  ...more,
});
const list = (...lines: string[]): Files => ({
  "lists/people.csv": ["email,role,until,team", ...lines, ""].join("\n"),
});
const source = "source: lists/people.csv, team: crew";
const root = "urn:pulumi:prod::project::microapps:index:Environment";

/** The changes that an up makes to a team that has these members. */
async function ahead(files: Files, members: Record<string, string>, applied: object = {}) {
  const below = (kind: string, name: string, id: string, values: object) => ({
    ...{ urn: stateUrn(root, kind, `environment/${name}`), type: `microapps:index:${kind}` },
    ...{ custom: true, id, outputs: values },
  });
  const resources = [
    below("Organization", "acme", "o1", { name: "Acme" }),
    below("Team", "acme/crew", "t1", { name: "Crew", organizationID: "o1" }),
    below("TeamRoster", "acme/crew/roster", "t1", {
      ...{ teamID: "t1", members, userIDs: Object.keys(members).toSorted() },
      ...{ mode: "authoritative", maxRemovals: 0.25, keepSelf: true, ...applied },
    }),
    { urn: `${root}::environment`, type: "microapps:index:Environment", custom: false },
  ];
  const section = await pending(stateOf(JSON.stringify({ deployment: { resources } })), folders.declared(files));
  return section.things.flatMap(({ changes }) => changes.map(({ op, name }) => `${op} ${name}`));
}

describe("people with an end", () => {
  test("a person whose last day has passed is a removal of the next up, and none before", async () => {
    const files = roster("members: { a@x.org: admin, e@x.org: { role: member, until: 2026-11-23 } }");
    const members = { "a@x.org": "admin", "e@x.org": "member" };
    const applied = { until: { "e@x.org": "2026-11-23" } };
    expect(await ahead(files, members, applied)).toEqual([]);
    process.env[dayVariable] = "2026-11-24";
    expect(await ahead(files, members, applied)).toEqual(["remove e@x.org"]);
    expect(await ahead(files, { "a@x.org": "admin" }, applied)).toEqual([]);
  });

  test("people of a list come and go with its lines; other teams' lines are nobody's here", async () => {
    const files = roster(source, list("a@x.org,admin,,crew", "e@x.org,,2026-11-22,crew", "z@x.org,,,other"));
    const applied = { source: "lists/people.csv", team: "crew" };
    expect(await ahead(files, { "a@x.org": "admin", "e@x.org": "member" }, applied)).toEqual(["remove e@x.org"]);
    expect(await ahead(files, {}, applied)).toEqual(["add a@x.org"]);
  });

  test("an end that a file adds, moves or takes back is a change of the person", async () => {
    const ending = (until: string): Files => roster(`members: { e@x.org: { role: member, until: ${until} } }`);
    const without = roster("members: { e@x.org: member }");
    const added = await folders.thing(without, ending("2026-12-31"));
    expect(added.changes).toMatchObject([
      { op: "change", name: "e@x.org", fields: [{ name: "until", after: "2026-12-31" }] },
    ]);
    const moved = await folders.thing(ending("2026-12-31"), ending("2027-01-31"));
    expect(moved.changes).toMatchObject([{ fields: [{ before: "2026-12-31", after: "2027-01-31" }] }]);
    const gone = await folders.thing(ending("2026-12-31"), without);
    expect(gone.changes).toMatchObject([{ fields: [{ name: "until", before: "2026-12-31" }] }]);
  });

  test("lines that leave a list are people who leave, at either side", async () => {
    const both = list("a@x.org,admin,,crew", "e@x.org,,,crew");
    const thing = await folders.thing(roster(source, both), roster(source, list("a@x.org,admin,,crew")));
    expect(thing.people).toEqual({ add: 0, change: 0, remove: 1, same: 1 });
  });

  test("a check names ends with the day, strange teams, and mistakes at the line of the list", async () => {
    const said = async (files: Files) => {
      const { problems, warnings } = await checkEnvironment("env.yaml", folders.make(files));
      const text = (all: typeof problems): string[] =>
        all.map(({ at: { file, line }, message }) => `${file}:${line}: ${message}`);
      return { problems: text(problems), warnings: text(warnings) };
    };
    const lines = ["a@x.org,admin,,crew", "e@x.org,,2026-11-22,crew", "b@x.org,,2026-11-30,crew", "z@x.org,,,crw"];
    expect(await said(roster(source, list(...lines)))).toEqual({
      problems: [],
      warnings: [
        "env.yaml:7: acme/crew: no longer a member as of 2026-11-23 (UTC): e@x.org until 2026-11-22",
        "env.yaml:7: acme/crew: ends soon as of 2026-11-23 (UTC): b@x.org until 2026-11-30, 7 days left",
        'lists/people.csv:5: no roster takes team "crw"; did you mean "crew"?',
      ],
    });
    expect((await said(roster(source, list("a@x.org,boss,,crew")))).problems).toEqual([
      'lists/people.csv:2: role is "boss": write admin or member',
    ]);
    expect((await said(roster("members: { a@x.org: { role: member, until: 2026-02-30 } }"))).problems.join()).toContain(
      "must be a day of the calendar",
    );
    expect((await said(roster("mode: additive"))).problems.join()).toContain("neither members nor source");
    expect((await said(roster("source: lists/none.csv"))).problems.join()).toContain("there is no file lists/none.csv");
  });

  test("drift names who leaves with the next up; a day that has passed is no change by hand", async () => {
    const values = { teamID: "t1", members: { "a@x.org": "admin", "e@x.org": "member" }, userIDs: ["u1", "u2"] };
    const applied = { ...values, ...{ mode: "authoritative", maxRemovals: 0.25, keepSelf: true } };
    const each = { kind: "TeamRoster", name: "acme/crew/roster", id: "t1", values: applied };
    const folder = folders.make(list("a@x.org,admin,,crew", "e@x.org,,2026-11-22,crew"));
    const listed = { ...applied, source: "lists/people.csv", team: "crew" };
    const place = { directory: folder, day: "2026-11-23" };
    expect(await describeEnds(each, listed, place)).toEqual([
      "acme/crew: no longer a member as of 2026-11-23 (UTC): e@x.org until 2026-11-22; the next up removes them",
    ]);
    const hidden = await describeEnds(each, { ...applied, until: { "e@x.org": "2026-11-22" }, sensitive: true }, place);
    expect(hidden.join()).toContain("1 person");
    expect(hidden.join()).not.toContain("e@x.org");
    const eve = { kind: "TeamMember", name: "acme/crew/eve", id: "t1/u2" };
    const ending = { email: "e@x.org", memberUserID: "u2", teamID: "t1", until: "2026-11-22" };
    expect(await describeEnds({ ...eve, values: ending }, ending, place)).toEqual([
      "acme/crew: no longer a member as of 2026-11-23 (UTC): e@x.org until 2026-11-22; the next up removes them",
    ]);
    const [still] = await planPutBack([{ each: { ...eve, values: ending }, values: ending, found: ending }], folder);
    expect(still?.step).toMatchObject({ operation: "same", problems: [] });
    const [same] = await planPutBack([{ each, values: listed, found: listed }], folder);
    expect(same?.step).toMatchObject({ operation: "same", problems: [] });
    const found = { ...listed, members: { "a@x.org": "admin" }, userIDs: ["u1"] };
    const [changed] = await planPutBack([{ each, values: listed, found }], folder);
    expect(changed && peopleByHand([changed]).map(({ op, name }) => `${op} ${name}`)).toEqual(["remove e@x.org"]);
  });

  test("a source is relative to the file that names it", () => {
    const folder = folders.make({
      ...list("a@x.org,admin,,crew"),
      "env/prod.yaml": roster("source: ../lists/people.csv, team: crew")["env.yaml"] ?? "",
    });
    const [found] = things(declaration("env/prod.yaml", folder)).filter(({ kind }) => kind === "TeamRoster");
    expect(found?.inputs["source"]).toBe("lists/people.csv");
  });
});
