/** As much of a terminal as the display uses: wrapping, scrolling, moving up, erasing, and reflowing when resized. */
export class Terminal {
  /** Physical rows, those scrolled off included; `wrapped` rows go on in the next. */
  #rows: { text: string; wrapped: boolean }[] = [{ text: "", wrapped: false }];
  #row = 0;
  #column = 0;
  #wraps = true;
  #width: number;
  readonly #height: number;

  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
  }

  readonly write = (text: string): void => {
    for (const part of text.match(/\u001b\[[?\d;]*[A-Za-z]|[\s\S]/gu) ?? []) {
      if (part.startsWith("\u001b[")) this.#control(part.slice(2));
      else if (part === "\n") this.#down();
      else if (part === "\r") this.#column = 0;
      else if (part < " ") throw new Error(`the terminal was sent the control ${JSON.stringify(part)}`);
      else this.#put(part);
    }
  };

  resize(width: number): void {
    const logical: string[] = [];
    let goesOn = false;
    for (const { text, wrapped } of this.#rows) {
      if (goesOn) logical.push((logical.pop() ?? "") + text);
      else logical.push(text);
      goesOn = wrapped;
    }
    this.#rows = logical.flatMap((line) => {
      const parts = line.match(new RegExp(`.{1,${width}}`, "gu")) ?? [""];
      return parts.map((text, i) => ({ text, wrapped: i < parts.length - 1 }));
    });
    this.#width = width;
    // The display leaves the cursor at the start of the line below what it has drawn.
    this.#row = this.#rows.length - 1;
  }

  /** Everything on the screen and above it. */
  get text(): string {
    return this.#rows.map(({ text }) => text.trimEnd()).join("\n");
  }

  #control(sequence: string): void {
    if (sequence === "?7l") this.#wraps = false;
    else if (sequence === "?7h") this.#wraps = true;
    else if (sequence === "K") this.#edit((text) => text.slice(0, this.#column));
    else if (sequence === "J") {
      this.#edit((text) => text.slice(0, this.#column));
      this.#rows.splice(this.#row + 1);
    } else if (sequence.endsWith("A")) {
      const top = Math.max(0, this.#rows.length - this.#height);
      this.#row = Math.max(top, this.#row - Number(sequence.slice(0, -1)));
    } else if (!sequence.endsWith("m")) throw new Error(`the terminal does not know ${sequence}`);
  }

  #edit(change: (text: string) => string, wrapped = false): void {
    this.#rows[this.#row] = { text: change(this.#rows[this.#row]?.text ?? ""), wrapped };
  }

  #down(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.#rows.length) this.#rows.push({ text: "", wrapped: false });
  }

  #put(char: string): void {
    if (this.#column === this.#width) {
      if (!this.#wraps) return;
      this.#edit((text) => text, true);
      this.#down();
    }
    this.#edit((text) => text.slice(0, this.#column).padEnd(this.#column) + char + text.slice(this.#column + 1));
    this.#column++;
  }
}
