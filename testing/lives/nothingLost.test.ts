import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import type { FaultPlan } from "../../emulator/platform/faults.ts";
import { type Client, createClient } from "../../platform/client/index.ts";
import { Failure } from "../../provider/pulumi/operations.ts";
import { partOf } from "../harness/drawn.ts";
import { InProcessHost } from "../harness/inProcessHost.ts";
import type { Properties } from "../harness/providerHost.ts";

// What a platform does beyond its answers, at each step of each resource: after a destroy nothing is gone that no state
// names, and nothing is left that a state names. A step may fail, and say why; the next runs finish it.

type Faults = NonNullable<FaultPlan["faults"]>;
type Of = Pick<Faults[number], "endpoint">;

const faults: Record<string, (at: Of) => Faults> = {
  "an answer is lost": (at) => [{ ...at, kind: "reset", commit: true, count: 1 }],
  "it is carried out and refused": (at) => [{ ...at, kind: "status", status: 400, commit: true, count: 1 }],
  "it is carried out and answered by a failure": (at) => [
    { ...at, kind: "status", status: 500, commit: true, count: 1 },
  ],
  "it is carried out and answered by a failure inside": (at) => [
    { ...at, kind: "errorInside", commit: true, count: 1 },
  ],
  "it is carried out and never answered as JSON": (at) => [{ ...at, kind: "brokenJSON", commit: true, count: 1 }],
  "a part of a batch is carried out and refused": (at) => [{ ...at, kind: "partialBatch", rows: 5 }],
  "it fails": (at) => [{ ...at, kind: "status", status: 500, count: 1 }],
  "it is refused": (at) => [{ ...at, kind: "status", status: 400, count: 1 }],
  "it meets another one": (at) => [{ ...at, kind: "status", status: 409, count: 1 }],
  "it is delivered twice": (at) => [{ ...at, kind: "twice", count: 1 }],
  "it is answered and not done": (at) => [{ ...at, kind: "keepsPart", count: 1 }],
  "the run is killed before it": (at) => [
    { ...at, kind: "status", status: 401, count: 1 },
    { kind: "status", status: 401, after: 0 },
  ],
  "the run is killed after it": (at) => [
    { ...at, kind: "status", status: 401, commit: true },
    { kind: "status", status: 401, endpoint: "login" },
  ],
};

interface Story {
  /** Makes what others have, and answers what is declared: before and after a change. */
  begin: (client: Client) => Promise<[news: Properties, change: Properties]>;
  /** Endpoints that change something, by the step that calls them. */
  calls: { create: string[]; change: string[]; destroy: string[] };
}

const teamOf = async (client: Client): Promise<string> => {
  const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Theirs" } });
  const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: "Theirs" } });
  await client.insertteammembers({ teamIDs: [teamID], emails: ["kim@example.com"] });
  return teamID;
};
const organizationOf = async (client: Client): Promise<string> => {
  const { team } = await client.readteam({ teamID: await teamOf(client) });
  return team?.organizationID ?? "";
};
const rows = (count: number, Name: string) => Array.from({ length: count }, (_, at) => ({ Code: `K${at}`, Name }));

const stories: Record<string, Story> = {
  Organization: {
    begin: async (client) => {
      await teamOf(client);
      return [{ name: "Acme" }, { name: "Acme & Co" }];
    },
    calls: { create: ["insertorganization"], change: ["updateorganization"], destroy: ["deleteorganization"] },
  },
  Team: {
    begin: async (client) => {
      const organizationID = await organizationOf(client);
      return [
        { organizationID, name: "Crew" },
        { organizationID, name: "The Crew" },
      ];
    },
    calls: { create: ["insertteam"], change: ["updateteam"], destroy: ["deleteteam"] },
  },
  TeamMember: {
    begin: async (client) => {
      const member = { teamID: await teamOf(client), email: "ada@example.com" };
      return [
        { ...member, role: "admin" },
        { ...member, role: "member" },
      ];
    },
    calls: {
      create: ["insertteammembers", "updateteammember"],
      change: ["updateteammember"],
      destroy: ["deleteteammember"],
    },
  },
  TeamRoster: {
    begin: async (client) => {
      const teamID = await teamOf(client);
      const roster = { teamID, mode: "additive" };
      return [
        { ...roster, members: { "ada@example.com": "admin", "eve@example.com": "member" } },
        { ...roster, members: { "ada@example.com": "member", "bob@example.com": "member" } },
      ];
    },
    calls: {
      create: ["insertteammembers", "updateteammember"],
      change: ["insertteammembers", "updateteammember", "deleteteammember"],
      destroy: ["deleteteammember"],
    },
  },
  SeedRows: {
    begin: async (client) => {
      const { userID } = await client.userid({ email: "kim@example.com" });
      const theirs = [{ Code: "theirs", Name: "theirs" }, ...rows(1, "one")];
      await client.insertmicroapprows({ microAppID: "items", rows: theirs, userID });
      const seed = { table: "items", key: "Code", maxRemovals: 1 };
      const [kept, ...changed] = rows(12, "one");
      return [
        { ...seed, rows: rows(14, "one") },
        { ...seed, rows: [kept, ...changed.map((row) => ({ ...row, Name: "two" })), { Code: "new", Name: "new" }] },
      ];
    },
    calls: {
      create: ["insertmicroapprow", "insertmicroapprows"],
      change: ["insertmicroapprows", "updatemicroapprow", "removemicroapprow"],
      destroy: ["removemicroapprow"],
    },
  },
  RowFile: {
    begin: async (client) => {
      const { rowID } = await client.insertmicroapprow({ microAppID: "items", rowData: { Code: "A", Name: "a" } });
      const content = { filename: "theirs.png", url: "https://files.example/theirs.png" };
      await client.microappchildCreate({ microAppResourceID: "items", appID: rowID, fieldID: "plan", content });
      const file = {
        table: "items",
        row: { Code: "A" },
        fieldID: "plan",
        url: "https://files.example/a.png",
        store: false,
      };
      return [
        { ...file, size: 1 },
        { ...file, size: 2 },
      ];
    },
    calls: { create: ["microappchildCreate"], change: ["microappchildUpdate"], destroy: ["microappchildDelete"] },
  },
};

