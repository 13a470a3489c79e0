import { createRequire } from "node:module";
import type * as Undici from "undici";
import { endpoints, type EndpointName } from "../../contract/endpoints.ts";
import { ApiError, type ErrorCode } from "../../contract/errors.ts";
import { maxMegabytesOf, textOf } from "./bodies.ts";
import { proxyFor, ProxyError, tunnel } from "./proxies.ts";

let loaded: ReturnType<typeof load> | undefined;
/** Loaded with the first client: most programs only declare resources. */
const undici = (): ReturnType<typeof load> => (loaded ??= load());

/**
 * Loads the part of undici that sends requests to one origin, which takes a third of the time of the whole. Its minor
 * versions are pinned.
 */
function load() {
  const require = createRequire(import.meta.url);
  return {
    Pool: require("undici/lib/dispatcher/pool.js") as typeof Undici.Pool,
    request: require("undici/lib/api/api-request.js") as Undici.Pool["request"],
    errors: require("undici/lib/core/errors.js") as typeof Undici.errors,
    buildConnector: require("undici/lib/core/connect.js") as typeof Undici.buildConnector,
  };
}

/** Time-outs in milliseconds. */
export interface Timeouts {
  /** For opening a connection. */
  connect: number;
  /** From the end of the request to the answer's headers. */
  headers: number;
  /** Between two parts of the answer's body. */
  body: number;
}

/** A request as it goes out. */
export interface Outgoing {
  endpoint: EndpointName;
  method: "GET" | "POST";
  /** Path with query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** An answer as it came in. */
export interface Reply {
  status: number;
  text: string;
  /** The header Retry-After as it came. */
  retryAfter: string | undefined;
  /** The header Date as it came. */
  date: string | undefined;
  /** The header Location of a redirect. */
  location: string | undefined;
}

/** The failure of a request that brought no reply. `unreachable` means that nothing was sent. */
export class TransportError extends Error {
  readonly code: Extract<ErrorCode, "unreachable" | "timeout" | "connectionLost" | "badAnswer" | "cancelled">;
  /** True when trying again is pointless. */
  readonly lasting: boolean;

  constructor(code: TransportError["code"], message: string, lasting = false) {
    super(message);
    this.name = "TransportError";
    this.code = code;
    this.lasting = lasting;
  }
}

/** The HTTP side of the client: one pool of kept-alive connections to one platform. */
export class Transport {
  readonly #pool: Undici.Pool;
  readonly #base: string;
  readonly #origin: string;
  readonly #readOnly: boolean;
  readonly #allowed: readonly string[] | undefined;

