import { messageOf } from "../../machine/failures.ts";
import type { Endpoint, Received } from "../../provider/contract/endpoint.ts";
import { endpoints, type EndpointName, type WireNames, withOurNames } from "../../provider/contract/endpoints.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { usualSwitches, type Switches } from "../../provider/habits/deviations.ts";
import { sentences } from "../../provider/messages/sentences.ts";
import type { CallContext, OtherForm } from "../data/callContext.ts";
import { answerText, headersText, isMutating, logCall, requestText, type NewCall } from "../data/callLog.ts";
import type { Database } from "../data/database.ts";
import { describeFileFault } from "../data/database.ts";
import { sessionID } from "../data/hashing.ts";
import { Identifiers } from "../data/identifiers.ts";
import { failureBody, forbidden, invalid, PlatformError } from "../data/platformError.ts";
import { DialectReader, type EmulatedDialect, type Settings } from "../data/settings.ts";
import type { User } from "../data/users.ts";
import { endSession, findSignedIn, requireKey } from "../endpoints/authentication.ts";
import { handlerOf, preparations } from "../endpoints/handlers.ts";
import { answerIn, refusalIn, statusIn } from "../habits/answers.ts";
import { receiveRequest } from "../habits/requests.ts";
import { parseBody } from "../http/body.ts";
import type { Outgoing } from "../http/server.ts";
import { findIgnored } from "./ignored.ts";
import { keepingPart } from "./keeping.ts";
import { asSeenBefore } from "./late.ts";

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

/** How a fault changes a call. */
export interface Circumstances {
  /** Name of the fault for the call log. */
  fault: string | null;
  defaultLimit?: number | undefined;
  keeps?: number | undefined;
  forms?: readonly OtherForm[] | undefined;
  /** Milliseconds for which new things are not found. */
  late?: number;
  /** Answer that is sent without carrying the call out; status 0 is logged for no answer. */
  instead?: Outgoing | undefined;
  /** When the call arrived, by `performance.now()`; now when it is left out. */
  began?: number;
}

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

/** Facts about a call that the log records beside the answer. */
interface Entry {
  time: number;
  user: User | undefined;
  token: string | undefined;
  request: string;
  remarks: Set<string>;
}

type Log = (status: number, answer: unknown, failure?: string | null) => void;

/** One platform: a database and what its endpoints do with it. */
export class Platform {
  readonly database: Database;
  readonly options: PlatformOptions;
  readonly #identifiers = new Identifiers();
  readonly #dialects: DialectReader;
  #ahead = 0;
  /** What it does otherwise for a test, over its profile. */
  otherwise: Partial<Switches> = {};

  constructor(database: Database, options: PlatformOptions) {
    this.database = database;
    this.options = options;
    this.#dialects = new DialectReader(options.settings);
  }

  get dialect(): EmulatedDialect {
    return this.#dialects.read(this.database, this.otherwise);
  }

  get settings(): Settings {
    return this.dialect.settings;
  }

  /** Milliseconds since the epoch, by the platform's own clock. */
  now(): number {
    return this.options.now() + this.#ahead;
  }

  /** Throws when this state must not be served. */
  check(): void {
    this.options.check(this.database);
  }

  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  /** Carries a call out and logs it; the changes and the entry are one transaction. */
  async answer(incoming: Incoming, circumstances: Circumstances = { fault: null }): Promise<Outgoing> {
    const { name, headers } = incoming;
    const { began = performance.now() } = circumstances;
    const entry: Entry = {
      time: this.now(),
      user: undefined,
      token: headers["x-auth-token"],
      request: "{}",
      remarks: new Set(),
    };
    const log: Log = (status, answer, failure = null) => {
      const { effect }: Endpoint = endpoints[name];
      const { time, token, user, remarks } = entry;
      const remark = remarks.size === 0 ? null : [...remarks].join("; ");
      const session = token === undefined ? null : sessionID(token);
      const call = { time, endpoint: name, effect, userID: user?.id ?? null, status, failure, session, remark };
      const logged = { ...call, fault: circumstances.fault, duration: performance.now() - began };
      const texts = { request: entry.request, headers: headersText(headers), answer: answerText(answer) };
      logCall(this.database, logged, texts);
      this.options.onCall?.(logged);
    };
    try {
      return await this.#carryOut(incoming, circumstances, entry, log);
    } catch (error) {
      const failure = platformErrorOf(error);
      const { retryAfter } = failure;
      const { habits } = this.dialect;
      const body = refusalIn(habits, name, failureBody(failure, name));
      try {
        log(failure.status, body, failure.message);
      } catch {
        // A full disk takes no entry. The answer has the reason of the refusal.
      }
      return {
        status: statusIn(habits, failure.status),
        body,
        headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
      };
    }
  }

