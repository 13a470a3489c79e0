import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { rootOf } from "../../provider/files/repository.ts";
import { readDeclaration, type Declared } from "../changes/model/source.ts";
import { filesOf, type EnvironmentFiles } from "../changes/placing/environmentFiles.ts";
import { RowPlacing, type RowChange } from "../changes/placing/rowPlacing.ts";
import { addColumns } from "../edits/columns.ts";
import { fileOf, planEdits, type EditedFile, type FileEdit } from "../edits/edits.ts";
import { readToEdit, writeFiles } from "../edits/writing.ts";
import { foldEdits } from "./folding.ts";
import type { PromotedChange, Promotion, PromotionBase, PromotionSides } from "./model/model.ts";
import { PromotionError } from "./model/promotionError.ts";
import { placeSeed } from "./placing/placeSeeds.ts";
import { placeSettings } from "./placing/placeSettings.ts";
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
  const { edits, files: copied } = editsOf(promotion.taken, { from, to });
  const originals = new Map<string, Buffer>();
  const { files, refused } = await planEdits(edits, async (file) => {
    const bytes = await readToEdit(folder, file);
    const labels = newLabels(edits, file);
    if (!bytes || labels.length === 0 || !file.toLowerCase().endsWith(".csv")) return bytes;
    const widened = addColumns(bytes, labels);
    if (widened !== bytes) originals.set(file, bytes);
    return widened;
  });
  if (refused.length > 0) {
    const reasons = refused.slice(0, 5).map(({ place, reason }) => `${place}: ${reason}`);
    const more = refused.length > 5 ? ` (and ${refused.length - 5} more)` : "";
    throw new PromotionError(`nothing is written, since ${reasons.join("; ")}${more}`);
  }
  const edited = [...copied, ...files.map((each) => ({ ...each, before: originals.get(each.file) ?? each.before }))];
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

function editsOf(
  changes: readonly PromotedChange[],
  { from, to }: LayeredPair,
): { edits: FileEdit[]; files: EditedFile[] } {
  const edits: FileEdit[] = [];
  const files: EditedFile[] = [];
  const tables = new Map<string, RowPlacing>();
  for (const change of changes) {
    const [kind, seed = ""] = change.path;
    if (change.row) {
      const table = tables.get(seed) ?? new RowPlacing(to, seed);
      tables.set(seed, table);
      for (const edit of table.place(rowChange(change.row.key, change))) edits.push(edit);
    } else if (kind === "seeds" && change.do === "add") {
      const made = placeSeed(from, to, change);
      edits.push(...made.edits);
      files.push(...made.files);
    } else edits.push(...placeSettings(to, change));
  }
  return { edits, files };
}

/** The change of a row as files take it: without a value its label goes. */
const rowChange = (key: string, change: PromotedChange): RowChange =>
  change.do === "change"
    ? {
        do: "change",
        key,
        cells: Object.fromEntries(Object.entries(change.cells).map(([label, { from }]) => [label, from ?? undefined])),
      }
    : { do: change.do, key, cells: change.cells };

/** Labels of rows that are written into a file. */
function newLabels(edits: readonly FileEdit[], file: string): string[] {
  const labels = new Set<string>();
  for (const edit of edits) {
    if (edit.kind !== "row" || edit.do === "remove" || fileOf(edit) !== file) continue;
    for (const label of Object.keys(edit.do === "add" ? edit.row : (edit.values ?? {}))) labels.add(label);
  }
  return [...labels];
}

/** Reads the environment as it would be: it must have what it gets, and nothing else may be otherwise. */
async function assertMeant(
  files: readonly EditedFile[],
  promotion: Promotion,
  to: EnvironmentFiles,
  sides: PromotionSides,
  terms: PromotionTerms,
): Promise<void> {
  if (files.length === 0) return;
  await withEdited(files, to.declared, newSources(promotion, sides), async (declared) => {
    const after = await planPromotion({ ...sides, to: { ...sides.to, declared } }, promotion.base, terms);
    const [other] = [...after.taken, ...after.conflicts];
    if (!other && after.left.length === promotion.left.length) return;
    const name = other?.name ?? after.left[0]?.name ?? to.declared.file;
    throw new PromotionError(`nothing is written: the edit of ${name} would not mean what it should; make it by hand`);
  });
}

/** Moves what was promoted into the file that several environments share; returns what was moved and the files. */
export async function foldPromotion(
  changes: readonly PromotedChange[],
  all: readonly EnvironmentFiles[],
  base: PromotionBase,
): Promise<{ moved: string[]; files: EditedFile[] }> {
  const { edits, moved } = await foldEdits(changes, all);
  const folder = all[0]?.declared.folder ?? ".";
  const { files, refused } = await planEdits(edits, (file) => readToEdit(folder, file));
  const [wrong] = refused;
  if (wrong)
    throw new PromotionError(`the promotion is written, and nothing is folded: ${wrong.place}: ${wrong.reason}`);
  const terms = { conflicts: "cell", only: [], ours: [], theirs: [] } as const;
  for (const { name, declared } of files.length > 0 ? all : []) {
    await withEdited(files, declared, [], async (after) => {
      const sides = { base: declared, from: { name, declared: after }, to: { name, declared } };
      const { taken, conflicts } = await planPromotion(sides, base, terms);
      const [other] = [...taken, ...conflicts];
      if (!other) return;
      throw new PromotionError(
        `the promotion is written, and nothing is folded: ${other.name} of ${name} would change`,
      );
    });
  }
  // The shared files come first: an environment must not lose its own value before these have it.
  const layers = new Set(all.map(({ declared }) => declared.file));
  const ordered = files.toSorted((one, other) => Number(layers.has(one.file)) - Number(layers.has(other.file)));
  await writeFiles(folder, ordered);
  return { moved: files.length > 0 ? moved : [], files };
}

/** Reads an environment with edited files in a private folder. Throws a PromotionError where it would be wrong. */
async function withEdited(
  files: readonly EditedFile[],
  read: Declared,
  more: readonly string[],
  work: (declared: Declared) => Promise<void>,
): Promise<void> {
  const { file, folder } = read;
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "microapps-promotion-")));
  try {
    mkdirSync(join(copy, ".git")); // the reader takes it for a repository, and reads nothing beyond it
    const project = relative(rootOf(folder), realpathSync(folder));
    const place = (name: string): string => join(copy, project, name);
    for (const name of new Set([...filesOf(read), ...more])) {
      if (!existsSync(join(folder, name))) continue;
      mkdirSync(dirname(place(name)), { recursive: true });
      cpSync(join(folder, name), place(name), { mode: 0 });
    }
    for (const { file: name, after } of files) {
      mkdirSync(dirname(place(name)), { recursive: true });
      writeFileSync(place(name), after);
    }
    const { declared, problems } = readDeclaration(file, join(copy, project));
    const [problem] = problems;
    if (!declared || problem) {
      const { place: at = file, text = "can't be read" } = problem ?? {};
      throw new PromotionError(`nothing is written: once it is, ${at}: ${text}`);
    }
    await work(declared);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Files of seeds that come as they are. */
const newSources = ({ taken }: Promotion, { from }: PromotionSides): string[] =>
  taken.flatMap(({ path, row }) => (row ? [] : (from.declared.declaration.seeds[path[1] ?? ""]?.source ?? [])));
