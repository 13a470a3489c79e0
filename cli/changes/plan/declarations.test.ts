import { afterAll, describe, expect, test } from "@jest/globals";
import { readdirSync } from "node:fs";
import { doneLines } from "../doneLines.ts";
import { Folders, type Files } from "../testing/twoFolders.ts";

const folders = new Folders();
afterAll(() => folders.remove());

const team = (members: string, more = ""): Files => ({
  "env.yaml": `organizations:\n  acme:\n    name: Acme\n    teams:\n      crew: { name: Crew, members: { ${members} }${more} }\n`,
});
const roster = (members: string, more = ""): Files => ({
  "env.yaml": `organizations:\n  acme:\n    name: Acme\n    teams:\n      crew: { name: Crew, roster: { members: { ${members} }${more} } }\n`,
});

describe("people", () => {
  test("who comes, who goes and who gets another role, each at its place, removals first", async () => {
    const thing = await folders.thing(
      team("ada@x.org: admin, bob@x.org: member"),
      team("ada@x.org: member, eve@x.org: member"),
    );
    expect(thing).toMatchObject({ kind: "team", name: "acme/crew", op: "change", place: "env.yaml:5:7" });
    expect(thing.people).toEqual({ add: 1, change: 1, remove: 1, same: 0 });
    expect(thing.changes).toEqual([
      {
        kind: "person",
        op: "remove",
        name: "bob@x.org",
        fields: [{ name: "role", before: "member" }],
        place: "env.yaml:5:56",
      },
      {
        kind: "person",
        op: "change",
        name: "ada@x.org",
        fields: [{ name: "role", before: "admin", after: "member" }],
        place: "env.yaml:5:38",
      },
      {
        kind: "person",
        op: "add",
        name: "eve@x.org",
        fields: [{ name: "role", after: "member" }],
        place: "env.yaml:5:57",
      },
    ]);
  });

  test("letter case of an address and another way to write a role are no change", async () => {
    const { section } = await folders.compare(team("ada@x.org: admin"), team("Ada@X.org: { role: admin }"));
    expect(section.things).toEqual([]);
  });

  test("what an invitation leads to is a change of the person", async () => {
    const thing = await folders.thing(team("a@x.org: member"), team("a@x.org: { role: member, targetRoute: app }"));
    expect(thing.changes).toMatchObject([{ op: "change", fields: [{ name: "targetRoute", after: "app" }] }]);
  });

  test("a list of members becomes a roster with the same people: only settings change", async () => {
    const thing = await folders.thing(team("a@x.org: admin"), roster("a@x.org: admin"));
    expect(thing.people).toEqual({ add: 0, change: 0, remove: 0, same: 1 });
    expect(thing.changes.every(({ kind }) => kind === "setting")).toBe(true);
  });

  const twelve = Array.from({ length: 12 }, (_, at) => `p${at}@x.org: ${at === 0 ? "admin" : "member"}`);

  test("a roster that loses more people than maxRemovals allows is told as a run would tell it", async () => {
    const thing = await folders.thing(roster(twelve.join(", ")), roster(twelve.slice(0, 6).join(", ")));
    expect(thing.guards).toEqual([
      "6 of 12 members would be removed, more than maxRemovals allows (25 %). If that is meant, set maxRemovals to 0.5 for this run.",
    ]);
    expect(
      (await folders.thing(roster(twelve.join(", ")), roster(twelve.slice(0, 6).join(", "), ", maxRemovals: 0.5")))
        .guards,
    ).toEqual([]);
  });

  test("so is one that would be left with too few administrators", async () => {
    const thing = await folders.thing(
      roster("a@x.org: admin, b@x.org: admin", ", minAdmins: 2"),
      roster("a@x.org: admin, b@x.org: member", ", minAdmins: 2"),
    );
    expect(thing.guards[0]).toContain("1 administrator would be left, fewer than minAdmins asks for (2)");
  });

  test("additive rosters and lists of members have no such guard", async () => {
    const thing = await folders.thing(team(twelve.join(", ")), team(twelve.slice(0, 2).join(", ")));
    expect(thing.guards).toEqual([]);
  });
});

