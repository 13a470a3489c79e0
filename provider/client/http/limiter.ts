/** How a call went, as far as it says something about the platform's load. */
export type Load = "easy" | "overloaded" | "unknown";

/** A place among the calls that are under way. */
export interface Slot {
  release: (load: Load) => void;
}

interface Waiting {
  start: () => void;
}

/** Bounds of the calls that are under way at a time. */
export interface LimiterOptions {
  start?: number;
  min?: number;
  max?: number;
}

/**
 * How many calls are under way at a time: halved when the platform says that it is too much, and grown by one for each
 * round of calls that went well. A burst of refusals counts once, since all of it was sent before the first was known.
 */
export class Limiter {
  readonly #min: number;
  /** Calls that may ever be under way at a time. */
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

  /** Calls that may be under way at present. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Calls that are under way at present. */
  get active(): number {
    return this.#active;
  }

  /** Waits for a place. A repeated call is `urgent`: it goes before those that have not begun. */
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
