import { closeSync, openSync, readSync, rmSync, unlinkSync, writeSync } from "node:fs";

/** Texts written before anything is flushed, in characters. */
const buffered = 1 << 20;

/** Texts in a file, in the order in which they came; read back in any order. */
export class Spool {
  readonly #path: string;
  readonly #file: number;
  /** Where each text begins, and where the last one ends. */
  readonly #offsets = [0];
  #waiting: Buffer[] = [];
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "wx+", 0o600);
    // Without a name it is gone when the process is, however it ends. Windows removes it at the end.
    if (process.platform !== "win32") unlinkSync(path);
  }

  add(text: string): void {
    const bytes = Buffer.from(text);
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    this.#offsets.push((this.#offsets.at(-1) ?? 0) + bytes.length);
    if (this.#bytes >= buffered) this.#flush();
  }

  get(index: number): string {
    this.#flush();
    const begin = this.#offsets[index] ?? 0;
    const bytes = Buffer.allocUnsafe((this.#offsets[index + 1] ?? begin) - begin);
    readSync(this.#file, bytes, 0, bytes.length, begin);
    return bytes.toString();
  }

  remove(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }

  #flush(): void {
    if (this.#waiting.length > 0) writeSync(this.#file, Buffer.concat(this.#waiting));
    this.#waiting = [];
    this.#bytes = 0;
  }
}
