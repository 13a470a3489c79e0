import { nearest } from "../../../machine/spelling.ts";
import { fieldKinds, fits, type FieldType } from "../../../platform/contract/fields.ts";
import type { RowData } from "../../../platform/contract/values.ts";
import { entryIn } from "../../../platform/contract/wire.ts";
import { quote, some } from "../../../platform/messages/text.ts";
import { formatOf } from "../source/formats.ts";
import { listLinkedLabels, type CellType, type Source } from "../source/source.ts";

/** How the cells of a CSV that go into a field are read (default: as text). */
const cellTypes: Readonly<Partial<Record<FieldType, CellType>>> = {
  number: "number",
  checkbox: "checkbox",
  location: "json",
  viewers: "json",
  teamViewers: "json",
};

/** Checks rows against the fields of their table, where an Environment file names them. */
export class RowFields {
  readonly #fields: ReadonlyMap<string, FieldType>;
  readonly #declaration: Source & { table?: string | undefined };
  readonly #linked: ReadonlySet<string>;

  constructor(fields: Readonly<Record<string, FieldType>>, declaration: Source & { table?: string | undefined }) {
    this.#fields = new Map(Object.entries(fields));
    this.#declaration = declaration;
    this.#linked = new Set(listLinkedLabels(declaration));
  }

  /** Describes the problem of a label; the column that names the parent row is no field. */
  unknownLabel(label: string): string | undefined {
    const { table = "", parent } = this.#declaration;
    if (label === parent?.by || this.#fields.has(label)) return undefined;
    const known = [...this.#fields.keys()];
    const near = nearest(label, known);
    const meant = near === undefined ? `it has ${some(known, 20)}` : `did you mean ${quote(near)}?`;
    return `table ${table} has no field ${quote(label)} under platform; ${meant}`;
  }

  /** Describes values that the fields do not take. Keys of other rows are no values. */
  misfits(values: RowData): string[] {
    return Object.keys(values).flatMap((label) => {
      const type = this.#fields.get(label);
      if (type === undefined || this.#linked.has(label) || fits(type, values[label])) return [];
      return `${label} is ${fieldKinds[type].join(": ")}${typesToDeclare(this.#declaration, label, type)}`;
    });
  }
}

/** Advises an entry of `types` for a column of a CSV that is not read as its field's type; empty where none is needed. */
export function typesToDeclare({ source = "", types = {} }: Source, label: string, type: FieldType): string {
  if (formatOf(source) !== ".csv") return "";
  const declared = entryIn(types, label) ?? "text";
  const needed = cellTypes[type] ?? "text";
  if (declared === needed || (declared === "json" && needed === "checkbox")) return "";
  return needed === "text" ? "; leave it out of types" : `, with types: {${label}: ${needed}}`;
}
