import { compareTexts } from "../../machine/spelling.ts";
import type { Term } from "./query.ts";
import type { WalkedRow } from "./walking/walk.ts";

interface Candidate {
  row: WalkedRow;
  score: number;
}

/** Keeps the rows that come first in an answer: the nearest to a search, then in the order of the terms. */
export class Best {
  readonly #max: number;
  readonly #terms: readonly Term[];
  #kept: Candidate[] = [];

  constructor(max: number, terms: readonly Term[]) {
    this.#max = max;
    this.#terms = terms;
  }

  offer(row: WalkedRow, score: number): void {
    this.#kept.push({ row, score });
    if (this.#kept.length > 2 * this.#max + 10_000) this.#kept = this.#first();
  }

  list(): WalkedRow[] {
    return this.#first().map(({ row }) => row);
  }

  #first(): Candidate[] {
    return this.#kept
      .sort((one, other) => other.score - one.score || this.#compare(one.row, other.row))
      .slice(0, this.#max);
  }

  #compare(one: WalkedRow, other: WalkedRow): number {
    for (const [at, { down }] of this.#terms.entries()) {
      const order = compare(one[`key${at}`], other[`key${at}`]);
      if (order !== 0) return down ? -order : order;
    }
    return 0;
  }
}

/** SQLite's order: nothing, numbers, texts by their bytes. */
function compare(one: unknown, other: unknown): number {
  if (typeof one === "string" && typeof other === "string") return compareTexts(one, other);
  if (typeof one === "number" && typeof other === "number") return one - other;
  return rank(one) - rank(other);
}

const rank = (value: unknown): number => (typeof value === "string" ? 2 : typeof value === "number" ? 1 : 0);
