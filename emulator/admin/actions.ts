import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { packageFolder, readOwnPackage } from "../../machine/ownPackage.ts";
import { type EndpointName, endpoints } from "../../platform/contract/endpoints.ts";
import { isObject } from "../../platform/contract/wire.ts";
import type { ProfileInput } from "../../platform/profile/profile.ts";
import type { CallFilter } from "../data/callLog.ts";
import { removeDataFile } from "../data/database.ts";
import { usualSwitches } from "../data/deviations.ts";
import { hashToken } from "../data/hashing.ts";
import { allUsers, findAdministrator } from "../data/people.ts";
import { forbidden, invalid, notFound, PlatformError } from "../data/platformError.ts";
import { type Arrived, isOwnHost, type Outgoing, parseBody } from "../http/server.ts";
import { type Hosted, type HostedPlatforms, instancePath } from "../platform/hosted.ts";
import { SeedError } from "../seed/checking.ts";
import { seedDigest } from "../seed/planting.ts";
import { newFile } from "../seed/snapshots.ts";
import { callList, organizationTree, rowPage, tableList } from "./contents.ts";

/** Path prefix of the emulator's own interface. */
export const adminPath = "/_emulator/";

/** Subject of an action: one platform, and the host of all of them. */
interface Administrated extends Hosted {
  all: HostedPlatforms;
  /** Address of the main platform, as the caller has it. */
  url: string;
  /** True if other machines administrate it, too. */
  allowAdmin: boolean;
}

/** Answers a body, or nothing for a success that has nothing to tell. */
type Action = (on: Administrated, request: Arrived, name: string) => unknown;

/** Actions by method and first part of the path; the rest of the path is the name. */
const actions: Record<string, Action> = {
  "GET tables": ({ platform }) => ({ tables: tableList(platform) }),
  "GET rows": ({ platform }, { query }) => rowPage(platform, query),
  "GET organizations": ({ platform }) => ({ organizations: organizationTree(platform) }),
  "GET users": ({ platform }) => ({ users: allUsers(platform.database) }),
  "GET calls": ({ platform }, { query }) => callList(platform, filterIn(query)),
  "POST call": callAsAdministrator,
  "POST reset": ({ platform }, { query }) => {
    const to = query.get("to") ?? "seed";
    if (to !== "seed" && to !== "empty") throw invalid("to must be seed or empty");
    return platform.reset(to);
  },
  "POST clock": ({ platform }, { query }) => {
    const milliseconds = Number(query.get("advance") ?? NaN);
    if (!(milliseconds >= 0 && milliseconds < 1e12)) throw invalid("advance must be a number of milliseconds");
    platform.advance(milliseconds);
  },
  "GET faults": ({ platform }) => ({ faults: platform.faults() }),
  "PUT faults": ({ platform }, { body }) => {
    platform.setFaults(parseBody(body) ?? {}); // setFaults validates it
    return { faults: platform.faults() };
  },
  "DELETE faults": ({ platform }) => platform.setFaults(),
  "PUT profile": ({ platform }, { body }) => {
    try {
      platform.setProfile(parseBody(body) as ProfileInput); // it validates it
    } catch (error) {
      throw error instanceof SeedError ? invalid(error.message) : error;
    }
  },
  "DELETE profile": ({ platform }) => platform.setProfile(),
  "GET notifications": ({ platform }, { query }) => platform.notifications(query.get("email") ?? undefined),
  "GET snapshots": ({ platform }, _request, name) =>
    name === "" ? { snapshots: platform.snapshots() } : { differences: platform.differences(name) },
  "PUT snapshots": ({ platform }, _request, name) => platform.saveSnapshot(name),
  "POST snapshots": ({ platform }, _request, name) => platform.loadSnapshot(name),
  "DELETE snapshots": ({ platform }, _request, name) => platform.deleteSnapshot(name),
  "GET state": async ({ platform }) => {
    const file = newFile();
    await platform.saveSnapshotFile(file);
    return createReadStream(file).on("close", () => removeDataFile(file));
  },
  "PUT state": async ({ platform }, { query, stream }) => {
    const file = newFile();
    try {
      await pipeline(stream, createWriteStream(file));
      await platform.loadSnapshotFile(file, query.get("name") ?? "the snapshot");
    } finally {
      removeDataFile(file);
    }
  },
  "GET instances": ({ all }) => ({ instances: all.names() }),
  "POST instances": ({ name: own, all, url }, { query }) => {
    if (own !== "") throw forbidden("Instances are made by the main platform");
    const ttl = query.get("ttl");
    if (ttl !== null && !(Number(ttl) > 0 && Number(ttl) <= 86_400)) throw invalid("ttl must be 1 to 86400 seconds");
    const from = query.get("from") ?? undefined;
    const { name, token } = all.make({ from, ttl: ttl === null ? undefined : Number(ttl) });
    return { name, address: `${url}${instancePath(name)}`, token };
  },
  "DELETE instances": ({ name: own, all }, _request, name) => {
    if (own !== "") throw forbidden("Instances are ended by the main platform");
    if (!all.end(name)) throw notFound("Instance", name);
  },
  "PUT rows": ({ platform }, { body }, name) => {
    const sent = parseBody(body);
    const { isLocked, hasConflict } = isObject(sent) ? sent : {};
    const marks = {
      ...(typeof isLocked === "boolean" ? { isLocked } : {}),
      ...(typeof hasConflict === "boolean" ? { hasConflict } : {}),
    };
    if (!platform.markRow(name, marks)) throw notFound("Row", name);
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
    return { status: 200, body: (await carryOut(on, request, name)) ?? { status: "success" }, headers };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return { status: error.status, body: { status: "failure", message: error.message }, headers };
  }
}

