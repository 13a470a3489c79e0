import { randomBytes } from "node:crypto";
import type { RowData } from "../contract/values.ts";
import type { SeedDeclaration } from "../environment/schema.ts";
import { canonical, keyText, saltOf } from "../reconcile/digests.ts";
import { RowSet } from "../reconcile/rowSet.ts";
import { digesterOf, keyOf, type RowDeclaration } from "../resources/rows/declared/declaration.ts";
import { type RowEdits } from "../sources/edits.ts";
import { read, SourceError } from "../sources/read.ts";
import { linkedLabels, type SourceRow } from "../sources/source.ts";
import { noTally, orderedChanges, secretText, type Change, type Field, type Tally } from "./model/changeSet.ts";
import { fieldOf, kept } from "./model/values.ts";

/** A seed whose rows are read, and from which folder. */
export interface SeedSource {
  seed: SeedDeclaration & RowEdits;
  folder: string;
  /** Labels whose values nobody may read, and "all" for rows of which not even the keys are shown. */
  secret: ReadonlySet<string> | "all";
  /** Where a row stands. */
  place: (line: number) => string;
}

export interface RowChanges {
  changes: Change[];
  tally: Tally;
  /** Rows of the base. */
  before: number;
  /** Whether rows were matched by a key: else all of them count as removed and added. */
  matched: boolean;
  omitted: number;
  /** Labels of the listed rows besides their key. */
  columns?: string[];
  notes: string[];
}

/** The rows of the base can't be read, which is no mistake of the later declaration. */
export class UnreadBase extends Error {}

/** Rows of one seed that are listed, of each kind; all are counted. */
const maxListed = 10_000;

/** Characters of a cell that stays as it is: it only shows which row this is. */
const maxSame = 80;

/**
 * How the rows of a seed change. Both sources are streamed: kept are digests (44 bytes a row) and the rows that are
 * listed. A source with mistakes ends it with a SourceError.
 */
export async function compareRows(base: SeedSource, head: SeedSource): Promise<RowChanges> {
  const keys = [base.seed.key, head.seed.key];
  const isRenamed = keys[0]?.join("\n") !== keys[1]?.join("\n");
  // Rows of the platform are known by the base's key; where the columns changed as well, the new key may match them.
  for (const key of isRenamed ? keys : keys.slice(0, 1)) {
    const comparison = new Comparison(key, base, head);
    if (!(await comparison.takeBase()) || !(await comparison.takeHead())) continue;
    await comparison.takeListed();
    return { ...comparison.outcome(), notes: isRenamed ? [`rows are matched by ${key.join("+")}`] : [] };
  }
  const [before, after] = [await countOf(base), await countOf(head)];
  const notes = [
    `rows are not compared one by one, since neither key tells them apart on both sides: ${before} rows before, ${after} now`,
  ];
  const tally = { ...noTally(), remove: before, add: after };
  return { changes: [], tally, before, matched: false, omitted: before + after, notes };
}

class Comparison {
  readonly #key: readonly string[];
  readonly #base: RowDeclaration;
  readonly #head: RowDeclaration;
  readonly #secret: ReadonlySet<string> | "all";
  readonly #linked: ReadonlySet<string>;
  readonly #before = new RowSet();
  readonly #seen = new RowSet();
  readonly #tally = noTally();
  readonly #changes: Change[] = [];
  readonly #listed = { add: 0, change: 0, remove: 0 };
  readonly #columns = new Set<string>();
  readonly #sources: { base: SeedSource; head: SeedSource };
  /** Rows of the head that differ, by the index of the base's row: their old cells come from reading the base again. */
  readonly #changed = new Map<number, { values: RowData; line: number }>();

  constructor(key: readonly string[], base: SeedSource, head: SeedSource) {
    const salt = saltOf(randomBytes(16)); // digests stay in this process, and nobody can aim at them
    this.#key = key;
    this.#base = { ...base.seed, key, salt };
    this.#head = { ...head.seed, key, salt };
    this.#sources = { base, head };
    const both = [base.secret, head.secret];
    this.#secret = both.includes("all")
      ? "all"
      : new Set(both.flatMap((labels) => (labels === "all" ? [] : [...labels])));
    this.#linked = new Set([...linkedLabels(base.seed), ...linkedLabels(head.seed)]);
  }

