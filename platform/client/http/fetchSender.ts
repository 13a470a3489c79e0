import { failureOfConnection, TransportError, type HttpSender, type HttpSenderOptions } from "./sender.ts";

/**
 * Requests by `fetch`, where undici is not: in browsers and at the edge. Nobody can know there whether a request that
 * failed was sent, so `unreachable` is for what the runtime names as such.
 */
export function openSender({ origin }: URL, { timeouts }: HttpSenderOptions): HttpSender {
  const closing = new AbortController();
  const late = (): TransportError => new TransportError("timeout", `${origin} did not finish its answer in time`);
  return {
    send: async ({ method, path, headers, body }, signal) => {
      const clock = new AbortController();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const allow: Allow = (milliseconds) => {
        clearTimeout(timer);
        if (milliseconds !== undefined) timer = setTimeout(() => clock.abort(), milliseconds);
      };
      allow(timeouts.connect + timeouts.headers);
      const stop = AbortSignal.any([signal, closing.signal, clock.signal]);
      const reasoned = (error: unknown): unknown => {
        if (closing.signal.aborted) return new TransportError("cancelled", "The client is closed");
        if (signal.aborted) return new TransportError("cancelled", "The call was cancelled");
        return clock.signal.aborted ? late() : error;
      };
      try {
        const options = { method, headers, redirect: "manual", cache: "no-store", signal: stop } as const;
        const answer = await fetch(origin + path, body === undefined ? options : { ...options, body });
        // Browsers show nothing of it.
        if (answer.type === "opaqueredirect")
          throw new TransportError("badAnswer", `${origin} answered with a redirect, which is not followed`, true);
        return {
          status: answer.status,
          header: (name) => answer.headers.get(name) ?? undefined,
          body: partsOf(answer.body, allow, timeouts.body, reasoned),
        };
      } catch (error) {
        allow();
        throw reasoned(error);
      }
    },
    failureOf: (error) => failureOf(error, origin),
    close: () => {
      closing.abort();
      return Promise.resolve();
    },
  };
}

/** Gives what comes next some milliseconds; without a number, as long as it takes. */
type Allow = (milliseconds?: number) => void;

/** The parts of a body, each within its time. */
async function* partsOf(
  body: ReadableStream<Uint8Array> | null,
  allow: Allow,
  timeoutMs: number,
  reasoned: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader(); // not every runtime iterates a stream
  try {
    for (;;) {
      allow(timeoutMs);
      const part = await reader?.read();
      if (!part || part.done) return;
      yield part.value;
    }
  } catch (error) {
    throw reasoned(error);
  } finally {
    allow();
    await reader?.cancel().catch(() => undefined); // of what was too large
  }
}

function failureOf(error: unknown, origin: string): TransportError {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return (
    failureOfConnection(cause, origin) ??
    new TransportError("connectionLost", `The connection to ${origin} failed, or was refused by the browser`)
  );
}
