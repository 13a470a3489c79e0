import { systemLabels, type RowData } from "../../../contract/values.ts";
import { formatCount, quote, some } from "../../../messages/text.ts";
import { SourceError } from "../../../sources/read.ts";
import { keyOf } from "../declared/declaration.ts";
import { SchemaCells } from "../declared/schema/schemaCells.ts";
import { loadTableSchema, nameConstraint, toExpectations, type SchemaField } from "../declared/schema/tableSchema.ts";
import type { RowTarget } from "../declared/target.ts";
import type { RowContext } from "./context.ts";
import { TableCheck } from "./tableCheck.ts";

/** Rows that a sentence names. */
const maxNamed = 10;

interface Strange {
  count: number;
  names: string[];
  /** Sentence with the value that the schema takes, for a cell. */
  wanted?: string;
}

/** Holds all rows of a table against the Table Schema of a seed: labels, types and constraints. */
export class SchemaCheck {
  readonly #seed: RowTarget;
  readonly #cells: SchemaCells;
  readonly #rules: TableCheck;
  readonly #labels = new Map<string, Strange>();
  readonly #misfits = new Map<string, Strange>();
  readonly #seen = new Set<string>();

  private constructor(seed: RowTarget, cells: SchemaCells, rules: TableCheck) {
    this.#seed = seed;
    this.#cells = cells;
    this.#rules = rules;
  }

  /** Undefined for a seed without a schema, and, with a warning, where the file can't be read. */
  static async of(context: RowContext, seed: RowTarget): Promise<SchemaCheck | undefined> {
    if (seed.schema === undefined) return undefined;
    try {
      const schema = loadTableSchema(context.directory, seed.schema);
      const expecting = { ...seed, expect: toExpectations(schema) };
      const rules = await TableCheck.of(context, expecting, nameConstraint(schema));
      return new SchemaCheck(seed, new SchemaCells(schema, seed), rules);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      context.report.warning(`table ${seed.table} was not held against its schema: ${error.message}`);
      return undefined;
    }
  }

  /** Takes in a row, links as keys. */
  add(values: RowData): void {
    const name = keyOf(this.#seed.key, values);
    for (const label in values) {
      if (systemLabels.has(label)) continue;
      this.#seen.add(label);
      if (!this.#cells.has(label)) this.#note(this.#labels, label, name);
    }
    for (const { label, wanted, value } of this.#cells.misfits(values))
      this.#note(this.#misfits, `${label} ${wanted}`, name, {
        wanted: `label ${quote(label)}: ${this.#cells.schema.file} takes ${wanted}`,
        value,
      });
    this.#rules.add(values);
  }

  #note(
    all: Map<string, Strange>,
    about: string,
    name: string,
    more: { wanted?: string; value?: string | undefined } = {},
  ) {
    const { wanted, value } = more;
    const known = all.get(about) ?? { count: 0, names: [], ...(wanted === undefined ? {} : { wanted }) };
    all.set(about, known);
    known.count++;
    if (known.names.length >= maxNamed || this.#seed.sensitive) return;
    known.names.push(value === undefined ? quote(name) : `${quote(name)} (${value})`);
  }

  /** Describes how the table no longer fits, a sentence for each label and rule. */
  sentences(): string[] {
    const { file, fields } = this.#cells.schema;
    const news = [...this.#labels].map(
      ([label, found]) =>
        `label ${quote(label)}: no field of ${file}, and in ${formatCount(found.count, "row")}${named(found)}`,
    );
    const isLost = ({ name, constraints }: SchemaField): boolean => !!constraints.required && !this.#seen.has(name);
    // A label that is in no row is one sentence, not also rows that lack it.
    const lost = this.#seen.size === 0 ? [] : [...fields.values()].filter(isLost).map(({ name }) => name);
    const misfits = [...this.#misfits.values()].map(
      (found) =>
        `${found.wanted ?? ""}, and ${formatCount(found.count, "row")} ${found.count === 1 ? "has" : "have"} another value${named(found)}`,
    );
    const isSaid = (text: string): boolean => lost.some((name) => text.includes(`no value under ${quote(name)}`));
    return [
      ...news,
      ...lost.map((name) => `label ${quote(name)}: in no row, and required in ${file}`),
      ...misfits,
      ...this.#rules.sentences().filter((text) => !isSaid(text)),
    ];
  }
}

const named = ({ names, count }: Strange): string =>
  names.length === 0
    ? ""
    : `: ${some(names, maxNamed)}${count > names.length ? ` and ${count - names.length} more` : ""}`;
