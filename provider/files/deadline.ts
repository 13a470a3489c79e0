import { AsyncLocalStorage } from "node:async_hooks";

const deadlines = new AsyncLocalStorage<AbortSignal>();

/** Work that took longer than it may. */
export class LateError extends Error {
  override readonly name = "LateError";
}

/** Does work in which readers of files end with a LateError once the signal is aborted. */
export const until = <Answer>(signal: AbortSignal, work: () => Answer): Answer => deadlines.run(signal, work);

/** Throws when the work that reads has taken too long. */
export function assertInTime(): void {
  if (deadlines.getStore()?.aborted === true) throw new LateError("it took longer than it may");
}