  constructor(
    endpoint: string,
    options: { timeouts: Timeouts; connections: number; readOnly: boolean; allowed?: readonly string[] | undefined },
  ) {
    const url = addressOf(endpoint);
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/+$/, "");
    this.#readOnly = options.readOnly;
    this.#allowed = options.allowed;
    const { connect, headers, body } = options.timeouts;
    this.#pool = new (undici().Pool)(url.origin, {
      connections: options.connections,
      connect: connectorTo(url, connect),
      headersTimeout: headers,
      bodyTimeout: body,
    });
  }

  /** Throws when nothing may be sent to this origin, and when no changes are allowed and the call may make one. */
  assertAllowed(endpoint: EndpointName): void {
    if (this.#allowed && !this.#allowed.includes(this.#origin)) {
      throw new ApiError({
        code: "notAllowed",
        endpoint,
        message: "Nothing was sent, since the origin is not allowed",
      });
    }
    if (!this.#readOnly || endpoints[endpoint].effect === "read" || endpoint === "login" || endpoint === "logout")
      return;
    throw new ApiError({
      code: "readOnly",
      endpoint,
      message: "Nothing was sent, since the call may change something",
    });
  }

  /** Sends a request once. Rejects with a TransportError, or with the ApiError of `assertAllowed`. */
  async send(request: Outgoing, signal: AbortSignal): Promise<Reply> {
    this.assertAllowed(request.endpoint);
    try {
      const { statusCode, headers, body } = await undici().request.call(this.#pool, {
        method: request.method,
        path: this.#base + request.path,
        headers: request.headers,
        body: request.body ?? null,
        signal,
      });
      const maxMegabytes = maxMegabytesOf(endpoints[request.endpoint].effect);
      const text = await textOf(body, maxMegabytes);
      if (text === undefined) {
        // The same answer would come again.
        throw new TransportError("badAnswer", `${this.#origin} answered with more than ${maxMegabytes} MB`, true);
      }
      return {
        status: statusCode,
        text,
        retryAfter: oneOf(headers["retry-after"]),
        date: oneOf(headers["date"]),
        location: oneOf(headers["location"]),
      };
    } catch (error) {
      throw error instanceof TransportError ? error : this.#failure(error);
    }
  }

  /** Drops all connections; running calls fail as cancelled. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #failure(error: unknown): TransportError {
    const { code, syscall } = partsOf(error);
    const origin = this.#origin;
    const { errors } = undici();
    if (error instanceof ProxyError) return new TransportError("unreachable", error.message, error.lasting);
    if (error instanceof errors.RequestAbortedError || (error instanceof Error && error.name === "AbortError")) {
      return new TransportError("cancelled", "The call was cancelled");
    }
    if (error instanceof errors.ClientDestroyedError || error instanceof errors.ClientClosedError) {
      return new TransportError("cancelled", "The client is closed");
    }
    if (error instanceof errors.ConnectTimeoutError) {
      return new TransportError("unreachable", `${origin} did not answer in time (${code})`);
    }
    if (syscall === "connect" || syscall === "getaddrinfo" || unconnected.has(code)) {
      return new TransportError("unreachable", `Nothing answers at ${origin} (${code})`);
    }
    if (/CERT|ERR_TLS|ERR_SSL|EPROTO|SELF_SIGNED|UNABLE_TO/.test(code)) {
      return new TransportError("unreachable", `No secure connection to ${origin} is possible (${code})`, true);
    }
    if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
      return new TransportError("timeout", `${origin} did not finish its answer in time (${code})`);
    }
    if (error instanceof errors.InvalidArgumentError) {
      return new TransportError("unreachable", "The request can't be written as HTTP, so it was not sent", true);
    }
    if (code.startsWith("HPE_")) {
      return new TransportError("badAnswer", `${origin} does not speak HTTP as expected (${code})`);
    }
    return new TransportError("connectionLost", `The connection to ${origin} was lost (${code})`);
  }
}

/** How connections are opened: through the proxy of the environment where there is one. */
function connectorTo(url: URL, timeoutMs: number): Undici.Pool.Options["connect"] {
  const proxy = proxyFor(url);
  if (!proxy) return { timeout: timeoutMs };
  const secure = undici().buildConnector({ timeout: timeoutMs });
  return (options, callback) => {
    tunnel(proxy, url, timeoutMs).then(
      (socket) =>
        url.protocol === "https:" ? secure({ ...options, httpSocket: socket }, callback) : callback(null, socket),
      (error: unknown) => callback(error as ProxyError, null), // the only one
    );
  };
}

const unconnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EMFILE"]);

const oneOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** Codes of an error. Nothing else of it leaves this file: its text may hold what was sent. */
function partsOf(error: unknown): { code: string; syscall: string | undefined } {
  const { code, syscall, errors: attempts } = (error ?? {}) as { code?: unknown; syscall?: unknown; errors?: unknown };
  const first = Array.isArray(attempts) ? partsOf(attempts[0]) : undefined; // one error for each address of a name
  return {
    code: typeof code === "string" ? code : (first?.code ?? "no code"),
    syscall: typeof syscall === "string" ? syscall : first?.syscall,
  };
}

function addressOf(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError("endpoint must be an address with http:// or https://");
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("endpoint must be a plain address, without user, password, query or fragment");
  }
  return url;
}
