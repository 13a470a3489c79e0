import { createHash } from "node:crypto";
import type { Content, Digest } from "../../reconcile/digests.ts";

/** Words that are hashed at a time. */
const atOnce = 6 * 1_024;

/** Digest of all rows in their order. */
export class AllRows {
  readonly #hash = createHash("sha256");
  readonly #words = new Uint32Array(atOnce);
  #length = 0;

  add(key: Digest, { high, low, third, fourth }: Content): void {
    const words = this.#words;
    words[this.#length++] = key.high;
    words[this.#length++] = key.low;
    words[this.#length++] = high;
    words[this.#length++] = low;
    words[this.#length++] = third;
    words[this.#length++] = fourth;
    if (this.#length === atOnce) this.#take();
  }

  /** Ends it. */
  text(): string {
    this.#take();
    return this.#hash.digest("hex").slice(0, 32);
  }

  #take(): void {
    this.#hash.update(new Uint8Array(this.#words.buffer, 0, this.#length * 4));
    this.#length = 0;
  }
}
