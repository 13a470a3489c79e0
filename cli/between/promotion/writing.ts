import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { holdsConfigured } from "../../../provider/environment/schema.ts";
import { find, toPlainValue } from "../../../provider/layers/document.ts";
import { rowVerbs } from "../../../provider/layers/layers.ts";
import { formatOf } from "../../../provider/seedRows/source/source.ts";
import { readDeclaration } from "../../report/source.ts";
import { planEdits, type EditedFile, type FileEdit } from "../editor/edits.ts";
import { readToEdit, writeFiles } from "../editor/writing.ts";
import { copyEdited, RowPlacing, setValue, takeOutValue, type EnvironmentFiles, type RowChange } from "../placing.ts";
import { PromotionError, type PromotedChange, type Promotion, type PromotionSides } from "./model.ts";
import { planPromotion, type PromotionTerms } from "./plan.ts";

/** Both environments with their files. */
export interface LayeredPair {
  from: EnvironmentFiles;
  to: EnvironmentFiles;
}

/** Makes all edits of a promotion, and reads them again: nothing is written. Throws a PromotionError where one is not made. */
export async function editFiles(
  promotion: Promotion,
  { from, to }: LayeredPair,
  sides: PromotionSides,
  terms: PromotionTerms,
): Promise<EditedFile[]> {
  const { folder } = to.declared;
  const { edits, files: copied } = await editsOf(promotion.taken, { from, to });
  const { files, refused } = await planEdits(edits, (file) => readToEdit(folder, file));
  if (refused.length > 0) {
    const reasons = refused.slice(0, 5).map(({ place, reason }) => `${place}: ${reason}`);
    const more = refused.length > 5 ? ` (and ${refused.length - 5} more)` : "";
    throw new PromotionError(`nothing is written, since ${reasons.join("; ")}${more}`);
  }
  const edited = [...copied, ...files];
  await assertMeant(edited, promotion, to, sides, terms);
  return edited;
}

/** Writes the files, and promotions.yaml behind them: after a kill it is never ahead of them. */
export async function writePromotion(
  folder: string,
  files: readonly EditedFile[],
  entry: readonly FileEdit[],
): Promise<void> {
  for (const { file, before } of files) if (!before) mkdirSync(dirname(join(folder, file)), { recursive: true });
  await writeFiles(folder, files);
  const { files: last, refused } = await planEdits(entry, (file) => readToEdit(folder, file));
  const [wrong] = refused;
  if (wrong) throw new PromotionError(`${wrong.place}: ${wrong.reason}`);
  await writeFiles(folder, last);
}

async function editsOf(
  changes: readonly PromotedChange[],
  { from, to }: LayeredPair,
): Promise<{ edits: FileEdit[]; files: EditedFile[] }> {
  const edits: FileEdit[] = [];
  const files: EditedFile[] = [];
  const tables = new Map<string, RowPlacing>();
  for (const [seed, renamed] of Map.groupBy(
    changes.filter((change) => change.do === "rename"),
    ({ path }) => path[1] ?? "",
  )) {
    const table = new RowPlacing(to, seed, renamed);
    tables.set(seed, table);
    edits.push(...(await table.rename()));
  }
  for (const change of changes) {
    const [kind, seed = ""] = change.path;
    if (change.do === "rename") continue;
    if (change.row) {
      const table = tables.get(seed) ?? new RowPlacing(to, seed);
      tables.set(seed, table);
      for (const edit of table.place(rowChange(change.row.key, change))) edits.push(...newColumns(edit), edit);
    } else if (kind === "seeds" && change.do === "add") {
      const made = placeSeed(from, to, change);
      edits.push(...made.edits);
      files.push(...made.files);
    } else edits.push(...placeSettings(to, change));
  }
  return { edits, files };
}

type Placed = Exclude<PromotedChange, { do: "rename" }>;

/** The change of a row as files take it: without a value its label goes. */
const rowChange = (key: string, change: Placed): RowChange =>
  change.do === "change"
    ? {
        do: "change",
        key,
        cells: Object.fromEntries(Object.entries(change.cells).map(([label, { from }]) => [label, from ?? undefined])),
      }
    : { do: change.do, key, cells: change.cells };

/** Columns that a CSV must have for an edit of a row. */
function newColumns(edit: FileEdit): FileEdit[] {
  if (edit.kind !== "row" || edit.do === "remove" || formatOf(edit.source.source) !== ".csv") return [];
  const file = edit.source.source;
  return Object.keys(edit.do === "add" ? edit.row : (edit.values ?? {})).map((label) => ({
    kind: "column",
    file,
    label,
  }));
}

