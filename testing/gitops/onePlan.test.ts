import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Section, Thing } from "../../cli/report/changeSet.ts";
import { compareDeclarations } from "../../cli/report/section.ts";
import { Folders } from "../../cli/report/testing/twoFolders.ts";
import { createEmulator, type Emulator, type LoggedCall } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { isLong } from "../harness/drawn.ts";
import { edit, edited, filesOf, people, start, type Edit, type World } from "./edits.ts";
import { InProcessEngine, Refused, type Step } from "./inProcessEngine.ts";

// More with PROPERTY_RUNS=200; others with PROPERTY_SEED.
const numRuns = Number(process.env["PROPERTY_RUNS"] ?? (isLong ? 20 : 3));
const login = { email: "admin@example.com", password: "correct-horse" };
const fields = { Code: "text", Name: "text", Extra: "text" } as const;

const folders = new Folders();
let emulator: Emulator;
let client: Client;
beforeAll(async () => {
  const users = people.map((email) => ({ email, id: email }));
  emulator = await createEmulator({
    seed: { administrator: login, users, tables: { places: { fields }, spots: { fields } } },
  });
  client = createClient({ endpoint: emulator.url, ...login });
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
function foreseen({ things }: Section, tableOf: (name: string) => string): Counts {
  const counts: Counts = {};
  for (const { kind, name, rows, people, op } of things) {
    if (kind === "seed" && rows)
      for (const each of ["add", "change", "remove"] as const) {
        // A replaced seed removes the rows of its former table.
        const table =
          op === "replace" && each === "remove" ? (tableOf(name) === "places" ? "spots" : "places") : tableOf(name);
        count(counts, `${table} ${each}`, rows[each]);
      }
    if (kind === "team" && people && op !== "remove")
      for (const each of ["add", "change", "remove"] as const) count(counts, `people ${each}`, people[each]);
  }
  return counts;
}

/** Effects of a run, by its calls. An administrator is invited first, and then given the role. */
function done(calls: readonly LoggedCall[], tables: ReadonlyMap<string, string>): Counts {
  const counts: Counts = {};
  const invited = new Set<string>();
  for (const { endpoint, request } of calls) {
    const asked = request as Record<string, string> & { rows?: unknown[]; emails?: string[] };
    const op = /^insert/.test(endpoint) ? "add" : /^update/.test(endpoint) ? "change" : "remove";
    if (endpoint.includes("microapprow")) {
      const table = asked["microAppID"] ?? tables.get(asked["rowID"] ?? "") ?? "nowhere";
      count(counts, `${table} ${op}`, op === "add" ? (asked.rows?.length ?? 1) : 1);
    } else if (endpoint.includes("teammember")) {
      for (const email of asked.emails ?? [asked["userID"] ?? ""]) {
        if (op === "add") invited.add(email);
        if (op !== "change" || !invited.has(email)) count(counts, `people ${op}`);
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
      say("add", /(\d+) to add/, isNew);
      say("remove", /(\d+) to remove/, false);
      say("change", /(\d+) to change/, /up to \d+ to change/.test(text));
      say("change", /(\d+) to take over from another seed, changed/, true);
    }
  }
  return bounds;
}

type TableOf = (name: string) => string;

/** Goes through the edits as commits, and holds each report against preview and run. */
async function lived(edits: readonly Edit[]): Promise<void> {
  emulator.loadSnapshot("start");
  const engine = new InProcessEngine({ endpoint: emulator.url, ...login });
  let world: World = start;
  let base = folders.declared(filesOf(world));
  await engine.run(base, true);
  for (const each of edits) {
    const next = edited(world, each);
    const head = folders.declared(filesOf(next));
    const { section, problems } = await compareDeclarations({ base, head });
    const stops = [...problems.map(({ text }) => text), ...section.things.flatMap(({ guards }) => guards)];
    const since = emulator.lastCall();
    const tables = new Map<string, string>();
    const planned = await engine.run(head, false).catch(refusal);
    if (planned instanceof Refused) {
      // The report contains every line of the engine's message.
      expect([each, stops.join("\n").split("\n")]).toEqual([each, expect.arrayContaining(planned.message.split("\n"))]);
      expect(emulator.calls({ since, mutating: true })).toEqual([]);
      continue; // whoever made the edit takes it back
    }
    expect([each, stops]).toEqual([each, []]);
    const steps = new Map(
      [...planned]
        .filter(([key]) => !key.startsWith("TeamMember") && !key.startsWith("TeamRoster"))
        .map(([key, step]) => [key, ops[step]]),
    );
    const said = section.things
      .filter(isMore)
      .map(({ kind, name, op }) => [`${kinds[kind] ?? ""} ${name}`, op] as const);
    expect([each, new Map(said.filter(([key, op]) => op !== "change" || !key.startsWith("Team")))]).toEqual([
      each,
      new Map([...steps].filter(([key, op]) => op !== "change" || !key.startsWith("Team"))),
    ]);
    const { told } = engine;
    for (const table of ["places", "spots"]) for (const id of await rowIDs(table)) tables.set(id, table);
    await engine.run(head, true);
    const tableOf = (name: string): string =>
      [...next.seeds, ...world.seeds].find((seed) => seed.name === name)?.table ?? "";
    expect([each, done(emulator.calls({ since, mutating: true }), tables)]).toEqual([each, foreseen(section, tableOf)]);
    const counts = done(emulator.calls({ since, mutating: true }), tables);
    // A label that goes is told of apart, and so is what a replaced seed does.
    const isWhole = ![...planned.values()].includes("replace");
    for (const [what, { least, most }] of isWhole ? Object.entries(announced(told, planned, tableOf)) : []) {
      const isWithin = (counts[what] ?? 0) >= least && (counts[what] ?? 0) <= most;
      expect([
        each,
        what,
        isWithin ? "as said" : `${counts[what] ?? 0}, said ${least} to ${most}: ${[...told].join("; ")}`,
      ]).toEqual([...[each, what, "as said"]]);
    }
    world = next;
    base = head;
  }
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

/** IDs of the rows of a table. */
async function rowIDs(microAppID: string): Promise<string[]> {
  const { microAppRows } = await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 1000 }] });
  return microAppRows.map(({ _id }) => _id);
}

const one = (kind: Edit["kind"], first = 0, second = 0): Edit => ({ kind, which: [first, second] });

test.each<[string, Edit[]]>([
  ["a split", [one("split")]],
  ["a rename that nobody says", [one("renameUnsaid")]],
  ["a rename", [one("rename")]],
  ["a label that goes", [one("dropLabels")]],
  ["another table", [one("changeTable")]],
  ["another key", [one("changeKey")]],
  ["a roster and back", [one("rosterOrMembers"), one("rosterOrMembers")]],
])("%s: the report says what up does", (_, edits) => lived(edits));

test("whatever is edited, the report says what preview says and up does", async () => {
  await fc.assert(fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 5 }), lived), { numRuns });
});
