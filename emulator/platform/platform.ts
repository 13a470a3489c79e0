import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../machine/failures.ts";
import {
  parameters,
  type Endpoint,
  type Received,
  endpoints,
  type EndpointName,
  type WireNames,
  withOurNames,
} from "../../platform/contract/endpoints.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { sentences } from "../../platform/messages/text.ts";
import { profile, type ProfileInput } from "../../platform/profile/profile.ts";
import type { Settings } from "../../platform/seed/schema.ts";
import { valueAt } from "../conformance/matching.ts";
import type { CallContext, User } from "../data/callContext.ts";
import {
  answerText,
  headersText,
  isMutating,
  lastSequence,
  listCalls,
  logCall,
  requestText,
  type CallFilter,
  type LoggedCall,
  type NewCall,
} from "../data/callLog.ts";
import type { Database } from "../data/database.ts";
import { type Switches, usualSwitches } from "../data/deviations.ts";
import { Identifiers, sessionID } from "../data/hashing.ts";
import { PlatformError, failureBody, forbidden, invalid } from "../data/platformError.ts";
import { DialectReader, type EmulatedDialect, writeProfile } from "../data/settings.ts";
import { endSession, findSignedIn, requireKey } from "../endpoints/authentication.ts";
import { handlerOf, preparations } from "../endpoints/handlers.ts";
import { listDelivered, type SentNotification } from "../endpoints/notifications.ts";
import { parseBody, type Ending, type Outgoing } from "../http/server.ts";
import { hint } from "../rows/remarks.ts";
import { checked } from "../seed/checking.ts";
import { reset } from "../seed/planting.ts";
import * as snapshots from "../seed/snapshots.ts";
import { Faults, type Fault, type FaultPlan, type Play } from "./faults.ts";
import { answerIn, refusalIn, statusIn, receiveRequest } from "./habits.ts";

export interface PlatformOptions {
  now: () => number;
  wireNames: WireNames;
  /** Refuses every call that changes the platform. */
  readOnly: boolean;
  /** Settings that override the seed's. */
  settings: Partial<Settings>;
  /** Takes each call that was logged. */
  onCall?: ((call: NewCall) => void) | undefined;
  /** Throws when a state must not be served. */
  check: (database: Database) => void;
}

/** One platform of an emulator: a database, what its endpoints do with it, and the actions of tests and the console. */
export class Platform {
  readonly database: Database;
  readonly options: PlatformOptions;
  /** Address for clients, e.g. `http://127.0.0.1:41234`. */
  url = "";
  readonly #identifiers = new Identifiers();
  readonly #dialects: DialectReader;
  readonly #faults = new Faults();
  #otherwise: Partial<Switches> = {};
  #ahead = 0;

  constructor(database: Database, options: PlatformOptions) {
    this.database = database;
    this.options = options;
    this.#dialects = new DialectReader(options.settings);
  }

  get dialect(): EmulatedDialect {
    return this.#dialects.read(this.database, this.#otherwise);
  }

  /** Milliseconds since the epoch, by the platform's own clock. */
  now(): number {
    return this.options.now() + this.#ahead;
  }

  newID(now: number): string {
    return this.#identifiers.next(now);
  }

  /** Resets the platform to its seed, or to its first administrator alone. Drops sessions and the call log, too. */
  reset(to: "seed" | "empty" = "seed"): Promise<void> {
    return Promise.resolve().then(() => reset(this.database, this.now(), to));
  }

  /** The calls so far, oldest first. */
  calls(filter: CallFilter = {}): LoggedCall[] {
    return listCalls(this.database, filter);
  }

  /** Number of the last call, for `calls({ since })`. */
  lastCall(): number {
    return lastSequence(this.database);
  }

  /** Replaces the faults to play; without a plan, removes all. Throws for a wrong plan. */
  setFaults(plan: FaultPlan = {}): void {
    this.#faults.set(plan);
  }

  /** The faults to play, each with the number of calls that it has hit. */
  faults(): (Fault & { hit: number })[] {
    return this.#faults.list();
  }

