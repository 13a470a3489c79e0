import { existsSync, realpathSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { findUncommitted } from "../../provider/files/git.ts";
import { pathInRepository, rootOf, toSlashes } from "../../provider/files/repository.ts";
import { BaseTree } from "../changes/base/baseTree.ts";
import { commitOf } from "../changes/base/commits.ts";
import { assertCommitted } from "../changes/base/committed.ts";
import { readAtBase, readInTree } from "../changes/base/declared.ts";
import {
  entryNamed,
  environmentsFile,
  environmentsIn,
  readEnvironments,
  textIn,
  type EnvironmentEntry,
} from "../changes/base/environments.ts";
import type { Declared } from "../changes/model/source.ts";
import { EnvironmentFiles, filesOf, filesOfOthers } from "../changes/placing/environmentFiles.ts";
import type { FileEdit } from "../edits/edits.ts";
import type { EditStep } from "../edits/kinds.ts";
import { findBase, type Pair } from "./base.ts";
import type { Promotion } from "./model/model.ts";
import { PromotionError } from "./model/promotionError.ts";
import { planPromotion, type PromotionTerms } from "./plan.ts";
import { parsePromotions, promotionsFile, type PromotionEntry } from "./promotionsFile.ts";
import { editFiles, foldPromotion, writePromotion } from "./writing.ts";

export interface PromotionRequest extends PromotionTerms {
  /** The folder of Pulumi.yaml. */
  folder: string;
  from: string;
  to: string;
  write: boolean;
  /** Moves what all environments over a file then agree on into that file. */
  fold: boolean;
  dirty: boolean;
}

/** A promotion, and the files that it has written. */
export interface Promoted extends Promotion {
  written: string[];
  /** Names of what all environments over a file had alike, and which stands in that file now. */
  folded: string[];
}

/** Brings what one environment has changed since the last promotion into another one. Throws a PromotionError. */
export async function promote(request: PromotionRequest): Promise<Promoted> {
  const folder = realpathSync(request.folder);
  const root = rootOf(folder);
  if (!existsSync(join(root, ".git")))
    throw new PromotionError(`${folder} is in no Git repository, so nothing says what has changed`);
  const listed = readEnvironments(folder);
  const [from, to] = [request.from, request.to].map((name) => namedFile(listed, name));
  if (!from || !to || from.name === to.name)
    throw new PromotionError("name two different environments: promote <from> <to>");
  const prefix = toSlashes(relative(root, folder));
  const pair: Pair = { root, prefix, from, to };
  const sides = { from: await declaredOf(folder, root, from), to: await declaredOf(folder, root, to) };
  const files = [environmentsFile, promotionsFile, ...[sides.from, sides.to].flatMap(filesOf)];
  if (!request.dirty) await assertCommitted(folder, files);
  try {
    return await promoteBetween(request, { folder, listed, pair, sides });
  } catch (error) {
    // A fold edits the files of all.
    const all = [...files, ...(listed ?? []).map(({ file }) => file)];
    if (error instanceof PromotionError && request.dirty) throw await withWayBack(error, pair, all);
    throw error;
  }
}

interface ReadPair {
  folder: string;
  listed: readonly EnvironmentEntry[] | undefined;
  pair: Pair;
  sides: { from: Declared; to: Declared };
}

async function promoteBetween(request: PromotionRequest, { folder, listed, pair, sides }: ReadPair): Promise<Promoted> {
  const { root, prefix, from, to } = pair;
  const entries = parsePromotions(textIn(folder, promotionsFile) ?? "");
  const base = await findBase(pair, entries);
  const tree = await BaseTree.of(root, base.commit);
  try {
    const before = await readAtBase({ base: tree, prefix }, fileAt(tree, prefix, from, await textAt(tree, prefix)));
    if (!before.declared)
      throw new PromotionError(`${from.name} at the commit ${base.commit.slice(0, 12)}: ${before.why ?? ""}`);
    const three = {
      from: { name: from.name, declared: sides.from },
      to: { name: to.name, declared: sides.to },
      base: before.declared,
    };
    const promotion = await planPromotion(three, base, request);
    if (!request.write || promotion.conflicts.length > 0) return { ...promotion, written: [], folded: [] };
    const layers = {
      from: new EnvironmentFiles(from.name, sides.from, new Map()),
      to: new EnvironmentFiles(to.name, sides.to, filesOfOthers(folder, to.name, listed ?? [from])),
    };
    const files = promotion.taken.length > 0 ? await editFiles(promotion, layers, three, request) : [];
    const entry = await entryEdits(promotion, entries, root);
    await writePromotion(folder, files, entry);
    const fold = request.fold ? await foldAll(promotion, folder, root, listed ?? [from, to]) : { moved: [], files: [] };
    const written = [...files, ...fold.files].map(({ file }) => file);
    if (entry.length > 0) written.push(promotionsFile);
    return { ...promotion, written: [...new Set(written)], folded: fold.moved };
  } finally {
    tree.remove();
  }
}

/** Adds what to do where a run that was killed may have left a part of its edits, such as a row in two files. */
async function withWayBack(
  error: PromotionError,
  { root, prefix }: Pair,
  files: readonly string[],
): Promise<PromotionError> {
  const changed = await findUncommitted(root, [...new Set(files.map((file) => pathInRepository(prefix, file)))]);
  if (changed.length === 0) return error;
  const names = changed.map((name) => (prefix === "" ? name : `:/${name}`)).join(" ");
  return new PromotionError(
    `${error.message}; if a promotion was cut off here, put its edits aside and promote again: git stash push --include-untracked -- ${names}`,
  );
}

/** Reads all environments as they are by now, and folds. */
async function foldAll(
  promotion: Promotion,
  folder: string,
  root: string,
  listed: readonly NamedFile[],
): ReturnType<typeof foldPromotion> {
  const all: EnvironmentFiles[] = [];
  for (const entry of listed) {
    const declared = await declaredOf(folder, root, entry);
    all.push(new EnvironmentFiles(entry.name, declared, new Map()));
  }
  return foldPromotion(promotion.taken, all, promotion.base);
}

interface NamedFile {
  name: string;
  file: string;
}

/** Without environments.yaml each environment is the file of its name. */
const namedFile = (listed: readonly EnvironmentEntry[] | undefined, name: string): NamedFile =>
  listed ? entryNamed(listed, name) : { name, file: `${name}.yaml` };

async function declaredOf(folder: string, root: string, { name, file }: NamedFile): Promise<Declared> {
  const { declared, problems } = await readInTree({ folder, root }, file);
  const [problem] = problems;
  if (declared && !problem) return declared;
  const { place, text = "can't be read" } = problem ?? {};
  throw new PromotionError(`${name}: ${place === undefined ? "" : `${place}: `}${text}`);
}

/** Where the file stood at the base: environments.yaml may have named another one. */
function fileAt(tree: BaseTree, prefix: string, { name, file }: NamedFile, text: string | undefined): string {
  const former = text === undefined ? undefined : environmentsIn(text).entries.find((each) => each.name === name);
  return former && tree.entries.has(posix.join(prefix, former.file)) ? former.file : file;
}

const textAt = (tree: BaseTree, prefix: string): Promise<string | undefined> =>
  tree.text(posix.join(prefix, environmentsFile));

/** The edits of promotions.yaml: none while something of `from` is left for another time, or nothing was new. */
async function entryEdits(promotion: Promotion, entries: readonly PromotionEntry[], root: string): Promise<FileEdit[]> {
  const { from, to, taken, kept, alike, left, leftConflicts } = promotion;
  const own = entries.filter((entry) => entry.to === to);
  const known = own.find((entry) => entry.from === from);
  const isNews = taken.length + kept + alike > 0 || (!known && promotion.base.by === "fork");
  if (!isNews || left.length + leftConflicts > 0) return [];
  const commit = await commitOf(root, "HEAD");
  const edit = (verb: "set" | "append", path: readonly EditStep[], value: unknown): FileEdit => ({
    kind: "value",
    do: verb,
    file: promotionsFile,
    path,
    value,
  });
  if (own.length === 0) return [edit("set", [to], { from, commit })];
  if (known) return [edit("set", known.isListed ? [to, { where: { from } }, "commit"] : [to, "commit"], commit)];
  const all = [...own.map((entry) => ({ from: entry.from, commit: entry.commit })), { from, commit }];
  return [edit("set", [to], all)];
}
