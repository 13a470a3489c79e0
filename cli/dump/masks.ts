import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../machine/failures.ts";
import { answerRemoved } from "../../machine/removed.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { firstLines } from "../../platform/messages/text.ts";
import { checkContent, parseLayers, textOf, makePlainGrammar } from "../../provider/layers/layers.ts";

/** Why nothing was masked, each reason in one sentence with its remedy. It quotes no value that is to be masked. */
export class MaskError extends Error {
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
export const masksFile = z.strictObject({
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
export type MaskRule =
  | { kind: "keep" | "drop" | "name" | "address" | "digits" }
  | { kind: "constant"; value: string | number | boolean }
  | { kind: "date"; by: string | undefined };

/** A rule of the file and where it stands, for people. */
export interface PlacedRule {
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
export interface MaskedTable {
  table: string;
  /** Labels of the natural key. */
  key: readonly string[];
}

/** The rules of a file for the tables of a dump; knows which of them matched. */
export class MaskRules {
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
export const secretVariable = "MICROAPPS_MASK_SECRET";

/** The variable with the path of a file that has it. */
export const secretFileVariable = "MICROAPPS_MASK_SECRET_FILE";

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
