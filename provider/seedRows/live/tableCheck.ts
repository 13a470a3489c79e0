import type { RowData } from "../../../platform/contract/values.ts";
import { formatCount, quote, some } from "../../../platform/messages/text.ts";
import { digestOf } from "../../reconcile/digests.ts";
import { RowSet } from "../../reconcile/rowSet.ts";
import { keyOf } from "../declared/declaration.ts";
import { CellRules, describeAccepted, describeRowCount } from "../declared/expectations/cellRules.ts";
import { listRelationships, type Expecting } from "../declared/expectations/expectations.ts";
import type { RowTarget } from "../declared/target.ts";
import { rowsOf, type RowContext } from "./context.ts";

/** Rows that a sentence names. */
const maxNamed = 20;

export type CheckedSeed = RowTarget & Expecting;

interface Broken {
  names: string[];
  count: number;
}

/** Values that rows of other tables have, by label. */
type Related = ReadonlyMap<string, ReadonlySet<string | undefined>>;

/** Holds all rows of a table against the expectations of a seed. Names rows by their natural key, none of a secret seed. */
export class TableCheck {
  readonly #seed: CheckedSeed;
  readonly #rules: CellRules;
  readonly #related: Related;
  readonly #broken = new Map<string, Broken>();
  readonly #unique: readonly { label: string; seen: RowSet }[];
  /** Natural keys in the order of the rows, kept where a second row has to name the first. */
  readonly #keys: string[] = [];
  /** Values of labels that name rows of this very table, and the rows that have them. */
  readonly #own: readonly { label: string; key: string; there: Set<string | undefined>; named: Map<string, string> }[];
  #count = 0;

  private constructor(seed: CheckedSeed, related: Related) {
    this.#seed = seed;
    this.#rules = new CellRules(seed);
    this.#related = related;
    this.#unique = (seed.expect?.unique ?? []).map((label) => ({ label, seen: new RowSet() }));
    const own = listRelationships(seed).filter(({ table }) => table === seed.table);
    this.#own = own.map(({ label, key }) => ({ label, key, there: new Set(), named: new Map() }));
  }

  /** Reads the tables that the expectations name, each once. */
  static async of(context: RowContext, seed: CheckedSeed): Promise<TableCheck> {
    const related = new Map<string, ReadonlySet<string | undefined>>();
    const read = new Map<string, ReadonlySet<string | undefined>>();
    const rules = new CellRules(seed);
    for (const { label, table, key } of listRelationships(seed)) {
      if (table === seed.table) continue;
      const name = JSON.stringify([table, key]);
      const values = read.get(name) ?? (await readValues(context, table, key, rules));
      read.set(name, values);
      related.set(label, values);
    }
    return new TableCheck(seed, related);
  }

  /** Takes in a row, links as keys. */
  add(values: RowData): void {
    this.#count++;
    const { key } = this.#seed;
    const name = keyOf(key, values);
    for (const { rule, label, value } of this.#rules.violations(values)) this.#note(`${rule} ${label}`, name, value);
    for (const { label, seen } of this.#unique) {
      const text = this.#rules.textOf(label, values[label]);
      const before = text === undefined ? undefined : seen.add(digestOf(text), undefined, this.#keys.length);
      if (before === undefined) continue;
      const shown = this.#rules.shown(label, values[label]);
      const other = this.#keys[seen.line(before)];
      this.#note(`unique ${label}`, name, shown, other);
    }
    if (this.#unique.length > 0) this.#keys.push(name);
    for (const [label, there] of this.#related) {
      const text = this.#rules.textOf(label, values[label]);
      if (text !== undefined && !there.has(text))
        this.#note(`relationships ${label}`, name, this.#rules.shown(label, values[label]));
    }
    for (const { label, key: own, there, named } of this.#own) {
      there.add(this.#rules.textOf(own, values[own]));
      const text = this.#rules.textOf(label, values[label]);
      if (text !== undefined && !named.has(text)) named.set(text, name);
    }
  }

  /** Rows so far. */
  get count(): number {
    return this.#count;
  }

  #note(about: string, name: string, value?: string, other?: string): void {
    const broken = this.#broken.get(about) ?? { names: [], count: 0 };
    this.#broken.set(about, broken);
    broken.count++;
    if (broken.names.length >= maxNamed || this.#seed.sensitive) return;
    const more = [...(value === undefined ? [] : [value]), ...(other === undefined ? [] : [`as ${quote(other)}`])];
    broken.names.push(more.length === 0 ? quote(name) : `${quote(name)} (${more.join(" ")})`);
  }

  /**
   * Describes what is not as expected, a sentence for each expectation.
   * @param total rows of the table, with those that have no natural key: their cells are not known
   */
  sentences(total = this.#count): string[] {
    for (const { label, there, named } of this.#own)
      for (const [text, name] of named)
        if (!there.has(text)) this.#note(`relationships ${label}`, name, this.#rules.shown(label, text));
    const sentences = [...this.#broken].map(([about, { names, count }]) => {
      const at = about.indexOf(" ");
      const [rule, label] = [about.slice(0, at), about.slice(at + 1)];
      const which =
        names.length === 0
          ? ""
          : `: ${some(names, maxNamed)}${count > names.length ? ` and ${count - names.length} more` : ""}`;
      return `expect.${rule}: ${count === 1 ? "1 row has" : `${count} rows have`} ${this.#describe(rule, label)}${which}`;
    });
    const wrong = this.#seed.expect?.rowCount && describeRowCount(this.#seed.expect.rowCount, total);
    if (wrong !== undefined) sentences.push(`expect.rowCount: ${formatCount(total, "row")}, ${wrong}`);
    return sentences;
  }

  #describe(rule: string, label: string): string {
    if (rule === "notNull") return `no value under ${quote(label)}`;
    if (rule === "unique") return `a value under ${quote(label)} that another row has`;
    if (rule === "acceptedValues")
      return `another value under ${quote(label)} than those${describeAccepted(this.#seed, label)}`;
    const to = listRelationships(this.#seed).find((one) => one.label === label);
    return `a value under ${quote(label)} that no row of table ${to?.table ?? ""} has under ${quote(to?.key ?? "")}`;
  }
}

/** Values that rows of a table have under a label. */
async function readValues(
  context: RowContext,
  table: string,
  key: string,
  rules: CellRules,
): Promise<ReadonlySet<string | undefined>> {
  const values = new Set<string | undefined>();
  for await (const page of rowsOf(context, table, 2_500))
    for (const row of page) values.add(rules.textOf(key, row[key]));
  return values;
}
