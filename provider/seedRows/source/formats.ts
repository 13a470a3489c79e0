import { extname } from "node:path";

/** Endings of the files that rows are read from. */
const formats = [".csv", ".json", ".ndjson", ".jsonl", ".yaml", ".yml"];

const spreadsheets = [".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"];

/** How a source is read, by the ending of its name. */
export const formatOf = (source: string): string => extname(source).toLowerCase();

/** Why no rows are read from a file of this name, to stand after it; undefined when they are. */
export function explainRefusedFormat(source: string): string | undefined {
  const format = formatOf(source);
  if (formats.includes(format)) return undefined;
  if (spreadsheets.includes(format)) return "is a spreadsheet; save it as CSV (UTF-8, with commas) and name that file";
  if (format === ".tsv" || format === ".tab")
    return "has tabs between its cells; save it as CSV, with commas, and name that file";
  return `must end in ${formats.slice(0, -1).join(", ")} or ${formats.at(-1) ?? ""}; give it the ending of its format`;
}
