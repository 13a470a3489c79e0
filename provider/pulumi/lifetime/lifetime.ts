import { onEngineEnd } from "./engineConnection.ts";
import { whenOrphaned } from "./parents.ts";

/** Milliseconds that calls under way have to end: no engine hears their answer, but intent files keep what they tell. */
const gracePeriodMs = 1_500;

/**
 * Ends this process when its engine is gone: after a kill it would go on creating things that nobody records. What is
 * under way ends between two calls, as `stop` brings about, and the process soon after.
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