  /** Takes on the habits of a profile, in place of those before; without one, the usual. Throws for a wrong profile. */
  setProfile(input?: ProfileInput): void {
    writeProfile(this.database, input === undefined ? undefined : checked(profile, input, "profile"));
  }

  /** Behaves otherwise than a platform should, over its profile, until the next call of this; for tests. */
  behave(otherwise: Partial<Switches> = {}): void {
    this.#otherwise = otherwise;
  }

  /** Notifications to one user, or to all without an address. */
  notifications(email?: string): { inbox: SentNotification[]; pushes: SentNotification[] } {
    return listDelivered(this.database, email);
  }

  /** Names of the snapshots. */
  snapshots(): string[] {
    return snapshots.snapshots(this.database);
  }

  /** Saves the platform as a snapshot of this name: in a folder beside the data file, in memory without one. */
  saveSnapshot(name: string): void {
    snapshots.saveSnapshot(this.database, name);
  }

  /** Restores a snapshot; keeps sessions and the call log. */
  loadSnapshot(name: string): void {
    snapshots.load(this.database, snapshots.placeOf(this.database, name), `snapshot ${name}`);
  }

  /** Saves the platform to an SQLite file. */
  saveSnapshotFile(file: string): Promise<void> {
    return Promise.resolve().then(() => snapshots.saveFile(this.database, file));
  }

  /** Restores what was saved to a file, with its seed; keeps sessions and the call log. */
  loadSnapshotFile(file: string, shown = file): Promise<void> {
    const load = () => snapshots.load(this.database, file, shown, () => this.options.check(this.database));
    return Promise.resolve().then(load);
  }

  deleteSnapshot(name: string): void {
    snapshots.deleteSnapshot(this.database, name);
  }

  /** Lists what has changed since a snapshot. */
  differences(name: string): snapshots.SnapshotDifference[] {
    return snapshots.differences(this.database, name);
  }

  /** Marks a row as locked or in conflict; returns false when there is no such row. */
  markRow(rowID: string, { isLocked, hasConflict }: { isLocked?: boolean; hasConflict?: boolean }): boolean {
    const bit = (value: boolean | undefined) => (value === undefined ? null : Number(value));
    const sql = "UPDATE rows SET locked = coalesce(?, locked), conflict = coalesce(?, conflict) WHERE id = ?";
    return this.database.run(sql, bit(isLocked), bit(hasConflict), rowID) > 0;
  }

  /** Puts the platform's clock forward by this time, so that generations end and tokens expire at once. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  /** Answers a call, with the faults that hit it. */
  async answer(incoming: Incoming): Promise<{ outgoing: Outgoing; ending: Ending }> {
    const play = this.#faults.next(incoming.name);
    const began = performance.now();
    const { delay, ending } = play;
    if (delay > 0) await wait(delay);
    const token = incoming.headers["x-auth-token"];
    if (play.expires && token !== undefined) endSession(this.database, token);
    const answered = await new Call(this, incoming, play, began).answer();
    if (!ending) return { outgoing: answered, ending: "answer" };
    return { outgoing: ending.ending === "cut" ? answered : ending.outgoing, ending: ending.ending };
  }
}

/** What a program does with a platform. */
export type PlatformHandle = Omit<Platform, "answer" | "database" | "options" | "dialect" | "now" | "newID">;

/** A request for an endpoint, before it is parsed. */
export interface Incoming {
  name: EndpointName;
  headers: Received["headers"];
  query: Received["query"];
  body: Buffer;
  /** Address under which the platform is reached. */
  url: string;
  /** The caller, in place of whom the headers name. */
  as?: User;
}

/** One call on its way from the request to its entry in the log. */
class Call {
  readonly #platform: Platform;
  readonly #incoming: Incoming;
  readonly #play: Play;
  readonly #began: number;
  readonly #time: number;
  readonly #remarks = new Set<string>();
  #user: User | undefined;
  #token: string | undefined;
  #request = "{}";

  constructor(platform: Platform, incoming: Incoming, play: Play, began: number) {
    this.#platform = platform;
    this.#incoming = incoming;
    this.#play = play;
    this.#began = began;
    this.#time = platform.now();
    this.#token = incoming.headers["x-auth-token"];
  }

