import type { RowData } from "../../../platform/contract/values.ts";
import { entryIn } from "../../../platform/contract/wire.ts";
import type { LiveRows } from "../../reconcile/liveRows.ts";
import { RowIndices } from "../../reconcile/rowIndices.ts";
import type { RowPlan } from "../../reconcile/rows.ts";
import { ResourceError } from "../../resources/model/resource.ts";
import type { Summary } from "../declared/declaration.ts";
import { listExpectedLabels } from "../declared/expectations/expectations.ts";
import type { SeedInputs } from "../kept/state.ts";
import { read } from "../source/read.ts";
import { rowsOf, type RowContext } from "./context.ts";
import type { Links } from "./links.ts";
import { TableCheck, type CheckedSeed } from "./tableCheck.ts";

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
  async assert(context: RowContext, plan: RowPlan, live: LiveRows): Promise<void> {
    const inputs = this.#inputs;
    const check = await TableCheck.of(context, inputs);
    const going = new Set(plan.remove.map(({ id }) => id));
    let index = -1;
    for await (const block of read(inputs, context.directory))
      for (const { values } of block)
        if (plan.insert.has(++index) || this.#met.has(index)) check.add(this.#after(index, values));
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
  context: RowContext,
  seed: CheckedSeed,
  links: Links,
  { insert, update, remove }: RowPlan,
): Promise<string | undefined> {
  if (!seed.expect || insert.size + update.length + remove.length === 0) return undefined;
  const check = await TableCheck.of(context, seed);
  for await (const page of rowsOf(context, seed.table, 2_500))
    for (const row of page) check.add(links.inSourceTerms(row));
  const sentences = check.sentences();
  return sentences.length === 0 ? undefined : describeUnmet(seed.table, sentences);
}

/** The sentences about a table in one text. */
export const describeUnmet = (table: string, unmet: readonly string[]): string =>
  `table ${table} is not as expected:\n${unmet.join("\n")}`;
