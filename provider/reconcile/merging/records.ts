import { canonical, keyText } from "../digests.ts";

/** The values of one record by label. */
export type Cells = Readonly<Record<string, unknown>>;

/** Records by the text of their natural key, in their order. */
export type Records = ReadonlyMap<string, Cells>;

/** The natural key of a record as text; undefined where one of its labels has no value. */
export function naturalKey(key: readonly string[], cells: Cells): string | undefined {
  const [only, ...more] = key;
  if (only !== undefined && more.length === 0) return keyText(cells[only]);
  const parts = key.map((label) => keyText(cells[label]));
  return parts.length === 0 || parts.includes(undefined) ? undefined : JSON.stringify(parts);
}

/** The values of a natural key as people write them: several stand behind each other. */
export const joinKey = (parts: readonly string[]): string =>
  parts.length === 1 ? parts.join() : parts.map((part) => part.replaceAll(/[\\,]/g, "\\$&")).join(", ");

/** The natural key as people write it. */
export const printableKey = (key: readonly string[], text: string): string =>
  key.length > 1 ? joinKey(JSON.parse(text) as string[]) : text;

/** True if two values say the same. */
export type SameValue = (label: string, one: unknown, other: unknown) => boolean;

/** Compares two values as rows do: null, the empty text and an absent value are the same. */
export const isSameValue: SameValue = (_, one, other) => one === other || canonical(one) === canonical(other);

/** All labels of some records, in the order in which they come up. */
export const labelsOf = (...records: readonly (Cells | undefined)[]): string[] => [
  ...new Set(records.flatMap((cells) => (cells ? Object.keys(cells) : []))),
];

/** True if two records say the same in every cell. */
export function isSameRecord(one: Cells, other: Cells, isSame: SameValue): boolean {
  if (one === other) return true;
  for (const label of Object.keys(one)) if (!isSame(label, one[label], other[label])) return false;
  for (const label of Object.keys(other))
    if (!Object.hasOwn(one, label) && !isSame(label, undefined, other[label])) return false;
  return true;
}
