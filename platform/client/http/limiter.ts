/** The platform's load, as the end of a call shows it. */
export type Load = "easy" | "overloaded" | "unknown";

/** A place among the running calls. Each slot must be released once. */
export interface Slot {
  release: (load: Load) => void;
}

interface Waiting {
  start: () => void;
}

/** Bounds of the number of calls at a time. */
export interface LimiterOptions {
  /** The bound at the start (default 8). */
  start?: number;
  /** The lowest bound, however loaded the platform is (default 1). */
  min?: number;
  /** The highest bound (default 32). */
  max?: number;
}

/**
 * Bounds the number of calls at a time: halves the bound when the platform is overloaded, and adds one for each
 * round of calls that went well. A burst of refusals counts once, since all of it was sent before the first was known.
 * It stays our own: the bound moves with the platform's answers, and a repeated call goes first, which a queue of a fixed
 * size does not do. tools/bench/RESULTS.md measures it: 1,000,000 rows in at most 1.3 times the time of posting ready bodies.
 */
export class Limiter {
  readonly #min: number;
  /** The highest bound. */
  readonly max: number;
  #limit: number;
  #active = 0;
  #round = 0;
  readonly #queue: Waiting[] = [];

  constructor({ start = 8, min = 1, max = 32 }: LimiterOptions = {}) {
    this.#min = min;
    this.max = max;
    this.#limit = Math.min(Math.max(start, min), max);
  }

  /** The bound at present. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** The number of running calls. */
  get active(): number {
    return this.#active;
  }

  /** Waits for a slot; rejects when the signal aborts. A repeated call is `urgent`: it goes before new ones. */
  async acquire(signal?: AbortSignal, urgent = false): Promise<Slot> {
    signal?.throwIfAborted();
    if (this.#active < this.limit) return this.#slot();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(signal?.reason as Error); // whatever the caller aborted with
      };
      const waiting = {
        start: () => {
          signal?.removeEventListener("abort", leave);
          resolve(this.#slot());
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      if (urgent) this.#queue.unshift(waiting);
      else this.#queue.push(waiting);
    });
  }

  #slot(): Slot {
    this.#active++;
    const round = this.#round;
    let held = true;
    return {
      release: (load) => {
        if (!held) return;
        held = false;
        this.#active--;
        if (load === "easy") this.#limit = Math.min(this.max, this.#limit + 1 / this.#limit);
        if (load === "overloaded" && round === this.#round) {
          this.#limit = Math.max(this.#min, Math.floor(this.#limit) / 2);
          this.#round++;
        }
        while (this.#active < this.limit && this.#queue.length > 0) this.#queue.shift()?.start();
      },
    };
  }
}
