import type { RowData } from "../../../provider/contract/values.ts";
import { withRowEdits, type SeedDeclaration } from "../../../provider/environment/schema.ts";
import { formatCount } from "../../../provider/messages/text.ts";
import { canonical } from "../../../provider/reconcile/digests.ts";
import { naturalKey } from "../../../provider/reconcile/naturalKeys.ts";
import type { RowContext } from "../../../provider/resources/rows/live/context.ts";
import type { Links } from "../../../provider/resources/rows/live/links.ts";
import { seedRowsOf } from "../../../provider/resources/rows/live/subTables/shownParents.ts";
import { read } from "../../../provider/sources/read.ts";
import type { Declared } from "../model/source.ts";

/** Rows that a table is taken to have. */
const aTable = 2_500;

/** Reads the rows of a table as a seed declares them: the labels that it has, links as keys. */
export class SeedReader {
  readonly notes: string[] = [];
  /** Rows that were read so far. */
  count = 0;
  readonly #seed: SeedDeclaration;
  /** Labels of each declared row; most rows share a list. */
  readonly #declared = new Map<string, readonly string[]>();
  readonly #labels = new Set<string>();
  /** Keys that another seed of the table declares. */
  readonly #others = new Set<string>();
  /** True if undeclared rows count as rows of an earlier seed of the table. */
  #isLater = false;

  private constructor(seed: SeedDeclaration) {
    this.#seed = seed;
  }

  static async of(name: string, { declaration, folder }: Declared): Promise<SeedReader> {
    const { seeds, seedOrder } = declaration;
    const seed = seeds[name];
    if (!seed) throw new Error(`a seed is declared: ${name}`);
    const reader = new SeedReader(seed);
    const lists = new Map<string, readonly string[]>();
    for await (const block of read(withRowEdits(seed), folder)) {
      for (const { values } of block) {
        const labels = Object.keys(values);
        for (const label of labels) reader.#labels.add(label);
        const list = JSON.stringify(labels);
        if (!lists.has(list)) lists.set(list, labels);
        reader.#declared.set(naturalKey(seed.key, values) ?? "", lists.get(list) ?? labels);
      }
    }
    for (const label of seed.key) reader.#labels.add(label);
    const sharing = seedOrder.filter((other) => seeds[other]?.table === seed.table);
    reader.#isLater = sharing[0] !== name;
    for (const other of sharing.filter((each) => each !== name)) {
      const declared = seeds[other];
      if (!declared) continue;
      for await (const block of read(withRowEdits(declared), folder))
        for (const { values } of block) reader.#others.add(naturalKey(seed.key, values) ?? "");
    }
    return reader;
  }

  /** The rows as lines of an NDJSON file. Calls the platform's reads alone. */
  async *lines(context: RowContext, links: Links): AsyncGenerator<string> {
    const seen = new Set<string>();
    let [keyless, twice] = [0, 0];
    for await (const page of seedRowsOf(context, this.#seed.table, aTable, links)) {
      const lines: string[] = [];
      for (const row of page) {
        const values = links.inSourceTerms(row);
        const key = naturalKey(this.#seed.key, values);
        if (key === undefined) keyless++;
        else if (seen.has(key)) twice++;
        else if (this.#isOwn(key)) {
          seen.add(key);
          this.count++;
          lines.push(`${JSON.stringify(this.#written(key, values))}\n`);
        }
      }
      yield lines.join("");
    }
    const { table, key } = this.#seed;
    if (keyless > 0) this.notes.push(`${formatCount(keyless, "row")} of table ${table} without ${key.join(" and ")}`);
    if (twice > 0) this.notes.push(`${formatCount(twice, "row")} of table ${table} with the key of another one`);
  }

  #isOwn(key: string): boolean {
    return this.#declared.has(key) || (!this.#isLater && !this.#others.has(key));
  }

  /** The labels that the declared row has; of others those that any of the rows has. */
  #written(key: string, values: RowData): RowData {
    const labels = this.#declared.get(key) ?? [...this.#labels];
    return Object.fromEntries(
      labels.flatMap((label) => (canonical(values[label]) === undefined ? [] : [[label, values[label]]])),
    );
  }
}