describe("organizations, teams and apps", () => {
  test("a new one, one that goes and one that is changed: what is removed comes first", async () => {
    const before =
      "organizations:\n  old: { name: Old, teams: { t: { name: T } } }\n  kept: { name: Kept, description: One }\n";
    const after = "organizations:\n  kept: { name: Kept, description: Two }\n  young: { name: Young }\n";
    const { section } = await folders.compare({ "env.yaml": before }, { "env.yaml": after });
    expect(section.things.map(({ kind, name, op }) => [kind, name, op])).toEqual([
      ["organization", "old", "remove"],
      ["team", "old/t", "remove"],
      ["organization", "kept", "change"],
      ["organization", "young", "add"],
    ]);
  });

  test("a key that was another one formerly stays the same thing, and what is below it", async () => {
    const before = "organizations:\n  acme: { name: Acme, teams: { crew: { name: Crew } } }\n";
    const after =
      "organizations:\n  apex: { formerly: acme, name: Acme, teams: { staff: { formerly: crew, name: Staff } } }\n";
    const { section } = await folders.compare({ "env.yaml": before }, { "env.yaml": after });
    expect(section.things).toMatchObject([
      { kind: "organization", name: "apex", op: "change", formerly: "acme", changes: [] },
      {
        kind: "team",
        name: "apex/staff",
        op: "change",
        formerly: "acme/crew",
        changes: [{ name: "name", fields: [{ before: "Crew", after: "Staff" }] }],
      },
    ]);
  });

  test("nothing and null differ: unset leaves alone, null clears", async () => {
    const env = (more: string): Files => ({ "env.yaml": `organizations:\n  acme: { name: Acme${more} }\n` });
    // Nobody knows what an unset description is: an engine finds nothing to do.
    expect((await folders.compare(env(""), env(", description: null"))).section.things).toEqual([]);
    const thing = await folders.thing(env(", description: Ours"), env(", description: null"));
    expect(thing.changes).toMatchObject([
      { op: "change", name: "description", fields: [{ before: "Ours", after: null }] },
    ]);
  });

  test("an app that stays is compared without a trace in the folder", async () => {
    const files = { "env.yaml": "apps:\n  portal: { userEmail: a@x.org, appPrompt: Find things. }\n" };
    const [base, head] = [folders.declared(files), folders.declared(files)];
    expect((await folders.between(base, head)).things).toEqual([]);
    expect(readdirSync(head.folder).toSorted()).toEqual([".git", "env.yaml"]);
  });

  test("an app that leaves the file stays on the platform, and it is said", async () => {
    const thing = await folders.thing(
      { "env.yaml": "apps:\n  portal: { userEmail: a@x.org, appPrompt: Find things. }\n" },
      { "env.yaml": "organizations: {}\n" },
    );
    expect(thing).toMatchObject({
      kind: "app",
      op: "remove",
      notes: ["the app stays on the platform: there is no way to delete one"],
    });
  });

  test("an overlay's own file is where the place points to", async () => {
    const base = "organizations:\n  acme: { name: Acme }\n";
    const thing = await folders.thing(
      { "env.yaml": "extends: base.yaml\n", "base.yaml": base },
      { "env.yaml": "extends: base.yaml\norganizations:\n  acme:\n    name: Acme 2\n", "base.yaml": base },
    );
    expect(thing.changes[0]?.place).toBe("env.yaml:4:5");
  });
});

test("where the base wants a line for removals, each without one stops the run; a change can't free itself", async () => {
  const csv = "Code,Name\nA,Aachen\nB,Berlin\nC,Celle\nD,Dresden\nE,Essen\n";
  const declared = (removals: string, people: string, rest: string, rows: string): Files => ({
    "env.yaml": `${removals}organizations:
  acme:
    name: Acme
    teams: { crew: { name: Crew, roster: { members: { ${people} } } }${rest} }
seeds:
  cities: { table: cities, key: Code, maxRemovals: 1, source: data.csv }
`,
    "data.csv": rows,
  });
  const policy = "removals: declared\n";
  const base = declared(policy, "a@x.com: admin, B@x.com: member", ", ops: { name: Ops }", csv);
  const less = csv.replace("B,Berlin\nC,Celle\n", "");
  const guardsOf = async (removals: string): Promise<string[]> => {
    const { section } = await folders.compare(base, declared(removals, "a@x.com: admin", "", less));
    return section.things.flatMap(({ name, guards }) => guards.map((guard) => `${name}: ${guard}`));
  };
  const say = (what: string, line: string): string =>
    `env.yaml has removals: declared, and no line for ${what}. Nothing was removed. If it is meant to leave, add: removed: { ${line} }`;
  const all = [
    `acme/ops: ${say("team acme/ops", "teams: [acme/ops]")}`,
    `acme/crew: ${say("1 member of acme/crew", "members: { acme/crew: [B@x.com] }")}`,
    `cities: ${say("2 rows of seed cities", "rows: { cities: [B, C] }")}`,
  ];
  expect(await guardsOf(policy)).toEqual(all);
  expect(await guardsOf("")).toEqual(all);
  const lines = "removed: { teams: [acme/ops], members: { acme/crew: [b@x.com] }, rows: { cities: [B] } }\n";
  expect(await guardsOf(policy + lines)).toEqual([`cities: ${say("1 row of seed cities", "rows: { cities: [C] }")}`]);
});

