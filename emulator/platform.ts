import type { Endpoint, Received } from "../provider/contract/endpoint.ts";
import { endpoints, type EndpointName, type WireNames } from "../provider/contract/endpoints.ts";
import { isObject } from "../provider/contract/wire.ts";
import { requireKey, signedIn } from "./authentication.ts";
import type { Call } from "./call.ts";
import { logCall, requestText } from "./callLog.ts";
import type { Database } from "./database.ts";
import { failureBody, invalid, PlatformError } from "./failure.ts";
import { handlerOf } from "./handlers.ts";
import { Identifiers } from "./identifiers.ts";
import { parseBody } from "./json.ts";
import { withOurNames } from "./routes.ts";
import { readSettings } from "./settings.ts";
import type { User } from "./users.ts";

/** A request for an endpoint, as it came. */
export interface Incoming {
  name: EndpointName;
  headers: Received["headers"];
  query: Received["query"];
  body: Buffer;
  /** Address under which the platform is reached. */
  url: string;
}

export interface Outgoing {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

/** One platform: a database and what its endpoints do with it. */
export class Platform {
  readonly database: Database;
  readonly now: () => number;
  readonly #identifiers = new Identifiers();
  readonly #wireNames: WireNames;

  constructor(database: Database, now: () => number, wireNames: WireNames = {}) {
    this.database = database;
    this.now = now;
    this.#wireNames = wireNames;
  }

  /** Carries a call out and writes it into the log: what changes and the entry are one transaction. */
  answer({ name, headers, query, body, url }: Incoming): Outgoing {
    const endpoint: Endpoint = endpoints[name];
    const time = this.now();
    let user: User | undefined;
    let request = "{}";
    const log = (status: number, failure: string | null) => {
      const { effect } = endpoint;
      const call = { time, endpoint: name, effect, userID: user?.id ?? null, status, failure, fault: null };
      logCall(this.database, call, request);
    };
    try {
      const settings = readSettings(this.database);
      requireJSON(headers, body);
      const received = { headers, query, body: withOurNames(parseBody(body), this.#wireNames) };
      const accepted = endpoint.accept(received);
      request = requestText(accepted, body);
      if (endpoint.auth !== "none") user = signedIn({ database: this.database, settings, now: time }, headers);
      if (endpoint.auth === "token+key") requireKey({ database: this.database, settings, now: time }, headers);
      const parsed = judged(endpoint, accepted);
      const call: Call = {
        database: this.database,
        settings,
        now: time,
        newID: () => this.#identifiers.next(time),
        url,
        token: headers["x-auth-token"],
        fetched: undefined,
        get user() {
          if (!user) throw new PlatformError("unauthorized", "You must be logged in");
          return user;
        },
      };
      const carryOut = () => endpoint.wrap(handlerOf(name)(parsed, call));
      if (endpoint.effect === "read") {
        const answer = this.database.reading(carryOut);
        log(200, null);
        return { status: 200, body: answer, headers: {} };
      }
      return this.database.transaction(() => {
        const answer = carryOut();
        log(200, null);
        return { status: 200, body: answer, headers: {} };
      });
    } catch (error) {
      const failure = failureOf(error);
      log(failure.status, failure.message);
      const { retryAfter } = failure;
      return {
        status: failure.status,
        body: failureBody(failure, name),
        headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
      };
    }
  }
}

function requireJSON(headers: Received["headers"], body: Buffer): void {
  const type = headers["content-type"];
  if (body.length === 0 || type === undefined || /^[\w.+-]+\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) return;
  throw invalid("Content-Type must be application/json");
}

function judged(endpoint: Endpoint, accepted: unknown): unknown {
  const result = endpoint.request.safeParse(accepted);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.map(String).join(".") ?? "";
  const missing = issue?.code === "invalid_type" && valueAt(accepted, issue.path) === undefined;
  if (missing) throw invalid(path === "" ? "the body must be a JSON object" : `${path} is required`);
  throw invalid(`${path === "" ? "" : `${path}: `}${issue?.message ?? "is not valid"}`);
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

function failureOf(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error;
  if (isObject(error) && error["errcode"] === busy) {
    return new PlatformError("unavailable", "The data file is busy", { retryAfter: 1 });
  }
  return new PlatformError("serverError", `Internal error: ${error instanceof Error ? error.message : String(error)}`);
}
