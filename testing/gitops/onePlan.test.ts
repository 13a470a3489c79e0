import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Section, Thing } from "../../cli/report/changeSet.ts";
import type { Declared } from "../../cli/report/environments.ts";
import { compareDeclarations, pending } from "../../cli/report/section.ts";
import { stateOf } from "../../cli/report/state.ts";
import { Folders } from "../../cli/report/testing/twoFolders.ts";
import { createEmulator, type Emulator, type LoggedCall } from "../../emulator/index.ts";
import { encodeResource } from "../../engine/state/checkpoint.ts";
import { createClient, type Client, type Row as PlatformRow } from "../../platform/client/index.ts";
import { isLong } from "../harness/drawn.ts";
import { InProcessEngine, Refused, type Step } from "../harness/inProcessEngine.ts";
import { edit, edited, filesOf, people, rowsIn, start, type Edit, type Row, type World } from "./edits.ts";

// Whatever is edited, the report says what a preview says and an up does; what stays declared stays as it is, what is others'
// is not touched, and where a run is killed the next one ends with the same. Each run is in a folder of its own, a fresh clone
// of the repository, with an empty home. More with PROPERTY_RUNS=200;
// others with PROPERTY_SEED.
const numRuns = Number(process.env["PROPERTY_RUNS"] ?? (isLong ? 20 : 3));
const login = { email: "admin@example.com", password: "correct-horse" };
const fields = { Code: "text", Name: "text", Extra: "text" } as const;
const Of = { type: "linked", table: "places", field: "Code" } as const;
const tables = { places: { fields }, spots: { fields: { ...fields, Of } } };

const folders = new Folders();
let emulator: Emulator;
let client: Client;
beforeAll(async () => {
  const users = people.map((email) => ({ email, id: email }));
  emulator = await createEmulator({ seed: { administrator: login, users, tables } });
  client = createClient({ endpoint: emulator.url, ...login });
  for (const microAppID of Object.keys(tables))
    await client.insertmicroapprows({
      microAppID,
      rows: [{ Code: "theirs", Name: "Theirs" }],
      userID: people[0] ?? "",
    });
  emulator.saveSnapshot("start");
});
afterAll(async () => {
  folders.remove();
  await client.close();
  await emulator.close();
});

const ops: Readonly<Record<Step, Thing["op"]>> = {
  create: "add",
  update: "change",
  replace: "replace",
  delete: "remove",
};
const kinds: Readonly<Record<string, string>> = {
  organization: "Organization",
  team: "Team",
  seed: "SeedRows",
  app: "GeneratedApp",
};

/** Changes of rows, by table and operation, and of people. */
type Counts = Record<string, number>;

function count(counts: Counts, what: string, by = 1): void {
  if (by > 0) counts[what] = (counts[what] ?? 0) + by;
}

/** Changes of rows and people according to a report. */
function foreseen({ things }: Section, tableOf: TableOf): Counts {
  const counts: Counts = {};
  for (const { kind, name, rows, people, op } of things) {
    if (kind === "seed" && rows)
      for (const each of ["add", "change", "remove"] as const) {
        // A replaced seed removes the rows of its former table.
        const table =
          op === "replace" && each === "remove" ? (tableOf(name) === "places" ? "spots" : "places") : tableOf(name);
        count(counts, `${table} ${each}`, rows[each]);
      }
    if (kind === "team" && people)
      for (const each of ["add", "change", "remove"] as const) count(counts, `people ${each}`, people[each]);
  }
  return counts;
}

/** Effects of a run, by its calls. An administrator is invited first, and then given the role. */
function done(calls: readonly LoggedCall[], tables: ReadonlyMap<string, string>): Counts {
  const counts: Counts = {};
  const invited = new Set<string>();
  for (const { endpoint, request } of calls) {
    const asked = request as Record<string, string> & { rows?: unknown[]; emails?: string[]; teamIDs?: string[] };
    const op = /^insert/.test(endpoint) ? "add" : /^update/.test(endpoint) ? "change" : "remove";
    if (endpoint.includes("microapprow")) {
      const table = asked["microAppID"] ?? tables.get(asked["rowID"] ?? "") ?? "nowhere";
      count(counts, `${table} ${op}`, op === "add" ? (asked.rows?.length ?? 1) : 1);
    } else if (endpoint.includes("teammember")) {
      for (const email of asked.emails ?? [asked["userID"] ?? ""]) {
        for (const team of asked.teamIDs ?? [asked["teamID"]]) {
          const who = `${team ?? ""} ${email.toLowerCase()}`;
          if (op === "add") invited.add(who);
          if (op !== "change" || !invited.has(who)) count(counts, `people ${op}`);
        }
      }
    }
  }
  return counts;
}

/** What a preview says of the rows of a table and an operation: at least, and at most. */
type Bounds = Record<string, { least: number; most: number }>;

