import { firstLines } from "../../../provider/messages/firstLines.ts";
import { MaskError } from "./maskError.ts";
import type { MaskRule, MasksFile, PlacedRule } from "./masksFile.ts";
import { peopleLabel } from "./originals.ts";

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
      ...this.#unmasked(),
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

  /** Labels under mayHold that nothing masks. */
  #unmasked(): string[] {
    const all = [...this.file.labels, ...[...this.file.tables.values()].flatMap((rules) => [...rules])];
    return all.flatMap(([, { rule, place }]) =>
      (rule.kind === "keep" ? rule.mayHold : []).flatMap((held) =>
        held === peopleLabel || all.some(([label, other]) => label === held && other.rule.kind !== "keep")
          ? []
          : [`${place}: mayHold names "${held}", which no rule masks: correct the label, or leave it out`],
      ),
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
