import { ask } from "./service.js";

/** Rows that one export has at most. */
export const maxExported = 100_000;

const quoted = (value) => (/[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

/** A value of a row as a cell: texts and numbers plainly, the key of a link, and JSON of everything else. */
function cellOf(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if (value.value && "crossAppRowID" in value) return cellOf(value.value.value);
  return JSON.stringify(value);
}

const csv = (labels, rows) =>
  [labels, ...rows.map((row) => labels.map((label) => cellOf(row[label])))]
    .map((cells) => `${cells.map(quoted).join(",")}\n`)
    .join("");

/** Downloads the rows of a query as a file. Resolves to the number of rows, and true if there are more. */
export async function download(format, { name, labels, query }) {
  const { rows, more } = await ask("rows", { query: { ...query, skip: 0, limit: maxExported } });
  const text = format === "csv" ? csv(labels, rows) : `${JSON.stringify(rows, undefined, 2)}\n`;
  const type = format === "csv" ? "text/csv" : "application/json";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = `${name}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return { count: rows.length, more };
}
