/** Text of a literal that JSON and a language write alike. */
export const quoteLiteral = (value: string | number | boolean): string => JSON.stringify(value);

/** All lines of a text, moved to the right. */
export const indentBy = (text: string, by: string): string => text.replaceAll(/^(?=.)/gm, by);

/** Characters of the longest single line. */
const maxWidth = 76;

interface Layout {
  /** Prefix of each item on a line of its own. */
  by?: string;
  /** Padding inside the brackets of a single line. */
  padding?: string;
}

/** Items in brackets: on one line when they are short, else one a line. */
export function writeInBrackets(
  open: string,
  items: readonly string[],
  close: string,
  { by = "    ", padding = "" }: Layout = {},
): string {
  const line = items.length === 0 ? `${open}${close}` : `${open}${padding}${items.join(", ")}${padding}${close}`;
  if (items.length === 0 || (line.length <= maxWidth && !line.includes("\n"))) return line;
  return [open, ...items.map((item) => indentBy(`${item},`, by)), close].join("\n");
}
