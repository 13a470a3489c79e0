/** A page: its parts with empty lines between. @param source what it is made of, which is to be changed instead */
export const page = (source: string, ...parts: readonly (string | readonly string[])[]): string =>
  [`<!-- Made of ${source} by \`make docs\`: change that, not this. -->`, ...parts.flat()].join("\n\n").concat("\n");

/** A page with the facts that Pulumi's registry reads, which stand before everything else. */
export const registryPage = (
  title: string,
  description: string,
  ...parts: readonly (string | readonly string[])[]
): string =>
  [["---", `title: ${title}`, `meta_desc: ${description}`, "layout: package", "---"].join("\n"), ...parts.flat()]
    .join("\n\n")
    .concat("\n");

/** @param head the columns, `| a | b |` */
export function table(head: string, rows: readonly string[]): string {
  const columns = head.split("|").length - 2;
  return [head, `|${" --- |".repeat(columns)}`, ...rows].join("\n");
}

/** A row of cells, which may have signs of their own. */
export const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Text of a cell that is no Markdown. */
export const escapeCell = (text: string): string => text.replace(/[|<*]/g, (sign) => `\\${sign}`);

/** A name in a cell. */
export const code = (text: string): string => `\`${text}\``;

export const fenceBlock = (mark: string, text: string): string => ["```" + mark, text, "```"].join("\n");
