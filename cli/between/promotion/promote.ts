import { existsSync, realpathSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { rootOf, toSlashes } from "../../../provider/files/files.ts";
import { DataRefusal } from "../../report/environments.ts";
import {
  entryNamed,
  environmentsFile,
  environmentsIn,
  readEnvironments,
  textIn,
  type EnvironmentEntry,
} from "../../report/environments.ts";
import type { Declared } from "../../report/source.ts";
import { BaseTree } from "../../report/trees.ts";
import { CommitError, commitOf } from "../../report/trees.ts";
import { assertCommitted } from "../../report/trees.ts";
import { readAtBase, readInTree } from "../../report/trees.ts";
import type { FileEdit } from "../editor/edits.ts";
import type { EditStep } from "../editor/text.ts";
import { WriteError } from "../editor/writing.ts";
import { EnvironmentFiles, filesOf, filesOfOthers } from "../placing.ts";
import { findBase, parsePromotions, promotionsFile, type Pair, type PromotionEntry } from "./base.ts";
import { PromotionError, type Promotion } from "./model.ts";
import { planPromotion, type PromotionTerms } from "./plan.ts";
import { editFiles, writePromotion } from "./writing.ts";

export interface PromotionRequest extends PromotionTerms {
  /** The folder of Pulumi.yaml. */
  folder: string;
  from: string;
  to: string;
  write: boolean;
  dirty: boolean;
}

/** A promotion, and the files that it has written. */
export interface Promoted extends Promotion {
  written: string[];
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
  return promoteBetween(request, { folder, listed, pair, sides });
}

/** True for a reason why nothing is promoted, in one sentence. */
export const isPromotionRefusal = (error: unknown): error is Error =>
  error instanceof DataRefusal || error instanceof CommitError || error instanceof WriteError;

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
    if (!request.write || promotion.conflicts.length > 0) return { ...promotion, written: [] };
    const layers = {
      from: new EnvironmentFiles(from.name, sides.from, new Map()),
      to: new EnvironmentFiles(to.name, sides.to, filesOfOthers(folder, to.name, listed ?? [from])),
    };
    const files = promotion.taken.length > 0 ? await editFiles(promotion, layers, three, request) : [];
    const entry = await entryEdits(promotion, entries, root);
    await writePromotion(folder, files, entry);
    const written = files.map(({ file }) => file);
    return { ...promotion, written: entry.length > 0 ? [...written, promotionsFile] : written };
  } finally {
    tree.remove();
  }
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
