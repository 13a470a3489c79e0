import type { FieldType } from "../../../platform/contract/fields.ts";
import type { RowData } from "../../../platform/contract/values.ts";
import { editAt, type RowEdits } from "./edits.ts";

/** A row of a source and where it stands: a line of the file, or the position of a row given in the program, from 1. */
export interface SourceRow {
  line: number;
  values: RowData;
}

/** Stands in the place of a row that nobody takes. */
export const unread: SourceRow = { line: 0, values: {} };

/** How the cells of a CSV are read. */
export const cellTypes = ["text", "number", "boolean", "date", "checkbox", "json"] as const;
export type CellType = (typeof cellTypes)[number];

/** Rows in the program, or a file with them. */
export interface Source extends RowEdits {
  rows?: readonly RowData[] | undefined;
  source?: string | undefined;
  types?: Readonly<Record<string, CellType>> | undefined;
  /** Labels that the first line of a CSV must have. */
  key?: readonly string[] | undefined;
  /** Labels whose values are keys of other rows. */
  references?: Readonly<Record<string, unknown>> | undefined;
  parent?: { by: string } | undefined;
  /** Types of the table's fields by label, where they are known. */
  fields?: Readonly<Record<string, FieldType>> | undefined;
  /** Messages show neither keys nor values. */
  sensitive?: boolean | undefined;
  /** Messages show no values of these labels. */
  secretLabels?: readonly string[] | undefined;
}

/** True when the values of a label are secret. */
export const isHidden = ({ sensitive = false, secretLabels = [] }: Source, label: string): boolean =>
  sensitive || secretLabels.includes(label);

/** The texts in cells of a row that nobody may read although the others are shown. */
export const secretTextsIn = ({ secretLabels = [] }: Source, values: RowData): string[] =>
  secretLabels.flatMap((label) => leavesOf(values[label]));

/** The values in a value, as texts. */
export function leavesOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leavesOf);
  if (typeof value === "string") return value === "" ? [] : [value];
  return typeof value === "number" || typeof value === "boolean" ? [String(value)] : [];
}

/** Where a row stands, for people: `countries.csv:17`, with a column `countries.json:17:4`, or `rows[16]`, `additions[0]`. */
export function placeOf({ source }: Source, line: number, column?: number): string {
  const edit = editAt(line);
  if (edit !== undefined) return edit;
  if (source === undefined) return `rows[${line - 1}]`;
  return `${source}:${line}${column === undefined ? "" : `:${column}`}`;
}

/** Labels whose values are keys of other rows. */
export const listLinkedLabels = ({ references = {}, parent }: Source): string[] => [
  ...Object.keys(references),
  ...(parent ? [parent.by] : []),
];

/**
 * Values of a row that are kept while its file is read on: a text that was cut out of a file holds on to the part of the
 * file that it was read with.
 */
export const copyValues = (values: RowData): RowData => JSON.parse(JSON.stringify(values)) as RowData; // JSON all of it

/** Something wrong with a row. */
export interface Mistake {
  line: number;
  column?: number;
  /** The sentence, to stand after the place. */
  text: string;
  /** Topic: the same mistake of many rows is reported once, at the first (default: the sentence). */
  about?: string;
  /** The natural key of the row. */
  key?: string | undefined;
}

/** Gets what is wrong with a row; the rows after it are read all the same. */
export type Wrong = (mistake: Mistake) => void;

/** Ends the reading: the source is wrong as a whole. */
export type Refuse = (line: number, reason: string, column?: number) => never;

/** A source that is being read, and where its mistakes go. */
export interface Reading {
  source: Source;
  wrong: Wrong;
  refuse: Refuse;
  /** True for the place of a row, from 0, whose values somebody takes (default: all). Others may come as `unread`. */
  takes?: ((index: number) => boolean) | undefined;
}
