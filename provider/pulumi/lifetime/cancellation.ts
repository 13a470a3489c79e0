import { subscribe } from "node:diagnostics_channel";

/** The call by which an engine cancels its run. */
const path = "/pulumirpc.ResourceProvider/Cancel";

/** Calls `stop` when the engine cancels: the host of dynamic resources answers that call without passing it on. */
export function endWhenCancelled(stop: () => void): void {
  subscribe("http2.server.stream.start", (message) => {
    const { headers } = message as { headers?: Readonly<Record<string, unknown>> }; // as Node documents it
    if (headers?.[":path"] === path) stop();
  });
}
