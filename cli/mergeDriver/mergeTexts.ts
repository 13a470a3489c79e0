import { extname } from "node:path";
import { naturalKey, type Cells } from "../../provider/reconcile/merging/records.ts";
import { mergeRecords, withTaken, type RecordMerge } from "../../provider/reconcile/merging/threeWay.ts";
import { csvFormat } from "./csvRows.ts";
import { jsonFormat, ndjsonFormat } from "./jsonRows.ts";
import {
  composeRows,
  UnreadableRows,
  type Marks,
  type MergedRow,
  type RowFormat,
  type RowsText,
  type RowText,
} from "./rowTexts.ts";

/** The texts of a file, as a driver of Git gets them. */
export interface ThreeTexts {
  base: string;
  ours: string;
  theirs: string;
}

export interface MergedText {
  text: string;
  /** Conflicts that were left in it. */
  conflicts: number;
}

const formats: Readonly<Record<string, RowFormat>> = {
  ".csv": csvFormat,
  ".json": jsonFormat,
  ".ndjson": ndjsonFormat,
  ".jsonl": ndjsonFormat,
};

/** True if files of this name are merged by their rows. */
export const isMerged = (file: string): boolean => Object.hasOwn(formats, extname(file).toLowerCase());

/**
 * Merges a file of rows by their natural key. What `ours` has keeps its bytes; rows that `theirs` adds stand behind the row
 * that they follow there. Throws an UnreadableRows where the texts are no rows, or the key does not tell them apart.
 * @param key the labels of the key; without them the first label of the file
 */
export function mergeTexts(
  file: string,
  texts: ThreeTexts,
  key: readonly string[] | undefined,
  marks: Marks,
): MergedText {
  const format = formats[extname(file).toLowerCase()];
  if (!format) throw new UnreadableRows("is no CSV, JSON or NDJSON file");
  return new TextMerge(format, texts, key).write(marks);
}

/** The cells of a row in conflict, as each side has them in the end. */
interface ConflictingCells {
  ours: Cells | undefined;
  theirs: Cells | undefined;
}

class TextMerge {
  readonly #format: RowFormat;
  readonly #sides: Record<keyof ThreeTexts, RowsText>;
  readonly #rows: Record<keyof ThreeTexts, Map<string, RowText>>;
  readonly #merge: RecordMerge;
  readonly #after: ReadonlyMap<string, Cells>;

