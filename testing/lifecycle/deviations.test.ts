import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import type { RowData } from "../../provider/contract/values.ts";
import { at } from "../../provider/contract/wire.ts";
import { habits, type HabitName, type Habits } from "../../provider/habits/habits.ts";
import { sampleOf } from "../harness/drawn.ts";
import { InProcessHost } from "../harness/inProcessHost.ts";
import { live, type Life, type Stage } from "./lifecycle.ts";
import { lives, tables } from "./lives.ts";

/** Rows of each kind of value: links, numbers, dates, empty texts, and rows of rows. More than two pages of them. */
const moreTables = {
  places: {
    fields: {
      Code: { type: "text", sort: 1 },
      Count: "number",
      Since: "date",
      Note: "text",
      Of: { type: "linked", table: "continents", field: "Code" },
    },
  },
  spots: { parent: "continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } },
};

const many = Array.from({ length: 25 }, (_, index) => ({ Code: `P${String(index).padStart(2, "0")}` }));

/** A life of rows; `clears` is what the change takes out of the first row. */
const rowsLife =
  (table: string, inputs: object, values: RowData, change: RowData): LifeOf =>
  async ({ client }) => {
    for (const Code of ["EU", "AF"]) {
      await client.insertmicroapprow({ microAppID: "continents", rowData: { Code } });
    }
    const [label = ""] = Object.keys(change);
    const shown = (row: RowData | undefined): unknown => at(row?.[label], "value.value") ?? row?.[label] ?? "";
    const all = async () => {
      const { microAppRows } = await client.microappdata({ microAppID: table, optViewSort: { sortVal: 1 } });
      return [shown(microAppRows[0]), ...microAppRows.map(({ Code }) => Code)];
    };
    const rows = many.map((row) => ({ ...row, ...values }));
    const changed = rows.map((row, index) => (index === 0 ? { ...row, ...change } : row)).slice(0, -1);
    const codes = many.map(({ Code }) => Code);
    return {
      live: all,
      create: { news: { table, key: "Code", rows, ...inputs }, calls: [], live: [values[label], ...codes] },
      changes: [{ news: { rows: changed }, calls: [], live: [change[label], ...codes.slice(0, -1)] }],
      later: [],
      replaces: [],
      imported: "Declare the SeedRows",
      deleted: { calls: [], live: [""] },
      remove: null,
    };
  };

type LifeOf = (typeof lives)[string];
const references = { Of: { table: "continents", key: "Code" } };
const allLives: Readonly<Record<string, LifeOf>> = {
  ...lives,
  "SeedRows of texts": rowsLife("places", {}, { Note: "x" }, { Note: "" }),
  "SeedRows of numbers": rowsLife("places", {}, { Count: 1 }, { Count: 2 }),
  "SeedRows of dates": rowsLife("places", {}, { Since: "2026-11-21" }, { Since: "2026-11-22" }),
  "SeedRows of links": rowsLife("places", { references }, { Of: "EU" }, { Of: "AF" }),
  "SeedRows without links": rowsLife("places", { references }, { Of: "EU" }, { Of: "" }),
  "SeedRows of rows": rowsLife(
    "spots",
    { parent: { table: "continents", key: "Code", by: "In" } },
    { In: "EU", Name: "x" },
    { Name: "y" },
  ),
};

/** Small pages and batches, of which a seed takes several. */
const limits = { maximumLimit: 10, maximumBatch: 10 };

const administrator = { email: "admin@example.com", password: "correct-horse", apiKey: "key-of-the-operator" };
let files: Server;
let emulator: Emulator;
let base = "";
beforeAll(async () => {
  files = createServer((_request, response) => response.writeHead(200, { "content-type": "image/png" }).end("bytes"));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(files.address() as AddressInfo).port}`; // a TCP server's address
  emulator = await createEmulator({
    seed: {
      administrator,
      tables: { ...tables, ...moreTables },
      users: ["ada", "grace", "alan"].map((name) => ({ email: `${name}@example.com` })),
      settings: { generationSeconds: 0, allowedHosts: [new URL(base).host] },
    },
  });
});
afterAll(async () => {
  await emulator.close();
  files.close();
});

/** A client that looks at the platform, and edits it by hand, as if it had no habits of its own. */
function onlooker(habits: Partial<Habits>): Client {
  const client = createClient({ endpoint: emulator.url, ...administrator });
  return new Proxy(client, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...given: unknown[]): Promise<unknown> => {
        emulator.setProfile();
        try {
          return await (Reflect.apply(method, target, given) as Promise<unknown>);
        } finally {
          emulator.setProfile({ version: 1, habits, limits });
        }
      };
    },
  });
}

/** The life of a resource whose calls are not compared: an adaptation takes others, and what comes of them counts. */
const anyCalls = ({ create, changes, drift, deleted, ...life }: Life): Life => ({
  ...life,
  create: { ...create, calls },
  changes: changes.map((change) => ({ ...change, calls })),
  repeated: calls,
  ...(drift ? { drift: { ...drift, calls } } : {}),
  deleted: { ...deleted, calls },
});
const calls = expect.anything() as never;

/** Where the platform's lists name people by ID alone. */
const formOf = ({ memberForm = "objects", memberAddress = "yes" }: Partial<Habits>): "objects" | "ids" =>
  memberAddress === "yes" ? memberForm : "ids";

async function lived(type: string, habits: Partial<Habits>): Promise<void> {
  await emulator.reset();
  emulator.setProfile({ version: 1, habits, limits });
  const folder = mkdtempSync(join(tmpdir(), "microapps-life-"));
  const profile = "platform-profile.yaml";
  writeFileSync(join(folder, profile), JSON.stringify({ version: 1, habits, limits }));
  const host = new InProcessHost({ endpoint: emulator.url, ...administrator, profile }, folder);
  const client = onlooker(habits);
  const stage: Stage = {
    host,
    client,
    emulator,
    calls: async (work) => {
      const since = emulator.lastCall();
      await work();
      return emulator.calls({ since, mutating: true }).map(({ endpoint }) => endpoint);
    },
    organization: async (name?: string) =>
      (await client.insertorganization({ organizationInfo: { name: name ?? "Acme" } })).organizationID,
    team: async (organizationID, name?: string) => {
      const teamInfo = { organizationID: organizationID ?? (await stage.organization()), name: name ?? "Crew" };
      return (await client.insertteam({ teamInfo })).teamID;
    },
  };
  try {
    const life = allLives[type];
    if (life) await live(stage, type.replace(/ .*/, ""), anyCalls(await life(stage, formOf(habits), base)));
  } finally {
    host.stop();
    await client.close();
    rmSync(folder, { recursive: true });
  }
}

/** The lives that a habit concerns most, of which `make test` takes the first; with DEVIATIONS=all a deviation meets every one. */
const concerned: { [Name in HabitName]: readonly string[] } = {
  writeEnvelope: ["Team", "SeedRows", "RowFile"],
  readEnvelope: ["Team", "TeamMember", "SeedRows of links", "RowFile"],
  creationResult: ["Organization", "Team"],
  failureForm: ["Organization", "TeamMember", "SeedRows"],
  failureStatus: ["Organization", "TeamMember", "SeedRows"],
  successWord: ["Organization", "SeedRows"],
  loginEnvelope: ["Team"],
  logoutBy: ["Team"],
  userLookupBy: ["TeamRoster", "UserTeams"],
  userLookupEnvelope: ["UserTeams"],
  keyAlone: ["GeneratedApp"],
  keyNeeded: ["GeneratedApp"],
  noMatch: ["SeedRows", "SeedRows of texts"],
  unknownRow: ["SeedRows", "RowFile"],
  skip: ["SeedRows of texts", "SeedRows of rows"],
  skipForm: ["SeedRows of texts"],
  optLimit: ["SeedRows of texts"],
  order: ["SeedRows of texts"],
  rowOrder: ["SeedRows of texts"],
  viewSort: ["SeedRows of texts"],
  searchFilters: ["SeedRows of texts", "RowFile"],
  viewFilters: ["SeedRows of texts", "RowFile"],
  rangeFilters: ["SeedRows of texts", "RowFile"],
  parentFilter: ["SeedRows of rows"],
  rawRows: ["SeedRows of texts"],
  linkForm: ["SeedRows of links", "SeedRows without links"],
  numberForm: ["SeedRows of numbers", "SeedRows of texts"],
  dateForm: ["SeedRows of dates", "SeedRows of texts"],
  submittedForm: ["SeedRows of texts"],
  unknownLabels: ["SeedRows of texts", "SeedRows of rows"],
  labelCase: ["SeedRows of texts"],
  wrongValues: ["SeedRows of numbers"],
  linkNull: ["SeedRows without links", "SeedRows of links"],
  emptyText: ["SeedRows of texts"],
  insertedCount: ["SeedRows of texts"],
  partialBatches: ["SeedRows of texts"],
  ownParents: ["SeedRows of rows"],
  updateUnknownRow: ["SeedRows"],
  removeUnknownRow: ["SeedRows"],
  childRead: ["RowFile"],
  childListBy: ["RowFile"],
  storecopyPath: ["RowFile"],
  uploadPath: ["RowFile"],
  chosenIDs: ["Organization", "Team"],
  organizationNames: ["Organization"],
  unknownThing: ["Organization", "Team"],
  createdAt: ["Organization", "Team"],
  cascade: ["Organization", "Team"],
  allMembers: ["Organization", "TeamMember", "UserTeams"],
  memberForm: ["TeamMember", "TeamRoster", "UserTeams"],
  memberPlace: ["TeamMember", "TeamRoster"],
  memberAddress: ["TeamMember", "TeamRoster", "UserTeams"],
  memberID: ["TeamMember", "TeamRoster", "UserTeams"],
  teamParameter: ["TeamMember", "TeamRoster", "UserTeams"],
  invitations: ["TeamMember", "TeamRoster"],
  enforceBy: ["UserTeams"],
  roleChange: ["TeamMember", "TeamRoster", "UserTeams"],
  defaultChannel: ["Notification"],
  appLink: ["GeneratedApp"],
  appStatus: ["GeneratedApp"],
  attachments: ["GeneratedApp"],
};

/** Habits without a remedy: the lives that are refused, by name. All others go on as on any platform. */
const refuses: { [Name in HabitName]?: Record<string, RegExp> } = {
  numberForm: { "SeedRows of numbers": /Count is a number, which this platform reads back as text \(numberForm\)/ },
  dateForm: { "SeedRows of dates": /Since is a date, which this platform reads back as a number of milliseconds/ },
  linkNull: { "SeedRows without links": /this platform keeps a link that is set to nothing \(linkNull\): Of/ },
  cascade: { Organization: /this platform deletes an organization with all of its teams \(cascade\)/ },
  roleChange: {
    TeamMember: /this platform does not change roles \(roleChange\)/,
    TeamRoster: /this platform does not change roles \(roleChange\)/,
  },
  defaultChannel: { Notification: /this platform sends no push message .* \(defaultChannel\)/ },
};

const deviations = (Object.keys(habits) as HabitName[]).flatMap((name) =>
  habits[name].values.slice(1).map((value) => [name, value] as const),
);

test("every life is lived without a deviation", async () => {
  for (const type of Object.keys(allLives)) await lived(type, {});
});

test.each(deviations)("lives with %s: %s", async (name, value) => {
  const own = [...sampleOf(concerned[name], 1), ...Object.keys(refuses[name] ?? {})];
  const types = process.env["DEVIATIONS"] === "all" ? Object.keys(allLives) : new Set(own);
  for (const type of types) {
    const living = lived(type, { [name]: value });
    const refusal = refuses[name]?.[type];
    if (refusal) await expect(living).rejects.toThrow(refusal);
    else await living;
  }
});
