import { isObject } from "../../provider/contract/wire.ts";
import { withRowEdits } from "../../provider/environment/schema.ts";
import { find, toPlainValue } from "../../provider/layers/document.ts";
import { isSameRecord, isSameValue, naturalKey, type Cells } from "../../provider/reconcile/merging/records.ts";
import { stable } from "../changes/model/values.ts";
import type { EnvironmentFiles } from "../changes/placing/environmentFiles.ts";
import type { FileEdit } from "../edits/edits.ts";
import type { EditStep, RowFileEdit, ValueFileEdit } from "../edits/kinds.ts";
import type { PromotedChange } from "./model/model.ts";
import { findSeed, readRows } from "./rows/rowTables.ts";

type ItemStep = Exclude<EditStep, string>;

/** The edits that move values into the file that several environments share, and the names of what they move. */
export interface FoldEdits {
  edits: FileEdit[];
  moved: string[];
}

/**
 * Moves what was promoted into the shared file where all environments over that file agree on it by now, each by an
 * override of its own: these are taken out. What an environment means stays the same.
 */
export async function foldEdits(
  changes: readonly PromotedChange[],
  all: readonly EnvironmentFiles[],
): Promise<FoldEdits> {
  const folding = new Folding(all, changes);
  const found: FoldEdits = { edits: [], moved: [] };
  for (const change of changes) {
    const edits = change.row ? await folding.row(change) : folding.settings(change);
    if (edits.length === 0) continue;
    found.moved.push(change.name);
    found.edits.push(...edits);
  }
  return found;
}

class Folding {
  readonly #all: readonly EnvironmentFiles[];
  /** Keys of the changed rows of each seed. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #tables = new Map<string, Promise<Map<string, Cells>>>();

  constructor(all: readonly EnvironmentFiles[], changes: readonly PromotedChange[]) {
    this.#all = all;
    for (const { path, row } of changes) {
      if (!row) continue;
      const [, seed = ""] = path;
      this.#keys.set(seed, (this.#keys.get(seed) ?? new Set()).add(row.key));
    }
  }

  /** Settings that the same file has below each environment's own one. */
  settings({ do: verb, path, ...change }: PromotedChange): FileEdit[] {
    if (verb !== "change" || path.at(-2) === "members") return [];
    return Object.keys(change.cells).flatMap((label): FileEdit[] => {
      const place = [...path, label];
      const [shared] = this.#all.flatMap((layers) => layers.filesWith(place).filter((file) => !this.#isOwn(file)));
      if (shared === undefined) return [];
      const having = this.#all.filter(({ declared }) => declared.document?.files.includes(shared));
      const values = having.map(({ root }) => find(root, place)?.value).map((value) => value && toPlainValue(value));
      const [value] = values;
      const isWhole = having.every(
        (layers) => layers.filesWith(place).join() === [layers.declared.file, shared].join(),
      );
      if (!isWhole || value === undefined || values.some((other) => stable(other) !== stable(value))) return [];
      const drops = having.map(({ declared: { file } }): ValueFileEdit => ({
        kind: "value",
        do: "remove",
        file,
        path: place,
        prune: true,
      }));
      return [{ kind: "value", do: "set", file: shared, path: place, value }, ...drops];
    });
  }

