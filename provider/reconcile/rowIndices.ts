/** Some of the rows of a set, by index, in ascending order: a bit for each row of the set, where a Set would take forty bytes. */
export class RowIndices implements Iterable<number> {
  #flags: Uint32Array;
  #size = 0;

  /** @param length rows of the whole set */
  constructor(length: number) {
    this.#flags = new Uint32Array(Math.ceil(length / 32));
  }

  /** The same ones, for itself. */
  static of(indices: RowIndices): RowIndices {
    const copy = new RowIndices(0);
    copy.#flags = indices.#flags.slice();
    copy.#size = indices.#size;
    return copy;
  }

  get size(): number {
    return this.#size;
  }

  has(index: number): boolean {
    return (((this.#flags[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
  }

  add(index: number): void {
    if (this.has(index)) return;
    this.#flags[index >>> 5] = (this.#flags[index >>> 5] ?? 0) | (1 << (index & 31));
    this.#size++;
  }

  delete(index: number): void {
    if (!this.has(index)) return;
    this.#flags[index >>> 5] = (this.#flags[index >>> 5] ?? 0) & ~(1 << (index & 31));
    this.#size--;
  }

  /** So many of them at most. */
  first(count: number): number[] {
    const found: number[] = [];
    for (const index of this) {
      if (found.length >= count) break;
      found.push(index);
    }
    return found;
  }

  /** True when one of them passes the test. */
  some(is: (index: number) => boolean): boolean {
    for (const index of this) if (is(index)) return true;
    return false;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#flags.length; at++) {
      for (let left = this.#flags[at] ?? 0; left !== 0; left &= left - 1) yield at * 32 + 31 - Math.clz32(left & -left);
    }
  }
}
