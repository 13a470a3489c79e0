import type { RowData } from "../../provider/contract/values.ts";
import type { Source } from "../../provider/sources/source.ts";

/** A step on the way to a value: a key of a map; or the item of a list that has these values, or is this one. */
export type EditStep = string | { where: RowData } | { is: unknown };

/** Changes a value of a YAML or JSON file. */
export interface ValueFileEdit {
  kind: "value";
  file: string;
  /** Maps that are missing on the way to what is set are made. */
  path: readonly EditStep[];
  /** `append` adds to the list at the path, which is made where it is missing. */
  do: "set" | "remove" | "append";
  value?: unknown;
  /** With `remove`: takes out as well what holds nothing then. */
  prune?: boolean;
}

/** Changes a row of a seed's file. */
export interface RowFileEdit {
  kind: "row";
  /** The seed's source, with its key and types. */
  source: Source & { source: string; key: readonly string[] };
  do: "change" | "remove" | "add";
  /** The values of the key, as the file has them; of an added row all values. */
  row: RowData;
  /** With `change`: the new values by label; undefined takes a label out (in a CSV its cell becomes empty). */
  values?: RowData;
}

/** Adds an empty column to a CSV, behind the others; or gives one another name. */
export interface ColumnFileEdit {
  kind: "column";
  file: string;
  /** A column to be added that is there already stays. */
  label: string;
  now?: string;
}
