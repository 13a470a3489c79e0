/** Longest delay of a timer in milliseconds: Node fires a longer one at once. */
export const longestTimer = 2 ** 31 - 1;
/** Aborts when the caller cancels, the client closes or time is up. `clear` removes its listeners and timers. */
export class Stop {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #closing: AbortSignal;
  readonly #abort = (): void => this.#controller.abort();
  readonly #cancel = (): void => {
    const reason: unknown = this.#caller?.reason;
    const timeIsUp = reason instanceof DOMException && reason.name === "TimeoutError";
    if (this.#gracePeriodMs === 0 || timeIsUp) this.#abort();
    else this.#cancelled ??= setTimeout(this.#abort, this.#gracePeriodMs);
  };
  #gracePeriodMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #cancelled: NodeJS.Timeout | undefined;
  /** True after the deadline aborted the request. */
  late = false;

  constructor(caller: AbortSignal | undefined, closing: AbortSignal) {
    this.#caller = caller;
    this.#closing = closing;
    if (caller?.aborted || closing.aborted) this.#abort();
    caller?.addEventListener("abort", this.#cancel, { once: true });
    closing.addEventListener("abort", this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts after this time. */
  after(milliseconds: number): void {
    this.#timer = setTimeout(
      () => {
        this.late = true;
        this.#abort();
      },
      Math.min(milliseconds, longestTimer),
    );
  }

  /** Grace period (ms) after a cancellation; it never extends the deadline. */
  setGracePeriod(milliseconds: number): void {
    this.#gracePeriodMs = milliseconds;
  }

  /** Removes the listeners and timers. */
  clear(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#cancelled);
    this.#caller?.removeEventListener("abort", this.#cancel);
    this.#closing.removeEventListener("abort", this.#abort);
  }
}

/** Waits for the promise; rejects with a plain Error once the signal aborts. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const stop = Promise.withResolvers<never>();
  const abort = (): void => stop.reject(new Error("aborted"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, stop.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Waits for some time; rejects once the signal aborts. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<undefined>();
  const timer = setTimeout(over.resolve, milliseconds, undefined);
  try {
    await unlessAborted(over.promise, signal);
  } finally {
    clearTimeout(timer);
  }
}
