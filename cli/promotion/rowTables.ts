import { withRowEdits, type SeedDeclaration } from "../../provider/environment/schema.ts";
import { isSameRecord, isSameValue, naturalKey, type Cells } from "../../provider/reconcile/merging/records.ts";
import { read, SourceError } from "../../provider/sources/read.ts";
import { placeOf } from "../../provider/sources/source.ts";
import type { Declared } from "../changes/model/source.ts";
import { PromotionError } from "./model/promotionError.ts";

/** The rows of a seed as one side has them. */
export interface RowTable {
  seed: SeedDeclaration;
  key: readonly string[];
  rows: Map<string, Cells>;
}

/** Labels that nobody may read: `all` of a sensitive seed. */
export const findHidden = ({ sensitive, secretLabels = [] }: SeedDeclaration): "all" | ReadonlySet<string> =>
  sensitive ? "all" : new Set(secretLabels);

/**
 * Reads the rows of a seed by their natural key. Throws a PromotionError that names what can't be read.
 * @param side the name of the environment, for people
 * @param like a table that has most of the rows as well: rows that are the same there are kept once
 */
export async function readTable(
  declared: Declared,
  name: string,
  side: string,
  like?: RowTable,
): Promise<RowTable | undefined> {
  const seed = declared.declaration.seeds[name];
  if (!seed) return undefined;
  const reason = seed.source === undefined ? undefined : declared.unread?.(seed.source);
  if (reason !== undefined) throw new PromotionError(`${side}: ${reason}`);
  const source = withRowEdits(seed);
  const rows = new Map<string, Cells>();
  try {
    for await (const block of read(source, declared.folder)) {
      for (const { line, values } of block) {
        const key = naturalKey(seed.key, values);
        if (key === undefined)
          throw new PromotionError(
            `${side}: ${placeOf(seed, line)}: the row lacks ${seed.key.join(" and ")}, its natural key; add it`,
          );
        if (rows.has(key))
          throw new PromotionError(
            `${side}: ${placeOf(seed, line)}: a row before this one has the same natural key; change or remove one`,
          );
        const same = like?.rows.get(key);
        rows.set(key, same && isSameRecord(same, values, isSameValue) ? same : values);
      }
    }
  } catch (error) {
    if (error instanceof SourceError) throw new PromotionError(`${side}: ${error.message}`);
    throw error;
  }
  return { seed, key: seed.key, rows };
}