  async answer(): Promise<Outgoing> {
    try {
      return await this.#carryOut();
    } catch (error) {
      const { name } = this.#incoming;
      const failure = platformErrorOf(error);
      const { status, message, retryAfter } = failure;
      const { habits } = this.#platform.dialect;
      const body = refusalIn(habits, name, failureBody(failure, name));
      this.#log(status, body, message);
      const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
      return { status: statusIn(habits, status), body, headers };
    }
  }

  async #carryOut(): Promise<Outgoing> {
    const { name, headers, query, body, url } = this.#incoming;
    const endpoint: Endpoint = endpoints[name];
    const { database, dialect, options } = this.#platform;
    const { habits, profile } = dialect;
    const wireNames = { ...profile?.wireNames, ...options.wireNames };
    requireJSON(headers, body);
    const received = { headers, query, body: parseBody(body) };
    const accepted = endpoint.accept({ ...received, body: withOurNames(received.body, wireNames) });
    this.#request = requestText(accepted, body);
    const { ending } = this.#play;
    if (ending?.carriesOut === false) {
      this.#log(ending.outgoing.status, ending.outgoing.body);
      return ending.outgoing;
    }
    const token = this.#identify(accepted);
    const isChange = isMutating(name, endpoint.effect);
    if (options.readOnly && isChange) throw forbidden("This platform is read-only");
    const isUsual = habits === usualSwitches;
    const sent = isUsual ? accepted : endpoint.accept(receiveRequest(habits, name, received, wireNames));
    const request = parseRequest(endpoint, sent);
    const ignored = findIgnored(name, sent, request);
    if (ignored !== undefined) this.#remarks.add(ignored);
    const call = this.#context(url, token);
    call.fetched = await preparations[name]?.(request as never, call); // as the endpoint's schema has it
    const date = new Date(this.#platform.now()).toUTCString(); // the clock that its times are of
    const answered = (answer: unknown): Outgoing => {
      if (name === "login" && isObject(answer)) this.#token = String(answer["authToken"]); // its session begins here
      const body = answerIn(habits, name, answer);
      this.#log(200, body);
      return { status: 200, body, headers: { date } };
    };
    const handle = (request: unknown): unknown => endpoint.wrap(handlerOf(name)(request, call));
    const inOne = (request: unknown): unknown =>
      isChange ? database.transaction(() => handle(request)) : database.reading(() => handle(request));
    const otherwise = this.#play.around(inOne, call, dialect.settings.visibleAfter * 1000);
    if (otherwise) return answered(otherwise(request));
    // A change and its entry are one.
    return isChange ? database.transaction(() => answered(handle(request))) : answered(inOne(request));
  }

  #context(url: string, token: string | undefined): CallContext {
    const platform = this.#platform;
    const { database, dialect } = platform;
    const user = () => this.#user;
    return {
      database,
      ...dialect,
      otherForms: this.#play.otherForms,
      now: this.#time,
      newID: () => platform.newID(this.#time),
      url,
      token,
      remark: (words) => void this.#remarks.add(words),
      fetched: undefined,
      get user() {
        const found = user();
        if (!found) throw new PlatformError("unauthorized", "You must be logged in");
        return found;
      },
    };
  }

  /** Notes the caller; returns the token of the session. */
  #identify(accepted: unknown): string | undefined {
    const { name, headers, as } = this.#incoming;
    const { settings, habits } = this.#platform.dialect;
    const { auth }: Endpoint = endpoints[name];
    const signIn = { database: this.#platform.database, settings, now: this.#time };
    const session = name === "logout" ? sessionIn(headers, accepted, habits.logoutBy) : headers;
    this.#token = session["x-auth-token"];
    this.#user = as;
    if (as) return this.#token;
    const keyAlone = auth === "token+key" && settings.keyAlone && !this.#token;
    if (auth !== "none" && !keyAlone) this.#user = findSignedIn(signIn, session);
    if (auth === "token+key") {
      const holder = requireKey(signIn, headers);
      this.#user ??= holder;
    }
    return this.#token;
  }

