import { afterAll, describe, expect, test } from "@jest/globals";
import { readdirSync } from "node:fs";
import { type Files, Folders } from "./testing/twoFolders.ts";

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

  test("so is one that would be left without an administrator, unless the account that makes the calls may be one", async () => {
    const [one, none] = ["a@x.org: admin, b@x.org: member", "a@x.org: member, b@x.org: member"];
    const thing = await folders.thing(roster(one, ", keepSelf: false"), roster(none, ", keepSelf: false"));
    expect(thing.guards[0]).toContain("0 administrators would be left, fewer than minAdmins asks for (1)");
    expect((await folders.thing(roster(one), roster(none))).guards).toEqual([]);
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
    // An edit finds which of the files overrides the others.
    const files = { "env.yaml": "extends: mid.yaml\n", "mid.yaml": "extends: base.yaml\n", "base.yaml": base };
    expect(folders.declared(files).document?.files).toEqual(Object.keys(files));
  });
});
