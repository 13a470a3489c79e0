// How the text of a cell stands in a CSV.

export const isInQuotes = (cell: string): boolean => cell.startsWith('"');

/** True if a cell means something else, or nothing, without quotation marks: a conflict of a merge, for one. */
export const needsQuotes = (text: string): boolean => /[",\r\n]|^[\s\uFEFF]|\s$|^(?:<{7}|>{7}) /.test(text);

export const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** The cell of a text: in quotation marks where it needs them. */
export const cellOf = (text: string): string => (needsQuotes(text) ? inQuotes(text) : text);

/** The text of a cell. */
export const unquote = (cell: string): string => (isInQuotes(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell);
