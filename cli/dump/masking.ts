import { stringify } from "yaml";
import type { RowData } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { firstLines } from "../../platform/messages/text.ts";
import { MaskError, MaskRules, type MasksFile, type PlacedRule } from "./masks.ts";
import type { NamedThing, PeopleMask } from "./people.ts";
import { isMovable, isPlaceholder, moveDate, Pseudonyms } from "./pseudonyms.ts";
import type { DumpedSeed } from "./seeds.ts";
import { isNothing, linkOf, type TableOption, type TableRows } from "./tables.ts";

/** A masks file and the secret that masks are made with. */
export interface MaskRequest {
  file: MasksFile;
  secret: string;
}

/** A label of a table, and what was seen of it. */
export interface MaskedLabel {
  label: string;
  rule: PlacedRule | undefined;
  /** Values, links left out. */
  values: number;
  links: number;
  /** True once a value holds a text or a number, also within a list or a map: somebody has to decide on it. */
  isOpen: boolean;
  /** Values that the rule can't mask, by the reason. */
  unfit: Map<string, number>;
}

/** Masks the rows of one table as they come, and notes what its labels hold. */
export class TableMask {
  readonly option: TableOption;
  readonly #rules: MaskRules;
  readonly #pseudonyms: Pseudonyms;
  readonly #labels = new Map<string, MaskedLabel>();

  constructor(option: TableOption, rules: MaskRules, pseudonyms: Pseudonyms) {
    this.option = option;
    this.#rules = rules;
    this.#pseudonyms = pseudonyms;
  }

  /** Labels in alphabetical order. */
  get labels(): MaskedLabel[] {
    return [...this.#labels.values()].sort((a, b) => (a.label < b.label ? -1 : 1));
  }

  /** The values of a row as they are written: links as they are, dates not moved yet. */
  apply(values: RowData): RowData {
    const masked: RowData = {};
    for (const [label, value] of Object.entries(values)) {
      const known = this.#labelOf(label);
      if (isNothing(value)) continue;
      const made = this.#masked(known, value);
      if (made !== undefined) masked[label] = made;
    }
    return masked;
  }

  #labelOf(label: string): MaskedLabel {
    const known = this.#labels.get(label);
    if (known) return known;
    const rule = this.#rules.use(this.option.table, label);
    const made = { label, rule, values: 0, links: 0, isOpen: false, unfit: new Map() };
    this.#labels.set(label, made);
    return made;
  }

  #masked(known: MaskedLabel, value: unknown): unknown {
    const rule = known.rule?.rule;
    const link = linkOf(value);
    if (link !== undefined) {
      known.links++;
      if (rule?.kind === "drop") return undefined;
      if (rule && rule.kind !== "keep") refuse(known, `links follow the rows that they lead to: keep or drop them`);
      // The platform's copy of the linked row's values would be in clear.
      return { crossAppRowID: link };
    }
    known.values++;
    known.isOpen ||= holdsWords(value);
    if (!rule) return value;
    switch (rule.kind) {
      case "keep":
        return value;
      case "drop":
        return undefined;
      case "constant":
        return rule.value;
      default:
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
    if (kind === "date") {
      if (!isMovable(value))
        refuse(known, "not a date such as 2026-01-31 or 2026-01-31T08:00:00Z: drop it, keep it or write a constant");
      return value;
    }
    const pseudonyms = this.#pseudonyms;
    if (kind === "digits") return typeof value === "number" ? pseudonyms.number(value) : pseudonyms.digits(value);
    return maskText(String(value), kind, pseudonyms);
  }
}

function refuse({ unfit }: MaskedLabel, reason: string): void {
  unfit.set(reason, (unfit.get(reason) ?? 0) + 1);
}

const holdsWords = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? (isObject(value) && Object.keys(value).length > 0) || Object.values(value).some(holdsWords)
    : typeof value === "string" || typeof value === "number";

const separators = /(\s*[;,\n]\s*)/;
const inBrackets = /<([^<>\s]+@[^<>\s]+)>/;

/** A list in a text stays a list: each of its names or addresses has its own mask. */
export function maskText(text: string, kind: "name" | "address", pseudonyms: Pseudonyms): string {
  if (!text.isWellFormed()) throw new MaskError("a value is not Unicode text: drop its label");
  const masked = text.split(separators).map((part, index) => {
    if (index % 2 === 1 || part.trim() === "") return part;
    if (kind === "name") return pseudonyms.name(part);
    return pseudonyms.address(inBrackets.exec(part)?.[1] ?? part.trim().replace(/^mailto:/i, ""));
  });
  return masked.join("");
}

/** Masks of one dump. */
export class DumpMask implements PeopleMask {
  readonly rules: MaskRules;
  readonly pseudonyms: Pseudonyms;
  readonly tables: TableMask[] = [];