/** Reads the environment as it would be: it must have what it gets, and nothing else may be otherwise. */
async function assertMeant(
  files: readonly EditedFile[],
  promotion: Promotion,
  { declared: { file, ...read } }: EnvironmentFiles,
  sides: PromotionSides,
  terms: PromotionTerms,
): Promise<void> {
  if (files.length === 0) return;
  const copy = copyEdited({ file, ...read }, files, newSources(promotion, sides));
  try {
    const { declared, problems } = readDeclaration(file, copy.folder);
    const [problem] = problems;
    if (!declared || problem) {
      const { place = file, text = "can't be read" } = problem ?? {};
      throw new PromotionError(`nothing is written: once it is, ${place}: ${text}`);
    }
    const after = await planPromotion({ ...sides, to: { ...sides.to, declared } }, promotion.base, terms);
    const [other] = [...after.taken, ...after.conflicts];
    if (!other && after.left.length === promotion.left.length) return;
    const name = other?.name ?? after.left[0]?.name ?? file;
    throw new PromotionError(`nothing is written: the edit of ${name} would not mean what it should; make it by hand`);
  } finally {
    copy.remove();
  }
}

/** Files of seeds that come as they are. */
const newSources = ({ taken }: Promotion, { from }: PromotionSides): string[] =>
  taken.flatMap(({ path, row }) => (row ? [] : (from.declared.declaration.seeds[path[1] ?? ""]?.source ?? [])));

/** The edits that bring a new seed, and the file of its rows where the other environment keeps it to itself. */
export interface NewSeed {
  edits: FileEdit[];
  files: EditedFile[];
}

/** Brings a seed that the environment has not, with its rows. */
export function placeSeed(from: EnvironmentFiles, to: EnvironmentFiles, change: PromotedChange): NewSeed {
  const [, name = ""] = change.path;
  if (change.do !== "add") throw new Error("a new seed is added");
  const rows: Record<string, unknown> = {};
  for (const label of ["rows", ...rowVerbs]) {
    const value = find(from.root, ["seeds", name, label])?.value;
    if (value && holdsConfigured(value)) {
      throw new PromotionError(`${name}: ${label} comes from the configuration: write it into ${to.name} yourself`);
    }
    if (value) rows[label] = toPlainValue(value);
  }
  const source = from.declared.declaration.seeds[name]?.source;
  const target = source === undefined ? undefined : targetOf(source, from, to);
  const value = { ...change.cells, ...(target === undefined ? {} : { source: to.named(target) }), ...rows };
  const edits: FileEdit[] = [{ kind: "value", do: "set", file: to.own, path: change.path, value }];
  if (source === undefined || target === undefined || source === target) return { edits, files: [] };
  const after = readFileSync(join(from.declared.folder, source));
  const place = join(to.declared.folder, target);
  if (!existsSync(place)) return { edits, files: [{ file: target, before: undefined, after }] };
  if (readFileSync(place).equals(after)) return { edits, files: [] };
  throw new PromotionError(
    `${name}: its rows would be copied to ${target}, where another file is: move that, then promote`,
  );
}

/** A file that has the environment's name in its path belongs to it: the other one gets one of its own. */
function targetOf(source: string, from: EnvironmentFiles, to: EnvironmentFiles): string {
  const word = new RegExp(`(^|[/._-])${from.name.replace(/[.*+?^$()|[\]{}\\]/g, "\\$&")}(?=[/._-]|$)`, "g");
  return posix.normalize(source.replaceAll("\\", "/")).replace(word, (_, before: string) => before + to.name);
}

/** The edits that bring a change of settings into an environment's files. Throws a DataRefusal where none can. */
export function placeSettings(files: EnvironmentFiles, change: Placed): FileEdit[] {
  const { path } = change;
  const isMember = path.at(-2) === "members";
  if (change.do === "remove") return takeOutValue(files, path, path.length > 2);
  if (change.do === "add") {
    const { role, ...more } = change.cells;
    const value = isMember && Object.keys(more).length === 0 ? role : change.cells;
    return [{ kind: "value", do: "set", file: files.own, path, value }];
  }
  const held = find(files.root, path)?.value;
  const cells = Object.entries(change.cells);
  if (isMember && held?.kind === "scalar") {
    const values = Object.fromEntries(cells.map(([label, { from }]) => [label, from]));
    const { role = toPlainValue(held), ...more } = values;
    return [setValue(files, path, Object.keys(more).length === 0 ? role : { role, ...more })];
  }
  return cells.map(([label, { from }]) => {
    const place = [...path, label];
    const edit = setValue(files, place, from);
    if (from !== undefined) return edit;
    const other = files.filesWith(place).find((file) => !files.isOwn(file));
    if (other !== undefined) {
      throw new PromotionError(
        `${change.name}: ${label} stands in ${other}, which other environments have as well, and no overlay takes it out: remove it there`,
      );
    }
    return { ...edit, do: "remove" };
  });
}
