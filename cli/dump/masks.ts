import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import { answerRemoved } from "../../machine/removed.ts";
import type { RowData } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { firstLines, formatCount } from "../../platform/messages/text.ts";
import { checkContent, makePlainGrammar, parseLayers, textOf } from "../../provider/layers/layers.ts";
import type { NamedThing, PeopleMask } from "./people.ts";
import { isMovable, isPlaceholder, moveDate, Pseudonyms } from "./pseudonyms.ts";
import type { DumpedSeed } from "./seeds.ts";
import { isNothing, linkOf, type TableOption, type TableRows } from "./tables.ts";

/** Why nothing was masked, each reason in one sentence with its remedy. It quotes no value that is to be masked. */
class MaskError extends Error {
  override readonly name = "MaskError";
}

const words = ["keep", "drop", "name", "address", "digits", "date"] as const;
const label = z.string().min(1);
const constant = z
  .strictObject({ constant: z.union([z.string().min(1), z.number(), z.boolean()]) })
  .describe("The same value in every row.");
const dateBy = z
  .strictObject({ date: z.strictObject({ by: label }) })
  .describe("Moves dates by the span of the person that this label names or links to.");
const rule = z
  .union([z.enum(words), constant, dateBy], {
    error: `must be ${words.join(", ")}, {constant: <value>} or {date: {by: <label>}}`,
  })
  .describe("Rule for the values of a label.");
const described = z.strictObject({
  name: z.enum(["keep", "name"]).describe("Names as they are, or invented ones."),
  description: z.enum(["keep", "drop"]).default("drop"),
});

/** The content of a masks file. */
const masksFile = z.strictObject({
  labels: z.record(label, rule).default({}).describe("Rules for the labels of every table."),
  tables: z
    .record(label, z.record(label, rule))
    .default({})
    .describe("Rules for the labels of one table, by its ID. They count before those under labels."),
  people: z.enum(["address", "keep"]).default("address").describe("Addresses of the members of teams."),
  organizations: described.optional().describe("Names and descriptions of organizations."),
  teams: described.optional().describe("Names and descriptions of teams."),
});

/** A rule with what it needs. */
type MaskRule =
  | { kind: "keep" | "drop" | "name" | "address" | "digits" }
  | { kind: "constant"; value: string | number | boolean }
  | { kind: "date"; by: string | undefined };

/** A rule of the file and where it stands, for people. */
interface PlacedRule {
  rule: MaskRule;
  place: string;
}

/** A masks file that was read. */
export interface MasksFile {
  labels: ReadonlyMap<string, PlacedRule>;
  tables: ReadonlyMap<string, ReadonlyMap<string, PlacedRule>>;
  people: "address" | "keep";
  organizations: z.output<typeof described> | undefined;
  teams: z.output<typeof described> | undefined;
  /** Place of a table's rules. */
  placeOfTable: (table: string) => string;
}

/** Reads a masks file, with the files that it extends. Throws a FileError that names each mistake with its place. */
export function readMasks(file: string): MasksFile {
  const folder = dirname(file);
  const { content, at } = parseLayers(textOf(file, "masks file", folder), file, folder, makePlainGrammar(masksFile));
  for (const path of formerRules(content)) {
    const sentence = answerRemoved("environmentKeys", `masks.${String(path.at(-1))}`);
    if (sentence !== undefined) throw new MaskError(`${at(path)}: ${sentence}`);
  }
  const { labels, tables, ...rest } = checkContent(masksFile, content, at);
  const placed = (written: z.output<typeof rule>, path: PropertyKey[]): PlacedRule => ({
    rule: toRule(written),
    place: at(path),
  });
  const rulesIn = (rules: Record<string, z.output<typeof rule>>, path: PropertyKey[]): Map<string, PlacedRule> =>
    new Map(Object.entries(rules).map(([name, one]) => [name, placed(one, [...path, name])]));
  return {
    ...rest,
    organizations: rest.organizations,
    teams: rest.teams,
    labels: rulesIn(labels, ["labels"]),
    tables: new Map(Object.entries(tables).map(([table, rules]) => [table, rulesIn(rules, ["tables", table])])),
    placeOfTable: (table) => at(["tables", table]),
  };
}

