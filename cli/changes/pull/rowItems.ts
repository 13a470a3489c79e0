import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { withRowEdits, type SeedDeclaration } from "../../../provider/environment/schema.ts";
import { canonical, keyText } from "../../../provider/reconcile/digests.ts";
import { massDisappearance } from "../../../provider/reconcile/guards.ts";
import { keyOf } from "../../../provider/resources/rows/declared/declaration.ts";
import { read } from "../../../provider/sources/read.ts";
import { isHidden, listLinkedLabels, type Source } from "../../../provider/sources/source.ts";
import type { FileEdit } from "../../edits/edits.ts";
import { secretText, type Change, type Field } from "../model/changeSet.ts";
import { fieldOf } from "../model/values.ts";
import type { MakeItem, PullItem, SeenResource } from "./findings.ts";
import { PullRefusal, type Layout } from "./layout.ts";

const changeOf = (op: Change["op"], name: string, fields: Field[] = []): Change => ({ kind: "row", op, name, fields });

/** Changes by hand of a seed's rows as edits. `path` is the seed's name in the files; undefined where they have none. */
export async function listRowItems(
  seen: SeenResource,
  path: string | undefined,
  layout: Layout,
  makeItem: MakeItem,
): Promise<PullItem[]> {
  const { rows } = seen;
  if (!rows || rows.changed.size + rows.missing.length + rows.foreign.length === 0)
    return listHidden(seen, seen.resource.values["sensitive"] === true);
  const seed = path === undefined ? undefined : layout.declared.declaration.seeds[path];
  if (!seed || path === undefined)
    return [...rows.changed.keys()].map((key) => makeItem(changeOf("change", key), () => []));
  if (seed.sensitive) return listHidden(seen, true);
  const declared = new Map<string, RowData>();
  for await (const block of read(withRowEdits(seed), layout.declared.folder))
    for (const { values } of block) declared.set(keyOf(seed.key, values), values);
  return new RowTaker(path, seed, declared, layout, makeItem).take(rows, Number(seen.applied["rowCount"]));
}

/** A fraction that a guard takes; undefined for its default. */
export const toShare = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Names a seed whose rows nobody may read, if they were changed. */
function listHidden({ resource, found }: SeenResource, isSensitive: boolean): PullItem[] {
  if (!isSensitive || !isObject(found?.["drift"])) return [];
  const refused = "its rows are sensitive: they are never written into a file";
  return [{ kind: "seed", thing: resource.name, change: changeOf("change", secretText), edits: [], refused }];
}

class RowTaker {
  readonly #path: string;
  readonly #seed: SeedDeclaration;
  readonly #source: Source;
  readonly #linked: ReadonlySet<string>;
  readonly #declared: ReadonlyMap<string, RowData>;
  readonly #layout: Layout;
  readonly #makeItem: MakeItem;

  constructor(
    path: string,
    seed: SeedDeclaration,
    declared: ReadonlyMap<string, RowData>,
    layout: Layout,
    makeItem: MakeItem,
  ) {
    this.#path = path;
    this.#seed = seed;
    this.#source = withRowEdits(seed);
    this.#linked = new Set(listLinkedLabels(this.#source));
    this.#declared = declared;
    this.#layout = layout;
    this.#makeItem = makeItem;
  }

  take({ changed, missing, foreign }: NonNullable<SeenResource["rows"]>, count: number): PullItem[] {
    const guard =
      count > 0 && missing.length >= count
        ? "the platform shows none of its rows: nothing is removed for an empty answer"
        : massDisappearance("rows", missing.length, count, toShare(this.#seed.maxRemovals));
    return [
      ...[...changed].flatMap(([key, values]) => this.#takeChanged(key, values)),
      ...missing.flatMap((key) => this.#takeMissing(key, guard)),
      ...foreign.flatMap((values) => this.#takeForeign(values)),
    ];
  }

  #takeChanged(key: string, values: RowData): PullItem[] {
    const row = this.#declared.get(key);
    if (!row) {
      return [
        this.#makeItem(changeOf("change", key), () => {
          throw new PullRefusal("the files do not declare this row any more");
        }),
      ];
    }
    const labels = Object.keys(row).filter(
      (label) => this.#form(label, row[label]) !== this.#form(label, values[label]),
    );
    const field = (label: string, isSecret: boolean): Field =>
      fieldOf(label, row[label] ?? undefined, values[label] ?? undefined, isSecret);
    const open = labels.filter((label) => !isHidden(this.#source, label));
    const secret = labels.filter((label) => isHidden(this.#source, label));
    const items: PullItem[] = [];
    if (open.length > 0) {
      const fields = open.map((label) => field(label, false));
      const make = (): FileEdit[] => this.#layout.changeRow(this.#path, row, this.#taken(values, open));
      items.push(this.#makeItem(changeOf("change", key, fields), make));
    }
    if (secret.length > 0) {
      const fields = secret.map((label) => field(label, true));
      items.push(
        this.#makeItem(changeOf("change", key, fields), () => {
          throw new PullRefusal("its changed values are secret: they are never written into a file");
        }),
      );
    }
    return items;
  }

  #takeMissing(key: string, guard: string | undefined): PullItem[] {
    const row = this.#declared.get(key);
    if (!row) return [];
    return [
      this.#makeItem(changeOf("remove", key), () => {
        if (guard !== undefined) throw new PullRefusal(guard);
        return this.#layout.removeRow(this.#path, row);
      }),
    ];
  }

  #takeForeign(values: RowData): PullItem[] {
    const key = keyOf(this.#seed.key, values);
    if (this.#declared.has(key)) return [];
    const rows = [...this.#declared.values()];
    const labels = [...new Set([...this.#seed.key, ...rows.flatMap((row) => Object.keys(row))])];
    const open = labels.filter((label) => (values[label] ?? null) !== null && !isHidden(this.#source, label));
    const taken = this.#taken(values, open);
    const fields = open.map((label) => fieldOf(label, undefined, taken[label]));
    return [this.#makeItem(changeOf("add", key, fields), () => this.#layout.addRow(this.#path, taken))];
  }

  /** A value in the form in which it is compared. */
  #form(label: string, value: unknown): string | undefined {
    return this.#linked.has(label) ? keyText(value) : canonical(value);
  }

  /** Live values as files have them: of linked ones the keys alone. */
  #taken(values: RowData, labels: readonly string[]): RowData {
    const taken = (label: string): unknown =>
      this.#linked.has(label) ? keyText(values[label]) : (values[label] ?? null);
    return Object.fromEntries(labels.map((label) => [label, taken(label)]));
  }
}
