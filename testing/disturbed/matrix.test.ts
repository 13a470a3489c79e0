import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Files, Folders } from "../../cli/report/testing/twoFolders.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import type { FaultPlan } from "../../emulator/platform/faults.ts";
import { administrate } from "../../emulator/testing/platform.ts";
import { createClient } from "../../platform/client/index.ts";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { isLong, partOf } from "../harness/drawn.ts";
import { fileServer } from "../harness/fileServer.ts";
import { InProcessEngine, Refused } from "../harness/inProcessEngine.ts";

// What goes wrong at each call of each stage of an environment's life: a step may fail and say why, and the next runs finish
// it. Nothing is doubled, nothing of others is touched, and after a destroy, also at once, nothing is left. Apps and notifications, of which
// nobody knows whether a lost call made one, are in lives/generatedApp and lives/notification.

type Faults = NonNullable<FaultPlan["faults"]>;
/** A call: the endpoint, and how many calls of it come before. */
type At = Pick<Faults[number], "endpoint" | "after">;

const once = (fault: Omit<Faults[number], "endpoint" | "after" | "count">) => (at: At) => [
  { ...at, ...fault, count: 1 },
];
/** Milliseconds after which a change is done, and for which things are new: a stage takes less, and more is before it. */
const [laterMs, newMs] = [150, 20_000];
const later = { kind: "keepsPart", milliseconds: laterMs } as const;
const changes = (Object.keys(endpoints) as EndpointName[]).filter((name) =>
  /^(update|remove|delete)|(Update|Delete)$/.test(name),
);
/** What may happen to a call that changes something. */
const ofWrites: Record<string, (at: At, index: number) => Faults> = {
  "an answer is lost": once({ kind: "reset", commit: true }),
  "it is carried out and refused": once({ kind: "status", status: 400, commit: true }),
  "it is carried out and answered by a failure": once({ kind: "status", status: 500, commit: true }),
  "it is carried out and answered by a failure inside": once({ kind: "errorInside", commit: true }),
  "it is carried out and never answered as JSON": once({ kind: "brokenJSON", commit: true }),
  "a part of a batch is carried out and refused": (at) => [{ ...at, kind: "partialBatch", rows: 5 }],
  "it is lost": once({ kind: "reset" }),
  "it is refused": once({ kind: "status", status: 400 }),
  "it meets another one": once({ kind: "status", status: 409 }),
  "it is delivered twice": once({ kind: "twice" }),
  "it is answered and not done": once({ kind: "keepsPart" }),
  "an answer is lost, and nothing new is shown at once": (at, index) => [
    ...once({ kind: "reset", commit: true })(at),
    { kind: "late", milliseconds: newMs, after: index + 1, count: 3 },
  ],
};
/** What a platform may do with a change or a removal, beside all that. */
const ofChanges: typeof ofWrites = {
  "it is done later": once(later),
  "it is done later, and its answer is lost": (at) => [
    ...once({ kind: "reset", commit: true })(at),
    ...once(later)(at),
  ],
};
/** What a read may do that is answered. */
const ofReads: typeof ofWrites = {
  "it does not show what is new": once({ kind: "late", milliseconds: newMs }),
  "it shows everything twice": once({ kind: "repeatedItems" }),
  "it shows rows by other IDs": once({ kind: "otherIDs" }),
};
/** How a platform may be in a whole run. */
const habits: Record<string, Faults> = {
  "new things are shown late": [{ kind: "late", milliseconds: laterMs }],
  "changes are done late": [{ ...later, endpoint: changes }],
  "all is listed twice": [{ kind: "repeatedItems" }],
  "rows are listed by other IDs": [{ kind: "otherIDs" }],
};
/** What may happen to any call. */
const ofAll: Record<string, (at: At) => Faults> = {
  "it fails": once({ kind: "status", status: 500 }),
  "it is too much": once({ kind: "status", status: 429 }),
  "it is forbidden": once({ kind: "status", status: 403 }),
  "it is answered by a failure inside": once({ kind: "errorInside" }),
  "it is answered by half of an answer": once({ kind: "brokenJSON" }),
  "the session ends": once({ kind: "expiredToken" }),
};
/** The end of a run, by the number of calls before it. */
const ends: Record<string, (after: number) => Faults> = {
  "the run is killed before it": (after) => [{ kind: "status", status: 401, after }],
  "the run is killed after it": (after) => [
    { kind: "status", status: 401, after, commit: true, count: 1 },
    { kind: "status", status: 401, after },
  ],
};

const tables = {
  continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
  countries: {
    name: "Countries",
    fields: {
      Code: { type: "text", sort: 1 },
      Name: "text",
      Continent: { type: "linked", table: "continents", field: "Code" },
      Flag: { type: "file", id: "flag" },
    },
  },
  cities: { name: "Cities", parent: "countries", fields: { ID: { type: "text", sort: 1 }, Name: "text" } },
} as const;
const row = (Code: string, more: object) => ({ Code, ...more });

