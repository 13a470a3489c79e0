import { connect } from "node:http2";

/** Refusals in a row after which nobody listens any more: one alone may be a full queue. */
const maxRefusals = 3;

/** Milliseconds until the next attempt after a refusal, and after a connection that did not last. */
const pauseMs = { refused: 100, brief: 1_000 };

/**
 * Calls `onEnd` once when the engine at this address has ended, which closes an idle connection to it. The connection
 * speaks HTTP/2: a gRPC server drops one that stays silent, and waits for it at its own end. It keeps no process alive.
 */
export function onEngineEnd(address: string, onEnd: () => void): void {
  const url = `http://${address}`;
  if (!URL.canParse(url)) return;
  let refusals = 0;
  const look = (): void => {
    const began = performance.now();
    const session = connect(url);
    session.unref();
    session.once("connect", () => (refusals = 0));
    session.on("error", (error: NodeJS.ErrnoException) => {
      refusals = error.code === "ECONNREFUSED" ? refusals + 1 : 0;
    });
    session.once("close", () => {
      if (refusals >= maxRefusals) {
        onEnd();
        return;
      }
      const lasted = performance.now() - began > pauseMs.brief;
      const pause = refusals > 0 ? pauseMs.refused : lasted ? 0 : pauseMs.brief;
      setTimeout(look, pause).unref();
    });
  };
  look();
}
