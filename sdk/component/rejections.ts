let survives = false;

/**
 * Keeps the plugin alive when the monitor of a construct goes away: the SDK then rejects promises that nobody awaits, and
 * whoever asked for the construct gets the failure as its answer.
 */
export function survive(): void {
  if (survives) return;
  survives = true;
  process.on("unhandledRejection", (reason) => {
    if (isOfConstruct(reason)) return;
    process.stderr.write(`${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}\n`);
  });
}

/**
 * True for a failed registration, which the engine has reported, or when its monitor, or our connection to it, has
 * ended.
 */
const isOfConstruct = (reason: unknown): boolean =>
  reason instanceof Error &&
  ("code" in reason || /failed to register|monitor|channel has been shut down/i.test(reason.message));
