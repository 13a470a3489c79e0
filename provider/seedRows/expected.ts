import type { RowData } from "../../platform/contract/values.ts";
import { entryIn } from "../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { ResourceError } from "../resources/common.ts";
import type { Context } from "../resources/resource.ts";
import { CellRules, describeAccepted } from "./cells.ts";
import { keyOf, type Summary } from "./declaration.ts";
import { listExpectedLabels, listRelationships, type Seed, type SeedInputs } from "./inputs.ts";
import type { Links } from "./links.ts";
import type { LiveRows, RowPlan } from "./plan.ts";
import { RowIndices } from "./rowSet.ts";
import { seeRows } from "./source/read.ts";
import { aTable, rowsOf } from "./table.ts";

/** A live row, as a run reads it. */
interface LiveRow {
  id: string;
  /** Index of the wanted row that it matches. */
  index: number | undefined;
  values: RowData;
}

/** The table as a run will leave it: the rows that stay, and the wanted ones, each with the cells that others wrote. */
export class Projection {
  readonly #inputs: SeedInputs;
  readonly #labels: readonly string[];
  /** Labels under which a live row may keep a value that the source does not have. */
  readonly #left: readonly string[];
  readonly #summary: Summary;
  readonly #others: { id: string; values: RowData }[] = [];
  readonly #met: RowIndices;
  readonly #cells = new Map<number, RowData>();
  #observed = 0;

