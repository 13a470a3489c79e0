import { type Effect, endpoints, type EndpointName } from "../../contract/endpoints.ts";
import { ApiError, type ErrorCode, textOf } from "../../contract/wire.ts";
import { TransportError, type HttpSender, type HttpSenderOptions, type Sending } from "./sender.ts";
import { openSender } from "./undiciSender.ts";

/** A request as it goes out. */
export interface OutgoingCall extends Sending {
  endpoint: EndpointName;
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

/** Largest answer in megabytes: 256 for a read, which may bring a table, 1 for any other call. It bounds the memory. */
export const maxMegabytesOf = (effect: Effect): number => (effect === "read" ? 256 : 1);

interface TransportOptions extends HttpSenderOptions {
  readOnly: boolean;
  allowed?: readonly string[] | undefined;
  /** Largest answer in megabytes, by what a call does. */
  maxMegabytesOf?: typeof maxMegabytesOf;
}

/** The HTTP side of the client: what may be sent to one platform, and its answers. */
export class Transport {
  readonly #sender: HttpSender;
  readonly #base: string;
  readonly #origin: string;
  readonly #options: TransportOptions;

  constructor(endpoint: string, options: TransportOptions) {
    const url = addressOf(endpoint);
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/+$/, "");
    this.#options = options;
    this.#sender = openSender(url, options);
  }

  /** Throws when nothing may be sent to this origin, and when no changes are allowed and the call may make one. */
  assertAllowed(endpoint: EndpointName): void {
    const { allowed, readOnly } = this.#options;
    const refuse = (code: ErrorCode, why: string): never => {
      throw new ApiError({ code, endpoint, message: `Nothing was sent, since ${why}` });
    };
    if (allowed && !allowed.includes(this.#origin)) refuse("notAllowed", "the origin is not allowed");
    const mayChange = endpoints[endpoint].effect !== "read" && endpoint !== "login" && endpoint !== "logout";
    if (readOnly && mayChange) refuse("readOnly", "the call may change something");
  }

  /** Sends a request once. Rejects with a TransportError, or with the ApiError of `assertAllowed`. */
  async send(request: OutgoingCall, signal: AbortSignal): Promise<Reply> {
    this.assertAllowed(request.endpoint);
    try {
      const { endpoint, method, path, headers, body } = request;
      const answer = await this.#sender.send({ method, path: this.#base + path, headers, body }, signal);
      const maxMegabytes = (this.#options.maxMegabytesOf ?? maxMegabytesOf)(endpoints[endpoint].effect);
      const text = await textOf(answer.body, maxMegabytes);
      if (text === undefined) {
        // The same answer would come again.
        throw new TransportError("badAnswer", `${this.#origin} answered with more than ${maxMegabytes} MB`, true);
      }
      return {
        status: answer.status,
        text,
        retryAfter: answer.header("retry-after"),
        date: answer.header("date"),
        location: answer.header("location"),
      };
    } catch (error) {
      throw error instanceof TransportError ? error : this.#sender.failureOf(error);
    }
  }

  /** Drops all connections; running calls fail as cancelled. */
  async close(): Promise<void> {
    await this.#sender.close();
  }
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
