import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { withRowEdits, type SeedDeclaration } from "../../../provider/environment/schema.ts";
import { find, toPlainValue, type Entry } from "../../../provider/layers/document.ts";
import { positionOf, type RowEdits } from "../../../provider/sources/edits.ts";
import type { FileEdit } from "../../edits/edits.ts";
import type { RowFileEdit } from "../../edits/kinds.ts";
import type { EnvironmentEntry } from "../base/environments.ts";
import type { Declared } from "../model/source.ts";
import { contentOf, filesOfOthers, has, isRowOf, PullRefusal } from "./sharing.ts";

export { PullRefusal };

/** A row as the files declare it. */
export interface DeclaredRow {
  values: RowData;
  /** As sources count it. */
  line: number;
}

type Path = readonly string[];

/**
 * The files of an environment and who else has them: decides where an edit goes. A value is changed where it stands if no
 * other environment extends that file; else the environment's own layer overrides it.
 */
export class Layout {
  readonly declared: Declared;
  readonly #root: NonNullable<Declared["document"]>["root"];
  /** Where overrides go: the environment's own file, or the one that a flag names. */
  readonly #own: string;
  readonly #into: string | undefined;
  readonly #shared: ReadonlyMap<string, string>;

  constructor(
    declared: Declared,
    entry: Pick<EnvironmentEntry, "name" | "file">,
    others: readonly EnvironmentEntry[],
    into?: string,
  ) {
    const { document } = declared;
    if (!document) throw new PullRefusal(`${entry.file} breaks its own rules: mend it first`);
    this.declared = declared;
    this.#root = document.root;
    this.#shared = filesOfOthers(declared.folder, entry, others);
    if (into !== undefined && !document.files.includes(into))
      throw new PullRefusal(
        `--into ${into}: the environment does not extend it; its files are ${document.files.join(", ")}`,
      );
    this.#into = into;
    this.#own = into ?? entry.file;
  }

  /** Sets a value of a setting, a role or an entry. */
  set(path: Path, value: unknown): FileEdit[] {
    const found = this.find(path);
    this.#assertWritten(path, found);
    const file = found ? this.#fileFor(found.value.at.file) : this.#assertOwn();
    return [{ kind: "value", file, path, do: "set", value }];
  }

