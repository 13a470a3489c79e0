import type { CallOptions, Calls } from "../../platform/client/http/call.ts";
import { createClient, type Client, type ClientOptions } from "../../platform/client/index.ts";
import { pages } from "../../platform/client/lists.ts";
import type { Row } from "../../platform/contract/values.ts";
import { ApiError } from "../../platform/contract/wire.ts";
import { readProfile } from "../layers/layers.ts";
import { type ListWaits, MemberLists, SnapshotCache } from "../people/members.ts";
import { type Configuration, emulators } from "./configuration.ts";

/** The platform as a provider reaches it. */
export interface PlatformAccess {
  client: Client;
  members: MemberLists;
  tables: TableReads;
  /** Sentences about the start of an emulator. */
  notes: readonly string[];
  close: () => Promise<void>;
  /** Ends what was started for it, and no session, as the end of a process does. */
  release: () => Promise<void>;
}

/** How a platform is reached, where not as usual. */
type Reaching = Pick<ClientOptions, "timeouts" | "retries"> & { waits?: ListWaits | undefined };

/** Milliseconds that a call which changes something has to end when the run is cancelled: what is done can be saved. */
const gracePeriodMs = 15_000;

/** Seconds for which a platform may not find what a run has made, where the configuration names none. */
const usualSeconds = 10;

/** Connects to the platform of a configuration; an emulator endpoint is started in this process and ends with it. */
export async function connect(
  { endpoint, allowed, userID: userId, profile, consistencySeconds, ...credentials }: Configuration,
  directory: string,
  signal?: AbortSignal,
  { timeouts, retries, waits }: Reaching = {},
): Promise<PlatformAccess> {
  const { url, isEmulator, notes, close: stop } = await locatePlatform(endpoint, directory);
  const known = readProfile(profile, directory);
  const { visibleAfter = 0 } = known?.limits ?? {};
  const seconds = consistencySeconds ?? Math.max(usualSeconds, 2 * visibleAfter);
  const client = createClient({
    endpoint: url,
    ...(isEmulator ? {} : { allowed }), // an emulator of this process is nobody else
    ...credentials,
    userId,
    consistencyMs: isEmulator && visibleAfter === 0 ? 0 : seconds * 1000,
    profile: known,
    timeouts: { gracePeriod: gracePeriodMs, ...timeouts },
    retries,
  });
  return {
    client,
    members: new MemberLists(client, { ...waits, ...(signal && { signal }) }),
    tables: new TableReads(client),
    notes,
    close: async () => {
      await client.close();
      await stop();
    },
    release: stop,
  };
}

/** The address of a platform, and what ends with it. */
interface Located extends Pick<PlatformAccess, "notes" | "close"> {
  url: string;
  isEmulator: boolean;
}

/** The address that an endpoint means; that of an emulator is started for it. */
export async function locatePlatform(endpoint: string, directory: string): Promise<Located> {
  if (!endpoint.startsWith("emulator:")) {
    return { url: endpoint, isEmulator: false, notes: [], close: () => Promise.resolve() };
  }
  const { url, added, close } = await emulators().start(endpoint, directory);
  return { url, isEmulator: true, notes: added, close };
}

/** Time-out (ms) for a login that is tried: the platform may be out of reach. */
const loginTimeoutMs = 10_000;

/** Tries a login. Returns the refusal of the platform; one that can't be reached refuses nobody. */
export const refusalOf = (settings: Configuration): Promise<ApiError | undefined> =>
  loggedIn(settings).then(
    () => undefined,
    (error: unknown) => (error instanceof ApiError && error.code === "unauthorized" ? error : undefined),
  );

async function loggedIn(settings: Configuration): Promise<void> {
  const { client, close } = await connect({ ...settings, readOnly: true }, process.cwd(), undefined, {
    retries: { attempts: 1, connects: 1 },
    timeouts: { call: loginTimeoutMs },
  });
  try {
    await client.callerID();
    // A token is not logged in with: any answer but a refusal is good enough.
    if (settings.token !== undefined) await client.readorganization({ organizationID: "none" });
  } finally {
    await close();
  }
}

interface ReadOptions {
  /** Milliseconds for which a table serves further reads (default 5,000). Our own writes drop it. */
  ttlMs?: number;
  now?: () => number;
}

/** Above this number of rows each reader reads the table itself, so that no memory holds all of it. */
const maxKeptRows = 10_000;

/**
 * Reads whole tables for many readers at a time: one read of a small table serves all that ask meanwhile or within
 * `ttlMs`. For readers that only look; plans of changes read the table themselves.
 */
export class TableReads {
  readonly #client: Calls<"microappdata">;
  readonly #snapshots: SnapshotCache<Row[]>;
  readonly #underway = new Map<string, Promise<void>>();

  constructor(client: Calls<"microappdata">, { ttlMs = 5_000, now = Date.now }: ReadOptions = {}) {
    this.#client = client;
    this.#snapshots = new SnapshotCache(ttlMs, now);
  }

  /** Pages of a table as it was at most `ttlMs` ago. */
  async *read(table: string, call: CallOptions = {}): AsyncGenerator<Row[], void, undefined> {
    for (let reader; (reader = this.#underway.get(table)) !== undefined;) await reader;
    const known = this.#snapshots.get(table);
    if (known) {
      if (known.snapshot.length > 0) yield known.snapshot;
      return;
    }
    const ended = Promise.withResolvers<undefined>();
    this.#underway.set(table, ended.promise);
    const letOthers = (): void => {
      if (this.#underway.get(table) === ended.promise) this.#underway.delete(table);
      ended.resolve(undefined);
    };
    const version = this.#snapshots.version(table);
    let rows: Row[] | undefined = [];
    try {
      for await (const page of pages(this.#client, { microAppID: table, ...call })) {
        rows = rows && rows.length + page.length <= maxKeptRows ? [...rows, ...page] : undefined;
        // Each reader reads a large table itself: none waits for the end of this read.
        if (!rows) letOthers();
        yield page;
      }
      if (rows) this.#snapshots.keep(table, rows, version);
    } finally {
      letOthers();
    }
  }

  /** Notes a change of ours: earlier reads are not served any more. */
  changed(table: string): void {
    this.#snapshots.changed(table);
  }
}
