import { CsvText } from "./csvText.ts";
import { decode, encode } from "./texts.ts";

/** A CSV with more columns behind its own, whose cells are empty. Throws an EditRefusal. */
export function addColumns(bytes: Buffer, labels: readonly string[]): Buffer {
  const { text, mark } = decode(bytes);
  const csv = new CsvText(text);
  const missing = labels.filter((label) => !csv.labels.includes(label));
  return missing.length === 0 ? bytes : encode(csv.withColumns(missing), mark);
}