  /** Takes a named entry out, such as a member. */
  takeOut(path: Path): FileEdit[] {
    const found = this.find(path);
    if (!found) throw new PullRefusal("the files do not declare it any more");
    const holders = (this.declared.document?.files ?? []).filter((file) =>
      has(contentOf(this.declared.folder, file), path),
    );
    const isOurs = holders.every((file) => this.#fileFor(file) === file);
    if (isOurs) return holders.map((file) => ({ kind: "value", file, path, do: "remove" }));
    return [{ kind: "value", file: this.#assertOwn(), path, do: "set", value: null }];
  }

  /** Changes cells of a row, each where it stands. */
  changeRow(seed: string, row: DeclaredRow, values: RowData): FileEdit[] {
    const { key } = this.#seed(seed);
    const where = only(row.values, key);
    return Object.entries(values).flatMap(([label, value]): FileEdit[] => {
      const place = this.#cellPlace(seed, row, label);
      if (place.kind === "row")
        return [{ kind: "row", source: place.source, do: "change", row: where, values: { [label]: value } }];
      if (place.kind === "value")
        return [
          { kind: "value", file: place.file, path: ["seeds", seed, place.list, { where }, label], do: "set", value },
        ];
      return [
        { kind: "value", file: this.#assertOwn(), path: ["seeds", seed, "rows~", { where }, label], do: "set", value },
      ];
    });
  }

  removeRow(seed: string, row: DeclaredRow): FileEdit[] {
    const { key } = this.#seed(seed);
    const where = only(row.values, key);
    const edits: FileEdit[] = this.#overridden(seed, where).map((file) => ({
      kind: "value",
      file,
      path: ["seeds", seed, "rows~", { where }],
      do: "remove",
      prune: true,
    }));
    const place = this.#rowPlace(seed, row);
    if (place?.kind === "row") return [...edits, { kind: "row", source: place.source, do: "remove", row: where }];
    if (place?.kind === "value")
      return [
        ...edits,
        {
          kind: "value",
          file: place.file,
          path: ["seeds", seed, place.list, { where }],
          do: "remove",
          ...(place.list === "rows" ? {} : { prune: true }),
        },
      ];
    const parts = key.map((label) => row.values[label]);
    const value: unknown = parts.length === 1 ? parts[0] : parts;
    return [...edits, { kind: "value", file: this.#assertOwn(), path: ["seeds", seed, "rows-"], do: "append", value }];
  }

  addRow(seed: string, values: RowData): FileEdit[] {
    const declared = this.#seed(seed);
    const { source } = declared;
    if (source !== undefined && this.#into === undefined && !this.#shared.has(source))
      return [{ kind: "row", source: this.#sourceOf(declared, source), do: "add", row: values }];
    const list = this.find(["seeds", seed, "rows"]);
    if (list && list.value.at.file === this.#own)
      return [{ kind: "value", file: this.#own, path: ["seeds", seed, "rows"], do: "append", value: values }];
    return [{ kind: "value", file: this.#assertOwn(), path: ["seeds", seed, "rows+"], do: "append", value: values }];
  }

  find(path: Path): Entry | undefined {
    return find(this.#root, path);
  }

  /** Why the own file is not edited; an override there would reach others. */
  #assertOwn(): string {
    const other = this.#shared.get(this.#own);
    if (other !== undefined && this.#into === undefined)
      throw new PullRefusal(
        `${this.#own} is ${other}'s as well: give the environment a file of its own, or name one with --into`,
      );
    return this.#own;
  }

  /** The file in which a value that stands in `file` is changed. */
  #fileFor(file: string): string {
    if (this.#into !== undefined) return this.#into;
    return this.#shared.has(file) ? this.#assertOwn() : file;
  }

  #assertWritten(path: Path, found: Entry | undefined): void {
    const value = found && toPlainValue(found.value);
    if (isObject(value) && "config" in value)
      throw new PullRefusal("its value comes from the configuration: change it there");
    const { secrets, supplied } = this.declared.declaration;
    const isHere = (other: readonly string[]): boolean => JSON.stringify(other) === JSON.stringify(path);
    if (secrets.some(isHere) || supplied.some((each) => isHere(each.path)))
      throw new PullRefusal("its value comes from the configuration: change it there");
  }

  #seed(name: string): SeedDeclaration & RowEdits {
    const seed = this.declared.declaration.seeds[name];
    if (!seed) throw new PullRefusal(`the files declare no seed ${name}`);
    return withRowEdits(seed);
  }

  #sourceOf(seed: SeedDeclaration & RowEdits, source: string): RowFileEdit["source"] {
    return { ...seed, source, additions: undefined, changes: undefined, removals: undefined };
  }

  /** Files that no other environment has and in which `rows~` changes a row. */
  #overridden(seed: string, where: RowData): string[] {
    const list = this.find(["seeds", seed, "rows~"]);
    if (list?.value.kind !== "list") return [];
    return list.value.items.flatMap((item) => {
      const value = toPlainValue(item);
      const isRow = isRowOf(value, where);
      return isRow && !this.#shared.has(item.at.file) ? [item.at.file] : [];
    });
  }

  #rowPlace(seed: string, { line }: DeclaredRow): Place | undefined {
    const declared = this.#seed(seed);
    const position = positionOf(line);
    if (!position && declared.source !== undefined) {
      const { source } = declared;
      const isHere = !this.#shared.has(source) && this.#into === undefined;
      return isHere ? { kind: "row", source: this.#sourceOf(declared, source) } : undefined;
    }
    const list = position ? "rows+" : "rows";
    const item = this.find(["seeds", seed, list, String(position ? position.index : line - 1)]);
    if (!item) return undefined;
    const { file } = item.at;
    return this.#fileFor(file) === file ? { kind: "value", file, list } : undefined;
  }

  /** Where a cell stands; undefined where it is overridden in the own file. */
  #cellPlace(seed: string, row: DeclaredRow, label: string): Place | { kind: "override" } {
    const { key } = this.#seed(seed);
    const where = only(row.values, key);
    const edits = this.find(["seeds", seed, "rows~"]);
    const change =
      edits?.value.kind === "list"
        ? edits.value.items.find((item) => {
            const value = toPlainValue(item);
            return isRowOf(value, where);
          })
        : undefined;
    const cell = change && find(change, [label]);
    if (cell) {
      const { file } = cell.at;
      return this.#fileFor(file) === file ? { kind: "value", file, list: "rows~" } : { kind: "override" };
    }
    // An item of the own file takes further cells.
    return this.#rowPlace(seed, row) ?? { kind: "override" };
  }
}

type Place =
  { kind: "row"; source: RowFileEdit["source"] } | { kind: "value"; file: string; list: "rows" | "rows+" | "rows~" };

const only = (values: RowData, labels: readonly string[]): RowData =>
  Object.fromEntries(labels.map((label) => [label, values[label]]));
