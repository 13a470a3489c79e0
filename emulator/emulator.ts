import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { WireNames } from "../provider/contract/endpoints.ts";
import { adminPath, administrate } from "./admin.ts";
import { lastSequence, loggedCalls, type CallFilter, type LoggedCall } from "./callLog.ts";
import { Database } from "./database.ts";
import { plant, withoutSecrets } from "./planting.ts";
import { Platform, type Outgoing } from "./platform.ts";
import { reset } from "./reset.ts";
import { routesOf } from "./routes.ts";
import type { SeedInput } from "./seed.ts";
import { readSeed } from "./seedFile.ts";
import { listen, type Arrived } from "./server.ts";

export interface EmulatorOptions {
  /** Data file, made when it is missing. In memory when it is left out or `:memory:`. */
  data?: string | undefined;
  /** YAML file or object with tables, users and settings. Taken once, when the data file is new. */
  seed?: string | SeedInput | undefined;
  /** A free one when it is 0 or left out. */
  port?: number | undefined;
  /** Address to listen on; only this machine reaches the default, 127.0.0.1. */
  host?: string | undefined;
  /** Lets the process end while the emulator is open. */
  unref?: boolean | undefined;
  /** Clock in milliseconds since the epoch. */
  now?: (() => number) | undefined;
  /** Names that the clients use on the wire, ours → theirs. */
  wireNames?: WireNames | undefined;
}

export interface Emulator {
  /** Address for clients, e.g. `http://127.0.0.1:41234`. */
  url: string;
  /** Back to the seed, or to nothing but the first administrator. Sessions and the call log end too. */
  reset: (to?: "seed" | "empty") => Promise<void>;
  /** Lets requests under way end, then closes. */
  close: () => Promise<void>;
  /** The calls so far, oldest first. */
  calls: (filter?: CallFilter) => LoggedCall[];
  /** Number of the last call, for `calls({ since })`. */
  lastCall: () => number;
}

/** Starts a platform on this machine. */
export async function createEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { data = ":memory:", seed, port = 0, host = "127.0.0.1", unref = false, now = Date.now, wireNames } = options;
  if (data !== ":memory:") mkdirSync(dirname(data), { recursive: true });
  const database = new Database(data, (fresh) => plant(fresh, withoutSecrets(readSeed(seed)), now()));
  const platform = new Platform(database, now, wireNames);
  const routes = routesOf(wireNames);

  const answer = (request: Arrived): Outgoing => {
    const { method, path, query, headers, body } = request;
    if (path.startsWith(adminPath)) return administrate(platform, request, path.slice(adminPath.length));
    const route = routes.get(path);
    if (!route) return failed(404, `There is no endpoint ${path}`);
    if (!route.methods.includes(method)) {
      return failed(405, `${path} takes ${route.methods.join(" or ")}`, { allow: route.methods.join(", ") });
    }
    return platform.answer({ name: route.name, headers, query: Object.fromEntries(query), body, url: listening.url });
  };
  let listening: { url: string; close: () => Promise<void> };
  try {
    listening = await listen(answer, { host, port, unref });
  } catch (error) {
    database.close();
    throw error;
  }

  let closing: Promise<void> | undefined;
  return {
    url: listening.url,
    reset: (to) => {
      reset(platform, to);
      return Promise.resolve();
    },
    close: () => (closing ??= listening.close().finally(() => database.close())),
    calls: (filter) => loggedCalls(database, filter),
    lastCall: () => lastSequence(database),
  };
}

const failed = (status: number, message: string, headers: Record<string, string> = {}): Outgoing => ({
  status,
  body: { status: "failure", message },
  headers,
});