/** Places of what version 0.1.0 had in a masks file. */
function formerRules(content: unknown): PropertyKey[][] {
  if (!isObject(content)) return [];
  const { labels, tables } = content;
  const ofTables = Object.entries(isObject(tables) ? tables : {});
  const rules = [[["labels"], labels] as const, ...ofTables.map(([table, own]) => [["tables", table], own] as const)];
  return [
    ...["kinds", "others"].filter((key) => key in content).map((key) => [key]),
    ...rules.flatMap(([above, own]) =>
      Object.entries(isObject(own) ? own : {}).flatMap(([label, rule]) =>
        isObject(rule) && "keep" in rule ? [[...above, label, "keep"]] : [],
      ),
    ),
  ];
}

function toRule(written: z.output<typeof rule>): MaskRule {
  if (written === "date") return { kind: "date", by: undefined };
  if (typeof written === "string") return { kind: written };
  if ("constant" in written) return { kind: "constant", value: written.constant };
  return { kind: "date", by: written.date.by };
}

/** JSON Schema of a masks file, for editors. */
export function masksJsonSchema(): object {
  const schema = z.toJSONSchema(masksFile, { io: "input" });
  const below = {
    type: "string",
    description: "A masks file, beside this one, whose rules count where this one has none.",
  };
  return { ...schema, properties: { extends: below, ...schema.properties } };
}

/** A table as rules see it. */
interface MaskedTable {
  table: string;
  /** Labels of the natural key. */
  key: readonly string[];
}

/** The rules of a file for the tables of a dump; knows which of them matched. */
class MaskRules {
  readonly file: MasksFile;
  readonly #used = new Set<PlacedRule>();

  /** Throws a MaskError for rules that can't be followed, before anything is read. */
  constructor(file: MasksFile, tables: readonly MaskedTable[]) {
    this.file = file;
    const wrong = [
      ...this.#unknownTables(tables),
      ...tables.flatMap((one) => this.#unsuitable(one)),
      ...this.#contradictions(tables),
      ...tables.flatMap(({ table }) => this.#nameless(table)),
    ];
    if (wrong.length > 0) throw new MaskError(firstLines([...new Set(wrong)]).join("\n"));
  }

  /** The rule for a label of a table; it has matched then. */
  use(table: string, label: string): PlacedRule | undefined {
    const found = this.find(table, label);
    if (found) this.#used.add(found);
    return found;
  }

  find(table: string, label: string): PlacedRule | undefined {
    return this.file.tables.get(table)?.get(label) ?? this.file.labels.get(label);
  }

  /** Sentences about rules that matched no label of any row. */
  listUnmatched(): string[] {
    const { labels, tables } = this.file;
    const sentence = ({ place }: PlacedRule, name: string): string =>
      `${place}: this rule matched nothing, since no row has ${name}: correct the label, or delete the rule`;
    const unused = (rules: ReadonlyMap<string, PlacedRule>, of: string): string[] =>
      [...rules].flatMap(([label, rule]) => (this.#used.has(rule) ? [] : [sentence(rule, `"${label}"${of}`)]));
    return [...unused(labels, ""), ...[...tables].flatMap(([table, rules]) => unused(rules, ` in table ${table}`))];
  }

  #unknownTables(tables: readonly MaskedTable[]): string[] {
    return [...this.file.tables.keys()]
      .filter((name) => !tables.some(({ table }) => table === name))
      .map(
        (name) =>
          `${this.file.placeOfTable(name)}: table ${name} is not dumped: name it with --table, or delete its rules`,
      );
  }

  /** Rules that would take a table its natural key. */
  #unsuitable({ table, key }: MaskedTable): string[] {
    return key.flatMap((label) => {
      const found = this.find(table, label);
      if (!found) return [];
      const { rule, place } = found;
      const refused = rule.kind === "drop" || rule.kind === "date" || (rule.kind === "constant" && key.length === 1);
      return refused
        ? [
            `${place}: ${rule.kind} can't be the rule for "${label}", which table ${table} has as its natural key: mask it by digits, name or address, or keep it`,
          ]
        : [];
    });
  }

  /** A label that is a natural key somewhere means the same thing everywhere. */
  #contradictions(tables: readonly MaskedTable[]): string[] {
    const { file } = this;
    const isSame = (one: MaskRule, other: MaskRule): boolean => one.kind === other.kind || other.kind === "drop";
    return tables.flatMap(({ table, key }) =>
      key.flatMap((label) => {
        const own = this.find(table, label);
        const others = [...file.tables].flatMap(([name, rules]) =>
          name === table ? [] : [[name, rules.get(label)] as const],
        );
        const general = tables.some((other) => other.table !== table && !file.tables.get(other.table)?.has(label))
          ? ([["other tables", file.labels.get(label)]] as const)
          : [];
        return [...others, ...general].flatMap(([name, other]) => {
          if (!own || !other || own === other || isSame(own.rule, other.rule)) return [];
          return [
            `${own.place}: "${label}" is the natural key of table ${table} by ${own.rule.kind}, and ${other.rule.kind} in ${name} (${other.place}): who has both files could set them side by side; use one rule`,
          ];
        });
      }),
    );
  }

  /** Dates that are to move with somebody whom no row names. */
  #nameless(table: string): string[] {
    const { labels, tables } = this.file;
    return [...labels.values(), ...(tables.get(table)?.values() ?? [])].flatMap(({ rule, place }) => {
      const by = rule.kind === "date" ? rule.by : undefined;
      const other = by === undefined ? undefined : this.find(table, by)?.rule.kind;
      if (other !== "drop" && other !== "constant" && other !== "date") return [];
      return [
        `${place}: dates can't move by "${by ?? ""}", whose rule is ${other}: name a label of the person that is kept or masked`,
      ];
    });
  }
}

