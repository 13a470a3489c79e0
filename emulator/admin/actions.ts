import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { isOwnHost } from "../../machine/hosts.ts";
import { endpoints, type EndpointName } from "../../provider/contract/endpoints.ts";
import type { ProfileInput } from "../../provider/habits/profile.ts";
import { FileError } from "../../provider/layers/checkedFile.ts";
import type { CallFilter } from "../data/callLog.ts";
import { removeDataFile } from "../data/database.ts";
import { hashToken } from "../data/hashing.ts";
import { forbidden, invalid, notFound, PlatformError } from "../data/platformError.ts";
import { parseBody } from "../http/body.ts";
import type { Arrived, Outgoing } from "../http/server.ts";
import { instancePath } from "../platform/hosted.ts";
import { newFile } from "../seed/snapshots.ts";
import type { Administrated } from "./administrated.ts";
import { callAsAdministrator } from "./calling.ts";
import { consoleFile } from "./consoleFiles.ts";
import { callList, organizationTree, rowPage, tableList, userList } from "./contents.ts";

/** Path prefix of the emulator's own interface. */
export const adminPath = "/_emulator/";

const done = { status: "success" };

type Action = (on: Administrated, request: Arrived, name: string) => unknown;

/** Actions by method and first part of the path; the rest of the path is the name. */
const actions: Record<string, Action> = {
  "GET tables": ({ platform }, { query }) => ({ tables: tableList(platform, query) }),
  "GET rows": ({ platform }, { query }) => rowPage(platform, query),
  "GET organizations": ({ platform }) => ({ organizations: organizationTree(platform) }),
  "GET users": ({ platform }) => ({ users: userList(platform) }),
  "GET calls": ({ instance, platform }, { query }) => callList(instance, platform, filterIn(query)),
  "POST call": callAsAdministrator,
  "POST reset": async ({ instance }, { query }) => {
    const to = query.get("to") ?? "seed";
    if (to !== "seed" && to !== "empty") throw invalid("to must be seed or empty");
    await instance.reset(to);
    return done;
  },
  "POST clock": ({ instance }, { query }) => {
    const milliseconds = Number(query.get("advance") ?? NaN);
    if (!(milliseconds >= 0 && milliseconds < 1e12)) throw invalid("advance must be a number of milliseconds");
    instance.advance(milliseconds);
    return done;
  },
  "GET faults": ({ instance }) => ({ faults: instance.faults() }),
  "PUT faults": ({ instance }, { body }) => {
    instance.setFaults(parseBody(body) ?? {}); // setFaults validates it
    return { faults: instance.faults() };
  },
  "DELETE faults": ({ instance }) => {
    instance.setFaults();
    return done;
  },
  "PUT profile": ({ instance }, { body }) => {
    try {
      instance.setProfile(parseBody(body) as ProfileInput); // it validates it
    } catch (error) {
      throw error instanceof FileError ? invalid(error.message) : error;
    }
    return done;
  },
  "DELETE profile": ({ instance }) => {
    instance.setProfile();
    return done;
  },
  "GET notifications": ({ instance }, { query }) => instance.notifications(query.get("email") ?? undefined),
  "GET snapshots": ({ instance }, _request, name) =>
    name === "" ? { snapshots: instance.snapshots() } : { differences: instance.differences(name) },
  "PUT snapshots": ({ instance }, _request, name) => {
    instance.saveSnapshot(name);
    return done;
  },
  "POST snapshots": ({ instance }, _request, name) => {
    instance.loadSnapshot(name);
    return done;
  },
  "DELETE snapshots": ({ instance }, _request, name) => {
    instance.deleteSnapshot(name);
    return done;
  },
  "GET state": async ({ instance }) => {
    const file = newFile();
    await instance.saveSnapshotFile(file);
    return createReadStream(file).on("close", () => removeDataFile(file));
  },
  "PUT state": async ({ instance }, { query, stream }) => {
    const file = newFile();
    try {
      await pipeline(stream, createWriteStream(file));
      await instance.loadSnapshotFile(file, query.get("name") ?? "the snapshot");
    } finally {
      removeDataFile(file);
    }
    return done;
  },
  "GET instances": ({ all }) => ({ instances: all.names() }),
  "POST instances": ({ name: own, all, url }, { query }) => {
    if (own !== "") throw forbidden("Instances are made by the main platform");
    const ttl = query.get("ttl");
    if (ttl !== null && !(Number(ttl) > 0 && Number(ttl) <= 86_400)) throw invalid("ttl must be 1 to 86400 seconds");
    const { name, token } = all.make({
      from: query.get("from") ?? undefined,
      ttl: ttl === null ? undefined : Number(ttl),
    });
    return { name, address: `${url}${instancePath(name)}`, token };
  },
  "DELETE instances": ({ name: own, all }, _request, name) => {
    if (own !== "") throw forbidden("Instances are ended by the main platform");
    if (!all.end(name)) throw notFound("Instance", name);
    return done;
  },
  "PUT rows": ({ instance }, { body }, name) => {
    const { isLocked, hasConflict } = (parseBody(body) ?? {}) as Record<string, unknown>;
    const marks = {
      ...(typeof isLocked === "boolean" ? { isLocked } : {}),
      ...(typeof hasConflict === "boolean" ? { hasConflict } : {}),
    };
    if (!instance.markRow(name, marks)) throw notFound("Row", name);
    return done;
  },
};