  #log(status: number, answer: unknown, failure: string | null = null): void {
    const { name, headers } = this.#incoming;
    const { effect }: Endpoint = endpoints[name];
    const call = {
      time: this.#time,
      endpoint: name,
      effect,
      userID: this.#user?.id ?? null,
      status,
      failure,
      session: this.#token === undefined ? null : sessionID(this.#token),
      remark: this.#remarks.size === 0 ? null : [...this.#remarks].join("; "),
      fault: this.#play.name,
      duration: performance.now() - this.#began,
    };
    const texts = { request: this.#request, headers: headersText(headers), answer: answerText(answer) };
    logCall(this.#platform.database, call, texts);
    this.#platform.options.onCall?.(call);
  }
}

/** Headers with the session that a logout ends: it may also stand in the body. */
function sessionIn(headers: Received["headers"], accepted: unknown, by: Switches["logoutBy"]): Received["headers"] {
  if (by === "body") return sessionIn({}, accepted, "either");
  if (by === "headers" || headers["x-auth-token"] || !isObject(accepted)) return headers;
  const { authToken, userId } = accepted;
  if (typeof authToken !== "string" || typeof userId !== "string") return headers;
  return { ...headers, "x-auth-token": authToken, "x-user-id": userId };
}

function requireJSON(headers: Received["headers"], body: Buffer): void {
  const type = headers["content-type"];
  if (body.length === 0 || type === undefined || /^[\w.+-]+\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) return;
  throw invalid("Content-Type must be application/json");
}

function parseRequest(endpoint: Endpoint, accepted: unknown): unknown {
  const result = endpoint.request.safeParse(accepted, sentences);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.map(String).join(".") ?? "";
  const message = issue?.message ?? "is not valid";
  const found = path === "" ? accepted : valueAt(accepted, path);
  // An empty parameter counts as a missing one.
  const missing = found === undefined ? issue?.code !== "custom" : found === "" && issue?.path.length === 1;
  if (missing) throw invalid(path === "" ? "the body must be a JSON object" : `${path} is required`);
  // A rule about several parameters names them itself.
  if (issue?.code === "custom" && message.includes(path)) throw invalid(message);
  throw invalid(`${path === "" ? "" : `${path}: `}${message}`);
}

const busy = 5; // SQLITE_BUSY

function platformErrorOf(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error;
  if (isObject(error) && error["errcode"] === busy) {
    return new PlatformError("unavailable", "The data file is busy", { retryAfter: 1 });
  }
  return new PlatformError("serverError", `Internal error: ${messageOf(error)}`);
}

/** Most parameters that a remark names. */
const maxNamed = 5;

/**
 * Returns a sentence about the parameters that an endpoint does not know, undefined without any. An endpoint that takes
 * several forms of a request gets more than one of them at once, so its parameters are left alone.
 */
function findIgnored(name: EndpointName, sent: unknown, parsed: unknown): string | undefined {
  const endpoint: Endpoint = endpoints[name];
  if (name === "logout" || endpoint.accept !== parameters) return undefined;
  const ignored = lost(sent, parsed, "");
  if (ignored.length === 0) return undefined;
  const known = Object.keys((endpoint.request as { shape?: object }).shape ?? {});
  const words = ignored.slice(0, maxNamed).map((path) => `${path}${hint(path, known)}`);
  return `${name} ignores ${words.join(", ")}`;
}

/** Paths of what the parsed request no longer has. */
function lost(sent: unknown, parsed: unknown, path: string): string[] {
  if (Array.isArray(sent) && Array.isArray(parsed)) {
    return sent.slice(0, maxNamed).flatMap((item, at) => lost(item, parsed[at], `${path}${at}.`));
  }
  if (!isObject(sent) || !isObject(parsed)) return [];
  return Object.keys(sent).flatMap((key) =>
    Object.hasOwn(parsed, key) ? lost(sent[key], parsed[key], `${path}${key}.`) : [`${path}${key}`],
  );
}