/** The variable with the secret that masks are made with. */
const secretVariable = "MICROAPPS_MASK_SECRET";

/** The variable with the path of a file that has it. */
const secretFileVariable = "MICROAPPS_MASK_SECRET_FILE";

/** Characters that a secret has at least, and how many different ones. */
const [shortest, fewest] = [32, 8];

const remedy = `make one with "openssl rand -hex 32", and keep it: another secret makes other masks`;

/** The secret of masks. Throws a MaskError where there is none, where it is weak, or where Git could have its file. */
export function readMaskSecret(environment: Readonly<Record<string, string | undefined>>): string {
  const own = environment[secretVariable] ?? "";
  const file = environment[secretFileVariable] ?? "";
  if (own !== "" && file !== "")
    throw new MaskError(`${secretVariable} and ${secretFileVariable} are both set: leave one of them out`);
  if (own === "" && file === "")
    throw new MaskError(
      `there is no secret to mask with: set ${secretVariable}, or ${secretFileVariable} to a file outside of Git; ${remedy}`,
    );
  const [secret, name] = file === "" ? [own, secretVariable] : [secretIn(file), `the file of ${secretFileVariable}`];
  if (secret.length < shortest) throw new MaskError(`${name} has less than ${shortest} characters: ${remedy}`);
  if (new Set(secret).size < fewest)
    throw new MaskError(`${name} has less than ${fewest} different characters, which can be guessed: ${remedy}`);
  return secret;
}

function secretIn(file: string): string {
  const refuse = (reason: string): never => {
    throw new MaskError(`the file of ${secretFileVariable} ${reason}`);
  };
  try {
    const path = realpathSync(file);
    const { mode } = statSync(path);
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      refuse("can be read by other users of the machine: chmod 600 it");
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if (existsSync(join(folder, ".git")))
        refuse("lies in a Git repository: move it out, so that nobody commits it beside what it masks");
      if (dirname(folder) === folder) break;
    }
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof MaskError) throw error;
    return refuse(`can't be read: ${messageOf(error)}`);
  }
}

/** A masks file and the secret that masks are made with. */
export interface MaskRequest {
  file: MasksFile;
  secret: string;
}

/** A label of a table, and what was seen of it. */
interface MaskedLabel {
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
class TableMask {
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
    const table = this.tables.find(({ option }) => option === seed.rows.option);
    const moving = (table?.labels ?? []).flatMap(({ label, rule }) =>
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
