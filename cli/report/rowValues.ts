import type { RowData } from "../../platform/contract/values.ts";
import { withRowEdits } from "../../provider/environment/schema.ts";
import { keyOf } from "../../provider/seedRows/declaration.ts";
import { canonical, keyText, naturalKey } from "../../provider/seedRows/digests.ts";
import { decodeLedger } from "../../provider/seedRows/ledger.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import {
  positionOf,
  copyValues,
  listLinkedLabels,
  placeOf,
  type Source,
} from "../../provider/seedRows/source/source.ts";
import { type Change, type Field, fieldOf, orderChanges, secretText } from "./changeSet.ts";
import type { PlannedStep } from "./planner.ts";
import type { Declared } from "./source.ts";

/** Rows of each kind that are listed of one seed; all are counted. */
const maxListed = 10_000;

/** The verbs by which a file edits the rows of a source. */
const verbs = { additions: "rows+", changes: "rows~", removals: "rows-" } as const;

/** A row as one side has it, and where it stands there. */
interface PlacedRow {
  values: RowData;
  place: string;
}

/** The rows of a seed as one side has them. */
class Side {
  readonly seed: Source & { key: string[] };
  readonly #declared: Declared;
  readonly #name: string;

  constructor(declared: Declared, name: string, seed: Declared["declaration"]["seeds"][string]) {
    [this.#declared, this.#name, this.seed] = [declared, name, withRowEdits(seed)];
  }

  static of(declared: Declared | undefined, name = ""): Side | undefined {
    const seed = declared?.declaration.seeds[name];
    return declared && seed && new Side(declared, name, seed);
  }

  /** Shows each row with its index. */
  async each(see: (index: number, row: RowData, line: number) => void): Promise<void> {
    let index = 0;
    for await (const block of read(this.seed, this.#declared.folder))
      for (const { values, line } of block) see(index++, values, line);
  }

  place(line: number): string {
    const { seed } = this;
    const edit = positionOf(line);
    if (!edit && seed.source !== undefined) return placeOf(seed, line);
    const where = edit ? [verbs[edit.list], edit.index] : ["rows", line - 1];
    return this.#declared.place(["seeds", this.#name, ...where]);
  }
}

/** Lists the rows that a plan adds, changes and removes, with what they say where both sources are at hand. */
export async function listRows(
  { thing, known, rows, inputs, operation }: PlannedStep,
  sides: { base: Declared | undefined; head: Declared },
): Promise<Change[]> {
  const plan = rows?.plan;
  if (!plan?.exact || !known || !thing || operation === "replace") return [];
  const head = Side.of(sides.head, thing.path[1]);
  const base = Side.of(sides.base, known.thing?.path[1]);
  if (!head || head.seed.sensitive || base?.seed.sensitive) return [];
  const changes: Change[] = [];
  const list = listing(head.seed, base?.seed, [inputs, known.outputs], changes);
  // The state's rows are known by the key that they had.
  const keyIn = (values: RowData): string | undefined => base && naturalKey(known.outputs["key"] as string[], values);
  /** Rows of the head that change, by the key of the row that they were. */
  const changed = new Map<string, PlacedRow>();
  if (plan.insert + plan.update + (plan.handed?.size ?? 0) > 0) {
    const { added } = plan.change;
    const changing = new Set(plan.update > 0 ? plan.change.changed.slice(0, maxListed) : []);
    let listed = 0;
    await head.each((index, values, line) => {
      const isAdded = added.has(index);
      const isHanded = plan.handed?.get(index) === false;
      if (isAdded && (plan.insert === 0 || listed++ >= maxListed)) return;
      if (!isAdded && !isHanded && !changing.has(index)) return;
      const row = { values, place: head.place(line) };
      const former = isAdded || isHanded ? undefined : keyIn(values);
      if (isAdded) list("add", row, {}, base ? values : {});
      else if (former === undefined) list("change", row, {}, {});
      else changed.set(former, { ...row, values: { ...values } });
    });
  }
  const decoded = plan.remove > 0 ? decodeLedger(String(known.outputs["ledger"])) : undefined;
  const ledger = decoded?.kind === "list" ? decoded.rows : undefined;
  const gone = ledger ? plan.change.removed.slice(0, maxListed) : [];
  const removed = new Set(gone.flatMap(({ key }) => ledger?.find(key) ?? []));
  if (!base) {
    // A state may have natural keys alone.
    const { keys } = { ...known.inputs, ...known.outputs };
    const names = Array.isArray(keys) ? keys.map(String) : [];
    for (const name of [...removed].flatMap((at) => names[at] ?? []))
      changes.push({ kind: "row", op: "remove", name, fields: [] });
  } else if (removed.size + changed.size > 0) {
    await base.each((index, values, line) => {
      const row = changed.get(keyIn(values) ?? "");
      if (row) list("change", row, values, row.values);
      else if (removed.has(index)) list("remove", { values, place: base.place(line) }, values, {}, base.seed.key);
    });
  }
  return orderChanges(changes);
}

/** A value as JSON has it; of a row, null is nothing. */
const kept = (value: unknown): unknown =>
  (typeof value === "object" && value !== null ? copyValues({ value })["value"] : value) ?? undefined;

/** Adds changes of rows to a list, with the cells that differ. */
function listing(
  head: Source & { key: string[] },
  base: Source | undefined,
  linking: readonly Parameters<typeof listLinkedLabels>[0][],
  into: Change[],
) {
  const secret = new Set([...(head.secretLabels ?? []), ...(base?.secretLabels ?? [])]);
  const linked = new Set(linking.flatMap(listLinkedLabels));
  /** A value as its digest takes it. */
  const form = (label: string, value: unknown) => (linked.has(label) ? keyText(value) : canonical(value));
  return (
    op: Change["op"],
    { values, place }: PlacedRow,
    before: RowData,
    after: RowData,
    key: readonly string[] = head.key,
  ): void => {
    const fields = Object.keys({ ...after, ...before }).flatMap((label): Field[] => {
      const [was, is] = [before[label], after[label]];
      if (was === is || form(label, was) === form(label, is)) return [];
      return [fieldOf(label, kept(was), kept(is), secret.has(label))];
    });
    const name = key.some((label) => secret.has(label)) ? secretText : String(kept(keyOf(key, values)));
    into.push({ kind: "row", op, name, fields, place });
  };
}
