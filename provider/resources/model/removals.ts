import type { RemovalKey } from "../../sources/edits.ts";

/** Where the removal of a thing needs a line, and what it is called there: `["teams", "acme/crew"]`. */
export interface RemovalLine {
  file: string;
  path: string[];
}

/** The removals that an Environment file allows. */
export interface Removals {
  /**
   * True for a thing that may leave: it has a line, belongs to something that has one, or is still declared and
   * replaced.
   */
  allows: (path: readonly string[]) => boolean;
  /** Natural keys of rows of a seed that have a line. */
  rows: (seed: string) => readonly RemovalKey[];
}

/** Why things are not removed, with the lines to paste. */
export const withoutLine = ({ file }: RemovalLine, what: string, lines: readonly string[]): string =>
  `${file} has removals: declared, and no line for ${what}. Nothing was removed. ` +
  `If it is meant to leave, add: removed: { ${lines.join(", ")} }`;

/** Items of a list in a line of YAML. */
export const toYamlList = (items: readonly unknown[]): string => `[${items.map((item) => yamlOf(item)).join(", ")}]`;

const yamlOf = (item: unknown): string =>
  typeof item === "string" && /^[A-Za-z][\w@.+/-]*$/.test(item) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(item)
    ? item
    : JSON.stringify(item);