  constructor(format: RowFormat, { base, ours, theirs }: ThreeTexts, key: readonly string[] | undefined) {
    this.#format = format;
    this.#sides = { base: format.parse(base), ours: format.parse(ours), theirs: format.parse(theirs) };
    const labels = key ?? this.#firstLabel();
    const side = (name: keyof ThreeTexts): Map<string, RowText> => rowsByKey(this.#sides[name], labels);
    this.#rows = { base: side("base"), ours: side("ours"), theirs: side("theirs") };
    const to = cellsOf(this.#rows.ours);
    this.#merge = mergeRecords({ base: cellsOf(this.#rows.base), from: cellsOf(this.#rows.theirs), to });
    this.#after = withTaken(to, this.#merge.taken);
  }

  write(marks: Marks): MergedText {
    const { ours, theirs } = this.#sides;
    const columns = this.#columns();
    const conflicts = this.#conflicts();
    const rows = this.#order(conflicts).flatMap((name) => this.#row(name, columns, conflicts) ?? []);
    const like = ours.rows.length > 0 || rows.length === 0 ? ours : likeOf(ours, theirs);
    const head =
      rows.length === 0 && isSameList(columns, ours.columns) ? ours.head : this.#format.writeHead(like, columns);
    return { text: composeRows(like, this.#format, head, rows, marks), conflicts: conflicts.size };
  }

  #firstLabel(): string[] {
    for (const { columns, rows } of [this.#sides.ours, this.#sides.theirs, this.#sides.base]) {
      const [label] = columns ?? Object.keys(rows[0]?.cells ?? {});
      if (label !== undefined) return [label];
    }
    return [];
  }

  /** Rows in conflict, with the cells that each side has in the end: other cells of them are merged. */
  #conflicts(): Map<string, ConflictingCells> {
    const found = new Map<string, ConflictingCells>();
    for (const { key, label, from } of this.#merge.conflicts) {
      const ours = this.#after.get(key);
      const before = found.get(key)?.theirs ?? ours;
      found.set(key, {
        ours,
        theirs: label === undefined ? from : { ...before, [label]: from },
      });
    }
    return found;
  }

  /** Columns of the outcome: one that a side took out stays while a row has a value in it. */
  #columns(): readonly string[] | undefined {
    const { base, ours, theirs } = this.#sides;
    if (!ours.columns || !theirs.columns) return undefined;
    const theirRows = [...this.#conflicts().values()].map(({ theirs: cells }) => cells ?? {});
    const left = [...this.#after.values(), ...theirRows];
    const isFilled = (label: string): boolean => left.some((cells) => (cells[label] ?? "") !== "");
    const known = base.columns ?? [];
    const stays = (label: string, other: readonly string[]): boolean =>
      !known.includes(label) || other.includes(label) || isFilled(label);
    const own = ours.columns.filter((label) => stays(label, theirs.columns ?? []));
    const added = theirs.columns.filter((label) => !ours.columns?.includes(label) && stays(label, ours.columns ?? []));
    return [...own, ...added];
  }

  /** Keys in the order of the outcome: a row in conflict that `ours` has not stands where `theirs` has it. */
  #order(conflicts: ReadonlyMap<string, unknown>): string[] {
    const keys = [...this.#after.keys()];
    let before: string | undefined;
    for (const key of this.#rows.theirs.keys()) {
      if (conflicts.has(key) && !this.#after.has(key)) {
        keys.splice(before === undefined ? 0 : keys.indexOf(before) + 1 || keys.length, 0, key);
      }
      before = key;
    }
    return keys;
  }

  #row(
    key: string,
    columns: readonly string[] | undefined,
    conflicts: ReadonlyMap<string, ConflictingCells>,
  ): MergedRow | undefined {
    const conflict = conflicts.get(key);
    if (conflict) {
      const side = (cells: Cells | undefined): string | undefined => cells && this.#write(key, cells, columns);
      return { ours: side(conflict.ours), theirs: side(conflict.theirs) };
    }
    const cells = this.#after.get(key);
    if (!cells) return undefined;
    const row = this.#rows.ours.get(key);
    return { raw: this.#write(key, cells, columns), ...(row ? { lead: row.lead } : {}) };
  }

  #write(key: string, cells: Cells, columns: readonly string[] | undefined): string {
    const { ours } = this.#sides;
    const row = this.#rows.ours.get(key);
    if (row && cells === row.cells && isSameList(columns, ours.columns)) return row.raw;
    if (row) return this.#format.writeChanged(ours, row, cells, columns);
    const other = this.#rows.theirs.get(key);
    if (!other) throw new Error("a row of the outcome is on one side at least");
    return this.#format.writeNew(ours, other, columns);
  }
}

const isSameList = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** How rows are laid out in a file that has none yet. */
const likeOf = (ours: RowsText, theirs: RowsText): RowsText =>
  ours.columns
    ? { ...ours, head: /\n$/.test(ours.head) ? ours.head : ours.head + ours.separator, tail: ours.separator }
    : theirs;

const cellsOf = (rows: ReadonlyMap<string, RowText>): Map<string, Cells> =>
  new Map([...rows].map(([key, { cells }]) => [key, cells]));

function rowsByKey({ rows, columns }: RowsText, key: readonly string[]): Map<string, RowText> {
  const found = new Map<string, RowText>();
  const lacking = columns && rows.length > 0 ? key.find((label) => !columns.includes(label)) : undefined;
  if (lacking !== undefined) throw new UnreadableRows(`has no column ${JSON.stringify(lacking)} on one side`);
  for (const row of rows) {
    const name = naturalKey(key, row.cells);
    if (name === undefined) throw new UnreadableRows(`has a row without ${key.join(" and ")}`);
    if (found.has(name)) throw new UnreadableRows(`has two rows with one ${key.join(" and ")}`);
    found.set(name, row);
  }
  return found;
}