const steps = ["create", "change", "destroy"] as const;
const cases = Object.entries(stories).flatMap(([type, { calls }]) =>
  steps.flatMap((step) =>
    calls[step].flatMap((endpoint) => Object.keys(faults).map((fault) => [type, step, endpoint, fault] as const)),
  ),
);

const administrator = { email: "admin@example.com", password: "correct-horse" };
const users = ["ada", "eve", "bob", "kim"].map((name) => ({ email: `${name}@example.com` }));
const fields = { Code: { type: "text", sort: 1 }, Name: "text", Plan: { type: "file", id: "plan" } };

describe("nothing of ours is left and nothing of others is gone, although", () => {
  let emulator: Emulator;
  const folder = mkdtempSync(join(tmpdir(), "microapps-lost-"));
  const { XDG_STATE_HOME } = process.env;
  beforeAll(async () => {
    process.env["XDG_STATE_HOME"] = folder; // the journals are of these stories
    emulator = await createEmulator({ seed: { administrator, users, tables: { items: { name: "Items", fields } } } });
  });
  afterAll(async () => {
    await emulator.close();
    if (XDG_STATE_HOME === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = XDG_STATE_HOME;
    rmSync(folder, { recursive: true });
  });

  test.each(partOf(cases, 0, 12))("%s, %s: at %s %s", async (type, step, endpoint, fault) => {
    const platform = await emulator.instance();
    const endpointOfAll = { endpoint: platform.url, ...administrator };
    const client = createClient(endpointOfAll);
    const host = new InProcessHost(endpointOfAll, folder);
    const story = stories[type];
    if (!story) throw new Error(`there is no story of ${type}`);
    const [news, change] = await story.begin(client);
    /** All that the platform holds, without times. */
    const everything = async (): Promise<string> => {
      const read = async (what: string): Promise<unknown> => {
        const answer = await fetch(`${platform.url}/_emulator/${what}`, {
          headers: { authorization: `Bearer ${platform.token}` },
        });
        return answer.json();
      };
      const { rows: found } = (await read("rows?table=items")) as { rows: { _id: string; Code: string }[] };
      const files = await Promise.all(
        found.map(({ _id }) =>
          client.microappchildList({ appID: _id, fieldID: "plan" }).then((list) => list.childItems),
        ),
      );
      // Nothing is there twice at the end of a step.
      const named = [...found.map(({ Code }) => Code), ...files.flat().map(({ content }) => content?.filename)];
      expect(named).toEqual([...new Set(named)]);
      const tree = (await read("organizations")) as { organizations: { teams: { isAllMembers: boolean }[] }[] };
      // Who leaves a team stays with its organization.
      const teams = tree.organizations.map((one) => ({
        ...one,
        teams: one.teams.filter((team) => !team.isAllMembers),
      }));
      return JSON.stringify([teams, found, files], null, 1);
    };
    const before = await everything();

    let state: { id: string; inputs: Properties; outputs: Properties } | undefined;
    const told: string[] = [];
    const up = async (declared: Properties): Promise<boolean> => {
      await host.restart();
      let inputs: Properties = {};
      try {
        // As the plugin asks an engine to.
        const seen = state && (await host.read(type, state.id, state.outputs, state.inputs));
        state = state && seen?.id !== "" ? { ...state, ...seen } : undefined;
        const checked = await host.check(type, declared, state?.inputs);
        expect(checked.problems).toEqual([]);
        inputs = checked.inputs;
        if (state && !(await host.diff(type, state.id, state.outputs, inputs)).changes) return true;
        const { id, outputs } = state
          ? { id: state.id, outputs: await host.update(type, state.id, state.outputs, inputs) }
          : await host.create(type, inputs);
        state = { id, outputs, inputs };
        return true;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        told.push(error.message);
        const { partial } = error;
        // An engine keeps the last inputs of what failed in part, so that the next run sees a difference.
        if (partial) state = { ...partial, inputs: state?.inputs ?? inputs };
        return false;
      }
    };
    const destroy = async (): Promise<boolean> => {
      if (!state) return true;
      try {
        await host.destroy(type, state.id, state.outputs);
        return true;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        told.push(error.message);
        return false;
      }
    };
    /** A step with a fault, and then without one until it is done. */
    const done = async (isFaulty: boolean, run: () => Promise<boolean>): Promise<void> => {
      const at = { endpoint: endpoint as "login" };
      if (isFaulty) platform.setFaults({ faults: faults[fault]?.(at) ?? [] });
      let isDone = await run();
      platform.setFaults();
      for (let more = 0; !isDone && more < 3; more++) isDone = await run();
      expect([isDone, told]).toEqual([true, told]);
      await everything();
    };
    await done(step === "create", () => up(news));
    await done(step === "change", () => up(change));
    await done(step === "destroy", destroy);
    expect(await everything()).toEqual(before);
    host.stop();
    await client.close();
    await platform.close();
  });
});
