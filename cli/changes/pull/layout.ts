import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { find, toPlainValue, type Entry } from "../../../provider/layers/document.ts";
import { naturalKey, type Cells } from "../../../provider/reconcile/merging/records.ts";
import type { FileEdit } from "../../edits/edits.ts";
import { DataRefusal } from "../base/dataRefusal.ts";
import type { EnvironmentEntry } from "../base/environments.ts";
import type { Declared } from "../model/source.ts";
import { EnvironmentFiles, filesOfOthers } from "../placing/environmentFiles.ts";
import { placePerson, readPeopleRows, type PeopleRows, type PersonChange } from "../placing/peoplePlacing.ts";
import { RowPlacing, type RowChange } from "../placing/rowPlacing.ts";
import { setValue, takeOutValue } from "../placing/valuePlacing.ts";

/** The reason for leaving something in the files, in one sentence. */
export class PullRefusal extends DataRefusal {
  override readonly name = "PullRefusal";
}

type Path = readonly string[];

/** Makes edits of what was changed by hand; values of the configuration are left. */
export class Layout {
  readonly declared: Declared;
  readonly #files: EnvironmentFiles;
  readonly #tables = new Map<string, RowPlacing>();

  constructor(
    declared: Declared,
    { name, file }: Pick<EnvironmentEntry, "name" | "file">,
    all: readonly Pick<EnvironmentEntry, "name" | "file">[],
    into?: string,
  ) {
    if (!declared.document) throw new PullRefusal(`${file} breaks its own rules: mend it first`);
    this.declared = declared;
    this.#files = new EnvironmentFiles(name, declared, filesOfOthers(declared.folder, name, all), into);
  }

  /** Sets a value of a setting, a role or an entry. */
  set(path: Path, value: unknown): FileEdit[] {
    this.#assertWritten(path);
    return [setValue(this.#files, path, value)];
  }

  /** Takes a named entry out, such as a member. */
  takeOut(path: Path): FileEdit[] {
    if (!this.find(path)) throw new PullRefusal("the files do not declare it any more");
    return takeOutValue(this.#files, path);
  }

  /** Changes cells of a declared row. */
  changeRow(seed: string, row: Cells, values: RowData): FileEdit[] {
    return this.#row(seed, "change", row, values);
  }

  removeRow(seed: string, row: Cells): FileEdit[] {
    return this.#row(seed, "remove", row, row);
  }

  addRow(seed: string, values: RowData): FileEdit[] {
    return this.#row(seed, "add", values, values);
  }

  /** Reads the file of people that a roster names. Throws a SourceError. */
  readPeople(source: string, team: string | undefined): Promise<PeopleRows> {
    return readPeopleRows(source, team, this.declared.folder);
  }

  changePerson(people: PeopleRows, change: PersonChange): FileEdit[] {
    return placePerson(this.#files, people, change);
  }

  find(path: Path): Entry | undefined {
    return find(this.#files.root, path);
  }

  #row(name: string, verb: RowChange["do"], row: Cells, cells: RowData): FileEdit[] {
    const seed = this.declared.declaration.seeds[name];
    if (!seed) throw new PullRefusal(`the files declare no seed ${name}`);
    const table = this.#tables.get(name) ?? new RowPlacing(this.#files, name);
    this.#tables.set(name, table);
    return table.place({ do: verb, key: naturalKey(seed.key, row) ?? "", row, cells });
  }

  #assertWritten(path: Path): void {
    const found = this.find(path);
    const value = found && toPlainValue(found.value);
    const { secrets } = this.declared.declaration;
    const isHere = (other: Path): boolean => JSON.stringify(other) === JSON.stringify(path);
    const isConfigured = isObject(value) && "config" in value;
    if (isConfigured || secrets.some(isHere))
      throw new PullRefusal("its value comes from the configuration: change it there");
  }
}
