import { nearest } from "../../machine/spelling.ts";
import { fieldKinds, fits, type FieldType, type RowData } from "../../platform/contract/values.ts";
import { entryIn, isObject } from "../../platform/contract/wire.ts";
import { quote, some } from "../../platform/messages/text.ts";
import { canonical, digestOf, hexOf, keyText, inForm, valueForms, type ValueForm } from "./digests.ts";
import type { Seed } from "./inputs.ts";
import { RowSet } from "./rowSet.ts";
import {
  listLinkedLabels,
  formatOf,
  isHidden,
  placeOf,
  type CellType,
  type Source,
  type Mistake,
} from "./source/source.ts";

const formOfType: Readonly<Partial<Record<FieldType | CellType, ValueForm>>> = {
  number: "number",
  date: "date",
  checkbox: "checkbox",
  boolean: "boolean",
};

/** Forms of values by the declared types of a table's fields: `fields` overrides `types`. */
export function formsOf({
  types = {},
  fields = {},
}: Pick<Source, "types" | "fields">): Readonly<Record<string, ValueForm>> | undefined {
  const declared = { ...types, ...fields };
  const forms = Object.keys(declared)
    .sort()
    .flatMap((label) => {
      const form = declared[label] && formOfType[declared[label]];
      return form === undefined ? [] : [[label, form] as const];
    });
  return forms.length === 0 ? undefined : Object.fromEntries(forms);
}

/**
 * The one comparison of cells: a text of a cell's value that is the same for all its spellings, undefined for nothing. Of a
 * long value it is a digest, as of one that `brief` has cut.
 */
export function comparing(
  declaration: Pick<Seed, "references" | "parent" | "forms">,
): (label: string, value: unknown) => string | undefined {
  const linked = new Set(listLinkedLabels(declaration));
  const forms = new Map(Object.entries(declaration.forms ?? {}));
  return (label, value) => {
    const known = typeof value === "string" ? cut.exec(value)?.[0] : undefined;
    if (known !== undefined) return known;
    const form = forms.get(label);
    const text = linked.has(label) ? keyText(value) : canonical(form === undefined ? value : inForm(form, value));
    return text === undefined || text.length <= maxCharacters ? text : `…${hexOf(digestOf(text))}`;
  };
}

/** The labels of either row whose values differ. */
export function changedLabels(declaration: Parameters<typeof comparing>[0], was: RowData, is: RowData): string[] {
  const form = comparing(declaration);
  const labels = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...labels].filter((label) => form(label, was[label]) !== form(label, is[label]));
}

/**
 * The type of a field that makes the same of both values; undefined where none does. A checkbox has no form for false,
 * so that type fits no boolean.
 */
export const typeThatEquals = (one: unknown, other: unknown): ValueForm | undefined =>
  typeof one === "number" && typeof other === "number"
    ? undefined // two numbers are the same in no type
    : (typeof one === "boolean" ? (["boolean"] as const) : valueForms).find(
        (form) => canonical(inForm(form, one)) === canonical(inForm(form, other)),
      );

/** Characters of a value that are shown and stored. */
const maxCharacters = 60;

/** The end of a value that was cut: a digest of all of it. */
const cut = /…[0-9a-f]{32}$/;

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A value as a state keeps it: of a long one the beginning, and what it is compared by. */
export const brief = (value: unknown, compared: string | undefined): unknown =>
  compared !== undefined && cut.test(compared) ? textOf(value).slice(0, maxCharacters) + compared : value;

/** A value for display. */
export function shown(value: unknown): string {
  if (canonical(value) === undefined) return "nothing";
  const text = textOf(value).replace(cut, "…");
  if (text.length > maxCharacters + 1) return JSON.stringify(`${text.slice(0, maxCharacters)}…`);
  return JSON.stringify(typeof value === "string" ? text : value);
}

/** Most lists of labels that a state keeps. */
const maxForms = 50;

/** Which labels each row of a source has, and how many rows have a value under one. Most sources have one form of row. */
export class RowLabels {
  readonly #forms: (readonly string[])[] = [];
  readonly #ids = new Map<string, number>();
  /** The form of each row; nothing as long as all have the first one. */
  #of: Uint32Array | undefined;
  #length = 0;
  #last = 0;
  /** Rows with a value, by form and place of the label. */
  readonly #counts: number[][] = [];

