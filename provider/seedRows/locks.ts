import { ResourceError } from "../resources/common.ts";

/**
 * Room for so much at a time, in one process. Who comes first gets it first, and what is larger than the room counts as
 * all of it, so that nobody waits for ever.
 */
export class Capacity {
  readonly #size: number;
  #free: number;
  readonly #waiting: { part: number; begin: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /**
   * Waits for a part of the capacity. The returned function gives it back; further calls of it do nothing. A cancelled
   * caller stops waiting, and its next request reports that.
   */
  async enter(size: number, signal?: AbortSignal): Promise<() => void> {
    return (await this.enterInTurn(size, signal)) ?? (() => undefined);
  }

  /** The same; undefined for a caller that was cancelled before its turn. */
  async enterInTurn(size: number, signal?: AbortSignal): Promise<(() => void) | undefined> {
    const part = Math.min(Math.max(size, 1), this.#size);
    if (this.#waiting.length === 0 && part <= this.#free) this.#free -= part;
    else if (signal?.aborted || !(await this.#waited(part, signal))) return undefined;
    let held = true;
    return () => {
      if (held) this.#free += part;
      held = false;
      this.#admit();
    };
  }

  /** Answers whether the part was given; false when the signal aborted before. */
  #waited(part: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(false);
        this.#admit(); // it may have been in the way
      };
      const waiting = {
        part,
        begin: () => {
          signal?.removeEventListener("abort", leave);
          resolve(true);
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #admit(): void {
    for (let [first] = this.#waiting; first && first.part <= this.#free; [first] = this.#waiting) {
      this.#waiting.shift();
      this.#free -= first.part;
      first.begin();
    }
  }
}

/**
 * Keeps apart, in one process, what must not happen at the same time under one key. Who comes first begins first, so
 * that nobody waits for ever. Rejects when the signal aborts before its turn.
 */
export class SharedLock {
  readonly #rooms = new Map<string, Capacity>();

  /** Works beside others. The answer leaves, once or more often: who wants to work alone has to leave first. */
  enter(key: string, signal?: AbortSignal): Promise<() => void> {
    return this.#enter(key, 1, signal);
  }

  /** Works alone. */
  async exclusive<Answer>(key: string, work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    const leave = await this.#enter(key, all, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  async #enter(key: string, part: number, signal: AbortSignal | undefined): Promise<() => void> {
    const room = this.#rooms.get(key) ?? new Capacity(all);
    this.#rooms.set(key, room);
    const leave = await room.enterInTurn(part, signal);
    if (!leave) throw new ResourceError("cancelled before its turn: it changed nothing then. Run it again to go on.");
    return leave;
  }
}

/** More than can come at a time. */
const all = Number.MAX_SAFE_INTEGER;