/** All that a file declares, before and after a change: each kind of thing is changed, added, removed and replaced. */
function declared(isFirst: boolean, files: string): Files {
  const now = (name: string): string => (isFirst ? name : `${name}, changed`);
  const islands = Array.from({ length: 14 }, (_, at) => row(`I${at}`, { Name: now("Isle"), Continent: "EU" }));
  const teams = {
    crew: {
      ...{ name: "Crew", description: now("Those who work") },
      members: {
        "kay@example.com": isFirst ? "admin" : "member",
        [`${isFirst ? "ada" : "grace"}@example.com`]: "member",
      },
    },
    reserve: {
      name: "Reserve",
      roster: {
        members: isFirst
          ? { "ada@example.com": "admin", "grace@example.com": "member", "new@example.com": "member" }
          : { "ada@example.com": "admin", "grace@example.com": "admin", "mary@example.com": "member" },
      },
    },
    ...(isFirst ? { leaving: { name: "Leaving" } } : { coming: { name: "Coming" } }),
  };
  const url = `${files}/${isFirst ? "cz" : "cs"}.png`;
  const seeds = {
    continents: {
      ...{ table: "continents", key: "Code", maxRemovals: 1 },
      rows: [row("EU", { Name: now("Europe") }), row(isFirst ? "OC" : "AS", {})],
    },
    countries: {
      ...{ table: "countries", key: "Code", references: { Continent: { seed: "continents" } } },
      rows: [
        row("CZ", { Name: now("Czechia"), Continent: "EU" }),
        ...islands.slice(isFirst ? 0 : 1),
        ...(isFirst ? [] : [row("FJ", { Name: "Fiji", Continent: "EU" })]),
      ],
      files: { flag: { row: "CZ", fieldID: "flag", url, filename: "flag.png", type: "image/png" } },
    },
    cities: {
      ...{ table: "cities", key: "ID", parent: { seed: "countries", by: "Country" } },
      rows: [
        { ID: "c1", Name: now("Praha"), Country: "CZ" },
        { ID: "c2", Name: "Lisboa", Country: "I1" },
      ],
    },
  };
  const organizations = { acme: { name: now("Acme"), description: "All of it", teams } };
  return { "env.yaml": JSON.stringify({ organizations, seeds }) };
}

const login = { email: "admin@example.com", password: "correct-horse" };
const folders = new Folders();
let server: Awaited<ReturnType<typeof fileServer>>;
let emulator: Emulator;
let engine: InProcessEngine;
let versions: Record<"first" | "changed" | "none", ReturnType<Folders["declared"]>>;
/** Each stage: where it begins, and what is brought up. */
const stages = { up: ["none", "first"], update: ["first", "changed"], destroy: ["changed", "none"] } as const;
const begun = new Map<string, InProcessEngine["state"]>();

type Version = keyof typeof versions;

/** Goes back to where a version was brought up. */
function begin(from: Version): void {
  emulator.setFaults();
  emulator.loadSnapshot(from);
  engine.state = begun.get(from) ?? [];
}
/** Brings a version up; what refuses it, empty where nothing does. */
const up = (to: Version): Promise<string> =>
  engine.run(versions[to], true).then(
    () => "",
    (error: unknown) => {
      if (error instanceof Refused) return error.message;
      throw error;
    },
  );
/** Runs as often as somebody would who reads what the last run said. */
async function persist(to: Version, told: string[] = [""]): Promise<void> {
  for (let more = 0; more < 4 && (more === 0 || told.at(-1) !== ""); more++) {
    // What is gone leaves the state with --refresh, as the sentence says.
    const isGone = (value: unknown): boolean => told.at(-1)?.includes(`"${String(value)}" is gone from `) ?? false;
    engine.state = engine.state.filter(({ inputs }) => !Object.values(inputs).some(isGone));
    told.push(await up(to));
  }
  if (told.at(-1) !== "") throw new Error(`it does not end: ${told.join("\n")}`);
}

/** How many things of each kind there are more than before the first run, and what of others is not as it was. */
const counts = (): Map<string, number> => {
  const found = emulator.differences("none").filter(({ table }) => !["users", "contents", "files"].includes(table));
  return new Map(found.filter(({ added }) => added.length > 0).map(({ table, added }) => [table, added.length]));
};
const touched = (): string[] =>
  emulator.differences("none").flatMap(({ changed, removed }) => [...changed, ...removed]);

