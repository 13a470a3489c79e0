import type { RowData } from "../../../provider/contract/values.ts";
import { cellOf } from "../../../provider/sources/csvCells.ts";
import { isNothing, stableJson } from "./columns.ts";

/** How the values of a label are written. */
export type Types = Readonly<Record<string, "text" | "number" | "boolean" | "json">>;

/** The lines of a seed file, as a seed reads them back. */
interface Lines {
  /** The first line, if the format has one. */
  head: string;
  /** @param values by label, references as keys */
  line: (values: RowData) => string;
}

/** CSV, or NDJSON for a file that is called so. */
export function linesOf(file: string, labels: readonly string[], types: Types): Lines {
  if (file.endsWith(".ndjson")) {
    const present = (values: RowData) => labels.filter((label) => !isNothing(values[label]));
    return {
      head: "",
      line: (values) =>
        `{${present(values)
          .map((label) => `${JSON.stringify(label)}:${stableJson(values[label])}`)
          .join(",")}}\n`,
    };
  }
  const cell = (label: string, value: unknown): string => {
    if (isNothing(value)) return "";
    return cellOf(types[label] === "json" ? stableJson(value) : String(value));
  };
  return {
    head: `${labels.map(cellOf).join(",")}\n`,
    line: (values) => `${labels.map((label) => cell(label, values[label])).join(",")}\n`,
  };
}
