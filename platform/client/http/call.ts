import type { AnswerOf, EndpointName, RequestOf } from "../../contract/endpoints.ts";
import type { ErrorCode, CallEffect } from "../../contract/wire.ts";

/** One request that went out, as `onCall` gets it; a call that is repeated gives one for each attempt. */
export interface CallRecord {
  /** Name of the endpoint, such as `insertteam`. */
  endpoint: EndpointName;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** HTTP status, undefined when no answer came. */
  status: number | undefined;
  /** Code of the failure, undefined after a success. */
  code: ErrorCode | undefined;
  /** Possible effect of a failed request; undefined after a success. */
  outcome: CallEffect | undefined;
  /** Time from sending the request to the end of its answer. */
  milliseconds: number;
  /** Milliseconds before it was sent: the login of the session, pauses between attempts, and the queue of the limiter. */
  waited: number;
  /** The platform's time, from the header Date of its answer (ms since the epoch); undefined without that header. */
  date: number | undefined;
  /** Items in the request, such as the rows of a batch; undefined when it has no list. */
  sent: number | undefined;
  /** Items in the answer, such as rows or members; undefined when it has no list. */
  received: number | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call as `cancelled`; a creation that is on its way ends as `outcomeUnknown`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call with its repetitions, from its first turn (default: the client's `call`). */
  timeout?: number | undefined;
  /**
   * Called before each request of this call goes out, and awaited: nothing is sent where it rejects. A login that the call
   * waits for is over by then, so what never calls it was never sent.
   */
  onSend?: (() => void | Promise<void>) | undefined;
  /** Called after each request of this call. */
  onCall?: ((call: CallRecord) => void) | undefined;
  /** Called before a wait of more than ten seconds for another attempt, with its milliseconds and why the last one failed. */
  onWait?: ((milliseconds: number, reason: string) => void) | undefined;
  /** Called with the text of the answer, and awaited, before the text is parsed: parsing a large one takes long. */
  glance?: ((text: string) => Promise<void>) | undefined;
}

/** The methods of a client for some endpoints: what a function that needs no others takes. */
export type Calls<Name extends EndpointName> = {
  [Each in Name]: (request: RequestOf<Each>, options?: CallOptions) => Promise<AnswerOf<Each>>;
};

/** Counts the requests of a client by endpoint: pass its `onCall` to `createClient`. */
export class CallCounter {
  /** Number of requests of each endpoint, repeated ones included. */
  readonly counts = new Map<EndpointName, number>();
  readonly #repeated = new Map<EndpointName, number>();

  /** A property, so that it can be passed on its own. */
  readonly onCall = ({ endpoint, attempt }: CallRecord): void => {
    add(this.counts, endpoint);
    if (attempt > 1) add(this.#repeated, endpoint);
  };

  /** Number of requests to these endpoints; without names, to all. */
  total(...names: EndpointName[]): number {
    let total = 0;
    for (const [name, count] of this.counts) if (names.length === 0 || names.includes(name)) total += count;
    return total;
  }

  /** Describes the counts for people: `12 calls: 10 insertmicroapprows (2 repeated), 2 microappdata`. */
  describe(): string {
    const ranked = [...this.counts].sort(([, a], [, b]) => b - a);
    const parts = ranked.map(([name, count]) => {
      const repeated = this.#repeated.get(name);
      return `${count} ${name}${repeated === undefined ? "" : ` (${repeated} repeated)`}`;
    });
    const total = this.total();
    return parts.length === 0 ? "no calls" : `${total} ${total === 1 ? "call" : "calls"}: ${parts.join(", ")}`;
  }
}

function add(counts: Map<EndpointName, number>, name: EndpointName): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
