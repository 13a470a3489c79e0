import type { RowData } from "../../../platform/contract/values.ts";

/** A natural key as `removals` has it: a value, or a list of the values of several labels. */
export type RemovalKey = string | number | boolean | readonly (string | number | boolean)[];

/** Edits of a source's rows; the source itself stays unchanged. */
export interface RowEdits {
  /** Rows beside those of the source. */
  additions?: readonly RowData[] | undefined;
  /** Fields of rows that the source has: each names its row by the natural key. */
  changes?: readonly RowData[] | undefined;
  /** Natural keys of rows that the source has and the seed has not. */
  removals?: readonly RemovalKey[] | undefined;
}

// Lines from here on are of no file: positions in the edits.
export const firstLines = { additions: 0x8000_0000, changes: 0xa000_0000, removals: 0xc000_0000 } as const;
export type List = keyof typeof firstLines;
const lists: readonly List[] = ["removals", "changes", "additions"];

/** The position of a row that no source has; undefined for a line of the source. */
export function positionOf(line: number): { list: List; index: number } | undefined {
  const list = lists.find((each) => line >= firstLines[each]);
  return list && { list, index: line - firstLines[list] };
}

/** Where a row stands that no source has, e.g. `additions[0]`; undefined for a line of the source. */
export function editAt(line: number): string | undefined {
  const position = positionOf(line);
  return position && `${position.list}[${position.index}]`;
}

/** True when the rows of a source are edited. */
export const hasEdits = (edits: RowEdits): boolean => lists.some((list) => (edits[list] ?? []).length > 0);

/** The edits that a digest must cover; empty without edits. */
export const editsOf = (edits: RowEdits): RowEdits[] => {
  const { additions, changes, removals } = edits;
  return hasEdits(edits) ? [{ additions, changes, removals }] : [];
};