beforeAll(async () => {
  process.env["XDG_STATE_HOME"] = folders.make({}); // the journals are of these stories
  server = await fileServer();
  const users = ["ada", "grace", "kay", "mary", "kim"].map((id) => ({ email: `${id}@example.com`, id }));
  const settings = { allowedHosts: [server.host] };
  emulator = await createEmulator({ seed: { administrator: login, users, tables, settings } });
  const client = createClient({ endpoint: emulator.url, ...login });
  const { organizationID } = await client.insertorganization({ organizationInfo: { name: "Theirs" } });
  const { teamID } = await client.insertteam({ teamInfo: { organizationID, name: "Theirs" } });
  await client.insertteammembers({ teamIDs: [teamID], emails: ["kim@example.com"] });
  // The second one is as the first version declares it.
  const theirs = [row("theirs", {}), row("OC", {})];
  await client.insertmicroapprows({ microAppID: "continents", rows: theirs, userID: "kim" });
  await client.close();
  emulator.saveSnapshot("none");
  versions = {
    first: folders.declared(declared(true, server.url)),
    changed: folders.declared(declared(false, server.url)),
    none: folders.declared({ "env.yaml": "organizations: {}\n" }),
  };
  engine = new InProcessEngine({ endpoint: emulator.url, ...login });
  for (const version of ["first", "changed"] as const) {
    expect(await up(version)).toBe("");
    emulator.saveSnapshot(version);
    begun.set(version, engine.state);
  }
  await administrate(emulator, `clock?advance=${newMs}`, { method: "POST" }); // what was made so far is new no more
});
afterAll(async () => {
  process.env["MICROAPPS_CONSISTENCY_SECONDS"] = "0";
  folders.remove();
  await emulator.close();
  server.close();
});

/** Each thing that may happen to a call of a stage. */
const casesOf = (calls: readonly EndpointName[]): [what: string, faults: Faults][] =>
  calls.flatMap((endpoint, index) => {
    const at = { endpoint, after: calls.slice(0, index).filter((each) => each === endpoint).length };
    const isWrite = endpoints[endpoint].effect !== "read" && endpoint !== "login";
    const own = isWrite
      ? { ...ofWrites, ...(changes.includes(endpoint) ? ofChanges : {}) }
      : endpoint === "login"
        ? {}
        : ofReads;
    const kinds = Object.entries<(at: At, index: number) => Faults>({ ...own, ...ofAll }).map(
      ([what, plan]) => [what, plan(at, index)] as const,
    );
    const killed = Object.entries(ends).map(([what, plan]) => [what, plan(index)] as const);
    return [...kinds, ...killed].map(([what, faults]): [string, Faults] => [
      `call ${index}, ${endpoint}: ${what}`,
      faults,
    ]);
  });

test.each(Object.entries(stages))("whatever happens in %s, the next runs finish it", async (stage, [from, to]) => {
  begin(from);
  const since = emulator.lastCall();
  expect(await up(to)).toBe("");
  const cases = casesOf(emulator.calls({ since }).map(({ endpoint }) => endpoint));
  const wanted = counts();
  const failures: string[] = [];
  // A first run whose state is lost is told by kinds of things, in lives/existingRows and lives/lostCreations.
  const lost: typeof cases = from === "none" ? [] : [["its state is lost", []]];
  const whole = partOf(Object.entries(habits), Object.keys(stages).indexOf(stage), 4);
  const all = [...lost, ...whole, ...partOf(cases, 0, 89)].flatMap(([what, faults], index) => {
    // Somebody may give up at once instead; of a creation that was interrupted the engine says that the next up looks.
    const isPending = /insert(team|organization|teammembers): the run is killed after/.test(what);
    const both = isLong ? [to, "none" as const] : [index % 2 === 0 ? to : ("none" as const)];
    const ways = to === "none" || faults.length === 0 || isPending ? [to] : both;
    return ways.map((next) => [next === to ? what : `${what}, and it is destroyed`, faults, next] as const);
  });
  for (const [what, faults, next] of all) {
    begin(from);
    emulator.setFaults({ faults: [...faults] });
    const isLate = faults.some(({ milliseconds }) => milliseconds !== undefined);
    process.env["MICROAPPS_CONSISTENCY_SECONDS"] = isLate ? "2" : "0";
    const said = await up(to);
    emulator.setFaults();
    if (faults.length === 0) engine.state = begun.get(from) ?? [];
    const told = [said];
    try {
      if (what.endsWith("late")) expect(said).toBe("");
      if (next === to) {
        if (said !== "" || faults.length === 0) await persist(to, told);
        expect([counts(), touched()]).toEqual([wanted, []]);
        expect([...(await engine.run(versions[to], false))]).toEqual([]);
      }
      await persist("none", told);
      expect([counts(), touched()]).toEqual([new Map(), []]);
      expect(told.join()).not.toMatch(/\n\s+at |correct-horse|undefined/);
    } catch (error) {
      failures.push(`${what}: ${String(error)} (said: ${told.join("; ")})`);
    }
  }
  expect([cases.length > 50, failures]).toEqual([true, []]);
});
