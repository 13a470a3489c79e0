import { type FieldType, timeOf, type RowData } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { canonical, digestOf, keyText } from "../../provider/seedRows/digests.ts";
import { RowSet } from "../../provider/seedRows/rowSet.ts";

/** Kinds of values that cells have. `any` stands for several. */
export type Kind =
  | Extract<FieldType, "text" | "number" | "date" | "checkbox" | "location" | "linked">
  | "boolean"
  | "json"
  | "any";

/** Values of another kind than their label's. */
interface Exception {
  kind: Kind;
  count: number;
}

/** A label of a table. */
export interface FieldModel {
  label: string;
  kind: Kind;
  /** declared: by a platform seed. all: every value is of the kind. most: all but exceptions. mixed: no kind prevails. none: no row has a value. */
  sure: "declared" | "all" | "most" | "mixed" | "none";
  /** Rows with a value. */
  filled: number;
  /** True when all of them have another one; false where that is unknown. */
  unique: boolean;
  exceptions: Exception[];
  /** All values, where texts are few and come back often. */
  values?: string[];
  /** True for whole numbers, and for days without a time. */
  isWhole: boolean;
  /** Where links lead to, as far as known. */
  link?: { table?: string; key: string };
}

/** Model of a table, of which every output is written. */
export interface TableModel {
  table: string;
  rows: number;
  /** Labels of the natural key; empty where none is known. */
  key: string[];
  fields: FieldModel[];
}

/** Bounds of what is kept of a label. */
const max = { values: 12, candidates: 2 };

/** Largest part of a label's values that are exceptions. */
const maxExceptional = 0.01;

/** Rows from which few different texts are a list of values. */
const minRowsOfLists = 50;

function kindOf(value: unknown): Kind {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "string")
    return /^\d{4}-\d{2}-\d{2}(T|$)/.test(value) && timeOf(value) !== undefined ? "date" : "text";
  if (Array.isArray(value)) return value.every((item) => typeof item === "string") ? "checkbox" : "json";
  if (isObject(value) && typeof value["crossAppRowID"] === "string") return "linked";
  return isObject(value) && isObject(value["address"]) ? "location" : "json";
}

/** Values of one label. */
class Label {
  readonly #kinds = new Map<Kind, number>();
  /** Texts that came; undefined once there are too many. */
  #texts: Set<string> | undefined = new Set();
  #values: RowSet | undefined = new RowSet();
  filled = 0;
  isWhole = true;
  linkKey: string | undefined;

  observe(value: unknown): void {
    this.filled++;
    const kind = kindOf(value);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    if (kind === "number" && !Number.isInteger(value)) this.isWhole = false;
    if (kind === "date" && typeof value === "string" && value.includes("T")) this.isWhole = false;
    if (kind === "linked" && isObject(value) && isObject(value["value"])) {
      const { label } = value["value"];
      if (typeof label === "string") this.linkKey ??= label;
    }
    if (typeof value === "string" && (this.#texts?.add(value).size ?? 0) > max.values) this.#texts = undefined;
    this.#compare(value);
  }

  #compare(value: unknown): void {
    const text = this.#values && keyText(value);
    if (!this.#values || text === undefined) return;
    if (text.length > 200 || this.#values.add(digestOf(text)) !== undefined) this.#values = undefined;
  }

  /** True when every value so far is another one. */
  get isUnique(): boolean {
    return this.#values !== undefined && this.filled > 0;
  }

  /** Frees what proves that values differ. */
  forget(): void {
    this.#values = undefined;
  }

  model(label: string): FieldModel {
    const all = [...this.#kinds].sort(([, a], [, b]) => b - a);
    const [first, ...others] = all;
    const rest = others.reduce((sum, [, count]) => sum + count, 0);
    // A day is a text, too: where texts are no exception, the label has texts.
    const isText = rest > this.filled * maxExceptional && all.every(([one]) => one === "text" || one === "date");
    const isMixed = !isText && rest > this.filled * maxExceptional;
    const main = isText ? "text" : isMixed || !first ? "any" : first[0];
    const strange = isText ? [] : isMixed ? all : others.filter(([one]) => !(main === "text" && one === "date"));
    const exceptions = strange.map(([kind, count]): Exception => ({ kind, count }));
    const texts = this.#texts && main === "text" && this.filled >= minRowsOfLists ? [...this.#texts].sort() : [];
    return {
      ...{ label, kind: main, filled: this.filled, unique: this.isUnique, exceptions },
      sure: !first ? "none" : isMixed ? "mixed" : exceptions.length > 0 ? "most" : "all",
      isWhole: this.isWhole,
      ...(texts.length > 0 ? { values: texts } : {}),
      ...(this.linkKey === undefined ? {} : { link: { key: this.linkKey } }),
    };
  }
}

/** Learns what a table has from its rows, in one pass: of each label the counts of each kind. */
export class TableInference {
  readonly #table: string;
  readonly #key: readonly string[];
  readonly #labels = new Map<string, Label>();
  #rows = 0;

  /** @param key labels of the natural key; empty where it is to be found */
  constructor(table: string, key: readonly string[]) {
    this.#table = table;
    this.#key = key;
  }

  get rows(): number {
    return this.#rows;
  }

  observe(values: RowData): void {
    this.#rows++;
    for (const [label, value] of Object.entries(values)) {
      let known = this.#labels.get(label);
      if (!known) this.#labels.set(label, (known = new Label()));
      if (canonical(value) !== undefined) known.observe(value);
    }
    // Proofs of many labels would take the memory of the table.
    if (this.#rows % 10_000 === 0) this.#narrow();
  }

  #narrow(): void {
    const candidates = [...this.#labels].filter(([, { isUnique }]) => isUnique);
    const isKept = ([label, one]: readonly [string, Label], at: number): boolean =>
      this.#key.includes(label) || (at < max.candidates && one.filled === this.#rows);
    candidates.filter((one, at) => !isKept(one, at)).forEach(([, one]) => one.forget());
  }

  model(): TableModel {
    const full = [...this.#labels].filter(([, one]) => one.isUnique && one.filled === this.#rows);
    const found = full.find(([label]) => /^(code|key|id|name|email)$/i.test(label)) ?? full[0];
    const key = this.#key.length > 0 ? [...this.#key] : found ? [found[0]] : [];
    const fields = [...this.#labels].map(([label, one]) => one.model(label));
    return { table: this.#table, rows: this.#rows, key, fields };
  }
}
