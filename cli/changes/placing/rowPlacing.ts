import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { withRowEdits } from "../../../provider/environment/schema.ts";
import { find, toPlainValue, type Value } from "../../../provider/layers/document.ts";
import { rowVerbs } from "../../../provider/layers/rowEdits.ts";
import { naturalKey, type Cells } from "../../../provider/reconcile/merging/records.ts";
import { formatOf } from "../../../provider/sources/formats.ts";
import { read } from "../../../provider/sources/read.ts";
import type { FileEdit } from "../../edits/edits.ts";
import type { EditStep, RowFileEdit, ValueFileEdit } from "../../edits/kinds.ts";
import { PlacingRefusal, type EnvironmentFiles } from "./environmentFiles.ts";

/** A change of a row: of one that is changed `cells` are its new values, else all that it has. */
export interface RowChange {
  do: "add" | "change" | "remove";
  /** The natural key as text. */
  key: string;
  /** The row in the files, with the values of its key. */
  row?: Cells;
  cells: Cells;
}

/** A column under its former name and the one that it gets. */
export interface RenamedColumn {
  former: string;
  now: string;
}

/** Brings changes of rows into an environment's files: where a row stands, or as an override in its own layer. */
export class RowPlacing {
  readonly #files: EnvironmentFiles;
  readonly #seed: string;
  readonly #key: readonly string[];
  readonly #source: RowFileEdit["source"] | undefined;
  /** Items of the verbs and of inline rows, by the natural key of the row. */
  readonly #items = new Map<string, Map<string, Value>>();
  readonly #renamed: readonly RenamedColumn[];

