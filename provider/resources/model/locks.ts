import { ResourceError } from "./resource.ts";

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
    const part = Math.min(Math.max(size, 1), this.#size);
    let held = true;
    if (this.#waiting.length === 0 && part <= this.#free) this.#free -= part;
    else if (!signal?.aborted) held = await this.#waited(part, signal);
    else held = false;
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

interface Waiting {
  mode: unknown;
  begin: () => void;
}

interface Room {
  mode: unknown;
  working: number;
  waiting: Waiting[];
}

/**
 * Keeps apart, in one process, what must not happen at the same time under one key. Who comes first begins first, so
 * that nobody waits for ever.
 */
export class SharedLock {
  readonly #rooms = new Map<string, Room>();

  /** Works beside all others of the same lock mode, and of no other. Rejects when the signal aborts before its turn. */
  async shared<Answer>(
    key: string,
    work: () => Promise<Answer>,
    mode: unknown = "shared",
    signal?: AbortSignal,
  ): Promise<Answer> {
    const leave = await this.enter(key, mode, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Enters as `shared` does. The answer leaves, once or more often: who wants to work alone has to leave first. */
  async enter(key: string, mode: unknown = "shared", signal?: AbortSignal): Promise<() => void> {
    await this.#entered(key, mode, signal);
    let inside = true;
    return () => {
      if (inside) this.#left(key);
      inside = false;
    };
  }

  /** Works alone. */
  exclusive<Answer>(key: string, work: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    return this.shared(key, work, Symbol(key), signal);
  }

  #entered(key: string, mode: unknown, signal: AbortSignal | undefined): Promise<void> {
    const room = this.#rooms.get(key);
    if (!room) this.#rooms.set(key, { mode, working: 1, waiting: [] });
    else if (room.mode === mode && room.waiting.length === 0) room.working++;
    else return this.#waited(room, mode, signal);
    return Promise.resolve();
  }

  #waited(room: Room, mode: unknown, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        room.waiting.splice(room.waiting.indexOf(waiting), 1);
        this.#admit(room); // it may have been in the way
        reject(new ResourceError("cancelled before its turn: it changed nothing then. Run it again to go on."));
      };
      const waiting = {
        mode,
        begin: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      room.waiting.push(waiting);
      if (signal?.aborted) leave();
      else signal?.addEventListener("abort", leave, { once: true });
    });
  }

  #left(key: string): void {
    const room = this.#rooms.get(key);
    if (!room || --room.working > 0) return;
    const [first] = room.waiting;
    if (!first) {
      this.#rooms.delete(key);
      return;
    }
    room.mode = first.mode;
    this.#admit(room);
  }

  /** Lets those in that come next and are of the lock mode at work. */
  #admit(room: Room): void {
    while (room.waiting[0]?.mode === room.mode) {
      room.working++;
      room.waiting.shift()?.begin();
    }
  }
}