test.each([
  ["organization zenith", "organizations: [zenith]", /\n {2}zenith.*/],
  ["team acme/ops", "teams: [acme/ops]", /\n {6}ops.*/],
  ["1 member of acme/crew", "members: { acme/crew: [ada@x.com] }", /ada@x.com: admin, /],
  ["seed towns", "seeds: [towns]", /\n {2}towns.*/],
  ["1 row of seed cities", "rows: { cities: [A] }", /\{ Code: A \}, /],
  ["app portal", "apps: [portal]", /\napps:\n {2}portal.*/],
])("%s leaves: refused with the line, which then frees it", async (what, line, removed) => {
  const text = `removals: declared
organizations:
  zenith: { name: Zenith }
  acme:
    name: Acme, Inc.
    teams:
      ops: { name: Ops }
      crew: { name: Crew, members: { ada@x.com: admin, bob@x.com: admin } }
seeds:
  cities: { table: cities, key: Code, maxRemovals: 1, rows: [{ Code: A }, { Code: B }] }
  towns: { table: towns, key: Code, rows: [{ Code: A }] }
apps:
  portal: { userEmail: ada@x.com, appPrompt: A portal. }
`;
  const less = text.replace(removed, "");
  const guardsOf = async (after: string): Promise<string[]> =>
    (await folders.compare({ "env.yaml": text }, { "env.yaml": after })).section.things.flatMap(({ guards }) => guards);
  expect(await guardsOf(less)).toEqual([
    `env.yaml has removals: declared, and no line for ${what}. Nothing was removed. If it is meant to leave, add: removed: { ${line} }`,
  ]);
  expect(await guardsOf(`${less}removed: { ${line} }\n`)).toEqual([]);
});

test("lines about what is gone already are told, unless the state has it still", async () => {
  const now =
    "organizations: { acme: { name: Acme, teams: { crew: { name: Crew } } } }\nseeds:\n  cities: { table: cities, key: Code, rows: [{ Code: A }] }\n";
  const lines =
    "removed:\n  organizations: [old]\n  teams: [acme/ops]\n  members: { acme/crew: [a@x.com] }\n  seeds: [gone]\n  apps: [portal]\n  rows: { cities: [A, B] }\n";
  const base = folders.declared({ "env.yaml": now.replace("rows: [{ Code: A }]", "rows: [{ Code: A }, { Code: C }]") });
  const head = folders.declared({ "env.yaml": now.replace("{ Code: A }", "{ Code: Z }") + lines });
  const thing = {
    kind: "team" as const,
    name: "acme/ops",
    op: "remove" as const,
    changes: [],
    omitted: 0,
    notes: [],
    guards: [],
  };
  const said = [
    "env.yaml:5:19: organization old",
    "env.yaml:6:11: team acme/ops",
    "env.yaml:8:11: seed gone",
    "env.yaml:9:10: app portal",
    "env.yaml:7:26: person a@x.com of acme/crew",
    "env.yaml:10:23: row B of cities",
  ];
  const told = (what: string, advice: string): string => `${what} is gone already: ${advice}`;
  expect(await doneLines({ base, head }, undefined)).toEqual(
    said.map((what) => told(what, "delete this line once each stack has applied it")),
  );
  expect(await doneLines({ base, head }, { compared: true, things: [thing] })).toEqual(
    said.filter((what) => !what.includes("team")).map((what) => told(what, "delete this line")),
  );
});

test("what leaves an organization or a team that has another key now may have its line under either", async () => {
  const declared = (acme: string, teams: string, more = ""): Files => ({
    "env.yaml": `removals: declared\n${more}organizations:\n  ${acme}, teams: { ${teams} } }\n`,
  });
  const before = declared(
    "acme: { name: Acme",
    "crew: { name: Crew, members: { a@x.com: admin } }, ops: { name: Ops }",
  );
  const guardsOf = async (removed: string): Promise<string[]> => {
    const teams = "band: { name: Crew, formerly: crew, members: {} }";
    const { section } = await folders.compare(before, declared("zenith: { name: Acme, formerly: acme", teams, removed));
    return section.things.flatMap(({ name, guards }) =>
      guards.map((guard) => `${name}: ${guard.split("for ")[1] ?? ""}`),
    );
  };
  expect(await guardsOf("")).toEqual([
    "acme/ops: team acme/ops. Nothing was removed. If it is meant to leave, add: removed: { teams: [acme/ops] }",
    "zenith/band: 1 member of acme/crew. Nothing was removed. If it is meant to leave, add: removed: { members: { acme/crew: [a@x.com] } }",
  ]);
  expect(await guardsOf("removed: { teams: [acme/ops], members: { zenith/band: [a@x.com] } }\n")).toEqual([]);
  expect(await guardsOf("removed: { teams: [zenith/ops], members: { acme/crew: [a@x.com] } }\n")).toEqual([]);
});
