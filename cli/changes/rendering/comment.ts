import { isConfusable } from "./confusables.ts";
import { cut, toVisible } from "./text.ts";

/**
 * A text of others: inside of an element, in which every character that could mean something stands as its number. So no
 * text makes a link, an image, a mention, a heading, or ends the cell that it stands in.
 */
export function code(text: string, length: number): string {
  const encoded = cut(toVisible(text), length)
    .replace(/[^\p{L}\p{M}\p{N} ]/gu, (char) => `&#${char.codePointAt(0) ?? 0};`)
    // GitHub looks for addresses once entities are decoded, between elements alone.
    .replace(/&#64;|&#58;(?=&#47;)|(?<=www)&#46;/gi, "$&<!-- -->");
  return `<code>${encoded === "" ? "&#8203;" : encoded}</code>${isConfusable(text) ? " ⚠ letters of several scripts" : ""}`;
}

/** The changes of one thing, folded away unless they are few. */
export interface Details {
  title: string;
  isOpen: boolean;
  head: readonly string[];
  rows: readonly (() => string)[];
  /** Changes that are counted and not listed anywhere. */
  omitted: number;
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

/** The lines of a report within a number of bytes; what does not fit is counted. */
export class Comment {
  readonly #lines: string[] = [];
  #left: number;
  #cutRows = 0;
  #cutChanges = 0;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Sets bytes aside, or gives them back. */
  reserve(bytes: number): void {
    this.#left -= bytes;
  }

  /** Adds lines that belong together, or none of them. */
  line(...lines: string[]): boolean {
    const bytes = sizeOf(lines);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#lines.push(...lines);
    return true;
  }

  /** Adds a line that counts as cut when there is no room for it. */
  row(line: string): void {
    if (!this.line(line)) this.#cutRows++;
  }

  /** Adds a list with its title, and counts the entries left out. */
  list(title: string, lines: readonly string[], max: number): void {
    if (lines.length === 0) return;
    this.line("", `### ${title}`, "");
    for (const line of lines.slice(0, max)) this.row(line);
    if (lines.length > max) this.line(`- and ${lines.length - max} more`);
  }

  /** Gives each of them its share of the room that is left: what a small one does not need the larger ones have. */
  details(all: readonly Details[]): void {
    const bySize = all.toSorted((a, b) => a.rows.length - b.rows.length);
    let left = this.#left;
    const blocks = new Map<Details, string[]>();
    for (const [index, each] of bySize.entries()) {
      const block = this.#block(each, left / (bySize.length - index));
      blocks.set(each, block);
      left -= sizeOf(block);
    }
    for (const each of all) this.line(...(blocks.get(each) ?? []));
  }

  #block({ title, isOpen, head, rows: made, omitted }: Details, share: number): string[] {
    const opening = ["", isOpen ? "<details open>" : "<details>", `<summary>${title}</summary>`, "", ...head];
    const closing = ["", "</details>"];
    let room = share - sizeOf([...opening, ...closing]) - 100;
    const rows: string[] = [];
    for (const make of made) {
      const row = make();
      room -= Buffer.byteLength(row) + 1;
      if (room < 0) break;
      rows.push(row);
    }
    const hidden = made.length - rows.length;
    this.#cutChanges += hidden;
    if (rows.length === 0) return [];
    const more = hidden + omitted === 0 ? [] : ["", `${hidden + omitted} more are not shown here.`];
    return [...opening, ...rows, ...more, ...closing];
  }

  end(): string {
    if (this.#cutRows + this.#cutChanges > 0) {
      const parts = [
        ...(this.#cutRows > 0 ? [`${this.#cutRows} lines of the tables`] : []),
        ...(this.#cutChanges > 0 ? [`${this.#cutChanges} changes`] : []),
      ];
      this.#lines.push(
        "",
        `Cut here: ${parts.join(" and ")}. All that is listed is in \`microapps report --format json\`; the counts above are of all.`,
      );
    }
    return `${this.#lines.join("\n")}\n`;
  }
}