  /** Throws a MaskError for rules that can't be followed. */
  constructor({ file, secret }: MaskRequest, tables: readonly TableOption[]) {
    this.rules = new MaskRules(file, tables);
    this.pseudonyms = new Pseudonyms(secret);
  }

  /** The mask of a table's rows, which are read from the first one on. */
  tableMask(option: TableOption): TableMask {
    const made = new TableMask(option, this.rules, this.pseudonyms);
    const at = this.tables.findIndex((known) => known.option === option);
    this.tables.splice(at < 0 ? this.tables.length : at, 1, made);
    return made;
  }

  /** A person's address. */
  address(email: string): string {
    return this.rules.file.people === "keep" ? email : this.pseudonyms.address(email);
  }

  /** An organization or a team with the name and description that its rule allows. */
  named<One extends NamedThing>(what: "organizations" | "teams", one: One): One {
    const rule = this.rules.file[what];
    if (!rule)
      throw new MaskError(
        `${what} are dumped and have no rule: write ${what}: {name: keep} or ${what}: {name: name} into the masks file`,
      );
    const name = rule.name === "keep" ? one.name : this.pseudonyms.name(one.name);
    return { ...one, name, description: rule.description === "keep" ? one.description : undefined };
  }

  /** Sentences about all that keeps the tables from being masked. */
  listProblems(): string[] {
    const problems = this.tables.flatMap(({ option: { table }, labels }) =>
      labels.flatMap(({ label, rule, unfit, isOpen }) => [
        ...[...unfit].map(
          ([reason, count]) =>
            `${rule?.place ?? table}: table ${table}: ${formatCount(count, "value")} of "${label}": ${reason}`,
        ),
        ...(rule || !isOpen ? [] : [`table ${table}: "${label}" has no rule`]),
      ]),
    );
    return [...this.rules.listUnmatched(), ...problems];
  }

  /** Rules for the labels that have none, as YAML for people to finish; empty where each label has one. */
  listMissing(): string {
    const tables = this.tables.flatMap(({ option: { table, key }, labels }) => {
      const open = labels.filter(({ rule, isOpen }) => !rule && isOpen);
      // What nobody decided on stays away; a key can't.
      const rules = open.map(({ label }) => [label, key.includes(label) ? "digits" : "drop"] as const);
      return rules.length > 0 ? [[table, Object.fromEntries(rules)] as const] : [];
    });
    return tables.length === 0 ? "" : stringify({ tables: Object.fromEntries(tables) }, { lineWidth: 0 }).trimEnd();
  }

  /** Ends with all that keeps the tables from being masked, and with the rules to paste. */
  assertComplete(): void {
    const problems = this.listProblems();
    if (problems.length > 0) throw new MaskError([...firstLines(problems), ...pasted(this.listMissing())].join("\n"));
  }

  /** Moves the dates of a seed's rows, each person's by one span; undefined where no label has dates to move. */
  dateMover(seed: DumpedSeed, seeds: readonly DumpedSeed[]): ((values: RowData, index: number) => void) | undefined {
    const moving = (seed.rows.mask?.labels ?? []).flatMap(({ label, rule }) =>
      rule?.rule.kind === "date" ? [{ label, by: rule.rule.by }] : [],
    );
    if (moving.length === 0) return undefined;
    const byRows = new Map(seeds.map((each) => [each.rows, each]));
    return (values, index) => {
      // By the row itself for all labels that name nobody.
      let own: string | undefined;
      for (const { label, by } of moving) {
        if (isNothing(values[label])) continue;
        const named = by === undefined ? undefined : personAt(seed, values[by], by);
        const person = named ?? (own ??= personOf(seed.rows, index, byRows));
        values[label] = this.#moved(values[label], person);
      }
    };
  }

  #moved(value: unknown, person: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#moved(item, person));
    return moveDate(value, this.pseudonyms.span(isPlaceholder(value) ? `placeholder\0${person}` : person)) ?? null;
  }
}

/** The rules to paste, for people. */
export const pasted = (missing: string): string[] =>
  missing === ""
    ? []
    : ["Rules to look through and to add to the masks file (keep where everybody may see it):", missing];

/** The person that a label names by its text, or by a link. */
function personAt({ references }: DumpedSeed, value: unknown, label: string): string | undefined {
  const target = references.get(label);
  if (target) return target.keyOf(linkOf(value) ?? "");
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** The person that a row is about: the key of the topmost row above it, or its own. */
function personOf(rows: TableRows, index: number, byRows: ReadonlyMap<TableRows, DumpedSeed>): string {
  const above = byRows.get(rows)?.parent?.rows;
  if (!above) return rows.keyAt(index);
  const place = above.placeOf(rows.row(index).parent ?? "");
  return place === undefined ? rows.keyAt(index) : personOf(above, place, byRows);
}