  /** Adds the rows of the base; false when their key is not unique. */
  async takeBase(): Promise<boolean> {
    const digesterFor = digesterOf(this.#base);
    for await (const block of rowsOfBase(this.#sources.base)) {
      for (const { values, line } of block) {
        const digester = digesterFor(values);
        const key = digester.key(values);
        if (!key || this.#before.add(key, digester.content(values), line) !== undefined) return false;
      }
    }
    return true;
  }

  /** Compares the rows of the head; false when the base's key is not unique among them. */
  async takeHead(): Promise<boolean> {
    const digesterFor = digesterOf(this.#head);
    for await (const block of read(this.#sources.head.seed, this.#sources.head.folder)) {
      for (const { values, line } of block) {
        const digester = digesterFor(values);
        const key = digester.key(values);
        if (!key || this.#seen.add(key) !== undefined) return false;
        const at = this.#before.find(key);
        if (at === undefined) {
          this.#tally.add++;
          if (this.#hasRoom("add")) this.#list("add", this.#name(values), this.#sources.head.place(line), {}, values);
        } else if (this.#before.hasContent(at, digester.content(values))) this.#tally.same++;
        else {
          this.#tally.change++;
          if (this.#hasRoom("change")) this.#changed.set(at, { values, line });
        }
      }
    }
    return true;
  }

  /** Reads the base again for removed rows and for the old cells of changed rows. */
  async takeListed(): Promise<void> {
    this.#tally.remove = this.#before.length - this.#tally.same - this.#tally.change;
    if (this.#secret === "all" || (this.#tally.remove === 0 && this.#changed.size === 0)) return;
    let index = -1;
    for await (const block of rowsOfBase(this.#sources.base)) {
      for (const { values, line } of block) {
        const changed = this.#changed.get(++index);
        if (changed) {
          const place = this.#sources.head.place(changed.line);
          this.#list("change", this.#name(changed.values), place, values, changed.values);
        } else if (!this.#seen.has(this.#before.key(index)) && this.#hasRoom("remove")) {
          this.#list("remove", this.#name(values), this.#sources.base.place(line), values, {});
        }
      }
    }
  }

  outcome(): Omit<RowChanges, "notes"> {
    const { add, change, remove } = this.#tally;
    const omitted = add + change + remove - this.#changes.length;
    return {
      changes: orderedChanges(this.#changes),
      tally: this.#tally,
      before: this.#before.length,
      matched: true,
      omitted,
      ...(this.#columns.size > 0 ? { columns: [...this.#columns] } : {}),
    };
  }

  #hasRoom(op: Change["op"]): boolean {
    return this.#secret !== "all" && ++this.#listed[op] <= maxListed;
  }

  #name(values: RowData): string {
    const hidden = this.#secret;
    if (hidden === "all" || this.#key.some((label) => hidden.has(label))) return secretText;
    return keyOf(this.#key, values);
  }

  #list(op: Change["op"], name: string, place: string, before: RowData, after: RowData): void {
    const labels = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    const hides = (label: string): boolean => this.#secret !== "all" && this.#secret.has(label);
    const fields: Field[] = [];
    const same: Record<string, unknown> = {};
    for (const label of labels) {
      const isKey = this.#key.includes(label);
      if (!isKey) this.#columns.add(label);
      const [was, is] = [before[label], after[label]];
      if (this.#form(label, was) !== this.#form(label, is)) fields.push(fieldOf(label, was ?? undefined, is ?? undefined, hides(label))); // of a row, null is nothing
      else if (!isKey && is !== undefined && is !== null) same[label] = hides(label) ? secretText : kept(is, maxSame);
    }
    const unchanged = op === "change" && Object.keys(same).length > 0 ? { same } : {};
    this.#changes.push({ kind: "row", op, name, fields, ...unchanged, place });
  }

  /** A value as its digest takes it. */
  #form(label: string, value: unknown): string | undefined {
    return this.#linked.has(label) ? keyText(value) : canonical(value);
  }
}

async function* rowsOfBase({ seed, folder }: SeedSource): AsyncGenerator<SourceRow[]> {
  try {
    yield* read(seed, folder);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    throw new UnreadBase(error.message);
  }
}

/** How many rows a source has. */
export async function countOf(source: SeedSource): Promise<number> {
  let count = 0;
  for await (const block of rowsOfBase(source)) count += block.length;
  return count;
}
