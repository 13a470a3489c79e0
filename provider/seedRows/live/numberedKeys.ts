import type { RowData } from "../../../platform/contract/values.ts";
import type { RowPlan } from "../../reconcile/rows.ts";
import { ResourceError } from "../../resources/model/resource.ts";
import { keyOf } from "../declared/declaration.ts";
import type { RowTarget } from "../declared/target.ts";
import { read } from "../source/read.ts";
import { placeOf } from "../source/source.ts";

/** So many are kept. */
const maxRows = 10_000;

/** Rows of no wanted key whose key has numbers: of what was written as "007" a platform may have made 7. */
export class NumberedKeys {
  readonly #key: readonly string[];
  readonly #rows = new Map<string, RowData>();

  constructor(key: readonly string[]) {
    this.#key = key;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Takes in a row that has no wanted key. */
  observe(values: RowData): void {
    if (this.#rows.size < maxRows && this.#key.some((label) => typeof values[label] === "number")) {
      this.#rows.set(keyOf(this.#key, values), values);
    }
  }

  /** The row that a platform may have made of one. */
  madeOf(values: RowData): RowData | undefined {
    if (this.size === 0) return undefined;
    const numbers = Object.fromEntries(this.#key.map((label) => [label, asNumber(values[label])]));
    return this.#rows.get(keyOf(this.#key, numbers));
  }
}

/** Throws when rows would be inserted once more because the table has their keys as numbers. */
export async function refuseNumbered(
  target: RowTarget,
  { insert }: RowPlan,
  numbered: NumberedKeys,
  directory: string,
): Promise<void> {
  if (numbered.size === 0 || insert.size === 0) return;
  const places: string[] = [];
  let index = 0;
  for await (const block of read(target, directory)) {
    for (const { line, values } of block) {
      if (insert.has(index++) && numbered.madeOf(values)) places.push(placeOf(target, line));
    }
  }
  const [first, ...others] = places;
  if (first === undefined) return;
  throw new ResourceError(
    `${first}${others.length > 0 ? ` and ${others.length} more` : ""}: table ${target.table} has the natural key as a number where the source has text, so the row would be inserted once more: declare the key's type in types, or write it as the table has it`,
  );
}

function asNumber(value: unknown): unknown {
  const number = typeof value === "string" && value !== "" ? Number(value) : Number.NaN;
  return Number.isNaN(number) ? value : number;
}
