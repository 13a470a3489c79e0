import { csvFormat } from "./csvRows.ts";
import { composeRows } from "./rowTexts.ts";

/** The text of a CSV with more columns behind its own, whose cells are empty. Throws an UnreadableRows. */
export function addColumns(text: string, labels: readonly string[]): string {
  const file = csvFormat.parse(text);
  const known = file.columns ?? [];
  const columns = [...known, ...labels.filter((label) => !known.includes(label))];
  if (columns.length === known.length) return text;
  const rows = file.rows.map((row) => ({
    raw: csvFormat.writeChanged(file, row, row.cells, columns),
    lead: row.lead,
  }));
  return composeRows(file, csvFormat, csvFormat.writeHead(file, columns), rows, { size: 7, ours: "", theirs: "" });
}
