import type { RowData } from "../../../../contract/values.ts";
import type { Mistake } from "../../../../sources/source.ts";
import type { ExpectingSeed } from "../expectations/cellRules.ts";
import { ExpectedRows } from "../expectations/declaredRows.ts";
import { SchemaCells } from "./schemaCells.ts";
import { loadTableSchema, nameConstraint, toExpectations } from "./tableSchema.ts";

/** Holds the rows of a source against the Table Schema of their seed, offline: labels that a row declares are judged. */
export class SchemaRows {
  readonly cells: SchemaCells;
  readonly #expected: ExpectedRows;

  private constructor(cells: SchemaCells, seed: ExpectingSeed) {
    this.cells = cells;
    const expect = toExpectations(cells.schema);
    this.#expected = new ExpectedRows({ ...seed, expect }, nameConstraint(cells.schema));
  }

  /** Undefined for a seed without a schema. Throws a SourceError where the file is none. */
  static of(seed: ExpectingSeed, directory: string): SchemaRows | undefined {
    if (seed.schema === undefined) return undefined;
    return new SchemaRows(new SchemaCells(loadTableSchema(directory, seed.schema), seed), seed);
  }

  /** Takes in a row; yields what is wrong with it. */
  *mistakesOf(line: number, values: RowData): Generator<Omit<Mistake, "line">> {
    for (const misfit of this.cells.misfits(values))
      yield { text: this.cells.describe(misfit), about: `${misfit.label} ${misfit.rule}` };
    yield* this.#expected.mistakesOf(line, values);
  }
}
