import { expect } from "@jest/globals";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Switches } from "../../emulator/data/deviations.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import type { FaultPlan } from "../../emulator/platform/faults.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { routesOf, type EndpointName } from "../../platform/contract/endpoints.ts";
import type { RowData } from "../../platform/contract/values.ts";
import { at } from "../../platform/contract/wire.ts";
import { usualHabits, type HabitName, type Profile } from "../../platform/profile/profile.ts";
import { fileServer } from "../harness/fileServer.ts";
import { Front } from "../harness/front.ts";
import { inProcess } from "../harness/inProcessPlugin.ts";
import { configOf } from "../harness/project.ts";
import { ProviderHost } from "../harness/providerHost.ts";
import { live, type Life, type Stage } from "./life.ts";
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

/** A life of rows below two others: they are changed, moved and removed, and edited by hand. */
async function subRowsLife({ client }: Stage): Promise<Life> {
  const parents = new Map<string, string>();
  for (const Code of ["EU", "AF"]) {
    const { rowID } = await client.insertmicroapprow({ microAppID: "continents", rowData: { Code } });
    parents.set(rowID, Code);
  }
  const all = async () =>
    (await client.microappdata({ microAppID: "spots", optViewSort: { sortVal: 1 } })).microAppRows;
  const rows = many.map((row, index) => ({ ...row, In: index % 2 === 0 ? "EU" : "AF", Name: "x" }));
  const changed = rows.map((row, index) => (index === 0 ? { ...row, Name: "y" } : row)).slice(0, -1);
  const moved = changed.map((row, index) => (index === 1 ? { ...row, In: "EU" } : row));
  return {
    live: async () =>
      (await all()).map(({ Code, Name, embeddingRowID }) => ({ Code, In: parents.get(embeddingRowID ?? ""), Name })),
    create: {
      news: { table: "spots", key: "Code", rows, parent: { table: "continents", key: "Code", by: "In" } },
      ...{ calls: [], live: rows },
    },
    changes: [
      { news: { rows: changed }, calls: [], live: changed },
      { news: { rows: moved }, calls: [], live: moved },
    ],
    later: [],
    replaces: [],
    drift: {
      edit: async () => {
        const [first, second] = await all();
        await client.updatemicroapprow({ rowID: first?._id ?? "", rowData: { Name: "By hand" } });
        await client.removemicroapprow({ rowID: second?._id ?? "" });
      },
      found: { drift: { changed: 1, missing: 1, changedKeys: ["P00"], missingKeys: ["P01"] } },
      calls: [],
    },
    imported: "Declare the SeedRows",
    deleted: { calls: [], live: [] },
    remove: null,
  };
}

type LifeOf = (typeof lives)[string];
const references = { Of: { table: "continents", key: "Code" } };
export const allLives: Readonly<Record<string, LifeOf>> = {
  ...lives,
  "SeedRows of texts": rowsLife("places", {}, { Note: "x" }, { Note: "" }),
  "SeedRows of numbers": rowsLife("places", {}, { Count: 1 }, { Count: 2 }),
  "SeedRows of dates": rowsLife("places", {}, { Since: "2026-11-21" }, { Since: "2026-11-22" }),
  "SeedRows of links": rowsLife("places", { references }, { Of: "EU" }, { Of: "AF" }),
  "SeedRows without links": rowsLife("places", { references }, { Of: "EU" }, { Of: "" }),
  "SeedRows of viewers": rowsLife("places", { viewers: ["admin@example.com"] }, { Note: "x" }, { Note: "" }),
  "SeedRows of rows": subRowsLife,
};

/** Small pages and batches, of which a seed takes several. */
const usualLimits = { maximumLimit: 10, maximumBatch: 10 };

const administrator = { email: "admin@example.com", password: "correct-horse", apiKey: "key-of-the-operator" };

type Answers = Partial<Record<EndpointName, (answer: unknown) => unknown>>;

/** Passes a request on and answers it, with what some endpoints answer rewritten. */
async function rewriting(
  ground: { url: string; answers: Answers; since: EndpointName[] },
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "GET", url: path = "" } = message;
  const names = ["content-type", "x-auth-token", "x-user-id", "x-api-key"];
  const headers = names.flatMap((name) => (message.headers[name] ? [[name, String(message.headers[name])]] : []));
  const body = Buffer.concat((await message.toArray()) as Buffer[]); // of bytes
  const asked = { method, headers: headers as [string, string][], ...(method === "GET" ? {} : { body }) }; // just made of texts
  const answer = await fetch(`${ground.url}${path}`, asked);
  const text = await answer.text();
  const name = routes.get(path.replace(/\?.*/, ""))?.name;
  const rewrite = name && ground.answers[name];
  if (name && (rewrite || ground.since.length > 0)) ground.since.push(name);
  response.writeHead(answer.status, { "content-type": "application/json" });
  response.end(rewrite && answer.ok ? JSON.stringify(rewrite(JSON.parse(text))) : text);
}

