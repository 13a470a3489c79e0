import type { AnswerOf, RequestOf, WireNames } from "../contract/endpoints.ts";
import type { CallOptions, CallRecord } from "./http/call.ts";
import type { Limiter } from "./http/limiter.ts";
import type { RetryOptions } from "./http/retries.ts";
import type { Timeouts } from "./http/transport.ts";
import type { Methods } from "./methods.ts";
import type { Account } from "./session.ts";

/** How to reach a platform and as whom. */
export interface ClientOptions extends Account {
  /** Address of the platform, `https://…`. A path of its own comes before the endpoints' paths. */
  endpoint: string;
  /** Origins to which anything may be sent (default: any). */
  allowed?: readonly string[] | undefined;
  /** Key that some endpoints need beside the token. */
  apiKey?: string | undefined;
  /** Names that the deployment spells otherwise on the wire. */
  wireNames?: WireNames | undefined;
  /** Refuse every call that may change something, before it is sent. */
  readOnly?: boolean | undefined;
  /**
   * Time-outs in milliseconds: `connect` 10,000, `headers` and `body` 120,000, `call` 300,000 for a whole call with its
   * repetitions, `logout` 2,000. `gracePeriod` (0) lets a change end that is on its way when the caller cancels, so that
   * its outcome is known; it never extends `call`.
   */
  timeouts?: Partial<Timeouts & { call: number; logout: number; gracePeriod: number }> | undefined;
  retries?: RetryOptions | undefined;
  /** Limiter that several clients share (default: one of its own). */
  limiter?: Limiter | undefined;
  /** Called after each request. */
  onCall?: ((call: CallRecord) => void) | undefined;
  /** Milliseconds since the epoch (default: the clock). */
  now?: (() => number) | undefined;
  /** From 0 to 1 (default: `Math.random`). */
  random?: (() => number) | undefined;
  /** Waits between attempts; rejects when the signal aborts (default: a timer). */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** The platform as a program speaks to it. */
export interface Client extends Methods {
  /** ID of the user as whom calls are made; logs in when nobody did. */
  callerID: () => Promise<string>;
  /**
   * `insertmicroapprows` with rows that are JSON already: of many batches that wait for their turn, texts take a tenth
   * of the memory.
   * @param rows one JSON object each, 1 to 10,000
   */
  insertWritten: (
    request: Omit<RequestOf<"insertmicroapprows">, "rows">,
    rows: readonly string[],
    options?: CallOptions,
  ) => Promise<AnswerOf<"insertmicroapprows">>;
  /** Ends the session that this client began, if it can be reached, and drops all connections. */
  close: () => Promise<void>;
}
