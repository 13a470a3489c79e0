import type { Readable } from "node:stream";

const MB = 2 ** 20;

/** Largest body that is copied. */
export const maxBytesOfCopy = 16 * MB;

/** Bytes of all bodies that are copied at the same time. */
export const maxBytesAtOnce = 64 * MB;

/** A copy of what goes through a stream. */
export interface Copy {
  /** All of it; undefined when it was too large. */
  take: () => Buffer | undefined;
  /** Lets go of it. */
  drop: () => void;
}

/** Copies of streams that others read, within a bound. */
export class Copies {
  readonly #maxBytes: number;
  readonly #maxBytesAtOnce: number;
  #held = 0;

  constructor(maxBytes = maxBytesOfCopy, atOnce = maxBytesAtOnce) {
    this.#maxBytes = maxBytes;
    this.#maxBytesAtOnce = atOnce;
  }

  of(stream: Readable): Copy {
    let parts: Buffer[] | undefined = [];
    let size = 0;
    const drop = (): void => {
      if (parts !== undefined) this.#held -= size;
      parts = undefined;
    };
    stream.on("data", (part: Buffer) => {
      if (parts === undefined) return;
      if (size + part.length > this.#maxBytes || this.#held + part.length > this.#maxBytesAtOnce) {
        drop();
        return;
      }
      parts.push(part);
      size += part.length;
      this.#held += part.length;
    });
    // A listener of data must not let it flow before the reader is there.
    stream.pause();
    return { take: () => parts && Buffer.concat(parts), drop };
  }
}
