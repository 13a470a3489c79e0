import type { RowData } from "../../provider/contract/values.ts";
import { firstLines } from "../../provider/messages/firstLines.ts";
import { formatCount } from "../../provider/messages/text.ts";
import { DumpError } from "./dumpError.ts";
import { isPlaceholder, moveDate } from "./mask/dates.ts";
import { MaskError } from "./mask/maskError.ts";
import type { MasksFile } from "./mask/masksFile.ts";
import { Originals, peopleLabel, platformIDs } from "./mask/originals.ts";
import { Pseudonyms } from "./mask/pseudonyms.ts";
import { MaskRules } from "./mask/rules.ts";
import { TableMask, type MaskedLabel } from "./mask/tableMask.ts";
import type { DumpedOrganization, NamedThing, PeopleMask } from "./people.ts";
import { isNothing, linkOf } from "./rows/columns.ts";
import type { DumpedSeed } from "./seeds.ts";
import type { TableOption } from "./tableOption.ts";
import type { TableRows } from "./tableRows.ts";

/** A masks file and the secret that masks are made with. */
export interface MaskRequest {
  file: MasksFile;
  secret: string;
}

/** Masks of one dump. */
export class DumpMask implements PeopleMask {
  readonly rules: MaskRules;
  readonly pseudonyms: Pseudonyms;
  readonly originals = new Originals();
  readonly #people: number;
  readonly #ids: number;
  readonly #tables = new Map<string, TableMask>();

  /** Throws a MaskError for rules that can't be followed. */
  constructor({ file, secret }: MaskRequest, tables: readonly TableOption[]) {
    this.rules = new MaskRules(file, tables);
    this.pseudonyms = new Pseudonyms(secret);
    this.#ids = this.originals.origin({ table: "teams", label: platformIDs });
    this.#people = this.originals.origin({ table: "teams", label: peopleLabel });
  }

  /** The mask of a table's rows, which are read from the first one on. */
  tableMask(option: TableOption): TableMask {
    const made = new TableMask(option, this.rules, this);
    this.#tables.set(option.table, made);
    return made;
  }

  /** A person's address. */
  address(email: string): string {
    if (this.rules.file.people === "keep") return email;
    this.originals.add(email, this.#people);
    return this.pseudonyms.address(email);
  }

  /** An organization or a team with the name and description that its rule allows. */
  named<One extends NamedThing>(what: "organizations" | "teams", one: One): One {
    const rule = this.rules.file[what];
    if (!rule)
      throw new MaskError(
        `${what} are dumped and have no rule: write ${what}: {name: keep} or ${what}: {name: name} into the masks file`,
      );
    this.originals.add(one.id, this.#ids);
    const description = rule.description === "keep" ? one.description : undefined;
    if (rule.description === "drop" && one.description) this.originals.add(one.description, this.#people);
    if (rule.name === "keep") return { ...one, description };
    this.originals.add(one.name, this.#people);
    return { ...one, name: this.pseudonyms.name(one.name), description };
  }

  /** Ends with all that keeps the tables from being masked. */
  assertComplete(): void {
    const wrong = [
      ...this.rules.listUnmatched(),
      ...[...this.#tables.values()].flatMap((table) => listGaps(table, this.rules.file)),
    ];
    if (wrong.length > 0) throw new MaskError(firstLines(wrong).join("\n"));
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

/** Sentences about what keeps a table from being masked. */
export function listGaps({ table, labels }: TableMask, { kinds, others }: MasksFile): string[] {
  return labels.flatMap((one) => [...unfitIn(table, one), ...gapIn(table, one, kinds, others)]);
}

const unfitIn = (table: string, { label, rule, unfit }: MaskedLabel): string[] =>
  [...unfit].map(
    ([reason, count]) =>
      `${rule?.place ?? table}: table ${table}: ${formatCount(count, "value")} of "${label}": ${reason}`,
  );

function gapIn(
  table: string,
  { label, rule, looks, values }: MaskedLabel,
  kinds: MasksFile["kinds"],
  others: MasksFile["others"],
): string[] {
  if (rule || values === 0) return [];
  const open = looks.listOpen(kinds);
  const seen = open.map((kind) => (kind === "address" ? "an address" : kind === "name" ? "names" : `a ${kind}`));
  if (open.length > 0)
    return [
      `table ${table}: "${label}" has no rule and looks like ${seen.join(", ")}: write a rule for it, or keep when everybody may see it`,
    ];
  if (others === "keep" || looks.isCovered) return [];
  return [
    `table ${table}: "${label}" has no rule: write one for it, keep when everybody may see it, or others: keep for all such labels`,
  ];
}

/** Throws where links lead to rows that are not dumped: their IDs must not be written. */
export function refuseOpenLinks(seeds: readonly DumpedSeed[]): void {
  for (const { rows, references } of seeds) {
    const open = rows.columns.links.find(([label]) => !references.has(label));
    if (open)
      throw new DumpError(
        `table ${rows.option.table}: "${open[0]}" leads to rows of a table that is not dumped, or that has no key of one label, and IDs of the platform are not written: dump that table as well, or write drop as its rule`,
      );
  }
}

/** Names that the environment file has from organizations and teams, for the last look. */
export const namesIn = (organizations: readonly DumpedOrganization[]): NamedThing[] =>
  organizations.flatMap((one) => [one, ...one.teams]);
