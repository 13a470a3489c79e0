/** Ends a run in order when a person interrupts it; the second time at once. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #listener: () => void;

  constructor(warn: (text: string) => void) {
    this.#listener = () => {
      if (this.#controller.signal.aborted) process.exit(130);
      warn("Removing what was made; a second Ctrl-C stops at once, and the next 'verify' removes it.");
      this.#controller.abort(new Error("interrupted"));
    };
    for (const signal of signals) process.on(signal, this.#listener);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    for (const signal of signals) process.off(signal, this.#listener);
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
