import { formatCount } from "../../../messages/text.ts";
import type { Digest, RowDigests } from "../../../reconcile/digests.ts";
import { decodeLedger } from "../../../reconcile/ledger.ts";
import { RowSet } from "../../../reconcile/rowSet.ts";
import type { RemovalKey } from "../../../sources/edits.ts";
import { toYamlList, withoutLine, type RemovalLine } from "../../model/removals.ts";
import { ResourceError, type OfflineContext } from "../../model/resource.ts";
import { digesterFor, type RowDeclaration } from "../declared/declaration.ts";

/** A seed whose rows may need a line to leave. */
interface Guarded {
  removal?: RemovalLine | undefined;
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
  const digestOf = keyDigester(terms);
  const lines = (await removals(removal.file, directory)).rows(seed);
  const declared = new RowSet();
  for (const digest of lines.flatMap((line) => digestOf(line) ?? [])) declared.add(digest);
  const left = rows.filter((row) => !declared.has(row.key));
  if (left.length === 0) return;
  const isDeclared = (line: RemovalKey): boolean => {
    const digest = digestOf(line);
    return digest !== undefined && declared.has(digest);
  };
  const known = sensitive || terms.key.length > 1 ? [] : keys.filter((one) => !isDeclared(one));
  const named = known.length > 0 ? toYamlList(known) : `[${formatCount(left.length, "natural key")}]`;
  throw new ResourceError(
    withoutLine(removal, `${formatCount(left.length, "row")} of seed ${seed}`, [`rows: { ${seed}: ${named} }`]),
  );
}

/** Digests of natural keys, as lines of a file have them. */
function keyDigester(terms: RowDeclaration): (line: RemovalKey) => Digest | undefined {
  const { key } = terms;
  const digester = digesterFor(terms);
  return (line) => {
    const parts: readonly unknown[] = [line].flat();
    return digester.key(Object.fromEntries(key.map((label, at) => [label, parts[at]])));
  };
}

/** Reports, before an update, lines about rows that are no longer ours: they have served their purpose. */
export async function sayDoneLines(
  { removals, directory, report }: Pick<OfflineContext, "removals" | "directory" | "report">,
  { removal, sensitive }: Guarded,
  old: RowDeclaration & { ledger: string },
): Promise<void> {
  if (!removal) return;
  const [, seed = ""] = removal.path;
  const lines = (await removals(removal.file, directory)).rows(seed);
  const ledger = lines.length === 0 ? undefined : decodeLedger(old.ledger);
  if (ledger?.kind !== "list") return;
  const digestOf = keyDigester(old);
  const done = lines.filter((line) => {
    const digest = digestOf(line);
    return digest !== undefined && !ledger.rows.has(digest);
  });
  if (done.length === 0) return;
  const which = sensitive ? `${done.length} of them` : toYamlList(done);
  report.forecast(`${removal.file}: rows under removed that are gone already: ${seed}: ${which}. Delete these lines.`);
}

/** Throws when all rows of a seed would leave a table for another one. */
export function refuseOtherTable({ removal }: Guarded, table: string, count: number): void {
  if (!removal || count === 0) return;
  const [, seed = ""] = removal.path;
  const why = `${formatCount(count, "row")} leaving table ${table}. Declare the other table under another key`;
  throw new ResourceError(withoutLine(removal, why, [`seeds: ${toYamlList([seed])}`]));
}
