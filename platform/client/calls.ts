import type { EndpointName } from "../contract/endpoints.ts";
import type { CallRecord } from "./http/call.ts";

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
