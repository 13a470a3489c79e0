import type { RowData } from "../../../platform/contract/values.ts";
import { quote } from "../../../platform/messages/text.ts";
import { digestOf, hexOf } from "../../reconcile/digests.ts";
import { read, SourceError } from "../source/read.ts";
import { isHidden } from "../source/source.ts";
import { keyOf, withoutIgnored, type RowDeclaration } from "./declaration.ts";
import { changedLabels, comparing, shown } from "./forms.ts";

/** Bounds of what is shown and kept of rows. */
export const maxRows = 5;
const maxCells = 10;

/** Rows by their natural key, as one side of a comparison has them. */
export type RowsByKey = ReadonlyMap<string, RowData>;

/** Rows before and after a change. */
export interface BothSides {
  was: RowsByKey;
  is: RowsByKey;
}

/**
 * A row whose secret values are sealed: another text for another value, keyed with the salt of the seed, so that nobody
 * guesses the value by it.
 */
export function withoutSecrets(declaration: RowDeclaration, values: RowData): RowData {
  const { salt = "", secretLabels = [] } = declaration;
  if (secretLabels.length === 0) return values;
  const form = comparing(declaration);
  const sealed = (text: string | undefined) => (text === undefined ? undefined : hexOf(digestOf(`${salt}cell${text}`)));
  return Object.fromEntries(
    Object.entries(values).map(([label, value]) => [
      label,
      isHidden(declaration, label) ? sealed(form(label, value)) : value,
    ]),
  );
}

/** The first of the rows with these keys, as a source has them, secret values sealed; none where it can't be read. */
export async function rowsByKey(
  declaration: RowDeclaration,
  directory: string,
  keys: readonly string[],
): Promise<RowsByKey> {
  const wanted = new Set(keys.slice(0, maxRows));
  const found = new Map<string, RowData>();
  if (wanted.size === 0) return found;
  try {
    for await (const block of read(declaration, directory)) {
      for (const { values } of block) {
        const key = keyOf(declaration.key, values);
        if (wanted.has(key)) found.set(key, withoutSecrets(declaration, withoutIgnored(declaration, values)));
      }
      if (found.size === wanted.size) break;
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
  }
  return found;
}

/** The cells that differ between two rows, `Name "Austira" => "Austria"`, `Token changed`. Keys of other rows are compared as keys are. */
function changedCellTexts(declaration: RowDeclaration, was: RowData, is: RowData): string[] {
  return changedLabels(declaration, was, is).map((label) => {
    const [before, after] = [was, is].map((row) => shown(row[label]));
    return isHidden(declaration, label) || before === after ? `${label} changed` : `${label} ${before} => ${after}`;
  });
}

/** True if both sides have these rows alike, as after a refresh, whose rows are those that it found. */
export const areAlike = (declaration: RowDeclaration, count: number, { was, is }: BothSides): boolean =>
  is.size === count &&
  [...is].every(([key, after]) => {
    const before = was.get(key);
    return before && changedLabels(declaration, before, after).length === 0;
  });

/**
 * Rows by their keys, with the first cells that differ where both sides are known: `"AT": Name "Austira" => "Austria"; "PT"`.
 * @param count how many rows there are, named or not
 */
export function describeRows(
  declaration: RowDeclaration,
  keys: readonly string[],
  count: number,
  { was, is }: BothSides = { was: new Map(), is: new Map() },
): string {
  let left = maxCells;
  const rows = keys.slice(0, maxRows).map((key) => {
    const [before, after] = [was.get(key), is.get(key)];
    const cells = before && after ? changedCellTexts(declaration, before, after) : [];
    const first = cells.slice(0, left);
    left -= first.length;
    const more = cells.length > first.length ? ", …" : "";
    return first.length === 0 ? quote(key) : `${quote(key)}: ${first.join(", ")}${more}`;
  });
  const hasCells = left < maxCells;
  return rows.length === 0 ? "" : rows.join(hasCells ? "; " : ", ") + (count > rows.length ? ", …" : "");
}
