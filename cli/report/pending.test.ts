import { afterAll, describe, expect, test } from "@jest/globals";
import { summarize } from "../../provider/seedRows/declaration.ts";
import { encodeLedger, ledgerOf } from "../../provider/seedRows/ledger.ts";
import type { Section } from "./changeSet.ts";
import { compareDeclarations, pending } from "./section.ts";
import { stateOf } from "./state.ts";
import { stateUrn } from "./testing/made.ts";
import { type Files, Folders } from "./testing/twoFolders.ts";

const folders = new Folders();
afterAll(() => folders.remove());

const root = "urn:pulumi:prod::project::microapps:index:Environment";
const environment = { urn: `${root}::env`, type: "microapps:index:Environment", custom: false };
const made = (kind: string, name: string, outputs: object): object => ({
  urn: stateUrn(root, kind, `env/${name}`),
  type: `microapps:index:${kind}`,
  custom: true,
  id: name,
  ...{ inputs: outputs, outputs },
});
const stateWith = (resources: readonly object[], more: object = {}): string =>
  JSON.stringify({ version: 3, deployment: { resources, ...more } });
const of = (files: Files, resources: readonly object[], more: object = {}): Promise<Section> =>
  pending(stateOf(stateWith(resources, more)), folders.declared(files));

const acme: Files = {
  "env.yaml":
    "organizations:\n  acme: { name: Acme, teams: { crew: { name: Crew, members: { Ada@x.org: admin } } } }\n",
};
const applied = [
  environment,
  made("Organization", "acme", { name: "Acme" }),
  made("Team", "acme/crew", { name: "Crew", organizationID: "acme" }),
  made("TeamMember", "acme/crew/ada@x.org", {
    teamID: "acme/crew",
    email: "Ada@x.org",
    role: "admin",
    memberUserID: "u1",
  }),
];

describe("people and settings", () => {
  test("what a file says no more of a thing is an update, as an engine has it, and null clears it", async () => {
    const described = applied.map((each) => ({
      ...each,
      outputs: { ...("outputs" in each ? (each.outputs as object) : {}), description: "Ours" },
    }));
    const changes = async (files: Files) => (await of(files, described)).things.map(({ name, op }) => `${op} ${name}`);
    const both = ["change acme", "change acme/crew"];
    expect(await changes(acme)).toEqual(both);
    const cleared = { "env.yaml": acme["env.yaml"]?.replace("name: Acme,", "name: Acme, description: null,") ?? "" };
    expect(await changes(cleared)).toEqual(both);
  });

  test("several Environments, or none, are not compared, and it is said", async () => {
    const two = [...applied, { ...environment, urn: `${root}::other` }];
    expect(await of(acme, two)).toMatchObject({
      compared: false,
      why: "the state has 2 Environments, and nothing says which one this is",
    });
    expect(await of(acme, applied.slice(1))).toMatchObject({ compared: false });
  });

  test("the guards of a roster that leaves are told", async () => {
    const members = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`p${at}@x.org`, "member"]));
    const kept = { teamID: "acme/crew", members, userIDs: Object.keys(members), maxRemovals: 0.25, keepSelf: true };
    const { things } = await of(acme, [...applied.slice(0, 3), made("TeamRoster", "acme/crew/roster", kept)]);
    const told = expect.stringMatching(/^nobody can be removed from the team: .* then remove the roster\.$/) as unknown;
    expect(things.flatMap(({ guards }) => guards)).toEqual([told]);
  });

  test("an interrupted run is told", async () => {
    const { why } = await of(acme, applied, { pending_operations: [{ type: "creating" }] });
    expect(why).toContain("a run was interrupted while it worked on 1 resource");
  });
});

