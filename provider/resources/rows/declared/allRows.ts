import { createHash } from "node:crypto";
import { isOutdated, type Content, type Digest } from "../../../reconcile/digests.ts";

/** Words that are hashed at a time. */
const atOnce = 6 * 1_024;

/** Digest of all rows in their order, of whole contents; for a state that is outdated, of the first half of each. */
export class AllRows {
  readonly #hash = createHash("sha256");
  readonly #isHalf: boolean;
  readonly #words = new Uint32Array(atOnce);
  #length = 0;

  constructor(salt: string | undefined) {
    this.#isHalf = isOutdated(salt);
  }

  add(key: Digest, { high, low, third, fourth }: Content): void {
    const words = this.#words;
    words[this.#length++] = key.high;
    words[this.#length++] = key.low;
    words[this.#length++] = high;
    words[this.#length++] = low;
    if (!this.#isHalf) {
      words[this.#length++] = third;
      words[this.#length++] = fourth;
    }
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
