import type { Digest, RowDigests } from "./digests.ts";
import { RowSet } from "./rowSet.ts";

/** Keys that a state remembers: 5.5 KB. Of more, nothing is known but that there were more. */
const maxKeys = 512;

/**
 * Keys of rows that a seed removed. A row that comes back under one of them has another ID, so what referred to the old
 * one has to follow it.
 */
export class Tombstones {
  readonly #keys: RowSet;
  readonly #isCut: boolean;

  private constructor(keys: RowSet, isCut: boolean) {
    this.#keys = keys;
    this.#isCut = isCut;
  }

  /** Reads the text of a state; without a text there are no tombstones. */
  static decode(text: string | undefined): Tombstones {
    const bytes = Buffer.from((text ?? "").replace(/\*$/, ""), "base64");
    const keys = new RowSet();
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      keys.add({ high: bytes.readUInt32BE(at), low: bytes.readUInt32BE(at + 4) });
    }
    return new Tombstones(keys, text?.endsWith("*") ?? false);
  }

  get isEmpty(): boolean {
    return !this.#isCut && this.#keys.length === 0;
  }

  has(key: Digest): boolean {
    return this.#isCut || this.#keys.has(key);
  }

  /** The text for the state, undefined for nothing: with what was removed, and without what is there. */
  encode(removed: Iterable<RowDigests>, isThere: (key: Digest) => boolean): string | undefined {
    const keys = new RowSet();
    for (const rows of [this.#keys, removed]) for (const { key } of rows) if (!isThere(key)) keys.add(key);
    const cut = this.#isCut || keys.length > maxKeys;
    const kept = Math.min(keys.length, maxKeys);
    if (kept === 0 && !cut) return undefined;
    const bytes = Buffer.alloc(kept * 8);
    for (let index = 0; index < kept; index++) {
      const { high, low } = keys.key(index);
      bytes.writeUInt32BE(high, index * 8);
      bytes.writeUInt32BE(low, index * 8 + 4);
    }
    return bytes.toString("base64") + (cut ? "*" : "");
  }
}
