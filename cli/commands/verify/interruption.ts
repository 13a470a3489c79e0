import { EngineError } from "../../../engine/index.ts";

/** Times of a run, in milliseconds. */
export interface Times {
  /** As a whole, without the removal of what was made. */
  limitMs: number;
  /** For that removal. */
  cleaningMs: number;
}

/** Ends a run in order when a person interrupts it, the second time at once, and when its time is over. */
export class Interruption {
  readonly #interrupted = new AbortController();
  readonly #late = new AbortController();
  readonly #listener: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly signal = AbortSignal.any([this.#interrupted.signal, this.#late.signal]);

  constructor(warn: (text: string) => void, limitMs: number) {
    this.#listener = () => {
      if (this.#interrupted.signal.aborted) process.exit(130);
      warn("Removing what was made; a second Ctrl-C stops at once, and the next 'verify' removes it.");
      this.#interrupted.abort(new Error("interrupted"));
    };
    for (const signal of signals) process.on(signal, this.#listener);
    this.#timer = setTimeout(() => this.#late.abort(new EngineError(tooLong)), limitMs);
  }

  /** Aborts when the time of the run is over: nothing more is tried. */
  get late(): AbortSignal {
    return this.#late.signal;
  }

  /** Returns why the run ended before its end. */
  describe(): string {
    return this.#interrupted.signal.aborted ? "interrupted" : tooLong;
  }

  end(): void {
    for (const signal of signals) process.off(signal, this.#listener);
    clearTimeout(this.#timer);
  }
}

const tooLong = "it took longer than --timeout allows";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds that removing what was made may take. */
const maxCleaningMs = 600_000;

/** Longest times by --timeout, which was checked. */
export const timesOf = (timeout: string): Times => ({
  limitMs: millisecondsIn(timeout) ?? 0,
  cleaningMs: maxCleaningMs,
});

/** Reads a time such as 90s, 30m or 2h, of at most 24 hours; undefined for anything else. */
export function millisecondsIn(text: string): number | undefined {
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([smh])$/.exec(text) ?? [];
  const time = Number(count) * (units[unit] ?? NaN);
  return time <= 86_400_000 ? time : undefined;
}
