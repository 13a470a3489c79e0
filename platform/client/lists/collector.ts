import { availableParallelism } from "node:os";

export interface Waits {
  /** Milliseconds that an item waits for a second one, where none has come before. */
  aloneMs: number;
  /** Milliseconds without another one that several wait at least: more of them will come. */
  idleMs: number;
  /** Milliseconds that an item waits at most, also while others are worked on. */
  maxMs: number;
}

/** How many operations an engine keeps under way by default. */
const usual = 4 * availableParallelism();

/** How often what was lately is trusted at first, and once it has proved true. */
const trusted = { first: 2, last: 8 };

/**
 * Hands over items together that come one after the other. An engine keeps some operations under way, and begins the
 * next when one ends: so items wait while they keep coming, and while earlier ones are worked on, whose ends bring more.
 * Once as many are here as there were lately, nobody is left to come; now and then that is tried, since many may be late.
 */
export class Collector<Item> {
  readonly #take: (items: Item[]) => Promise<void>;
  readonly #waits: Waits;
  #waiting: Item[] = [];
  #underway = 0;
  /** How many items may be here at a time. */
  #most = usual;
  /** How often in a row as many as lately were handed over at once, and after how often it is tried whether more come. */
  #full: number = trusted.first;
  #trusted: number = trusted.first;
  /** When an item came or was done, and the longest time lately until the next one (ms): a busy machine takes longer. */
  #last = -Infinity;
  #gap = 0;
  /** True when the last batch had several items. */
  #wasShared = false;
  #timer: NodeJS.Timeout | undefined;
  #latest: NodeJS.Timeout | undefined;

  /** @param take works on items; it handles its errors itself */
  constructor(take: (items: Item[]) => Promise<void>, waits: Waits) {
    this.#take = take;
    this.#waits = waits;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    const now = performance.now();
    if (now - this.#last < this.#waits.maxMs) this.#gap = Math.max(now - this.#last, 0.8 * this.#gap);
    else if (this.#underway === 0) {
      // After a long pause the earlier pace is no guide.
      this.#gap = 0;
      this.#wasShared = false;
    }
    this.#last = now;
    this.#latest ??= setTimeout(() => this.#handOver(), this.#waits.maxMs);
    this.#expectMore();
  }

  /** Notes that several will probably come soon: the first one waits for them. */
  expectSeveral(): void {
    this.#last = performance.now();
    this.#wasShared = true;
  }

  #expectMore(): void {
    clearTimeout(this.#timer);
    if (this.#underway > 0) return;
    const here = this.#waiting.length;
    const { aloneMs, idleMs } = this.#waits;
    const pause = here > 1 || this.#wasShared ? Math.max(idleMs, 2 * this.#gap) : aloneMs;
    const isFull = here >= this.#most;
    const tries = isFull && this.#full >= this.#trusted;
    const over = (): void => {
      // Perhaps fewer are under way now, perhaps the others are late.
      if (!isFull) [this.#most, this.#full] = [Math.floor(this.#most / 2), this.#trusted];
      else if (!tries) this.#full++;
      else if (here > this.#most) this.#trusted = trusted.first;
      else [this.#full, this.#trusted] = [0, Math.min(2 * this.#trusted, trusted.last)];
      this.#handOver();
    };
    // Items that arrive at this very moment are waited for.
    this.#timer = setTimeout(over, isFull ? (tries ? 2 * this.#gap : 0) : pause);
  }

  #handOver(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#latest);
    this.#latest = undefined;
    const items = this.#waiting;
    this.#waiting = [];
    this.#underway += items.length;
    this.#most = Math.max(this.#most, items.length);
    this.#wasShared = items.length > 1;
    void this.#take(items).finally(() => {
      const together = this.#waiting.length + items.length;
      if (together > this.#most) [this.#most, this.#full] = [together, 0];
      this.#underway -= items.length;
      this.#last = performance.now();
      if (this.#waiting.length > 0) this.#expectMore();
    });
  }
}
