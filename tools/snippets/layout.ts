/** Text of a literal that JSON and a language write alike. */
export const quoteLiteral = (value: string | number | boolean): string => JSON.stringify(value);

/** An expression between two texts, of which either may be empty. */
export const joinText = ({ before, after }: { before: string; after: string }, between: string): string =>
  [...(before === "" ? [] : [quoteLiteral(before)]), between, ...(after === "" ? [] : [quoteLiteral(after)])].join(
    " + ",
  );

/** All lines of a text, moved to the right. */
export const indentBy = (text: string, by: string): string => text.replaceAll(/^(?=.)/gm, by);

/** `organizationID` → `OrganizationID`. */
export { pascal } from "../../provider/pulumi/plugin/types.ts";

interface Layout {
  /** Prefix of each item on a line of its own. */
  by?: string;
  /** Padding inside the brackets of a single line. */
  padding?: string;
  /** Longest single line; 0 for none. */
  width?: number;
  /** True when a comma follows the last item as well. */
  trailing?: boolean;
}

/** Items in brackets: on one line when they are short, else one a line. */
export function writeInBrackets(
  open: string,
  items: readonly string[],
  close: string,
  { by = "    ", padding = "", width = 76, trailing = true }: Layout = {},
): string {
  const line = items.length === 0 ? `${open}${close}` : `${open}${padding}${items.join(", ")}${padding}${close}`;
  if (items.length === 0 || (line.length <= width && !line.includes("\n"))) return line;
  const ended = items.map((item, index) => (trailing || index < items.length - 1 ? `${item},` : item));
  return [open, ...ended.map((item) => indentBy(item, by)), close].join("\n");
}