  /** @param renamed columns that get another name, by which changes call them already */
  constructor(files: EnvironmentFiles, seed: string, renamed: readonly RenamedColumn[] = []) {
    this.#files = files;
    this.#seed = seed;
    this.#renamed = renamed;
    const declared = files.declared.declaration.seeds[seed];
    if (!declared) throw new Error("rows are promoted into a seed that is there");
    this.#key = declared.key.map((label) => this.#nameOf(label));
    const { additions: _, changes: __, removals: ___, ...source } = withRowEdits(declared);
    const types = Object.entries(source.types ?? {}).map(([label, type]) => [this.#nameOf(label), type] as const);
    if (source.source !== undefined)
      this.#source = { ...source, source: source.source, key: this.#key, types: Object.fromEntries(types) };
    for (const verb of ["rows", ...rowVerbs]) {
      const list = find(files.root, ["seeds", seed, verb])?.value;
      if (list?.kind === "list")
        this.#items.set(verb, new Map(list.items.map((item) => [this.#keyOf(verb, item), item])));
    }
  }

  /** Gives columns their other names: in the first line of a CSV, else in each row that has them. Throws a PlacingRefusal. */
  async rename(): Promise<FileEdit[]> {
    const edits: FileEdit[] = [];
    for (const { former, now } of this.#renamed) {
      const refuse = (file: string, why: string): never => {
        throw new PlacingRefusal(`the column ${former} is ${now} by now, and ${file} ${why}: rename it there by hand`);
      };
      const source = this.#source;
      if (source && !this.#files.isOwn(source.source)) refuse(source.source, "is read by other environments as well");
      if (source && formatOf(source.source) === ".csv")
        edits.push({ kind: "column", file: source.source, label: former, now });
      else if (source) edits.push(...(await this.#renameInRows(source, former, now)));
      for (const [verb, items] of this.#items) {
        for (const item of items.values()) {
          const held = item.kind === "map" ? item.entries.get(former)?.value : undefined;
          if (!held) continue;
          if (!this.#files.isOwn(held.at.file)) refuse(held.at.file, "has it in its rows");
          if (this.#key.includes(now)) refuse(held.at.file, "has it in its rows, as a part of their key");
          const cells = toPlainValue(item);
          const keys = Object.fromEntries(
            this.#key.map((label) => [label, isObject(cells) ? cells[label] : undefined]),
          );
          edits.push(this.#setCell(held.at.file, verb, keys, now, toPlainValue(held)));
          const path: EditStep[] = ["seeds", this.#seed, verb, { where: keys }, former];
          edits.push({ kind: "value", do: "remove", file: held.at.file, path });
        }
      }
    }
    return edits;
  }

  async #renameInRows(source: RowFileEdit["source"], former: string, now: string): Promise<FileEdit[]> {
    const edits: FileEdit[] = [];
    if (this.#key.includes(now))
      throw new PlacingRefusal(`the key ${former} is ${now} by now: rename it in ${source.source} by hand`);
    for await (const block of read(source, this.#files.declared.folder))
      for (const { values } of block)
        if (Object.hasOwn(values, former)) {
          const row = Object.fromEntries(this.#key.map((label) => [label, values[label]]));
          edits.push({
            ...{ kind: "row", do: "change", source, row },
            values: { [former]: undefined, [now]: values[former] },
          });
        }
    return edits;
  }

  #nameOf(label: string): string {
    return this.#renamed.find(({ former }) => former === label)?.now ?? label;
  }

  place({ do: verb, key, cells, row = cells }: RowChange): FileEdit[] {
    if (verb === "add") return this.#add(key, cells);
    const keys = this.#keyValues(row, key);
    return verb === "remove" ? this.#remove(key, keys) : this.#change(key, keys, cells);
  }

  /** The row's own file, if no other environment reads it. */
  get #ownSource(): RowFileEdit["source"] | undefined {
    const source = this.#source;
    return source && this.#files.isOwn(source.source) ? source : undefined;
  }

  #add(key: string, cells: Cells): FileEdit[] {
    const row = withoutNothing(cells);
    this.#files.assertReached(this.#items.get("rows-")?.get(key)?.at.file);
    const isTakenOut = this.#items.get("rows-")?.has(key) === true;
    const source = this.#ownSource;
    if (source && !isTakenOut) return [{ kind: "row", source, do: "add", row }];
    const rows = ["seeds", this.#seed, "rows"];
    const inline = this.#source ? undefined : this.#files.ownFileAt(rows);
    if (inline !== undefined && !isTakenOut) return [append(inline, rows, row)];
    return [append(this.#files.own, ["seeds", this.#seed, "rows+"], row)];
  }

  #remove(key: string, keys: RowData): FileEdit[] {
    const added = this.#item("rows+", key) ?? this.#item("rows", key);
    const changed = this.#item("rows~", key);
    for (const item of [added, changed]) this.#files.assertReached(item?.file);
    const edits: FileEdit[] = [];
    if (changed && !this.#files.isShared(changed.file)) edits.push(this.#dropItem(changed.file, "rows~", keys));
    if (added && this.#files.isOwn(added.file)) return [...edits, this.#dropItem(added.file, added.verb, keys)];
    const source = this.#ownSource;
    if (source && !added) return [...edits, { kind: "row", source, do: "remove", row: keys }];
    const [only, ...more] = this.#key.map((label) => keys[label]);
    return [
      ...edits,
      append(this.#files.own, ["seeds", this.#seed, "rows-"], more.length > 0 ? [only, ...more] : only),
    ];
  }

  #change(key: string, keys: RowData, values: Cells): FileEdit[] {
    const edits: FileEdit[] = [];
    const inSource: Record<string, unknown> = {};
    const override: Record<string, unknown> = {};
    const rowItem = this.#item("rows+", key) ?? this.#item("rows", key);
    for (const [label, value] of Object.entries(values)) {
      const changed = this.#item("rows~", key, label);
      const item = changed ?? rowItem;
      this.#files.assertReached(item?.file);
      if (item && this.#files.isOwn(item.file)) edits.push(this.#setCell(item.file, item.verb, keys, label, value));
      else if (!item && this.#ownSource) inSource[label] = value;
      else override[label] = value ?? null;
    }
    const source = this.#ownSource;
    if (source && Object.keys(inSource).length > 0) {
      edits.push({ kind: "row", source, do: "change", row: keys, values: inSource });
    }
    return [...edits, ...this.#override(key, keys, override)];
  }

  /** Adds cells to the row's entry under `rows~` of the environment's own layer, which is made where it is missing. */
  #override(key: string, keys: RowData, cells: Record<string, unknown>): FileEdit[] {
    if (Object.keys(cells).length === 0) return [];
    const { own } = this.#files;
    const path = ["seeds", this.#seed, "rows~"];
    const list = this.#files.valueIn(own, path);
    const isThere = list?.kind === "list" && list.items.some((item) => this.#keyOf("rows~", item) === key);
    if (!isThere) return [append(own, path, { ...keys, ...cells })];
    return Object.entries(cells).map(([label, value]) => this.#setCell(own, "rows~", keys, label, value));
  }

  #setCell(file: string, verb: string, keys: RowData, label: string, value: unknown): ValueFileEdit {
    const path: EditStep[] = ["seeds", this.#seed, verb, { where: keys }, label];
    // An override without a value would let the value below it through.
    if (value === undefined && verb !== "rows~") return { kind: "value", do: "remove", file, path };
    return { kind: "value", do: "set", file, path, value: value ?? null };
  }

  #dropItem(file: string, verb: string, keys: RowData): ValueFileEdit {
    return {
      kind: "value",
      do: "remove",
      file,
      path: ["seeds", this.#seed, verb, { where: keys }],
      prune: verb !== "rows",
    };
  }

  /** Where a row stands in a list of a layer, or one of its cells. */
  #item(verb: string, key: string, label?: string): { file: string; verb: string } | undefined {
    const item = this.#items.get(verb)?.get(key);
    if (item?.kind !== "map") return undefined;
    if (label === undefined) return { file: item.at.file, verb };
    const former = this.#renamed.find(({ now }) => now === label)?.former;
    const cell = item.entries.get(label) ?? (former === undefined ? undefined : item.entries.get(former));
    return cell && { file: cell.value.at.file, verb };
  }

  #keyOf(verb: string, item: Value): string {
    const value = toPlainValue(item);
    if (verb === "rows-")
      return naturalKey(this.#key, Object.fromEntries(this.#key.map((label, at) => [label, [value].flat()[at]]))) ?? "";
    if (!isObject(value)) return "";
    const named = Object.entries(value).map(([label, cell]) => [this.#nameOf(label), cell] as const);
    return naturalKey(this.#key, Object.fromEntries(named)) ?? "";
  }

  /** The values of the key, as a file has them. */
  #keyValues(cells: Cells, key: string): RowData {
    const parts = this.#key.length > 1 ? (JSON.parse(key) as string[]) : [key];
    return Object.fromEntries(this.#key.map((label, at) => [label, cells[label] ?? parts[at]]));
  }
}

const append = (file: string, path: readonly string[], value: unknown): ValueFileEdit => ({
  kind: "value",
  do: "append",
  file,
  path,
  value,
});

/** A row as people write it: cells without a value are left out. */
const withoutNothing = (cells: Cells): RowData =>
  Object.fromEntries(
    Object.entries(cells).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  );
