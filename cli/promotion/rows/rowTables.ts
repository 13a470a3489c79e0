import { withRowEdits, type SeedDeclaration } from "../../../provider/environment/schema.ts";
import { naturalKey, type Cells } from "../../../provider/reconcile/merging/records.ts";
import { read, SourceError } from "../../../provider/sources/read.ts";
import { placeOf } from "../../../provider/sources/source.ts";
import type { Declared } from "../../changes/model/source.ts";
import { PromotionError } from "../model/promotionError.ts";

/** A seed of one side, and the words for that side. */
export interface SeedOfSide {
  declared: Declared;
  seed: SeedDeclaration;
  side: string;
  /** Another natural key than the seed's, by which its rows are compared. */
  key?: readonly string[];
}

/** A row of a source by the text of its natural key. */
export interface KeyedRow {
  key: string;
  line: number;
  cells: Cells;
}

/** Finds a seed of one side; undefined where that has none. `side` is the name of the environment, for people. */
export function findSeed(declared: Declared, name: string, side: string): SeedOfSide | undefined {
  const seed = declared.declaration.seeds[name];
  return seed && { declared, seed, side };
}

/** Labels that nobody may read: `all` of a sensitive seed. */
export const findHidden = ({ sensitive, secretLabels = [] }: SeedDeclaration): "all" | ReadonlySet<string> =>
  sensitive ? "all" : new Set(secretLabels);

/** Reads the rows of a seed in blocks. Throws a PromotionError that names what can't be read. */
export async function* readRows({ declared, seed, side, key: by = seed.key }: SeedOfSide): AsyncGenerator<KeyedRow[]> {
  const reason = seed.source === undefined ? undefined : declared.unread?.(seed.source);
  if (reason !== undefined) throw new PromotionError(`${side}: ${reason}`);
  try {
    for await (const block of read(withRowEdits(seed), declared.folder)) {
      yield block.map(({ line, values: cells }) => {
        const key = naturalKey(by, cells);
        if (key !== undefined) return { key, line, cells };
        throw new PromotionError(
          `${side}: ${placeOf(seed, line)}: the row lacks ${by.join(" and ")}, its natural key; add it`,
        );
      });
    }
  } catch (error) {
    if (error instanceof SourceError) throw new PromotionError(`${side}: ${error.message}`);
    throw error;
  }
}

/** The refusal of a second row of one key. */
export const refuseTwin = ({ seed, side }: SeedOfSide, line: number): PromotionError =>
  new PromotionError(
    `${side}: ${placeOf(seed, line)}: a row before this one has the same natural key; change or remove one`,
  );

/** Reads all rows of a seed into memory. Throws a PromotionError. */
export async function readTable(from: SeedOfSide): Promise<Map<string, Cells>> {
  const rows = new Map<string, Cells>();
  for await (const block of readRows(from)) {
    for (const { key, line, cells } of block) {
      if (rows.has(key)) throw refuseTwin(from, line);
      rows.set(key, cells);
    }
  }
  return rows;
}
