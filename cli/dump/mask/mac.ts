import { createHmac, hash } from "node:crypto";

/** Bytes of a block of SHA-256. */
const block = 64;
/** Bytes of texts that take the quick way. */
const longest = 1024;

/** HMAC-SHA-256 of many short texts with one key of 32 bytes, in a quarter of the time of `createHmac`, whose result it has. */
export class Mac {
  readonly #key: Buffer;
  /** The key's inner and outer block, each with room for what is digested behind it. */
  readonly #inner = Buffer.alloc(block + longest, 0x36);
  readonly #outer = Buffer.alloc(block + 32, 0x5c);
  readonly #made = Buffer.alloc(32);

  constructor(key: Buffer) {
    this.#key = key;
    for (const [index, byte] of key.entries()) {
      this.#inner[index] = byte ^ 0x36;
      this.#outer[index] = byte ^ 0x5c;
    }
  }

  /** The digest of a text, in a buffer that the next call fills again. */
  digest(text: string): Buffer {
    if (text.length * 3 > longest) return createHmac("sha256", this.#key).update(text).digest();
    const length = this.#inner.write(text, block, "utf8");
    // Node makes a text of a digest in a third of the time of a buffer.
    this.#outer.write(hash("sha256", this.#inner.subarray(0, block + length), "binary"), block, "latin1");
    this.#made.write(hash("sha256", this.#outer, "binary"), "latin1");
    return this.#made;
  }
}
