import { onEngineEnd } from "./engineConnection.ts";
import { whenOrphaned } from "./parents.ts";

/** Milliseconds for running calls to end: no engine gets their answers, but intent files keep them. */
const gracePeriodMs = 1_500;

/**
 * Ends this process when its engine has ended: after a kill it would go on creating things that nobody records. `stop`
 * ends running operations between two calls, and the process ends soon after.
 * @param address where the engine listens
 */
export function endWithEngine(address: string | undefined, stop: () => void): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    // First of all, so that nothing that goes wrong with the rest keeps the process.
    setTimeout(() => process.exit(1), gracePeriodMs);
    stop();
  };
  whenOrphaned(address, end);
  if (address !== undefined) onEngineEnd(address, end);
}
