import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, relative } from "node:path";
import type { RowData } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { listSources } from "../../provider/environment/declaration.ts";
import { withRowEdits } from "../../provider/environment/schema.ts";
import { rootOf, textIfAny, toSlashes } from "../../provider/files/files.ts";
import { find, parse, toPlainValue, type Value } from "../../provider/layers/document.ts";
import { rowVerbs } from "../../provider/layers/layers.ts";
import { naturalKey, type Cells } from "../../provider/seedRows/digests.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { formatOf } from "../../provider/seedRows/source/source.ts";
import { DataRefusal, type Declared, type EnvironmentEntry, readDeclaration } from "../report/environments.ts";
import type { EditedFile, FileEdit } from "./editor/edits.ts";
import { type EditStep, type RowFileEdit, type ValueFileEdit, valueEdit } from "./editor/text.ts";

type Path = readonly string[];
type Named = Pick<EnvironmentEntry, "name" | "file">;

/**
 * The files of an environment and who else has them: decides which one an edit goes into. What stands in a file that no
 * other environment has is changed there; else the environment's own file overrides it. `into` decides otherwise. Where no
 * file takes an edit a DataRefusal says why.
 */
export class EnvironmentFiles {
  readonly name: string;
  readonly declared: Declared;
  readonly root: Value;
  readonly #shared: ReadonlyMap<string, string>;
  readonly #into: string | undefined;
  readonly #parsed = new Map<string, Value | undefined>();
  readonly #rows = new Map<string, RowPlacing>();

  /**
   * @param all environments, of which the others may have the same files
   * @param into the file that takes all edits
   */
  constructor(declared: Declared, { name, file }: Named, all: readonly Named[], into?: string) {
    const { document } = declared;
    if (!document) throw new DataRefusal(`${file} breaks its own rules: mend it first`);
    const named = document.files.find((each) => into !== undefined && normalized(each) === normalized(into));
    if (into !== undefined && named === undefined)
      throw new DataRefusal(
        `--into ${into}: the environment does not extend it; its files are ${document.files.join(", ")}`,
      );
    this.name = name;
    this.declared = declared;
    this.root = document.root;
    this.#shared = filesOfOthers(declared.folder, name, all);
    this.#into = named;
  }

  /** The environment's own file, which overrides what others share. Throws where it has none. */
  get own(): string {
    const { file } = this.declared;
    const other = this.#shared.get(normalized(file));
    if (this.#into !== undefined || other === undefined) return this.#into ?? file;
    throw new DataRefusal(
      `${file} is the file of ${other} as well: give ${this.name} a file of its own that extends it`,
    );
  }

  /** True if edits of what stands in a file go there. */
  isOwn(file: string): boolean {
    return this.#into === undefined ? !this.isShared(file) : normalized(file) === normalized(this.#into);
  }

  /** True if another environment has the file as well. */
  isShared(file: string): boolean {
    return this.#shared.has(normalized(file));
  }

  /** The file that takes an edit of what stands at a path, or comes there. */
  fileFor(path: readonly PropertyKey[]): string {
    this.assertReached(find(this.root, path)?.value.at.file);
    return this.ownFileAt(path) ?? this.own;
  }

  /** Throws where `into` lies below the file in which something stands. */
  assertReached(file: string | undefined): void {
    const { files = [] } = this.declared.document ?? {};
    const into = this.#into;
    if (into === undefined || file === undefined) return;
    if (files.indexOf(file) < files.indexOf(into))
      throw new DataRefusal(`${file} overrides what ${into} says of it: leave --into ${into} out`);
  }

  /** The file where something stands, if edits go there. */
  ownFileAt(path: readonly PropertyKey[]): string | undefined {
    const file = find(this.root, path)?.value.at.file;
    return file !== undefined && this.isOwn(file) ? file : undefined;
  }

  /** The files that have something at a path, the environment's own first. */
  filesWith(path: readonly PropertyKey[]): string[] {
    const { files = [] } = this.declared.document ?? {};
    return files.filter((file) => this.valueIn(file, path) !== undefined);
  }

  /** The value that a file by itself has at a path. */
  valueIn(file: string, path: readonly PropertyKey[]): Value | undefined {
    const root = this.#read(file);
    return root && find(root, path)?.value;
  }

  has(path: Path): boolean {
    return find(this.root, path) !== undefined;
  }

  /** The value that the files have at a path; undefined where they have none. */
  plainAt(path: Path): unknown {
    const entry = find(this.root, path);
    return entry && toPlainValue(entry.value);
  }

  /** Sets a value where it stands, if no other environment has that file; else the environment's own file gets it. */
  set(path: Path, value: unknown): ValueFileEdit[] {
    const written = this.plainAt(path);
    const isSecret = this.declared.declaration.secrets.some((other) => other.join("\0") === path.join("\0"));
    if ((isObject(written) && "config" in written) || isSecret)
      throw new DataRefusal("its value comes from the configuration: change it there");
    return [valueEdit("set", this.fileFor(path), path, value)];
  }

  /** Takes a thing out of the files that no other environment has; one that others share is overridden by null. */
  takeOut(path: Path, prune = false): ValueFileEdit[] {
    const having = this.filesWith(path);
    if (having.length === 0) throw new DataRefusal("the files do not declare it any more");
    this.assertReached(having[0]);
    const isShared = having.some((file) => !this.isOwn(file));
    const edits = having
      .filter((file) => this.isOwn(file) && !(isShared && file === this.own))
      .map((file) => ({ ...valueEdit("remove", file, path), prune }));
    return isShared ? [...edits, valueEdit("set", this.own, path, null)] : edits;
  }

  /** Where rows of a seed are changed. */
  rows(seed: string, renamed?: readonly RenamedColumn[]): RowPlacing {
    const found = this.#rows.get(seed) ?? new RowPlacing(this, seed, renamed);
    this.#rows.set(seed, found);
    return found;
  }

  /** A file as the environment's own one names it. */
  named(file: string): string {
    return posix.normalize(toSlashes(relative(dirname(this.own), file)));
  }

  #read(file: string): Value | undefined {
    if (!this.#parsed.has(file)) {
      const text = textIfAny(this.declared.folder, file);
      this.#parsed.set(file, text === undefined ? undefined : parse(text, file, () => undefined));
    }
    return this.#parsed.get(file);
  }
}