  /** Takes in the next row. */
  add(values: RowData): void {
    const form = this.#formOf(Object.keys(values));
    if (form !== 0 && !this.#of) this.#of = new Uint32Array(Math.max(1_024, this.#length * 2));
    if (this.#of && this.#of.length === this.#length) {
      const longer = new Uint32Array(this.#length * 2);
      longer.set(this.#of);
      this.#of = longer;
    }
    if (this.#of) this.#of[this.#length] = form;
    this.#length++;
    // Counted by place, because a million rows come by here.
    const [labels = [], counts = []] = [this.#forms[form], this.#counts[form]];
    for (let at = 0; at < labels.length; at++)
      if (hasValue(values[labels[at] ?? ""])) counts[at] = (counts[at] ?? 0) + 1;
  }

  /** The labels of a row, by its index. */
  at(index: number): readonly string[] {
    return this.#forms[this.#of?.[index] ?? 0] ?? [];
  }

  /** The different lists of labels; nothing where all rows have the same, or too many have others. */
  forms(): string[][] | undefined {
    const { length } = this.#forms;
    return length < 2 || length > maxForms ? undefined : this.#forms.map((form) => [...form]);
  }

  /** Labels that every row has. */
  get common(): readonly string[] {
    const [first = [], ...others] = this.#forms;
    return first.filter((label) => others.every((form) => form.includes(label)));
  }

  /** Rows with a value, by label. */
  counts(): Record<string, number> {
    const sums = new Map<string, number>();
    for (const [form, labels] of this.#forms.entries())
      for (const [at, label] of labels.entries())
        sums.set(label, (sums.get(label) ?? 0) + (this.#counts[form]?.[at] ?? 0));
    return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #formOf(labels: readonly string[]): number {
    const last = this.#forms[this.#last];
    if (last?.length === labels.length && labels.every((label, at) => label === last[at])) return this.#last;
    const name = JSON.stringify(labels);
    const known = this.#ids.get(name);
    this.#last = known ?? this.#forms.push(labels) - 1;
    if (known === undefined) {
      this.#ids.set(name, this.#last);
      this.#counts.push(labels.map(() => 0));
    }
    return this.#last;
  }
}

/** True for a cell with content: a platform may give back one kind of nothing for another. */
export const hasValue = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : canonical(value) !== undefined;

/** How the cells of a CSV that go into a field are read (default: as text). */
const cellTypes: Readonly<Partial<Record<FieldType, CellType>>> = {
  number: "number",
  checkbox: "checkbox",
  location: "json",
  viewers: "json",
  teamViewers: "json",
};

/** Checks rows against the fields of their table, where an Environment file names them. */
export class RowFields {
  readonly #fields: ReadonlyMap<string, FieldType>;
  readonly #declaration: Seed;
  readonly #linked: ReadonlySet<string>;

  constructor(fields: Readonly<Record<string, FieldType>>, declaration: Seed) {
    this.#fields = new Map(Object.entries(fields));
    this.#declaration = declaration;
    this.#linked = new Set(listLinkedLabels(declaration));
  }

  /** Describes the problem of a label; the column that names the parent row is no field. */
  unknownLabel(label: string): string | undefined {
    const { table, parent } = this.#declaration;
    if (label === parent?.by || this.#fields.has(label)) return undefined;
    const known = [...this.#fields.keys()];
    const near = nearest(label, known);
    const meant =
      near === undefined ? `it has ${some(known, 20)}; add it there if it is new` : `did you mean ${quote(near)}?`;
    return `table ${table} has no field ${quote(label)} under platform; ${meant}`;
  }

  /** Describes values that the fields do not take. Keys of other rows are no values. */
  misfits(values: RowData): string[] {
    return Object.keys(values).flatMap((label) => {
      const type = this.#fields.get(label);
      if (type === undefined || this.#linked.has(label) || fits(type, values[label])) return [];
      const [is, write] = fieldKinds[type];
      return `${label} is ${is}: ${typesToDeclare(this.#declaration, label, type) ?? write}`;
    });
  }
}

/** Advises an entry of `types` for a column of a CSV that is not read as its field's type; undefined where none is needed. */
function typesToDeclare({ source = "", types = {} }: Source, label: string, type: FieldType): string | undefined {
  if (formatOf(source) !== ".csv") return undefined;
  const declared = entryIn(types, label) ?? "text";
  const needed = cellTypes[type] ?? "text";
  if (declared === needed || (declared === "json" && needed === "checkbox")) return undefined;
  return needed === "text" ? "leave it out of types" : `declare types: {${label}: ${needed}}`;
}

/** A cell that an expectation refuses. */
export interface Violation {
  rule: "notNull" | "acceptedValues" | "unique";
  label: string;
  /** Value of the cell for people; undefined for none, and for a secret one. */
  value: string | undefined;
  /** Place of the row that has the same value. */
  other?: number;
}

/**
 * Expectations of cells, of the rows of a source and of a table alike. Values are compared as keys are: text and number are
 * the same.
 */
export class CellRules {
  readonly #seed: Seed;
  readonly #accepted: readonly (readonly [label: string, values: ReadonlySet<string | undefined>])[];
  readonly #unique: readonly (readonly [label: string, seen: RowSet])[];

  constructor(seed: Seed) {
    const { acceptedValues = {}, unique = [] } = seed.expect ?? {};
    this.#seed = seed;
    this.#accepted = Object.entries(acceptedValues).map(([label, values]) => [
      label,
      new Set(values.map((value) => this.textOf(label, value))),
    ]);
    this.#unique = unique.map((label) => [label, new RowSet()]);
  }

  /** The text of a value that comparisons use; undefined for none. */
  textOf(label: string, value: unknown): string | undefined {
    const form = entryIn(this.#seed.forms, label);
    const shown =
      isObject(value) && isObject(value["value"]) && "crossAppRowID" in value ? value["value"]["value"] : value;
    return hasValue(shown) ? keyText(form === undefined ? shown : inForm(form, shown)) : undefined;
  }

  /** A value for people; undefined for a secret one. */
  shown(label: string, value: unknown): string | undefined {
    return isHidden(this.#seed, label) ? undefined : shown(value);
  }

  /**
   * Takes in a row; yields its cells that are not as expected.
   * @param place of the row, by which a second one names it
   * @param counts false for labels that are not judged
   */
  *violations(place: number, values: RowData, counts: (label: string) => boolean = () => true): Generator<Violation> {
    for (const label of this.#seed.expect?.notNull ?? [])
      if (!hasValue(values[label]) && counts(label)) yield { rule: "notNull", label, value: undefined };
    for (const [label, accepted] of this.#accepted) {
      const value = values[label];
      if (!hasValue(value) || !counts(label)) continue;
      const items: unknown[] = Array.isArray(value) ? value : [value];
      const strange = items.find((item) => !accepted.has(this.textOf(label, item)));
      if (strange !== undefined) yield { rule: "acceptedValues", label, value: this.shown(label, strange) };
    }
    for (const [label, seen] of this.#unique) {
      const text = counts(label) ? this.textOf(label, values[label]) : undefined;
      const before = text === undefined ? undefined : seen.add(digestOf(text), undefined, place);
      if (before !== undefined)
        yield { rule: "unique", label, value: this.shown(label, values[label]), other: seen.line(before) };
    }
  }
}

/** What is wrong with a cell of a source that its seed expects otherwise. */
export function describeViolation(seed: Seed, { rule, label, value, other = 0 }: Violation): Omit<Mistake, "line"> {
  const about = `${label} ${rule}`;
  if (rule === "notNull") return { about, text: `${label} has no value, and expect.${rule} takes no row without one` };
  const same = value ?? "the same value";
  const [is, none] = [`${label} is`, value === undefined ? "a value that is not" : `${value}, none`];
  const text =
    rule === "unique"
      ? `${is} ${same} as at ${placeOf(seed, other)}, and expect.unique takes each value once`
      : `${is} ${none} of expect.${rule}${describeAccepted(seed, label)}`;
  return { about, text };
}

/** The accepted values of a label for people; empty for a secret one. */
export const describeAccepted = (seed: Seed, label: string): string =>
  isHidden(seed, label) ? "" : `: ${some((seed.expect?.acceptedValues?.[label] ?? []).map(String).map(quote), 10)}`;

/** Mistakes that are named; of the others only the number. */
const maxNamed = 20;

/** Mistakes of rows: the same mistake of many rows is one sentence, at the first of them. */
export class RowMistakes {
  readonly #place: (line: number, column?: number) => string;
  readonly #found = new Map<string, { first: Mistake; count: number }>();
  /** Mistakes beyond those that are named. */
  #others = 0;

  /** @param place where a row stands, for people */
  constructor(place: (line: number, column?: number) => string) {
    this.#place = place;
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  add(mistake: Mistake): void {
    const about = mistake.about ?? mistake.text;
    const known = this.#found.get(about);
    if (known) known.count++;
    else if (this.#found.size < maxNamed) this.#found.set(about, { first: mistake, count: 1 });
    else this.#others++;
  }

  /** `countries.csv:17 "PT" and 19 more: People is a number: …`, in the order in which they were found. */
  sentences(): string[] {
    const messages = [...this.#found.values()].map(({ first: { line, column, key, text }, count }) => {
      const which = key === undefined ? "" : ` ${quote(key)}`;
      return `${this.#place(line, column)}${which}${count > 1 ? ` and ${count - 1} more` : ""}: ${text}`;
    });
    return this.#others > 0 ? [...messages, `and ${this.#others} more`] : messages;
  }
}
