import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { canonical } from "../../../provider/reconcile/digests.ts";
import { isMovable } from "./dates.ts";
import { LabelLooks } from "./labelLooks.ts";
import { MaskError } from "./maskError.ts";
import type { MaskRule, PlacedRule } from "./masksFile.ts";
import { platformIDs, type Originals } from "./originals.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import type { MaskedTable, MaskRules } from "./rules.ts";

/** Means to make masks; without them a table is only looked at. */
export interface Making {
  pseudonyms: Pseudonyms;
  originals: Originals;
}

/** A label of a table, and what was seen of it. */
export interface MaskedLabel {
  label: string;
  rule: PlacedRule | undefined;
  looks: LabelLooks;
  /** Values, links left out. */
  values: number;
  links: number;
  /** Values that the rule can't mask, by the reason. */
  unfit: Map<string, number>;
  origin: number | undefined;
}

/** Characters of the shortest ID that is searched for. */
const shortestID = 8;

/** True for what a seed takes for nothing; most values need no look inside. */
const isEmpty = (value: unknown): boolean =>
  value === "" || value === null || (typeof value === "object" && canonical(value) === undefined);

const isLink = (value: unknown): value is { crossAppRowID: string } =>
  isObject(value) && typeof value["crossAppRowID"] === "string";

/** Masks the rows of one table as they come, and notes what its labels hold. */
export class TableMask {
  readonly table: string;
  readonly #rules: MaskRules;
  readonly #making: Making | undefined;
  readonly #labels = new Map<string, MaskedLabel>();
  /** For IDs of the platform. */
  readonly #idOrigin: number | undefined;

  constructor({ table }: MaskedTable, rules: MaskRules, making: Making | undefined) {
    this.table = table;
    this.#rules = rules;
    this.#making = making;
    this.#idOrigin = making?.originals.origin({ table, label: platformIDs });
  }

  /** Labels in alphabetical order. */
  get labels(): MaskedLabel[] {
    return [...this.#labels.values()].sort((a, b) => (a.label < b.label ? -1 : 1));
  }

  /** The rule of a label. */
  ruleOf(label: string): MaskRule | undefined {
    return this.#labels.get(label)?.rule?.rule;
  }

  /** Notes IDs, which must not be found in what is written. */
  addIDs(ids: readonly unknown[]): void {
    if (this.#making === undefined || this.#idOrigin === undefined) return;
    // Short ones, such as "root", are words as well.
    for (const id of ids)
      if (typeof id === "string" && id.length >= shortestID) this.#making.originals.add(id, this.#idOrigin);
  }

  /** The values of a row as they are written: links as they are, dates not moved yet. */
  apply(values: RowData): RowData {
    const masked: RowData = {};
    for (const [label, value] of Object.entries(values)) {
      const known = this.#labelOf(label);
      if (isEmpty(value)) continue;
      const made = this.#masked(known, value);
      if (made !== undefined) masked[label] = made;
    }
    return masked;
  }

  #labelOf(label: string): MaskedLabel {
    const known = this.#labels.get(label);
    if (known) return known;
    const rule = this.#rules.use(this.table, label);
    const origin = this.#making?.originals.origin({ table: this.table, label });
    const made = { label, rule, looks: new LabelLooks(label), values: 0, links: 0, unfit: new Map(), origin };
    this.#labels.set(label, made);
    return made;
  }

  #masked(known: MaskedLabel, value: unknown): unknown {
    const rule = known.rule?.rule;
    if (isLink(value)) {
      known.links++;
      if (rule?.kind === "drop") return undefined;
      if (rule && rule.kind !== "keep") refuse(known, `links follow the rows that they lead to: keep or drop them`);
      // The platform's copy of the linked row's values would be in clear.
      return { crossAppRowID: value.crossAppRowID };
    }
    known.values++;
    if (rule === undefined) return this.#withKinds(known, value);
    switch (rule.kind) {
      case "keep":
        return value;
      case "drop":
        this.#note(known, value);
        return undefined;
      case "constant":
        this.#note(known, value);
        return rule.value;
      case "name":
      case "address":
      case "digits":
      case "date":
        return this.#each(known, rule.kind, value);
    }
  }

