import type { AnswerOf, RequestOf, WireNames } from "../contract/endpoints.ts";
import type { Dialect, Profile } from "../profile/profile.ts";
import type { CallOptions, CallRecord } from "./http/call.ts";
import type { Limiter } from "./http/limiter.ts";
import type { RetryOptions } from "./http/retries.ts";
import type { SenderTimeouts } from "./http/sender.ts";
import type { Methods } from "./methods.ts";
import type { Account } from "./session.ts";

/** Time-outs of a client in milliseconds. */
export interface ClientTimeouts extends SenderTimeouts {
  /** For a whole call with its repetitions, from its first turn (default 300,000). */
  call: number;
  /** For the logout when the client is closed (default 2,000). */
  logout: number;
  /**
   * For a change that is on its way when the caller cancels, so that its outcome is known (default 0). It never extends
   * `call`.
   */
  gracePeriod: number;
}

/** How to reach a platform and as whom. */
export interface ClientOptions extends Account {
  /** Address of the platform, `https://…`. A path of its own comes before the endpoints' paths. */
  endpoint: string;
  /** Origins that requests may go to (default: any). */
  allowed?: readonly string[] | undefined;
  /** Key that some endpoints need beside the token. */
  apiKey?: string | undefined;
  /** Names that this deployment spells differently on the wire (default: none). */
  wireNames?: WireNames | undefined;
  /** How this platform was seen to behave: requests take forms that it understands (default: the documented ones). */
  profile?: Partial<Profile> | undefined;
  /** Refuses every call that may change something, before it is sent (default false). */
  readOnly?: boolean | undefined;
  /** Time-outs in milliseconds; those that are left out have their defaults. */
  timeouts?: Partial<ClientTimeouts> | undefined;
  /** How often and how long calls are repeated. */
  retries?: RetryOptions | undefined;
  /**
   * Milliseconds for which a thing that this client made may still be unseen: calls that do not find it are sent again
   * until then (default 0). For platforms that show what was made a little later.
   */
  consistencyMs?: number | undefined;
  /** Limiter that several clients share (default: one of its own). */
  limiter?: Limiter | undefined;
  /** Called after each request, repeated ones included. */
  onCall?: ((call: CallRecord) => void) | undefined;
  /** Returns the time in milliseconds since the epoch (default: `Date.now`). */
  now?: (() => number) | undefined;
  /** Returns a number from 0 to 1, for the jitter of waits (default: `Math.random`). */
  random?: (() => number) | undefined;
  /** Waits between attempts; rejects when the signal aborts (default: a timer). */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The platform as a program speaks to it. */
export interface Client extends Methods {
  /** Known habits and settings of the platform, beyond the interface. */
  readonly dialect: Dialect;
  /** Milliseconds for which a thing that this client made may still be unseen. */
  readonly consistencyMs: number;
  /** ID of the user who makes the calls; logs in when there is no session yet. */
  callerID: () => Promise<string>;
  /**
   * `insertmicroapprows` with rows as JSON texts, which take a tenth of the memory while batches wait for their turn.
   * @param rows 1 to 10,000 texts of one JSON object each
   */
  insertWritten: (
    request: Omit<RequestOf<"insertmicroapprows">, "rows">,
    rows: readonly string[],
    options?: CallOptions,
  ) => Promise<AnswerOf<"insertmicroapprows">>;
  /** Logs out of the session that this client began, ignoring failures, and drops all connections. */
  close: () => Promise<void>;
}