  private constructor(inputs: SeedInputs, summary: Summary) {
    const { ignoreLabels = [] } = inputs;
    this.#inputs = inputs;
    this.#summary = summary;
    this.#labels = listExpectedLabels(inputs);
    this.#left = this.#labels.filter(
      (label) => ignoreLabels.includes(label) || !summary.rowLabels.common.includes(label),
    );
    this.#met = new RowIndices(summary.rows.length);
  }

  /** Undefined for a seed that expects nothing. */
  static of(inputs: SeedInputs, summary: Summary): Projection | undefined {
    return inputs.expect && new Projection(inputs, summary);
  }

  observe({ id, index, values }: LiveRow): void {
    this.#observed++;
    // A second row with a wanted key stays beside ours.
    if (index === undefined || this.#met.has(index)) {
      this.#others.push({ id, values: pick(values, [...this.#inputs.key, ...this.#labels]) });
      return;
    }
    this.#met.add(index);
    if (this.#left.length > 0) this.#cells.set(index, pick(values, this.#left));
  }

  /** Throws, before anything is sent, when the table would not be as expected after the run. */
  async assert(context: Context, plan: RowPlan, live: LiveRows): Promise<void> {
    const inputs = this.#inputs;
    const check = await TableCheck.of(context, inputs);
    const going = new Set(plan.remove.map(({ id }) => id));
    await seeRows(inputs, context.directory, ({ values }, index) => {
      if (plan.insert.has(index) || this.#met.has(index)) check.add(this.#after(index, values));
    });
    for (const { id, values } of this.#others) if (!going.has(id)) check.add(values);
    const sentences = check.sentences(check.count + live.total - this.#observed);
    if (sentences.length === 0) return;
    throw new ResourceError(
      `table ${inputs.table} would not be as expected after this run, so nothing was sent:\n${sentences.join("\n")}\nCorrect the rows, those of others by hand, or what is expected.`,
    );
  }

  /** The row as it will be: a label that is not declared keeps its value, or is cleared where the seed had it. */
  #after(index: number, values: RowData): RowData {
    const { mode, ignoreLabels = [] } = this.#inputs;
    const cells = this.#cells.get(index) ?? {};
    if (this.#left.length === 0) return values;
    const after = { ...values };
    for (const label of this.#left) {
      const isOfOthers = ignoreLabels.includes(label);
      if (!isOfOthers && (Object.hasOwn(values, label) || (mode === "exact" && this.#summary.labels.includes(label))))
        continue;
      if (this.#met.has(index)) after[label] = cells[label];
    }
    return after;
  }
}

const pick = (values: RowData, labels: readonly string[]): RowData =>
  Object.fromEntries(labels.map((label) => [label, entryIn(values, label)]));

/** Reads the table once a plan has written to it; describes what is not as expected, undefined for nothing. */
export async function describeUnmetAfter(
  context: Context,
  seed: Seed,
  links: Links,
  { insert, update, remove }: RowPlan,
): Promise<string | undefined> {
  if (!seed.expect || insert.size + update.length + remove.length === 0) return undefined;
  const check = await TableCheck.of(context, seed);
  for await (const page of rowsOf(context, seed.table, aTable))
    for (const row of page) check.add(links.inSourceTerms(row));
  const sentences = check.sentences();
  return sentences.length === 0 ? undefined : describeUnmet(seed.table, sentences);
}

/** The sentences about a table in one text. */
export const describeUnmet = (table: string, unmet: readonly string[]): string =>
  `table ${table} is not as expected:\n${unmet.join("\n")}`;

/** Rows that a sentence names. */
const maxNamed = 20;

/** Values of a label that name rows of a table: those that are there, and those that are not, by the first row that has each. */
interface Relation {
  label: string;
  key: string;
  /** True for rows of the very table that is checked. */
  isOwn: boolean;
  there: Set<string | undefined>;
  lacking: Map<string, { name: string; count: number }>;
}

/** Holds all rows of a table against the expectations of a seed. Names rows by their natural key, none of a secret seed. */
export class TableCheck {
  readonly #seed: Seed;
  readonly #rules: CellRules;
  readonly #relations: readonly Relation[];
  readonly #broken = new Map<string, { names: string[]; count: number }>();
  /** Natural keys in the order of the rows, kept where a second row has to name the first. */
  readonly #keys: string[] = [];
  #count = 0;

  private constructor(seed: Seed, rules: CellRules, relations: readonly Relation[]) {
    this.#seed = seed;
    this.#rules = rules;
    this.#relations = relations;
  }

  /** Reads the tables that the expectations name, each once. */
  static async of(context: Context, seed: Seed): Promise<TableCheck> {
    const rules = new CellRules(seed);
    const read = new Map<string, Set<string | undefined>>();
    const relations: Relation[] = [];
    for (const { label, table, key } of listRelationships(seed)) {
      const isOwn = table === seed.table;
      const name = JSON.stringify([table, key]);
      const there = read.get(name) ?? new Set();
      if (!isOwn && !read.has(name)) {
        for await (const page of rowsOf(context, table, aTable))
          for (const row of page) there.add(rules.textOf(key, row[key]));
      }
      read.set(name, there);
      relations.push({ label, key, isOwn, there, lacking: new Map() });
    }
    return new TableCheck(seed, rules, relations);
  }

  /** Takes in a row, links as keys. */
  add(values: RowData): void {
    this.#count++;
    const name = keyOf(this.#seed.key, values);
    for (const { rule, label, value, other } of this.#rules.violations(this.#keys.length, values))
      this.#note(`${rule} ${label}`, name, value, other === undefined ? undefined : this.#keys[other]);
    if (this.#seed.expect?.unique) this.#keys.push(name);
    for (const { label, key, isOwn, there, lacking } of this.#relations) {
      if (isOwn) there.add(this.#rules.textOf(key, values[key]));
      const text = this.#rules.textOf(label, values[label]);
      if (text === undefined || there.has(text)) continue;
      const known = lacking.get(text) ?? { name, count: 0 };
      lacking.set(text, { name: known.name, count: known.count + 1 });
    }
  }

  /** Rows so far. */
  get count(): number {
    return this.#count;
  }

  #note(about: string, name: string, value: string | undefined, other?: string, rows = 1): void {
    const broken = this.#broken.get(about) ?? { names: [], count: 0 };
    this.#broken.set(about, broken);
    broken.count += rows;
    if (broken.names.length >= maxNamed || this.#seed.sensitive) return;
    const more = [...(value === undefined ? [] : [value]), ...(other === undefined ? [] : [`as ${quote(other)}`])];
    broken.names.push(more.length === 0 ? quote(name) : `${quote(name)} (${more.join(" ")})`);
  }

  /**
   * Describes what is not as expected, a sentence for each expectation.
   * @param total rows of the table, with those that have no natural key: their cells are not known
   */
  sentences(total = this.#count): string[] {
    for (const { label, there, lacking } of this.#relations)
      for (const [text, { name, count }] of lacking)
        if (!there.has(text))
          this.#note(`relationships ${label}`, name, this.#rules.shown(label, text), undefined, count);
    const sentences = [...this.#broken].map(([about, { names, count }]) => {
      const at = about.indexOf(" ");
      const more = count > names.length ? ` and ${count - names.length} more` : "";
      const which = names.length === 0 ? "" : `: ${some(names, maxNamed)}${more}`;
      const what = this.#describe(about.slice(0, at), about.slice(at + 1));
      return `expect.${about.slice(0, at)}: ${count === 1 ? "1 row has" : `${count} rows have`} ${what}${which}`;
    });
    const { min = 0, max = Infinity } = this.#seed.expect?.rowCount ?? {};
    const wrong = total < min ? `fewer than ${min}` : total > max ? `more than ${max}` : undefined;
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
