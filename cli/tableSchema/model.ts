import type { FieldType } from "../../provider/contract/fields.ts";

/** Kinds of values that cells have. `any` stands for several. */
export type Kind =
  | Extract<FieldType, "text" | "number" | "date" | "checkbox" | "location" | "linked">
  | "boolean"
  | "json"
  | "any";

/** A value of another kind than its label's. */
export interface Exception {
  kind: Kind;
  /** Natural keys of the first rows that have one; row IDs where no label is a key. */
  rows: string[];
  count: number;
}

/** A label of a table. */
export interface FieldModel {
  label: string;
  kind: Kind;
  /** declared: by a platform seed. all: every value is of the kind. most: all but exceptions. mixed: no kind prevails. none: no row has a value. */
  sure: "declared" | "all" | "most" | "mixed" | "none";
  /** Rows with a value. */
  filled: number;
  /** True when all of them have another one; false where that is unknown. */
  unique: boolean;
  exceptions: Exception[];
  /** All values, where texts are few and come back often. */
  values?: string[];
  /** True for whole numbers, and for days without a time. */
  isWhole: boolean;
  /** Where links lead to, as far as known. */
  link?: { table?: string; key: string };
}

/** Model of a table, of which every output is written. */
export interface TableModel {
  table: string;
  rows: number;
  /** Labels of the natural key; empty where none is known. */
  key: string[];
  fields: FieldModel[];
}