  #isOwn(file: string): boolean {
    return this.#all.some(({ declared }) => declared.file === file);
  }

  /** A row of a file that several environments share, as all of them have it. */
  async row(change: PromotedChange): Promise<FileEdit[]> {
    const [, seed = ""] = change.path;
    const key = change.row?.key ?? "";
    const groups = Map.groupBy(this.#all, (layers) => sourceOf(layers, seed)?.source);
    const [shared, ...others] = [...groups].filter(([source, group]) => source !== undefined && group.length > 1);
    const sharing = shared?.[1] ?? [];
    const source = sharing[0] && sourceOf(sharing[0], seed);
    if (!source || others.length > 0) return [];
    const rows = await Promise.all(sharing.map(async (each) => (await this.#rows(each, seed)).get(key)));
    const [row] = rows;
    const isAlike = rows.every((other) => (row && other ? isSameRecord(row, other, isSameValue) : row === other));
    const keys = keysOf(source.key, key, row ?? (change.do === "change" ? {} : change.cells));
    const [only, ...more] = source.key.map((label) => keys[label]);
    const verb = { add: "rows+", change: "rows~", remove: "rows-" }[change.do];
    const step: ItemStep = change.do === "remove" ? { is: more.length > 0 ? [only, ...more] : only } : { where: keys };
    const items = sharing.map((layers) => itemIn(layers, ["seeds", seed, verb], step, source.key));
    if (!isAlike || (change.do === "remove") === Boolean(row) || items.some((item) => item === undefined)) return [];
    const drops = sharing.map(({ declared: { file } }): ValueFileEdit => ({
      kind: "value",
      do: "remove",
      file,
      path: ["seeds", seed, verb, step],
      prune: true,
    }));
    return [{ kind: "row", source, ...inSource(change.do, keys, row ?? {}, items) }, ...drops];
  }

  /** The changed rows of a seed as an environment has them. */
  #rows(layers: EnvironmentFiles, seed: string): Promise<Map<string, Cells>> {
    const name = `${layers.name}/${seed}`;
    const known = this.#tables.get(name) ?? this.#read(layers, seed);
    this.#tables.set(name, known);
    return known;
  }

  async #read({ declared, name }: EnvironmentFiles, seed: string): Promise<Map<string, Cells>> {
    const found = new Map<string, Cells>();
    const side = findSeed(declared, seed, name);
    const wanted = this.#keys.get(seed);
    for await (const rows of side ? readRows(side) : [])
      for (const { key, cells } of rows) if (wanted?.has(key)) found.set(key, cells);
    return found;
  }
}

/** The edit of the file itself. */
function inSource(
  verb: PromotedChange["do"],
  keys: Cells,
  row: Cells,
  items: readonly unknown[],
): Pick<RowFileEdit, "do" | "row" | "values"> {
  if (verb === "remove") return { do: verb, row: keys };
  if (verb === "add") {
    const cells = Object.entries(row).filter(([, value]) => value !== undefined && value !== null && value !== "");
    return { do: verb, row: Object.fromEntries(cells) };
  }
  const labels = new Set(items.flatMap((item) => (isObject(item) ? Object.keys(item) : [])));
  const values = [...labels]
    .filter((label) => !(label in keys))
    .map((label) => [label, row[label] ?? undefined] as const);
  return { do: verb, row: keys, values: Object.fromEntries(values) };
}

/** The file of a seed's rows, without what layers do to them. */
function sourceOf({ declared }: EnvironmentFiles, name: string): RowFileEdit["source"] | undefined {
  const seed = declared.declaration.seeds[name];
  if (seed?.source === undefined) return undefined;
  const { additions: _, changes: __, removals: ___, ...source } = withRowEdits(seed);
  return { ...source, source: seed.source };
}

/** The entry of a row in an environment's own file; undefined where it has nothing, or another layer has something as well. */
function itemIn(layers: EnvironmentFiles, path: readonly string[], step: ItemStep, key: readonly string[]): unknown {
  const { file } = layers.declared;
  if (layers.filesWith(path).join() !== file) return undefined;
  const list = layers.valueIn(file, path);
  const items = list?.kind === "list" ? list.items.map(toPlainValue) : [];
  return items.find((item) => {
    if ("is" in step) return stable(item) === stable(step.is);
    return isObject(item) && naturalKey(key, item) === naturalKey(key, step.where);
  });
}

/** The values of a key: as a row has them, or its text. */
function keysOf(labels: readonly string[], key: string, row: Cells): Cells {
  const parts = labels.length > 1 ? (JSON.parse(key) as string[]) : [key];
  return Object.fromEntries(labels.map((label, at) => [label, row[label] ?? parts[at]]));
}
