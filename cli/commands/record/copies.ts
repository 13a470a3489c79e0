import type { Readable } from "node:stream";

const MB = 2 ** 20;

/** Largest body that is copied. */
const maxBytes = 16 * MB;

/** Bytes of all bodies that are copied at the same time. */
const maxBytesAtOnce = 64 * MB;

/** A copy of what goes through a stream. */
export interface Copy {
  /** All of it; undefined when it was too large. */
  take: () => Buffer | undefined;
  /** Lets go of it. */
  drop: () => void;
}

/** Copies of streams that others read, within a bound. */
export class Copies {
  #held = 0;

  of(stream: Readable): Copy {
    let parts: Buffer[] | undefined = [];
    let size = 0;
    const drop = (): void => {
      if (parts !== undefined) this.#held -= size;
      parts = undefined;
    };
    stream.on("data", (part: Buffer) => {
      if (parts === undefined) return;
      if (size + part.length > maxBytes || this.#held + part.length > maxBytesAtOnce) {
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
