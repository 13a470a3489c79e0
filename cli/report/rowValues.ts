import type { RowData } from "../../platform/contract/values.ts";
import { type SeedDeclaration, withRowEdits } from "../../provider/environment/schema.ts";
import { canonical, keyText } from "../../provider/reconcile/digests.ts";
import { decodeLedger } from "../../provider/reconcile/ledger.ts";
import { digesterOf, keyOf } from "../../provider/seedRows/declaration.ts";
import type { Seed } from "../../provider/seedRows/inputs.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import {
  positionOf,
  copyValues,
  listLinkedLabels,
  placeOf,
  type RowEdits,
} from "../../provider/seedRows/source/source.ts";
import { type Change, type Field, fieldOf, orderChanges, secretText } from "./changeSet.ts";
import type { PlannedStep } from "./planner.ts";
import type { Declared } from "./source.ts";

/** Rows of each kind that are listed of one seed; all are counted. */
const maxListed = 10_000;

/** The verbs by which a file edits the rows of a source. */
const verbs = { additions: "rows+", changes: "rows~", removals: "rows-" } as const;

/** The rows of a seed as one side has them, and where each stands. */
interface Side {
  seed: SeedDeclaration & RowEdits;
  folder: string;
  place: (line: number) => string;
}

function sideOf(declared: Declared | undefined, key: string | undefined): Side | undefined {
  const found = key === undefined ? undefined : declared?.declaration.seeds[key];
  if (!declared || !found || key === undefined) return undefined;
  const seed = withRowEdits(found);
  const place = (line: number): string => {
    const edit = positionOf(line);
    if (edit) return declared.place(["seeds", key, verbs[edit.list], edit.index]);
    return seed.source === undefined ? declared.place(["seeds", key, "rows", line - 1]) : placeOf(seed, line);
  };
  return { seed, folder: declared.folder, place };
}

/** Labels that nobody may read. */
const secretsOf = ({ sensitive, secretLabels }: Pick<SeedDeclaration, "sensitive" | "secretLabels">) =>
  sensitive ? ("all" as const) : new Set(secretLabels);

/** Lists the rows that a plan adds, changes and removes, with what they say where both sources are at hand. */
export async function listRows(
  step: PlannedStep,
  sides: { base: Declared | undefined; head: Declared },
): Promise<Change[]> {
  const { thing, known, rows } = step;
  const plan = rows?.plan;
  if (!plan?.exact || !known || !thing || step.operation === "replace") return [];
  const head = sideOf(sides.head, thing.path[1]);
  const base = sideOf(sides.base, known.thing?.path[1]);
  if (!head || secretsOf(head.seed) === "all" || (base && secretsOf(base.seed) === "all")) return [];
  return new Listing(step, head, base).list();
}

class Listing {
  readonly #step: PlannedStep;
  readonly #head: Side;
  readonly #base: Side | undefined;
  readonly #secret: ReadonlySet<string>;
  readonly #linked: ReadonlySet<string>;
  readonly #changes: Change[] = [];
  /** Rows of the head that change, by the index of the row that they were. */
  readonly #changed = new Map<number, { values: RowData; line: number }>();

  constructor(step: PlannedStep, head: Side, base: Side | undefined) {
    this.#step = step;
    this.#head = head;
    this.#base = base;
    this.#secret = new Set([...(head.seed.secretLabels ?? []), ...(base?.seed.secretLabels ?? [])]);
    const inputs = step.inputs as unknown as Seed; // they were checked
    this.#linked = new Set([...listLinkedLabels(inputs), ...listLinkedLabels(step.known?.outputs ?? {})]);
  }

  async list(): Promise<Change[]> {
    const plan = this.#step.rows?.plan;
    if (!plan?.exact) return [];
    if (plan.insert + plan.update + (plan.handed?.size ?? 0) > 0) await this.#takeHead();
    if (plan.remove + this.#changed.size > 0) await this.#takeBase();
    return orderChanges(this.#changes);
  }

  async #takeHead(): Promise<void> {
    const { rows, known, inputs } = this.#step;
    const plan = rows?.plan;
    if (!plan?.exact || !known) return;
    const { added, changed } = plan.change;
    const changing = new Set(plan.update > 0 ? changed.slice(0, maxListed) : []);
    const ledger = decodeLedger(String(known.outputs["ledger"]));
    const { key, salt, references, parent } = known.outputs;
    // The state's rows are known by the key that they had.
    const digesterFor = digesterOf({ ...inputs, key, salt, references, parent } as unknown as Seed);
    let index = -1;
    let listed = 0;
    for await (const block of read(this.#head.seed, this.#head.folder)) {
      for (const { values, line } of block) {
        index++;
        if (added.has(index)) {
          if (plan.insert > 0 && listed++ < maxListed)
            this.#list("add", values, this.#head.place(line), {}, this.#base ? values : {});
        } else if (plan.handed?.get(index) === false) this.#list("change", values, this.#head.place(line), {}, {});
        else if (changing.has(index)) {
          const digest = digesterFor(values).key(values);
          const at = digest && ledger.kind === "list" ? ledger.rows.find(digest) : undefined;
          if (this.#base && at !== undefined) this.#changed.set(at, { values: copyValues(values), line });
          else this.#list("change", values, this.#head.place(line), {}, {});
        }
      }
    }
  }

  /** Reads the base for removed rows and for the old cells of changed ones; a state may have natural keys alone. */
  async #takeBase(): Promise<void> {
    const { rows, known } = this.#step;
    const plan = rows?.plan;
    if (!plan?.exact || !known) return;
    const ledger = decodeLedger(String(known.outputs["ledger"]));
    const removed = new Set(
      plan.remove === 0 || ledger.kind !== "list"
        ? []
        : plan.change.removed.slice(0, maxListed).flatMap(({ key }) => ledger.rows.find(key) ?? []),
    );
    if (!this.#base) {
      const { keys } = { ...known.inputs, ...known.outputs };
      const names = Array.isArray(keys) ? keys.map(String) : [];
      for (const at of removed) {
        const name = names[at];
        if (name !== undefined) this.#changes.push({ kind: "row", op: "remove", name, fields: [] });
      }
      return;
    }
    let index = -1;
    for await (const block of read(this.#base.seed, this.#base.folder)) {
      for (const { values, line } of block) {
        const changed = this.#changed.get(++index);
        if (changed) this.#list("change", changed.values, this.#head.place(changed.line), values, changed.values);
        else if (removed.has(index))
          this.#list("remove", values, this.#base.place(line), values, {}, this.#base.seed.key);
      }
    }
  }

  #list(
    op: Change["op"],
    row: RowData,
    place: string,
    before: RowData,
    after: RowData,
    key = this.#head.seed.key,
  ): void {
    const name = key.some((label) => this.#secret.has(label)) ? secretText : keyOf(key, copyValues(row));
    const [earlier, later] = [copyValues(before), copyValues(after)];
    const labels = [...new Set([...Object.keys(later), ...Object.keys(earlier)])];
    const fields: Field[] = [];
    for (const label of labels) {
      const [was, is] = [earlier[label], later[label]];
      const isSecret = this.#secret.has(label);
      if (this.#form(label, was) !== this.#form(label, is))
        fields.push(fieldOf(label, was ?? undefined, is ?? undefined, isSecret)); // of a row, null is nothing
    }
    this.#changes.push({ kind: "row", op, name, fields, place });
  }

  /** A value as its digest takes it. */
  #form(label: string, value: unknown): string | undefined {
    return this.#linked.has(label) ? keyText(value) : canonical(value);
  }
}
