import { keyText } from "./digests.ts";

/** The values of one record by label. */
export type Cells = Readonly<Record<string, unknown>>;

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
