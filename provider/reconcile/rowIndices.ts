/** Some of the rows of a set, by index: a byte for each row of the set, where a Set would take forty. */
export class RowIndices {
  readonly #flags: Uint8Array;
  #size = 0;

  /** @param length rows of the whole set */
  constructor(length: number) {
    this.#flags = new Uint8Array(length);
  }

  get size(): number {
    return this.#size;
  }

  has(index: number): boolean {
    return this.#flags[index] === 1;
  }

  add(index: number): void {
    if (this.has(index)) return;
    this.#flags[index] = 1;
    this.#size++;
  }

  delete(index: number): void {
    if (!this.has(index)) return;
    this.#flags[index] = 0;
    this.#size--;
  }
}