/** Reads the sentences of a preview. Of a seed that comes, those of its rows that are there stay. */
function announced(told: ReadonlyMap<string, readonly string[]>, steps: ReadonlyMap<string, Step>, tableOf: TableOf) {
  const bounds: Bounds = {};
  for (const [key, texts] of told) {
    if (!key.startsWith("SeedRows ") || steps.get(key) === "replace") continue;
    const [table, isNew] = [tableOf(key.slice("SeedRows ".length)), steps.get(key) === "create"];
    for (const text of texts.filter((one) => one.startsWith("rows: "))) {
      const say = (op: string, pattern: RegExp, isAtMost: boolean): void => {
        const most = Number(pattern.exec(text)?.[1] ?? 0);
        const before = bounds[`${table} ${op}`] ?? { least: 0, most: 0 };
        const least = isAtMost ? 0 : most;
        bounds[`${table} ${op}`] = { least: before.least + least, most: before.most + most };
      };
      say("add", /(\d+) to add/, isNew || text.includes("to add if they do not exist yet"));
      say("remove", /(\d+) to remove/, false);
      say("change", /(\d+) to change/, /up to \d+ to change/.test(text));
      say("change", /(\d+) to take over from another seed, changed/, true);
    }
  }
  return bounds;
}

type TableOf = (name: string) => string;

/** True for all but a change of a team, whose people and their roles are things of their own to an engine. */
const isWhole = ([key, op]: readonly [string, Thing["op"]]): boolean => op !== "change" || !key.startsWith("Team");

const wholeOf = ({ things }: Section): Map<string, Thing["op"]> =>
  new Map(
    things
      .filter(isMore)
      .map(({ kind, name, op }) => [`${kinds[kind] ?? ""} ${name}`, op] as const)
      .filter(isWhole),
  );

/** What there is to hold two sections against each other by: the things that change, and how many rows and people. */
const essence = (section: Section, tableOf: TableOf): unknown => [foreseen(section, tableOf), wholeOf(section)];

/** Goes through the versions that edits make as commits, and holds each report against preview and run; a refused one is taken back. */
async function lived(edits: readonly Edit[]): Promise<void> {
  emulator.loadSnapshot("start");
  const engine = new InProcessEngine({ endpoint: emulator.url, ...login });
  let world = start;
  let base = folders.declared(filesOf(world));
  await engine.run(base, true);
  for (const each of edits) {
    const next = edited(world, each);
    const head = folders.declared(filesOf(next));
    const [before, since] = [await rowsOn(), emulator.lastCall()];
    const isDone = each.kill === undefined ? isAsSaid(engine, base, head) : isKilled(engine, head, each.kill);
    if (!(await isDone)) continue;
    await keeps({ world, next, before, since, engine });
    expect([each, ...(await engine.run(head, false))]).toEqual([each]);
    [world, base] = [next, head];
  }
}

/** True where a run that was killed at a call was gone on with; false where its preview refused it. */
async function isKilled(engine: InProcessEngine, head: Declared, after: number): Promise<boolean> {
  if ((await engine.run(head, false).catch(refusal)) instanceof Refused) return false;
  const ends = { kind: "status", status: 401, after } as const;
  emulator.setFaults({ faults: [...(after % 2 === 0 ? [{ ...ends, commit: true, count: 1 }] : []), ends] });
  await engine.run(head, true).catch(refusal);
  emulator.setFaults();
  await engine.run(head, true);
  return true;
}

/** All rows, by table and code: the ID, and what stands in them, a link as the code that it leads to. */
async function rowsOn(): Promise<Map<string, { id: string; text: string }>> {
  const found = new Map<string, { id: string; text: string }>();
  const codes = new Map<string, string>();
  for (const microAppID of Object.keys(tables)) {
    const { microAppRows } = await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 1000 }] });
    for (const row of microAppRows) {
      const [at, link] = [`${microAppID} ${String(row["Code"])}`, row["Of"] as { crossAppRowID?: string } | undefined]; // a link's form
      codes.set(row._id, String(row["Code"]));
      expect([at, found.has(at)]).toEqual([at, false]);
      found.set(at, {
        id: row._id,
        text: text(row, link?.crossAppRowID && (codes.get(link.crossAppRowID) ?? "nothing")),
      });
    }
  }
  return found;
}
const text = ({ Name, Extra }: Row | PlatformRow, link: string | undefined): string =>
  [Name, Extra, link].map((each) => (typeof each === "string" ? each : "")).join("|");