/** True if the body of a request is read by what it does, piece by piece. */
export const readsBody = (method: string, path: string): boolean =>
  method === "PUT" && /^(\/instances\/[^/]+)?\/_emulator\/state$/.test(path);

/** Answers requests about the emulator: from this machine only, unless others are allowed to, and with its token only. */
export async function administrate(on: Administrated, request: Arrived, path: string): Promise<Outgoing> {
  try {
    requireOwnPage(request);
    if (!on.allowAdmin) requireOwnMachine(request);
    const [noun = "", ...rest] = path.split("/");
    const name = rest.join("/");
    const page = noun === "console" && request.method === "GET" ? consoleFile(name) : undefined;
    if (page) return page;
    requireToken(request, [on.token, on.all.main.token]);
    const action = `${request.method} ${noun}`;
    const carryOut = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (!carryOut) throw new PlatformError("notFound", `The emulator has no ${action}`);
    return { status: 200, body: await carryOut(on, request, name), headers };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { status: error.status, body: { status: "failure", message: error.message }, headers };
  }
}

const headers = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

/** Refuses the pages of others, which a browser lets post to this address. */
function requireOwnPage({ headers: { host = "", origin } }: Arrived): void {
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return;
  throw new PlatformError("forbidden", "The emulator is administrated by its own console's pages only");
}

function requireOwnMachine({ headers, local }: Arrived): void {
  // A page in a browser may reach this address under another name.
  if (local && isOwnHost(headers["host"] ?? "")) return;
  throw new PlatformError(
    "forbidden",
    "The emulator is administrated from its own machine only: --allow-admin lets others, with its token",
  );
}

/** Refuses whoever lacks the token: other users of this machine reach the port, too. */
function requireToken({ headers }: Arrived, tokens: readonly string[]): void {
  const sent = /^Bearer (.*)$/i.exec(headers["authorization"] ?? "")?.[1] ?? "";
  if (tokens.some((token) => hashToken(sent) === hashToken(token))) return; // comparing digests leaks nothing through its timing
  throw new PlatformError(
    "forbidden",
    "The emulator is administrated with its token: it stands in the console's address, which the emulator printed when " +
      "it started, or is what MICROAPPS_EMULATOR_TOKEN was then (in a program: emulator.token). Open <address>/#token=<token>, " +
      "or send the header authorization: Bearer <token>",
  );
}

function filterIn(query: URLSearchParams): CallFilter {
  const since = Number(query.get("since") ?? 0);
  if (!Number.isInteger(since)) throw invalid("since must be a sequence number");
  const limit = query.get("limit");
  if (limit !== null && !/^[1-9]\d{0,8}$/.test(limit)) throw invalid("limit must be a whole number above 0");
  const mutating = query.get("mutating");
  const endpoint = query.get("endpoint");
  if (endpoint !== null && !Object.hasOwn(endpoints, endpoint)) throw invalid(`there is no endpoint ${endpoint}`);
  return {
    since,
    ...(limit === null ? {} : { limit: Number(limit) }),
    ...(mutating === null ? {} : { mutating: mutating === "true" }),
    ...(endpoint === null ? {} : { endpoint: endpoint as EndpointName }), // a key of the contract's table
  };
}
