import { type Endpoint, endpoints, type AnswerOf, type EndpointName, type RequestOf } from "../contract/endpoints.ts";
import { ApiError, type FailureDetails, type CallEffect, isHeaderValue, noHeaderValue } from "../contract/wire.ts";
import { Mask } from "../messages/masks.ts";
import { usualHabits, type Habits } from "../profile/profile.ts";
import type { CallOptions, CallRecord } from "./http/call.ts";
import { sleep, Stop, unlessAborted } from "./http/deadline.ts";
import { Limiter, type Slot } from "./http/limiter.ts";
import { parseReply, hintOf, prepare, type Prepared, type Spelling, type Written } from "./http/messages.ts";
import {
  endingCode,
  loadOf,
  outcomeOf,
  repeatable,
  retryAfterOf,
  retryDefaults,
  waitAfter,
  type Failed,
} from "./http/retries.ts";
import { TransportError } from "./http/sender.ts";
import { Transport, type Reply } from "./http/transport.ts";
import type { ClientOptions } from "./options.ts";
import { isNotFound, RecentlyMade } from "./recentlyMade.ts";
import { Session, type Credentials } from "./session.ts";

const defaults = { connect: 10_000, headers: 120_000, body: 120_000, call: 300_000, logout: 2_000, gracePeriod: 0 };

/** Waits of more milliseconds are told. */
const longWaitMs = 10_000;

/** One call while it lasts. */
interface Call<Name extends EndpointName> extends Pick<CallOptions, "onSend" | "onCall" | "onWait" | "glance"> {
  name: Name;
  prepared: Prepared;
  signal: AbortSignal | undefined;
  timeout: number;
  /** Items that are sent, of a request with a list. */
  items: number | undefined;
  /** When the call ends at the latest (ms since the epoch); undefined before its first turn, which starts the clock. */
  deadline: number | undefined;
  attempt: number;
  /** When the attempt could have been sent, had it not to wait (ms since the epoch). */
  wanted: number;
}

/** The outcome and hint of a failed call, where they differ from those of its last attempt. */
interface Ending {
  outcome?: CallEffect;
  hint?: string | undefined;
}

type Attempt<Name extends EndpointName> = ({ answer: AnswerOf<Name>; status: number } | { failed: Failed }) & {
  date?: number | undefined;
};

/** Carries out calls: joins session, limiter, transport, reading of replies and repetition. */
export class Caller {
  readonly #options: ClientOptions;
  readonly #spelling: Spelling;
  readonly #timeouts: typeof defaults;
  readonly #retries: typeof retryDefaults;
  readonly #transport: Transport;
  readonly #session: Session;
  readonly #limiter: Limiter;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly #closing = new AbortController();
  readonly #made: RecentlyMade;
  /** When the platform takes calls again that it found too many. */
  #open = 0;
  /** Changes whose answer came in a form that is not known: none of them is sent again. */
  readonly #unread = new Map<EndpointName, string>();