describe("rows", () => {
  const csv = "Code,Name\nA,Aachen\nB,Berlin\n";
  const seed = (text: string, more = ""): Files => ({
    "env.yaml": `seeds:\n  cities: { table: cities, key: Code, source: data.csv${more} }\n`,
    "data.csv": text,
  });
  const settings = {
    table: "cities",
    key: ["Code"],
    mode: "exact",
    onConflict: "overwrite",
    onDestroy: "delete",
    maxRemovals: 0.25,
    rowCount: 2,
  };
  const ledger = async (salt: string): Promise<string> =>
    encodeLedger(
      ledgerOf(
        (await summarize({ table: "t", key: ["Code"], source: "data.csv", salt }, folders.make(seed(csv)))).rows,
      ),
    );
  const sealed = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };

  test("of a source that leads elsewhere are not read", async () => {
    const declared = { ...folders.declared(seed(csv)), unread: (source: string) => `${source} is a symbolic link` };
    const { things } = await pending(stateOf(stateWith([])), declared);
    expect(things[0]?.notes).toEqual(["rows not compared: data.csv is a symbolic link"]);
    expect(things[0]?.rows).toEqual({ add: 0, change: 0, remove: 0, same: 0 });
  });

  const hidden = async (more: object = {}, name = "cities") =>
    made("SeedRows", name, {
      ...settings,
      salt: { ...sealed, ciphertext: "v1:a:b" },
      ledger: await ledger("2:salt"),
      keys: ["A", "B"],
      ...more,
    });

  test("are not compared where it is encrypted, and one line says so", async () => {
    for (const text of [csv, "Code,Name\nA,Aachen\nC,Celle\n"]) {
      const { things, why } = await of(seed(text), [environment, await hidden()]);
      expect(things).toEqual([]);
      expect(why).toBe("only up can compare the rows of 1 seed, which the state has encrypted: cities");
    }
    // It is no news for a change of something else.
    const state = stateOf(stateWith([environment, await hidden()]));
    const change = async (now: Files) => {
      const [base, head] = [folders.declared(seed(csv)), folders.declared(now)];
      return pending(state, head, (await compareDeclarations({ base, head })).section);
    };
    const other = await change(seed(csv, ", maxRemovals: 1"));
    expect([other.why, other.unread]).toEqual([undefined, ["cities"]]);
    expect(await change(seed("Code,Name\nA,Aix\n"))).toHaveProperty("why");
  });

  test("of a seed that leaves have no number then, nor those of another one of its table, which may be the same", async () => {
    const { things, why } = await of(seed(csv), [environment, await hidden({}, "towns")]);
    expect(things.map(({ name, op, rows }) => [name, op, rows])).toEqual([
      ["towns", "remove", undefined],
      ["cities", "add", undefined],
    ]);
    expect(things[0]?.notes).toContain("has 2 rows: up finds out which of them stay");
    expect(why).toBe("only up can compare the rows of 2 seeds, which the state has encrypted: cities, towns");
  });

  test("of secret seeds are never named", async () => {
    const { why } = await of(seed("Code,Name\nhush,x\n", ", sensitive: true"), [
      environment,
      await hidden({ sensitive: true }),
    ]);
    expect(why).toBe("only up can compare the rows of 1 seed, which the state has encrypted: cities");
    expect(why).not.toContain("hush");
  });

  test("of another table are a replacement; another key, and a ledger that is damaged, are said", async () => {
    const clear = { ...settings, salt: "2:salt", ledger: await ledger("2:salt") };
    const moved = await of(seed(csv), [environment, made("SeedRows", "cities", { ...clear, table: "towns" })]);
    expect(moved.things[0]).toMatchObject({ op: "replace", changes: [{ name: "table" }] });
    const rekeyed = await of(seed(csv), [environment, made("SeedRows", "cities", { ...clear, key: ["Name"] })]);
    expect(rekeyed.things[0]?.changes[0]).toMatchObject({ kind: "setting", name: "key" });
    const damaged = await of(seed(csv), [environment, made("SeedRows", "cities", { ...clear, ledger: "list:2:9:AA" })]);
    expect(damaged.why).toContain("the ledger in the state is damaged");
  });
});

describe("a text", () => {
  test.each([
    ["{}", "it is neither a state file"],
    ["nothing", "it is not JSON"],
    ["[]", "it is neither"],
  ])("%s is no state", (text, message) => {
    expect(() => stateOf(text)).toThrow(message);
  });

  test("of a backend is one, and what is being replaced is left out of it", () => {
    const { resources } = stateOf(
      JSON.stringify({
        version: 3,
        checkpoint: { latest: { resources: [environment, { ...environment, delete: true }] } },
      }),
    );
    expect(resources.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["Environment env"]);
  });

  test("says where a file is since it moved, which changes no output", () => {
    const seed = { ...made("SeedRows", "s", { source: "before.csv" }), inputs: { source: "now.csv" } };
    expect(stateOf(stateWith([seed])).resources[0]?.values).toMatchObject({ source: "now.csv" });
  });
});
