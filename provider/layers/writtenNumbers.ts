/**
 * Describes the problem of a YAML number whose value is spelled differently in the file, such as `007`; undefined
 * without one.
 * @param written spelling in the file
 */
export function explainMisnamed(written: string | undefined, value: unknown, sensitive = false): string | undefined {
  if (typeof value !== "number" || written === undefined || written === String(value)) return undefined;
  if (sensitive) return "YAML reads this as another number than is written: quote it";
  return `YAML reads ${written} as the number ${value}: quote it ("${written}"), or write ${value}`;
}
