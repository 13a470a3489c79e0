import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";

/** The span that the work at hand is under, as a `traceparent`. */
export const above = new AsyncLocalStorage<string>();

/** A stream of HTTP/2, whose events are what a call of gRPC is made of. */
interface Stream {
  emit: (...event: unknown[]) => boolean;
}

/**
 * Puts the work on each call of an engine under the span that the call names. Only this way works for both kinds of
 * provider: the host of dynamic resources does not pass on the metadata of a call. It loads us with its first one,
 * which goes unseen.
 */
export function followEngine(): void {
  subscribe("http2.server.stream.start", (message) => {
    const { headers, stream } = message as { headers?: Readonly<Record<string, unknown>>; stream?: Stream }; // as Node documents it
    const parent = headers?.["traceparent"];
    if (typeof parent !== "string" || !stream) return;
    const emit = stream.emit.bind(stream);
    stream.emit = (...event) => above.run(parent, () => emit(...event));
  });
}