  async #carryOut(incoming: Incoming, circumstances: Circumstances, entry: Entry, log: Log): Promise<Outgoing> {
    const { name, headers, query, body, url } = incoming;
    const endpoint: Endpoint = endpoints[name];
    const { database, dialect } = this;
    const { settings, habits, profile } = dialect;
    const wireNames = { ...profile?.wireNames, ...this.options.wireNames };
    requireJSON(headers, body);
    const received = { headers, query, body: parseBody(body) };
    const accepted = endpoint.accept({ ...received, body: withOurNames(received.body, wireNames) });
    entry.request = requestText(accepted, body);
    if (circumstances.instead) {
      log(circumstances.instead.status, circumstances.instead.body);
      return circumstances.instead;
    }
    const session = this.#identify(incoming, accepted, entry);
    if (this.options.readOnly && isMutating(name, endpoint.effect)) throw forbidden("This platform is read-only");
    const isUsual = habits === usualSwitches;
    const sent = isUsual ? accepted : endpoint.accept(receiveRequest(habits, name, received, wireNames));
    const request = parseRequest(endpoint, sent);
    const remark = (words: string) => void entry.remarks.add(words);
    const ignored = findIgnored(name, sent, request);
    if (ignored !== undefined) remark(ignored);
    const call: CallContext = {
      database,
      ...dialect,
      settings: { ...settings, defaultLimit: circumstances.defaultLimit ?? settings.defaultLimit },
      otherForms: circumstances.forms ?? [],
      now: entry.time,
      newID: () =>
        habits.idForm === "number" ? this.#identifiers.nextNumber(entry.time) : this.#identifiers.next(entry.time),
      url,
      token: session["x-auth-token"],
      remark,
      fetched: undefined,
      get user() {
        if (!entry.user) throw new PlatformError("unauthorized", "You must be logged in");
        return entry.user;
      },
    };
    const prepare = preparations[name];
    if (prepare) call.fetched = await prepare(request, call);
    const { keeps } = circumstances;
    const late = Math.max(circumstances.late ?? 0, settings.visibleAfter * 1000);
    const handle = () => asSeenBefore(call, late, request, () => endpoint.wrap(handlerOf(name)(request, call)));
    const date = new Date(this.now()).toUTCString(); // the clock that its times are of
    const answered = (answer: unknown): Outgoing => {
      if (name === "login" && isObject(answer)) entry.token = String(answer["authToken"]); // its session begins here
      const body = answerIn(habits, name, answer);
      log(200, body);
      return { status: 200, body, headers: { date } };
    };
    if (endpoint.effect === "read") return answered(database.reading(handle));
    if (keeps !== undefined) {
      return answered(keepingPart(database, keeps, request, (part) => endpoint.wrap(handlerOf(name)(part, call))));
    }
    if (isMutating(name, endpoint.effect)) return database.transaction(() => answered(handle()));
    return answered(handle()); // of a session alone
  }

  /** Notes the caller in the entry; returns the headers that name the session. */
  #identify({ name, headers, as }: Incoming, accepted: unknown, entry: Entry): Received["headers"] {
    const { settings, habits } = this.dialect;
    const { auth }: Endpoint = endpoints[name];
    const signIn = { database: this.database, settings, now: entry.time };
    const session = name === "logout" ? sessionIn(headers, accepted, habits.logoutBy) : headers;
    entry.token = session["x-auth-token"];
    entry.user = as;
    if (as) return session;
    const keyAlone = auth === "token+key" && habits.keyAlone === "yes" && !session["x-auth-token"];
    if (auth !== "none" && !keyAlone) entry.user = findSignedIn(signIn, session);
    if (auth === "token+key" && (habits.keyNeeded === "yes" || headers["x-api-key"])) {
      const holder = requireKey(signIn, headers);
      entry.user ??= holder;
    }
    return session;
  }

  /** Ends the session of a token. */
  expire(token: string | undefined): void {
    if (token !== undefined) endSession(this.database, token);
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
  const found = valueAt(accepted, issue?.path ?? []);
  // An empty parameter counts as a missing one.
  const missing = found === undefined ? issue?.code !== "custom" : found === "" && issue?.path.length === 1;
  if (missing) throw invalid(path === "" ? "the body must be a JSON object" : `${path} is required`);
  // A rule about several parameters names them itself.
  if (issue?.code === "custom" && message.includes(path)) throw invalid(message);
  throw invalid(`${path === "" ? "" : `${path}: `}${message}`);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[step];
  }
  return found;
}

const busy = 5; // SQLITE_BUSY

function platformErrorOf(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error;
  if (isObject(error) && error["errcode"] === busy) {
    return new PlatformError("unavailable", "The data file is busy", { retryAfter: 1 });
  }
  const fault = describeFileFault(error);
  if (fault !== undefined) return new PlatformError("unavailable", `Nothing was changed: ${fault}`, { retryAfter: 1 });
  return new PlatformError("serverError", `Internal error: ${messageOf(error)}`);
}