/** What is declared is there, what stays declared has stayed, and what is others' is as it was. */
async function keeps(run: {
  world: World;
  next: World;
  before: Awaited<ReturnType<typeof rowsOn>>;
  since: number;
  engine: InProcessEngine;
}): Promise<void> {
  const [was, wanted, now] = [rowsIn(run.world), rowsIn(run.next), await rowsOn()];
  const declared = [...wanted].map(
    ([at, row]) => [at, text(row, at.startsWith("spots") ? row.Of : undefined)] as const,
  );
  const theirs = Object.keys(tables).map((table) => [`${table} theirs`, "Theirs||"] as const);
  expect(new Map([...now].map(([at, row]) => [at, row.text]))).toEqual(new Map([...declared, ...theirs]));
  for (const at of wanted.keys()) if (was.has(at)) expect([at, now.get(at)?.id]).toEqual([at, run.before.get(at)?.id]);
  expect(emulator.differences("start").flatMap(({ changed, removed }) => [...changed, ...removed])).toEqual([]);
  const teamID = run.engine.state.find(({ urn }) => urn.includes("index:Team::"))?.id ?? "";
  const { teamMembers } = await client.teammembers({ teamIDs: [teamID] });
  const members = new Map(
    teamMembers.flatMap(({ email = "", role }) => (email === login.email ? [] : [[email, role]])),
  );
  expect(members).toEqual(run.next.team.people);
  const removed = emulator.calls({ since: run.since, endpoint: "deleteteammember" });
  expect(removed.filter(({ request }) => members.has(String(request["userID"])))).toEqual([]);
}

/** True if a change was carried out as it was said; false where all of them refused it, and nothing was sent. */
async function isAsSaid(engine: InProcessEngine, base: Declared, head: Declared): Promise<boolean> {
  process.env["XDG_STATE_HOME"] = folders.make({});
  const each = JSON.stringify(head.declaration);
  const tableOf: TableOf = (name) => (head.declaration.seeds[name] ?? base.declaration.seeds[name])?.table ?? "";
  const { section, problems } = await compareDeclarations({ base, head });
  const stops = [...problems.map(({ text }) => text), ...section.things.flatMap(({ guards }) => guards)];
  const since = emulator.lastCall();
  const planned = await engine.run(head, false).catch(refusal);
  if (planned instanceof Refused) {
    expect([each, stops.join("\n").split("\n")]).toEqual([each, expect.arrayContaining(planned.message.split("\n"))]);
    await expect(engine.run(head, true)).rejects.toThrow(Refused);
    expect(emulator.calls({ since, mutating: true })).toEqual([]);
    return false;
  }
  expect([each, stops]).toEqual([each, []]);
  const resources = engine.state.map((state) => encodeResource(state, (_, plaintext) => ({ plaintext })));
  const ahead = await pending(stateOf(JSON.stringify({ deployment: { resources } })), head);
  expect([each, essence(ahead, tableOf)]).toEqual([each, essence(section, tableOf)]);
  const own = [...planned]
    .filter(([key]) => !/^Team(Member|Roster)/.test(key))
    .map(([key, step]) => [key, ops[step]] as const);
  expect([each, wholeOf(ahead)]).toEqual([each, new Map(own.filter(isWhole))]);
  const { told } = engine;
  const before = new Map([...(await rowsOn())].map(([at, { id }]) => [id, at.split(" ")[0] ?? ""]));
  process.env["XDG_STATE_HOME"] = folders.make({});
  expect([each, await engine.run(head, true)]).toEqual([each, planned]);
  const counts = done(emulator.calls({ since, mutating: true }), before);
  expect([each, counts]).toEqual([each, foreseen(ahead, tableOf)]);
  // A label that goes is told of apart, and so is what a replaced seed does.
  const isTold = ![...planned.values()].includes("replace");
  for (const [what, { least, most }] of isTold ? Object.entries(announced(told, planned, tableOf)) : []) {
    const is = counts[what] ?? 0;
    const words = `${is}, said ${least} to ${most}: ${[...told].join("; ")}`;
    expect([each, what, is >= least && is <= most ? "as said" : words]).toEqual([each, what, "as said"]);
  }
  return true;
}

/** True for changes other than another key, or another file of its rows. */
const isMore = ({ op, changes, rows, formerly }: Thing): boolean =>
  op !== "change" ||
  changes.some(({ name }) => name !== "source") ||
  (rows !== undefined && rows.add + rows.change + rows.remove > 0) ||
  formerly === undefined;

function refusal(error: unknown): Refused {
  if (error instanceof Refused) return error;
  throw error;
}

const one = (kind: Edit["kind"], first = 0, second = 0): Edit => ({ kind, which: [first, second], kill: undefined });

test.each<[string, Edit[]]>([
  ["a rename that nobody says", [one("renameUnsaid")]],
  ["a roster and back", [one("rosterOrMembers"), one("rosterOrMembers")]],
])("%s: the report says what up does", (_, edits) => lived(edits));

test("whatever is edited, the report says what preview says and up does", async () => {
  const edits = fc.array(edit, { minLength: 1, maxLength: 5 });
  await fc.assert(fc.asyncProperty(edits, lived), { numRuns, endOnFailure: true });
});