const normalized = (file: string): string => posix.normalize(toSlashes(file));

/** All files that a declaration consists of: its layers, and those with its rows and people. */
export const filesOf = ({ file, document, declaration }: Declared): string[] => [
  ...new Set([file, ...(document?.files ?? []), ...listSources(declaration)]),
];

/** The files of an environment with edits made, in a private folder of their own. `more` are files that it would have then. */
export function copyEdited(
  { folder, ...declared }: Declared,
  files: readonly EditedFile[],
  more: readonly string[] = [],
): { folder: string; remove: () => void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "microapps-edited-")));
  mkdirSync(join(root, ".git")); // the reader takes it for a repository, and reads nothing beyond it
  const copy = join(root, relative(rootOf(folder), realpathSync(folder)));
  const edited = new Map(files.map(({ file, after }) => [file, after]));
  for (const name of new Set([...filesOf({ folder, ...declared }), ...more, ...edited.keys()])) {
    const target = join(copy, name);
    const bytes = edited.get(name);
    mkdirSync(dirname(target), { recursive: true });
    if (bytes) writeFileSync(target, bytes, { mode: 0o600 });
    else if (existsSync(join(folder, name))) copyFileSync(join(folder, name), target);
  }
  mkdirSync(copy, { recursive: true });
  return { folder: copy, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Each file that another environment has, and which one. Throws where one of these can't be read. */
function filesOfOthers(folder: string, name: string, all: readonly Named[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const other of all) {
    if (other.name === name || !existsSync(join(folder, other.file))) continue;
    const { declared, files, problems } = readDeclaration(other.file, folder);
    if (!declared && problems.length > 0)
      throw new DataRefusal(
        `nobody can tell which files ${other.name} shares with ${name}: ${other.file} can't be read: ${problems[0]?.text ?? ""}`,
      );
    for (const file of [...files, ...(declared ? filesOf(declared) : [])].map(normalized))
      if (!found.has(file)) found.set(file, other.name);
  }
  return found;
}

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
class RowPlacing {
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

  /** Gives columns their other names in the first line of a CSV that the environment has for itself. Refuses them elsewhere. */
  rename(): FileEdit[] {
    const source = this.#source;
    return this.#renamed.map(({ former, now }) => {
      const refuse = (file: string, why: string): never => {
        throw new DataRefusal(`the column ${former} is ${now} by now, and ${file} ${why}: rename it there by hand`);
      };
      for (const item of [...this.#items.values()].flatMap((items) => [...items.values()])) {
        const held = item.kind === "map" ? item.entries.get(former)?.value : undefined;
        if (held) refuse(held.at.file, "has it in its rows");
      }
      if (!source) return refuse(this.#files.own, "has it in its rows");
      if (!this.#files.isOwn(source.source)) refuse(source.source, "is read by other environments as well");
      if (formatOf(source.source) !== ".csv") refuse(source.source, "has it in each row");
      return { kind: "column", file: source.source, delimiter: source.delimiter, label: former, now };
    });
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
    if (inline !== undefined && !isTakenOut) return [valueEdit("append", inline, rows, row)];
    return [valueEdit("append", this.#files.own, ["seeds", this.#seed, "rows+"], row)];
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
    const removal = more.length > 0 ? [only, ...more] : only;
    return [...edits, valueEdit("append", this.#files.own, ["seeds", this.#seed, "rows-"], removal)];
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
    if (source && Object.keys(inSource).length > 0)
      edits.push({ kind: "row", source, do: "change", row: keys, values: inSource });
    return [...edits, ...this.#override(key, keys, override)];
  }

  /** Adds cells to the row's entry under `rows~` of the environment's own layer, which is made where it is missing. */
  #override(key: string, keys: RowData, cells: Record<string, unknown>): FileEdit[] {
    if (Object.keys(cells).length === 0) return [];
    const { own } = this.#files;
    const path = ["seeds", this.#seed, "rows~"];
    const list = this.#files.valueIn(own, path);
    const isThere = list?.kind === "list" && list.items.some((item) => this.#keyOf("rows~", item) === key);
    if (!isThere) return [valueEdit("append", own, path, { ...keys, ...cells })];
    return Object.entries(cells).map(([label, value]) => this.#setCell(own, "rows~", keys, label, value));
  }

  #setCell(file: string, verb: string, keys: RowData, label: string, value: unknown): ValueFileEdit {
    const path: EditStep[] = ["seeds", this.#seed, verb, { where: keys }, label];
    // An override without a value would let the value below it through.
    if (value === undefined && verb !== "rows~") return valueEdit("remove", file, path);
    return valueEdit("set", file, path, value ?? null);
  }

  #dropItem(file: string, verb: string, keys: RowData): ValueFileEdit {
    return { ...valueEdit("remove", file, ["seeds", this.#seed, verb, { where: keys }]), prune: verb !== "rows" };
  }

  /** Where a row stands in a list of a layer, or one of its cells. */
  #item(verb: string, key: string, label?: string): { file: string; verb: string } | undefined {
    const item = this.#items.get(verb)?.get(key);
    if (item?.kind !== "map") return undefined;
    if (label === undefined) return { file: item.at.file, verb };
    const cell = item.entries.get(label);
    return cell && { file: cell.value.at.file, verb };
  }

  #keyOf(verb: string, item: Value): string {
    const value = toPlainValue(item);
    if (verb === "rows-")
      return naturalKey(this.#key, Object.fromEntries(this.#key.map((label, at) => [label, [value].flat()[at]]))) ?? "";
    return (isObject(value) && naturalKey(this.#key, value)) || "";
  }

  /** The values of the key, as a file has them. */
  #keyValues(cells: Cells, key: string): RowData {
    const parts = this.#key.length > 1 ? (JSON.parse(key) as string[]) : [key];
    return Object.fromEntries(this.#key.map((label, at) => [label, cells[label] ?? parts[at]]));
  }
}

/** A row as people write it: cells without a value are left out. */
const withoutNothing = (cells: Cells): RowData =>
  Object.fromEntries(
    Object.entries(cells).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  );

/** A change of one person: `role` is the new one. */
interface PersonChange {
  do: "add" | "change" | "remove";
  name: string;
  role?: string;
}

/** The people of a roster in the files. */
export interface Roster {
  /** The role that somebody has there; undefined for who is not there. */
  roleOf: (name: string) => unknown;
  /** May throw a DataRefusal. */
  edit: (change: PersonChange) => FileEdit[];
}

/** Refuses somebody who is on the platform, and whose last day in a file is over. */
export function refuseEnded(name: string, place: string): never {
  throw new DataRefusal(`${name} stands in ${place} with a last day that is over: change until there`);
}

/** The people of a team in the file that its roster names. What is wrong with a row has its place elsewhere. Throws a SourceError. */
export async function readPeople(files: EnvironmentFiles, source: string, team: string | undefined): Promise<Roster> {
  const rows = new Map<string, RowData>();
  const labels = new Set<string>();
  for await (const block of read({ source, key: ["email"] }, files.declared.folder, () => undefined)) {
    for (const { values } of block) {
      for (const label of Object.keys(values)) labels.add(label);
      if (team === undefined || trimmed(values["team"]) === team)
        rows.set(trimmed(values["email"]).toLowerCase(), values);
    }
  }
  const target = { source, key: team === undefined ? ["email"] : ["email", "team"] };
  const edit = ({ do: verb, name, role }: PersonChange): FileEdit[] => {
    const row = rows.get(name.toLowerCase());
    if (!files.isOwn(source)) {
      const other = files.isShared(source) ? "other environments have it as well" : "--into names another file";
      throw new DataRefusal(`the people of this team stand in ${source}, and ${other}: edit it there`);
    }
    if (verb === "add") {
      if (row) return refuseEnded(name, source);
      if (!name.includes("@"))
        throw new DataRefusal(`the platform shows no address of ${name}: write it into ${source} yourself`);
      // A row without a role is that of a plain member.
      const isRoleWritten = labels.has("role") || role !== "member";
      const added = { email: name, ...(isRoleWritten ? { role } : {}), ...(team === undefined ? {} : { team }) };
      return [{ kind: "row", source: target, do: "add", row: added }];
    }
    if (!row) throw new DataRefusal(`${source} has no row of ${name} any more`);
    const key = Object.fromEntries(target.key.map((label) => [label, row[label]]));
    return [{ kind: "row", source: target, do: verb, row: key, ...(verb === "change" ? { values: { role } } : {}) }];
  };
  const roleOf = (name: string): unknown => {
    const row = rows.get(name.toLowerCase());
    return row && (row["role"] || "member");
  };
  return { roleOf, edit };
}

const trimmed = (value: unknown): string => (typeof value === "string" ? value.trim() : "");
