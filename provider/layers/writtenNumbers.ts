/**
 * What is wrong with a number in YAML that names something otherwise than it stands there, such as `007`; undefined when
 * nothing is.
 * @param written as it stands in the file
 */
export function misnamed(written: string | undefined, value: unknown, sensitive = false): string | undefined {
  if (typeof value !== "number" || written === undefined || written === String(value)) return undefined;
  if (sensitive) return "YAML reads this as another number than is written: quote it";
  return `YAML reads ${written} as the number ${value}: quote it ("${written}"), or write ${value}`;
}