const routes = routesOf();

/** How a platform differs, and what is configured for it. */
export interface Variant {
  habits?: Partial<Switches>;
  faults?: NonNullable<FaultPlan["faults"]>;
  /** How long the provider looks for what a run has just made (default 0). */
  consistencySeconds?: number;
  /** Limits of the platform (default: 10 rows in an answer and in a batch). */
  limits?: Profile["limits"];
  /** True where nobody has run verify: no profile is configured (default false). */
  isUnknown?: boolean;
  /** How answers are rewritten on their way. */
  answers?: Answers;
}

/** An emulator on which resources live, one after the other. */
export class LivingGround {
  readonly #emulator: Emulator;
  readonly #files: Awaited<ReturnType<typeof fileServer>>;
  readonly #front: Front;
  /** What the provider sent to a platform of other answers since the first of them came, that call included. */
  since: EndpointName[] = [];

  private constructor(emulator: Emulator, files: Awaited<ReturnType<typeof fileServer>>, front: Front) {
    this.#emulator = emulator;
    this.#files = files;
    this.#front = front;
  }

  static async open(): Promise<LivingGround> {
    const files = await fileServer();
    const emulator = await createEmulator({
      seed: {
        administrator,
        tables: { ...tables, ...moreTables },
        users: ["ada", "grace", "alan"].map((name) => ({ email: `${name}@example.com` })),
        settings: { generationSeconds: 0, allowedHosts: [files.host] },
      },
    });
    return new LivingGround(emulator, files, await Front.start(emulator.url));
  }

  async close(): Promise<void> {
    await this.#front.close();
    await this.#emulator.close();
    this.#files.close();
  }

  #become({ habits = {}, faults = [], limits = usualLimits }: Variant): void {
    this.#emulator.setProfile({ version: 1, limits });
    this.#emulator.behave(habits);
    this.#emulator.setFaults({ faults });
  }

  /** A client that looks at the platform, and edits it by hand, as if it had no habits of its own. */
  #onlooker(variant: Variant): Client {
    const client = createClient({ endpoint: this.#emulator.url, ...administrator });
    return new Proxy(client, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return async (...given: unknown[]): Promise<unknown> => {
          this.#emulator.setProfile();
          this.#emulator.behave();
          this.#emulator.setFaults();
          try {
            return await (Reflect.apply(method, target, given) as Promise<unknown>);
          } finally {
            this.#become(variant);
            this.#emulator.advance(1_000); // what was made by hand is old by the time that a run begins
          }
        };
      },
    });
  }

  /** Lives a life from its creation to its end on a platform of this variant. */
  async lives(type: string, variant: Variant): Promise<void> {
    const emulator = this.#emulator;
    const { habits = {}, limits = usualLimits, consistencySeconds = 0, isUnknown = false, answers } = variant;
    this.since = [];
    const endpoint = answers ? this.#front.url : emulator.url;
    const ground = { url: emulator.url, answers: answers ?? {}, since: this.since };
    this.#front.answer = (request, response) => {
      rewriting(ground, request, response).catch(() => response.destroy());
      return true;
    };
    await emulator.reset();
    this.#become(variant);
    const profile = "platform-profile.yaml";
    const own = Object.entries(usualHabits).filter(([name]) => Object.hasOwn(habits, name));
    const known = Object.fromEntries(own.map(([name, usual]) => [name, habits[name as HabitName] ?? usual]));
    const configured = configOf({ url: endpoint }, { ...administrator, ...(isUnknown ? {} : { profile }) });
    process.env["MICROAPPS_CONSISTENCY_SECONDS"] = String(consistencySeconds);
    const host = await ProviderHost.start(inProcess, configured);
    host.isTraced = false;
    writeFileSync(join(host.folder, profile), JSON.stringify({ version: 1, habits: known, limits }));
    const client = this.#onlooker(variant);
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
      if (life)
        await live(stage, type.replace(/ .*/, ""), anyCalls(await life(stage, formOf(habits), this.#files.url)));
    } finally {
      await host.stop();
      await client.close();
    }
  }
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
const formOf = ({ memberForm = "objects", memberAddress = "yes" }: Partial<Switches>): "objects" | "userIDs" =>
  memberAddress === "yes" && memberForm === "objects" ? "objects" : "userIDs";
