import type { RowData } from "../../../platform/contract/values.ts";
import { rowDigester } from "../../reconcile/digests.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { read } from "../source/read.ts";
import type { RowClaim, RowClaims } from "./claims.ts";
import type { RowTarget } from "./target.ts";

/** True when a key, given as text, is held. */
type Holds = (text: string) => boolean;

/** True if a set of keys of one label has one, given as text. */
export function holderOfKeys(
  { key: [label = ""], salt, forms }: Pick<RowTarget, "key" | "salt" | "forms">,
  keys: RowSet,
): Holds {
  const digester = rowDigester({ key: [label], labels: [], salt, forms });
  return (text) => {
    const digest = digester.key({ [label]: text });
    return digest !== undefined && keys.has(digest);
  };
}

/** Returns a test for values: true when a row of the seed has the value in that label. */
export async function holderOf(claims: RowClaims, claim: RowClaim, label: string, directory: string): Promise<Holds> {
  const { target } = claim;
  if (target.key.length === 1 && target.key[0] === label) {
    return holderOfKeys(target, (await claims.summary(claim)).rows);
  }
  const digester = rowDigester({ key: [label], labels: [] });
  const values = new RowSet();
  for await (const row of readDeclaredRows(target, directory)) {
    const digest = digester.key(row.values);
    if (digest) values.add(digest);
  }
  return holderOfKeys({ key: [label] }, values);
}

/** The rows of a declaration, each with its line. */
export async function* readDeclaredRows(
  target: RowTarget,
  directory: string,
): AsyncGenerator<{ line: number; values: RowData }> {
  for await (const block of read(target, directory)) yield* block;
}
