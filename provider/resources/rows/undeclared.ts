import { rowDigester, type RowDigests } from "../../reconcile/digests.ts";
import { linkedLabels } from "../../sources/source.ts";
import { listed, withoutLine, type Removal } from "../model/removals.ts";
import { ResourceError, type OfflineContext } from "../model/resource.ts";
import type { RowDeclaration } from "./declared/declaration.ts";

/** A seed whose rows may need a line to leave. */
interface Guarded {
  removal?: Removal | undefined;
  sensitive?: boolean | undefined;
}

/**
 * Throws when rows are about to be removed for which the Environment file wants a line and has none.
 * @param terms the seed in whose digests they are
 * @param keys natural keys of the first ones, where they are known
 */
export async function refuseUndeclaredRows(
  { removals, directory }: Pick<OfflineContext, "removals" | "directory">,
  { removal, sensitive }: Guarded,
  terms: RowDeclaration,
  leaving: Iterable<RowDigests>,
  keys: readonly string[] = [],
): Promise<void> {
  const rows = [...leaving];
  if (!removal || rows.length === 0) return;
  const [, seed = ""] = removal.path;
  const { key, salt } = terms;
  const digester = rowDigester({ key, labels: [], references: linkedLabels(terms), salt });
  const digestOf = (parts: readonly unknown[]): string | undefined => {
    const digest = digester.key(Object.fromEntries(key.map((label, at) => [label, parts[at]])));
    return digest && `${digest.high}/${digest.low}`;
  };
  const declared = new Set((await removals(removal.file, directory)).rows(seed).map((one) => digestOf([one].flat())));
  const left = rows.filter((row) => !declared.has(`${row.key.high}/${row.key.low}`));
  if (left.length === 0) return;
  const known = sensitive || key.length > 1 ? [] : keys.filter((one) => !declared.has(digestOf([one])));
  const named = known.length > 0 ? listed(known) : `[${left.length} natural keys]`;
  throw new ResourceError(withoutLine(removal, `${left.length} rows of seed ${seed}`, [`rows: { ${seed}: ${named} }`]));
}

/** Throws when all rows of a seed would leave a table for another one. */
export function refuseOtherTable({ removal }: Guarded, table: string, count: number): void {
  if (!removal || count === 0) return;
  const [, seed = ""] = removal.path;
  const why = `the ${count} rows that leave table ${table}. Declare the other table under another key`;
  throw new ResourceError(withoutLine(removal, why, [`seeds: ${listed([seed])}`]));
}