  /** @param habits the platform's */
  constructor(options: ClientOptions, habits: Habits = usualHabits) {
    assertHeaders(options);
    this.#options = options;
    this.#spelling = { habits, wireNames: { ...options.profile?.wireNames, ...options.wireNames } };
    this.#timeouts = { ...defaults, ...options.timeouts };
    this.#retries = { ...retryDefaults, ...options.retries };
    this.#limiter = options.limiter ?? new Limiter();
    this.#transport = new Transport(options.endpoint, {
      timeouts: this.#timeouts,
      connections: this.#limiter.max,
      readOnly: options.readOnly ?? false,
      allowed: options.allowed,
    });
    this.#session = new Session(options, (email, password) => this.call("login", { email, password }));
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#wait = options.wait ?? sleep;
    this.#made = new RecentlyMade(options.consistencyMs ?? 0, this.#now);
  }

  async call<Name extends EndpointName>(
    name: Name,
    request: Partial<RequestOf<Name>>,
    { signal, timeout = this.#timeouts.call, onSend, onCall, onWait, glance }: CallOptions = {},
    written?: Written,
  ): Promise<AnswerOf<Name>> {
    this.#transport.assertAllowed(name);
    const { auth, effect }: Endpoint = endpoints[name];
    if (auth === "token+key" && this.#options.apiKey === undefined) {
      const hint = "Set apiKey to the key that the platform's operator gave you.";
      throw this.#error(name, { code: "unauthorized", message: "Nothing was sent: apiKey is not set", hint });
    }
    const unread = this.#unread.get(name);
    if (unread !== undefined) {
      const message = `Nothing was sent, since an earlier answer could not be read: ${unread}`;
      throw this.#error(name, { code: "badAnswer", message });
    }
    const prepared = prepare(name, request, this.#spelling, written);
    const items = effect === "read" ? undefined : itemsIn({ ...written, ...request });
    const asked = { name, prepared, signal, timeout, items, onSend, onCall, onWait, glance };
    const call: Call<Name> = { ...asked, deadline: undefined, attempt: 1, wanted: this.#now() };
    let refused: Credentials | undefined;
    let looks = 0;
    for (; ; call.attempt++) {
      const credentials = auth === "none" ? undefined : await this.#credentials(call, refused);
      const outcome = await this.#attempt(call, credentials);
      const late = isNotFound(name, outcome) ? this.#made.waitFor(name, request, looks) : undefined;
      if (late !== undefined && (await this.#pause(call, late))) {
        [call.attempt, looks] = [0, looks + 1]; // it was answered each time
        continue;
      }
      if ("answer" in outcome) return this.#made.note(name, request, outcome.answer);
      const { failed } = outcome;
      if (effect !== "read" && failed.code === "badAnswer" && failed.lasting) this.#unread.set(name, failed.message);
      call.wanted = this.#now();
      // A refused token is certain: nothing was done.
      if (failed.code === "unauthorized" && credentials && refused === undefined && this.#session.renewable) {
        refused = credentials;
      } else if (!(await this.#waited(call, failed))) {
        const error = this.#ending(name, failed);
        if (error.outcome === "unknown") this.#made.noteOpen(request);
        throw error;
      }
    }
  }

  async callerID(): Promise<string> {
    return (await this.#session.credentials("login")).userId;
  }

  /** Ends the session, if one was begun here, and drops all connections. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const credentials = this.#session.end();
    if (credentials) {
      const [prepared, timeout] = [prepare("logout", credentials), this.#timeouts.logout];
      const wanted = this.#now();
      const asked = { name: "logout", prepared, signal: undefined, timeout, items: undefined } as const;
      // A failure does not matter: the token expires by itself.
      await this.#attempt({ ...asked, deadline: wanted + timeout, attempt: 1, wanted }, credentials);
    }
    this.#closing.abort();
    await this.#transport.close();
  }

  /** Waits for the login, which all calls share: a caller that cancels does not end it. */
  async #credentials(call: Call<EndpointName>, refused: Credentials | undefined): Promise<Credentials> {
    const waiting = this.#session.credentials(call.name, refused);
    try {
      return await unlessAborted(waiting, call.signal);
    } catch (error) {
      throw error instanceof ApiError
        ? error
        : this.#error(call.name, { code: "cancelled", message: "Nothing was sent" });
    }
  }

  /** Sends a call once, and returns its answer or failure. */
  async #attempt<Name extends EndpointName>(
    call: Call<Name>,
    credentials: Credentials | undefined,
  ): Promise<Attempt<Name>> {
    const { name, attempt } = call;
    const stop = new Stop(call.signal, this.#closing.signal);
    let slot: Slot | undefined;
    try {
      slot = await this.#limiter.acquire(stop.signal, attempt > 1);
      const pause = attempt > 1 ? 0 : this.#open - this.#now();
      if (pause > longWaitMs) call.onWait?.(pause, "the platform takes no more calls at the moment");
      if (pause > 0) await this.#wait(pause, stop.signal);
      await call.onSend?.();
      const began = this.#now();
      call.deadline ??= began + call.timeout;
      stop.after(call.deadline - began);
      const { effect }: Endpoint = endpoints[name];
      if (effect !== "read") stop.setGracePeriod(this.#timeouts.gracePeriod);
      const outcome = await this.#sent(call, credentials, stop);
      const failed = "failed" in outcome ? outcome.failed : undefined;
      slot.release(loadOf(failed));
      const { status } = "failed" in outcome ? outcome.failed : outcome;
      const record: CallRecord = {
        ...{ endpoint: name, attempt, status, code: failed?.code, outcome: failed && outcomeOf(effect, failed) },
        date: outcome.date,
        ...{ milliseconds: this.#now() - began, waited: Math.max(0, began - call.wanted), sent: call.items },
        received: "answer" in outcome ? itemsIn(outcome.answer) : undefined,
      };
      this.#options.onCall?.(record);
      call.onCall?.(record);
      return outcome;
    } catch (error) {
      if (error instanceof ApiError || !stop.signal.aborted) throw error;
      return { failed: { code: "cancelled", message: "Nothing was sent", sent: false } };
    } finally {
      slot?.release("unknown"); // what threw on the way, such as a callback of the caller's, keeps no slot
      stop.clear();
    }
  }

  async #sent<Name extends EndpointName>(
    { name, prepared, timeout, glance }: Call<Name>,
    credentials: Credentials | undefined,
    stop: Stop,
  ): Promise<Attempt<Name>> {
    let reply: Reply;
    try {
      reply = await this.#transport.send({ ...prepared, headers: this.#headers(name, credentials) }, stop.signal);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const late = stop.late;
      const code = late ? "timeout" : error.code;
      const message = late ? `No answer within ${timeout} ms` : error.message;
      return { failed: { code, message, lasting: error.lasting, sent: error.code !== "unreachable" } };
    }
    if (reply.status === 200) await glance?.(reply.text);
    const parsed = parseReply(name, reply);
    const date = timeOf(reply.date);
    if ("answer" in parsed) return { ...parsed, status: reply.status, date };
    return { failed: { ...parsed.failed, retryAfter: retryAfterOf(reply.retryAfter, this.#now()) }, date };
  }

  #headers(name: EndpointName, credentials: Credentials | undefined): Record<string, string> {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (credentials) {
      headers["x-auth-token"] = credentials.authToken;
      headers["x-user-id"] = credentials.userId;
    }
    const { auth }: Endpoint = endpoints[name];
    if (auth === "token+key" && this.#options.apiKey !== undefined) headers["x-api-key"] = this.#options.apiKey;
    return headers;
  }

  /** Waits before the next attempt; resolves to false when there must not be one. */
  async #waited(call: Call<EndpointName>, failed: Failed): Promise<boolean> {
    const { effect }: Endpoint = endpoints[call.name];
    const attempts = failed.code === "unreachable" ? this.#retries.connects : this.#retries.attempts;
    if (!repeatable(effect, failed) || call.attempt >= attempts) return false;
    const { retryAfter = 0 } = failed;
    if (retryAfter > this.#retries.maxRetryAfter) {
      failed.hint = `The platform asks to wait ${Math.ceil(retryAfter / 60_000)} minutes: try again at ${new Date(this.#now() + retryAfter).toISOString()}.`;
      return false;
    }
    // What has not begun waits as well: each refusal would cost the platform a call.
    if (failed.code === "rateLimited") this.#open = Math.max(this.#open, this.#now() + retryAfter);
    const wait = waitAfter(call.attempt, failed, this.#retries, this.#random);
    return this.#pause(call, wait, { ...failed, outcome: outcomeOf(effect, failed) });
  }

  /** Waits; resolves to false when the call would be too late by then. `failed` describes a call that is cancelled meanwhile. */
  async #pause(
    call: Call<EndpointName>,
    wait: number,
    failed: Omit<Failed, "code"> & Ending = { message: "Nothing was found yet" },
  ): Promise<boolean> {
    if (call.deadline === undefined || this.#now() + wait >= call.deadline) return false;
    const stop = new Stop(call.signal, this.#closing.signal);
    if (wait > longWaitMs) call.onWait?.(wait, this.#clean(failed.message));
    try {
      await this.#wait(wait, stop.signal);
      return true;
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      throw this.#error(call.name, { ...failed, code: "cancelled" });
    } finally {
      stop.clear();
    }
  }

  #ending(name: EndpointName, failed: Failed): ApiError {
    const { effect }: Endpoint = endpoints[name];
    const isRefusedToken = failed.code === "unauthorized" && name !== "login";
    const hint = failed.hint ?? (isRefusedToken ? this.#session.hint : hintOf(name, failed));
    return this.#error(name, { ...failed, code: endingCode(effect, failed), outcome: outcomeOf(effect, failed), hint });
  }

  #error(
    endpoint: EndpointName,
    { code, message, status, outcome = "none", hint, dependants, lasting = false }: Failed & Ending,
  ): ApiError {
    const failure: FailureDetails = { code, endpoint, message: this.#clean(message), outcome, lasting };
    if (status !== undefined) failure.status = status;
    if (hint !== undefined) failure.hint = hint;
    if (dependants !== undefined) failure.dependants = dependants;
    return new ApiError(failure);
  }

  /** Hides credentials in a message of the platform, which may repeat what it was sent. */
  #clean(text: string): string {
    const { endpoint, email, userId, password, token, apiKey } = this.#options;
    const known = (values: (string | undefined)[]): string[] => values.filter((value) => value !== undefined);
    const secrets = known([password, token, apiKey, ...this.#session.tokens]);
    return new Mask(secrets, known([endpoint, email, userId])).hide(text);
  }
}

/** The time of a header Date in milliseconds since the epoch. */
function timeOf(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/** The length of the first list in a request or an answer. */
function itemsIn(value: object): number | undefined {
  const list: unknown = Object.values(value).find(Array.isArray);
  return Array.isArray(list) ? list.length : undefined;
}

/** Throws a TypeError that names the option whose value no header can have. */
function assertHeaders(options: {
  readonly [Name in "apiKey" | "token" | "userId"]?: string | undefined;
}): void {
  for (const name of ["apiKey", "token", "userId"] as const) {
    if (!isHeaderValue(options[name] ?? "")) throw new TypeError(`${name} ${noHeaderValue}`);
  }
}