  /** A value or a list of values by a rule. */
  #each(known: MaskedLabel, kind: "name" | "address" | "digits" | "date", value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item: unknown) => this.#each(known, kind, item));
    if (value === null || value === "") return value;
    if (typeof value !== "string" && typeof value !== "number") {
      const what = typeof value === "boolean" ? "true or false" : "a map";
      refuse(known, `${kind} can't mask ${what}: drop it, keep it or write a constant`);
      return undefined;
    }
    if (kind === "date" && !isMovable(value)) {
      refuse(known, "not a date such as 2026-01-31 or 2026-01-31T08:00:00Z: drop it, keep it or write a constant");
      return undefined;
    }
    this.#note(known, value);
    if (kind === "name") this.#noteWords(known, String(value));
    if (!this.#making || kind === "date") return value;
    const { pseudonyms } = this.#making;
    if (kind === "digits") return typeof value === "number" ? pseudonyms.number(value) : pseudonyms.digits(value);
    return maskText(String(value), kind, pseudonyms);
  }

  /** A value of a label without a rule: what looks like a kind follows the kind's rule. */
  #withKinds(known: MaskedLabel, value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item: unknown) => this.#withKinds(known, item));
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.#withKinds(known, inner)]));
    const { kinds } = this.#rules.file;
    const parts = known.looks.see(value, kinds);
    if (typeof value !== "string" || parts.length === 0) return value;
    return parts.reduce((text, { kind, text: part }) => {
      const rule = kinds[kind]?.rule;
      if (!rule || rule.kind === "keep") return text;
      this.#note(known, part);
      return text.replaceAll(part, () => this.#partBy(rule, part));
    }, value);
  }

  #partBy(rule: MaskRule, part: string): string {
    const pseudonyms = this.#making?.pseudonyms;
    if (rule.kind === "constant") return String(rule.value);
    if (!pseudonyms || rule.kind === "drop" || rule.kind === "date" || rule.kind === "keep") return "";
    return rule.kind === "digits" ? pseudonyms.digits(part) : maskText(part, rule.kind, pseudonyms);
  }

  /** Free text calls people by a part of their name. */
  #noteWords({ origin }: MaskedLabel, name: string): void {
    if (!this.#making || origin === undefined) return;
    for (const word of name.split(/[\s,;]+/)) if (/^\p{Lu}/u.test(word)) this.#making.originals.add(word, origin);
  }

  /** Keeps the texts in a value among those that must not be found. */
  #note({ origin }: MaskedLabel, value: unknown): void {
    if (!this.#making || origin === undefined) return;
    if (typeof value === "string") this.#making.originals.add(value, origin);
    else if (typeof value === "number") this.#making.originals.add(String(value), origin);
    else if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) this.#note({ origin } as MaskedLabel, inner); // the rest is not read
  }
}

function refuse({ unfit }: MaskedLabel, reason: string): void {
  unfit.set(reason, (unfit.get(reason) ?? 0) + 1);
}

const separators = /(\s*[;,\n]\s*)/;
const inBrackets = /<([^<>\s]+@[^<>\s]+)>/;

/** A list in a text stays a list: each of its names or addresses has its own mask. */
export function maskText(text: string, kind: "name" | "address", pseudonyms: Pseudonyms): string {
  if (!text.isWellFormed()) throw new MaskError("a value is no Unicode text: drop its label");
  const masked = text.split(separators).map((part, index) => {
    if (index % 2 === 1 || part.trim() === "") return part;
    if (kind === "name") return pseudonyms.name(part);
    return pseudonyms.address(inBrackets.exec(part)?.[1] ?? part.trim().replace(/^mailto:/i, ""));
  });
  return masked.join("");
}
