import type { RowData } from "../../../platform/contract/values.ts";
import { keyText } from "../../reconcile/digests.ts";
import { editAt, firstLines, type List } from "./edits.ts";
import type { Reading, SourceRow } from "./source.ts";

interface Edit {
  line: number;
  row?: RowData;
  isMet: boolean;
}

/** Edits by the natural key of their rows. What is wrong with them is reported when the source has been read. */
class Edits {
  readonly #labels: readonly string[];
  readonly #reading: Reading;
  readonly #byKey: Record<List, Map<string, Edit>> = { additions: new Map(), changes: new Map(), removals: new Map() };

  constructor(reading: Reading, labels: readonly string[]) {
    const { additions = [], changes = [], removals = [] } = reading.source;
    this.#labels = labels;
    this.#reading = reading;
    removals.forEach((removal, at) => {
      const key = this.#keyOf(Array.isArray(removal) ? (removal as readonly unknown[]) : [removal]);
      this.#take("removals", at, key);
    });
    for (const [list, rows] of [["changes", changes] as const, ["additions", additions] as const]) {
      rows.forEach((row, at) => this.#take(list, at, this.#keyIn(row), row));
    }
  }

  #take(list: List, at: number, key: string | undefined, row?: RowData): void {
    const line = firstLines[list] + at;
    const same = this.#byKey[list];
    const other = key === undefined ? undefined : (same.get(key) ?? this.#contrary(list, key));
    if (key === undefined) {
      // Added rows are validated like any others.
      if (list !== "additions")
        this.#reading.wrong({ line, text: `names no row: give it ${this.#labels.join(" and ")}` });
    } else if (other) {
      const text = `the row${this.#named(key)} stands at ${editAt(other.line) ?? ""} already: remove one of the two`;
      this.#reading.wrong({ line, text });
    } else same.set(key, { line, ...(row && { row }), isMet: false });
  }

  /** Returns the removal that contradicts a change of the same row. */
  #contrary(list: List, key: string): Edit | undefined {
    return list === "changes" ? this.#byKey.removals.get(key) : undefined;
  }

  /** The row as the seed has it; undefined when it has it not. */
  apply(row: SourceRow): SourceRow | undefined {
    const key = this.#keyIn(row.values);
    if (key === undefined) return row;
    const removal = this.#byKey.removals.get(key);
    if (removal) {
      removal.isMet = true;
      return undefined;
    }
    const added = this.#byKey.additions.get(key);
    if (added && !added.isMet) {
      const text = `the row${this.#named(key)} stands here, and ${editAt(added.line) ?? ""} adds it: change it there, or remove it first`;
      this.#reading.wrong({ line: row.line, text });
      added.isMet = true;
      return row;
    }
    const change = this.#byKey.changes.get(key);
    if (!change) return row;
    change.isMet = true;
    return { line: row.line, values: { ...row.values, ...change.row } };
  }

  /** The rows beside those of the source, once all of it was seen. */
  rest(): SourceRow[] {
    const { source = "rows" } = this.#reading.source;
    for (const [list, verb] of [["changes", "change"] as const, ["removals", "remove"] as const]) {
      for (const [key, { line, isMet }] of this.#byKey[list]) {
        if (isMet) continue;
        this.#reading.wrong({
          line,
          text: `${source} has no row${this.#named(key)} to ${verb}: correct the key, or leave it out`,
        });
      }
    }
    const met = new Set([...this.#byKey.additions.values()].flatMap(({ line, isMet }) => (isMet ? [line] : [])));
    return (this.#reading.source.additions ?? [])
      .map((values, at) => ({ line: firstLines.additions + at, values }))
      .filter(({ line }) => !met.has(line));
  }

  #keyIn(row: RowData): string | undefined {
    return this.#keyOf(this.#labels.map((label) => row[label]));
  }

  #keyOf(parts: readonly unknown[]): string | undefined {
    const texts = parts.map((part) => keyText(part));
    return texts.length === this.#labels.length && !texts.includes(undefined) ? JSON.stringify(texts) : undefined;
  }

  #named(key: string): string {
    return this.#reading.source.sensitive ? "" : ` "${(JSON.parse(key) as string[]).join(", ")}"`;
  }
}

/** The rows of a source with what is done to them: a block of it at a time, and then those beside them. */
export async function* editRows(reading: Reading, blocks: AsyncIterable<SourceRow[]>): AsyncGenerator<SourceRow[]> {
  const edits = new Edits(reading, reading.source.key ?? []);
  for await (const block of blocks) yield block.flatMap((row) => edits.apply(row) ?? []);
  yield edits.rest();
}
