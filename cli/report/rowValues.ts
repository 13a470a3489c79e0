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

/** Lists the rows that a plan adds, changes and removes, with what they say where both sources are at hand. */
export async function listRows(
  step: PlannedStep,
  sides: { base: Declared | undefined; head: Declared },
): Promise<Change[]> {
  const { thing, known, rows, inputs, operation } = step;
  const plan = rows?.plan;
  if (!plan?.exact || !known || !thing || operation === "replace") return [];
  const head = sideOf(sides.head, thing.path[1]);
  const base = sideOf(sides.base, known.thing?.path[1]);
  if (!head || head.seed.sensitive || base?.seed.sensitive) return [];
  const changes: Change[] = [];
  const list = listing(head, base, [inputs, known.outputs], changes);
  const decoded = decodeLedger(String(known.outputs["ledger"]));
  const ledger = decoded.kind === "list" ? decoded.rows : undefined;
  /** Rows of the head that change, by the index of the row that they were. */
  const changed = new Map<number, { values: RowData; line: number }>();
  if (plan.insert + plan.update + (plan.handed?.size ?? 0) > 0) {
    const { added } = plan.change;
    const changing = new Set(plan.update > 0 ? plan.change.changed.slice(0, maxListed) : []);
    // The state's rows are known by the key that they had.
    const { key, salt, references, parent } = known.outputs;
    const digesterFor = digesterOf({ ...inputs, key, salt, references, parent } as unknown as Seed);
    let [index, listed] = [-1, 0];
    for await (const block of read(head.seed, head.folder)) {
      for (const { values, line } of block) {
        index++;
        if (added.has(index)) {
          if (plan.insert > 0 && listed++ < maxListed) list("add", values, head.place(line), {}, base ? values : {});
        } else if (plan.handed?.get(index) === false) list("change", values, head.place(line), {}, {});
        else if (changing.has(index)) {
          const digest = digesterFor(values).key(values);
          const at = digest && ledger?.find(digest);
          if (base && at !== undefined) changed.set(at, { values: copyValues(values), line });
          else list("change", values, head.place(line), {}, {});
        }
      }
    }
  }
  const gone = plan.remove === 0 || !ledger ? [] : plan.change.removed.slice(0, maxListed);
  const removed = new Set(gone.flatMap(({ key }) => ledger?.find(key) ?? []));
  if (!base) {
    // A state may have natural keys alone.
    const { keys } = { ...known.inputs, ...known.outputs };
    const names = Array.isArray(keys) ? keys.map(String) : [];
    for (const name of [...removed].flatMap((at) => names[at] ?? []))
      changes.push({ kind: "row", op: "remove", name, fields: [] });
  } else if (plan.remove + changed.size > 0) {
    let index = -1;
    for await (const block of read(base.seed, base.folder)) {
      for (const { values, line } of block) {
        const one = changed.get(++index);
        if (one) list("change", one.values, head.place(one.line), values, one.values);
        else if (removed.has(index)) list("remove", values, base.place(line), values, {}, base.seed.key);
      }
    }
  }
  return orderChanges(changes);
}

/** Adds changes of rows to a list, with the cells that differ. */
function listing(
  head: Side,
  base: Side | undefined,
  linking: readonly Parameters<typeof listLinkedLabels>[0][],
  into: Change[],
) {
  const secret = new Set([...(head.seed.secretLabels ?? []), ...(base?.seed.secretLabels ?? [])]);
  const linked = new Set(linking.flatMap(listLinkedLabels));
  /** A value as its digest takes it. */
  const form = (label: string, value: unknown) => (linked.has(label) ? keyText(value) : canonical(value));
  return (
    op: Change["op"],
    row: RowData,
    place: string,
    before: RowData,
    after: RowData,
    key = head.seed.key,
  ): void => {
    const name = key.some((label) => secret.has(label)) ? secretText : keyOf(key, copyValues(row));
    const [earlier, later] = [copyValues(before), copyValues(after)];
    const labels = [...new Set([...Object.keys(later), ...Object.keys(earlier)])];
    const fields = labels.flatMap((label): Field[] => {
      const [was, is] = [earlier[label], later[label]];
      if (form(label, was) === form(label, is)) return [];
      return [fieldOf(label, was ?? undefined, is ?? undefined, secret.has(label))]; // of a row, null is nothing
    });
    into.push({ kind: "row", op, name, fields, place });
  };
}
