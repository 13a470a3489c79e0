interface Waiting {
  company: unknown;
  begin: () => void;
}

interface Room {
  company: unknown;
  working: number;
  waiting: Waiting[];
}

/**
 * Keeps apart, in one process, what must not happen at the same time under one key. Who comes first begins first, so
 * that nobody waits for ever.
 */
export class SharedLock {
  readonly #rooms = new Map<string, Room>();

  /** Works beside all others of the same company, and of no other. */
  async shared<Answer>(key: string, work: () => Promise<Answer>, company: unknown = "shared"): Promise<Answer> {
    const leave = await this.enter(key, company);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Enters as `shared` does. The answer leaves, once or more often: who wants to work alone has to leave first. */
  async enter(key: string, company: unknown = "shared"): Promise<() => void> {
    await this.#entered(key, company);
    let inside = true;
    return () => {
      if (inside) this.#left(key);
      inside = false;
    };
  }

  /** Works alone. */
  exclusive<Answer>(key: string, work: () => Promise<Answer>): Promise<Answer> {
    return this.shared(key, work, Symbol(key));
  }

  #entered(key: string, company: unknown): Promise<void> {
    const room = this.#rooms.get(key);
    if (!room) this.#rooms.set(key, { company, working: 1, waiting: [] });
    else if (room.company === company && room.waiting.length === 0) room.working++;
    else return new Promise((resolve) => room.waiting.push({ company, begin: resolve }));
    return Promise.resolve();
  }

  #left(key: string): void {
    const room = this.#rooms.get(key);
    if (!room || --room.working > 0) return;
    const [first] = room.waiting;
    if (!first) {
      this.#rooms.delete(key);
      return;
    }
    room.company = first.company;
    while (room.waiting[0]?.company === room.company) {
      room.working++;
      room.waiting.shift()?.begin();
    }
  }
}
