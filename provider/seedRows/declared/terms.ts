import type { Digest } from "../../reconcile/digests.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { read } from "../source/read.ts";
import { listLinkedLabels } from "../source/source.ts";
import { digesterOf, type RowDeclaration } from "./declaration.ts";

/** Keys of rows, with the declaration in whose digests they are: each seed has its own. */
export interface Keys {
  target: RowDeclaration;
  keys: RowSet;
}

/** The parts of a row's key. */
const partsOf = (declaration: RowDeclaration): string => {
  const linked = listLinkedLabels(declaration).filter((label) => declaration.key.includes(label));
  return JSON.stringify([declaration.key, linked.sort()]);
};

/** True when two declarations have the same key labels: then the digests of one also find rows of the other. */
export const sameKey = (one: RowDeclaration, other: RowDeclaration): boolean => partsOf(one) === partsOf(other);

/**
 * The rows of a source that have one of the keys, by their index, and whether they say the same. The source is read, since
 * the digests of one seed can't be compared with those of another.
 */
async function* rowsWith(
  { target, keys }: Keys,
  declaration: RowDeclaration,
  directory: string,
): AsyncGenerator<{ index: number; key: Digest; isSame: boolean }> {
  if (keys.length === 0) return;
  const digesterFor = digesterOf(target);
  let index = -1;
  for await (const block of read(declaration, directory)) {
    for (const { values } of block) {
      index++;
      const digester = digesterFor(values);
      const key = digester.key(values);
      const at = key && keys.find(key);
      if (key && at !== undefined) yield { index, key, isSame: keys.hasContent(at, digester.content(values)) };
    }
  }
}

/** Those of the keys that rows of a source have. */
export async function keysWithin(keys: Keys, declaration: RowDeclaration, directory: string): Promise<RowSet> {
  const found = new RowSet();
  for await (const { key } of rowsWith(keys, declaration, directory)) found.add(key);
  return found;
}

/** The rows of a source that have one of the keys, whichever seed's they are: index → whether they say the same. */
export async function indicesWithin(
  all: readonly Keys[],
  declaration: RowDeclaration,
  directory: string,
): Promise<ReadonlyMap<number, boolean>> {
  const found = new Map<number, boolean>();
  for (const keys of all) {
    for await (const { index, isSame } of rowsWith(keys, declaration, directory)) found.set(index, isSame);
  }
  return found;
}