const headers = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

/** Refuses the pages of others, which a browser lets post to this address. */
function requireOwnPage({ headers: { host = "", origin } }: Arrived): void {
  if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) return;
  throw forbidden("The emulator is administrated by its own console's pages only");
}

function requireOwnMachine({ headers, local }: Arrived): void {
  // A page in a browser may reach this address under another name.
  if (local && isOwnHost(headers["host"] ?? "")) return;
  throw forbidden("The emulator is administrated from its own machine only: --allow-admin lets others, with its token");
}

/** Refuses whoever lacks the token: other users of this machine reach the port, too. */
function requireToken({ headers }: Arrived, tokens: readonly string[]): void {
  const sent = /^Bearer (.*)$/i.exec(headers["authorization"] ?? "")?.[1] ?? "";
  if (tokens.some((token) => hashToken(sent) === hashToken(token))) return; // comparing digests leaks nothing through its timing
  throw forbidden(
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

/**
 * Carries a call out as the platform's first administrator: like any other, with its log entry and its faults. Status 0
 * stands for an answer that a fault keeps back.
 */
async function callAsAdministrator(
  { platform, name: own, url }: Administrated,
  { body, headers }: Arrived,
  name: string,
): Promise<{ status: number; body: unknown }> {
  if (!Object.hasOwn(endpoints, name)) throw notFound("Endpoint", name);
  const as = findAdministrator(platform.database);
  if (!as) throw forbidden("The platform has no administrator who could call it");
  const { outgoing, ending } = await platform.answer({
    name: name as EndpointName, // a key of the contract's table
    headers: { "content-type": "application/json", "user-agent": headers["user-agent"] },
    query: {},
    body,
    url: `${url}${instancePath(own)}`,
    as,
  });
  return ending === "answer" ? { status: outgoing.status, body: outgoing.body } : { status: 0, body: null };
}

/** Path that answers when the emulator is ready. */
export const healthPath = "/_emulator/health";

/**
 * Reports that the emulator answers, and its seed and habits: it listens once they are in. Nothing of it is secret, so
 * it needs no token and may be asked from other machines, as those who start a container do.
 */
export function health({ platform: { database, dialect } }: Hosted): Outgoing {
  const usual: Record<string, string> = usualSwitches;
  const habits = Object.fromEntries(Object.entries(dialect.habits).filter(([name, value]) => usual[name] !== value));
  const body = { status: "success", version: readOwnPackage().version, seed: seedDigest(database), habits };
  return { status: 200, body, headers: { "cache-control": "no-store" } };
}

// Read from the package's own folder, so that what a browser gets is what stands there.
const folder = join(packageFolder, "emulator/console");
const library = dirname(fileURLToPath(import.meta.resolve("lit-html")));
const types: Record<string, string> = { html: "text/html", css: "text/css", js: "text/javascript" };

/**
 * Policy that lets a browser load these files alone, whatever the rows of the platform hold. Nothing makes markup but the
 * library's templates, in which values are never parsed.
 */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html";

/** A file of the console by its path, or of lit-html below `lit-html/`; undefined when there is none. */
function consoleFile(path: string): Outgoing | undefined {
  const [, fromLibrary, file = "", ending = ""] =
    /^(lit-html\/)?((?:[\w-]+\/)?[\w-]+\.(html|css|js))$/.exec(path) ?? [];
  if (ending === "") return undefined;
  const headers = {
    "content-type": `${types[ending] ?? ""}; charset=utf-8`,
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
  try {
    return { status: 200, body: readFileSync(join(fromLibrary === undefined ? folder : library, file)), headers };
  } catch {
    return undefined;
  }
}
