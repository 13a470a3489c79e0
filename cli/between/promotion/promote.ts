import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { z } from "zod";
import { formatCounts, unbroken } from "../../../platform/messages/text.ts";
import { holdsConfigured } from "../../../provider/environment/schema.ts";
import { pathInRepository, rootOf, textIfAny } from "../../../provider/files/files.ts";
import { runGit } from "../../../provider/files/git.ts";
import { find, toPlainValue } from "../../../provider/layers/document.ts";
import { rowVerbs } from "../../../provider/layers/layers.ts";
import { formatOf } from "../../../provider/seedRows/source/source.ts";
import { shortenValue as shortened } from "../../report/changeSet.ts";
import {
  checkedIn,
  DataRefusal,
  entryNamed,
  type EnvironmentEntry,
  environmentsFile,
  formerEnvironments,
  readDeclaration,
  readEnvironments,
  sound,
} from "../../report/environments.ts";
import { assertCommitted, BaseTree, commitOf, deepen, isShallow, WorkingTree } from "../../report/trees.ts";
import { type EditedFile, type FileEdit, planEdits } from "../editor/edits.ts";
import { type EditStep, valueEdit } from "../editor/text.ts";
import { readToEdit, writeFiles } from "../editor/writing.ts";
import { copyEdited, EnvironmentFiles, filesOf, type RowChange } from "../placing.ts";
import {
  planPromotion,
  type PromotedChange,
  type Promotion,
  type PromotionBase,
  type PromotionConflict,
  type PromotionSides,
  type PromotionTerms,
} from "./plan.ts";

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

/** Brings what one environment has changed since the last promotion into another one. Throws a DataRefusal. */
export async function promote(request: PromotionRequest): Promise<Promoted> {
  const folder = realpathSync(request.folder);
  const root = rootOf(folder);
  if (!existsSync(join(root, ".git")))
    throw new DataRefusal(`${folder} is not in a Git repository, which would show what has changed`);
  const listed = readEnvironments(folder);
  const [from, to] = [namedFile(listed, request.from), namedFile(listed, request.to)];
  if (from.name === to.name) throw new DataRefusal("name two different environments: promote <from> <to>");
  const now = new WorkingTree(root, folder);
  const { prefix } = now;
  const declared = {
    from: sound(await now.read(from.file), from.name),
    to: sound(await now.read(to.file), to.name),
  };
  const files = [environmentsFile, promotionsFile, ...filesOf(declared.from), ...filesOf(declared.to)];
  if (!request.dirty) await assertCommitted(folder, files);
  const entries = parsePromotions(textIfAny(folder, promotionsFile) ?? "");
  const base = await findBase({ root, prefix, from, to }, entries);
  const tree = await BaseTree.of(root, prefix, base.commit);
  try {
    const before = await tree.read(await fileAt(tree, from));
    if (!before.declared)
      throw new DataRefusal(`${from.name} at the commit ${base.commit.slice(0, 12)}: ${before.why ?? ""}`);
    const common = declared.from.document?.files.slice(1).find((file) => filesOf(declared.to).includes(file));
    const sides = {
      shared: {
        base: common === undefined ? undefined : (await tree.read(common)).declared,
        now: common === undefined ? undefined : (await now.read(common)).declared,
      },
      from: { name: from.name, declared: declared.from },
      to: { name: to.name, declared: declared.to },
      base: before.declared,
    };
    const promotion = await planPromotion(sides, base, request);
    if (!request.write || promotion.conflicts.length > 0) return { ...promotion, written: [] };
    const layers = {
      from: new EnvironmentFiles(declared.from, from, []),
      to: new EnvironmentFiles(declared.to, to, listed ?? [from]),
    };
    const edited = promotion.taken.length > 0 ? await editFiles(promotion, layers, sides, request) : [];
    const entry = await entryEdits(promotion, entries, root);
    await writePromotion(folder, edited, entry);
    const written = edited.map(({ file }) => file);
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

/** Where the file stood at the base: environments.yaml may have named another one. */
async function fileAt(tree: BaseTree, { name, file }: NamedFile): Promise<string> {
  const former = formerEnvironments(await tree.text(environmentsFile)).find((each) => each.name === name);
  return former && (await tree.text(former.file)) !== undefined ? former.file : file;
}

/** The edits of promotions.yaml: none while something of `from` is left for another time, or nothing was new. */
async function entryEdits(promotion: Promotion, entries: readonly PromotionEntry[], root: string): Promise<FileEdit[]> {
  const { from, to, taken, kept, alike, left, leftConflicts } = promotion;
  const own = entries.filter((entry) => entry.to === to);
  const known = own.find((entry) => entry.from === from);
  const isNews = taken.length + kept + alike > 0 || (!known && promotion.base.by === "fork");
  if (!isNews || left.length + leftConflicts > 0) return [];
  const commit = await commitOf(root, "HEAD");
  const edit = (path: readonly EditStep[], value: unknown): FileEdit[] => [
    valueEdit("set", promotionsFile, path, value),
  ];
  if (known) return edit(known.isListed ? [to, { where: { from } }, "commit"] : [to, "commit"], commit);
  const others = own.map((entry) => ({ from: entry.from, commit: entry.commit }));
  return edit([to], others.length > 0 ? [...others, { from, commit }] : { from, commit });
}

/** Both environments with their files. */
interface LayeredPair {
  from: EnvironmentFiles;
  to: EnvironmentFiles;
}

/** Makes all edits of a promotion, and reads them again: nothing is written. Throws a DataRefusal where one is not made. */
async function editFiles(
  promotion: Promotion,
  { from, to }: LayeredPair,
  sides: PromotionSides,
  terms: PromotionTerms,
): Promise<EditedFile[]> {
  const { folder } = to.declared;
  const { edits, files: copied } = editsOf(promotion.taken, { from, to });
  const { files, refused } = await planEdits(edits, (file) => readToEdit(folder, file));
  if (refused.length > 0) {
    const reasons = refused.slice(0, 5).map(({ place, reason }) => `${place}: ${reason}`);
    const more = refused.length > 5 ? ` (and ${refused.length - 5} more)` : "";
    throw new DataRefusal(`nothing is written, since ${reasons.join("; ")}${more}`);
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
  if (wrong) throw new DataRefusal(`${wrong.place}: ${wrong.reason}`);
  await writeFiles(folder, last);
}

function editsOf(
  changes: readonly PromotedChange[],
  { from, to }: LayeredPair,
): { edits: FileEdit[]; files: EditedFile[] } {
  const edits: FileEdit[] = [];
  const files: EditedFile[] = [];
  const renames = changes.filter((change) => change.do === "rename");
  for (const [seed, renamed] of Map.groupBy(renames, ({ path }) => path[1] ?? ""))
    edits.push(...to.rows(seed, renamed).rename());
  for (const change of changes) {
    const [kind, seed = ""] = change.path;
    if (change.do === "rename") continue;
    if (change.row) {
      for (const edit of to.rows(seed).place(rowChange(change.row.key, change))) edits.push(...newColumns(edit), edit);
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
  const { source: file, delimiter } = edit.source;
  return Object.keys(edit.do === "add" ? edit.row : (edit.values ?? {})).map((label) => ({
    kind: "column",
    file,
    delimiter,
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
    const declared = sound(readDeclaration(file, copy.folder), "nothing is written: once it is");
    const after = await planPromotion({ ...sides, to: { ...sides.to, declared } }, promotion.base, terms);
    const [other] = [...after.taken, ...after.conflicts];
    if (!other && after.left.length === promotion.left.length) return;
    const name = other?.name ?? after.left[0]?.name ?? file;
    throw new DataRefusal(`nothing is written: the edit of ${name} would not mean what it should; make it by hand`);
  } finally {
    copy.remove();
  }
}

/** Files of seeds that come as they are. */
const newSources = ({ taken }: Promotion, { from }: PromotionSides): string[] =>
  taken.flatMap(({ path, row }) => (row ? [] : (from.declared.declaration.seeds[path[1] ?? ""]?.source ?? [])));

/** The edits that bring a new seed, and the file of its rows where the other environment keeps it to itself. */
interface NewSeed {
  edits: FileEdit[];
  files: EditedFile[];
}

/** Brings a seed that the environment has not, with its rows. */
function placeSeed(from: EnvironmentFiles, to: EnvironmentFiles, change: PromotedChange): NewSeed {
  const [, name = ""] = change.path;
  if (change.do !== "add") throw new Error("a new seed is added");
  const rows: Record<string, unknown> = {};
  for (const label of ["rows", ...rowVerbs]) {
    const value = find(from.root, ["seeds", name, label])?.value;
    if (value && holdsConfigured(value)) {
      throw new DataRefusal(`${name}: ${label} comes from the configuration: write it into ${to.name} yourself`);
    }
    if (value) rows[label] = toPlainValue(value);
  }
  const source = from.declared.declaration.seeds[name]?.source;
  const target = source === undefined ? undefined : targetOf(source, from, to);
  const value = { ...change.cells, ...(target === undefined ? {} : { source: to.named(target) }), ...rows };
  const edits: FileEdit[] = [valueEdit("set", to.own, change.path, value)];
  if (source === undefined || target === undefined || source === target) return { edits, files: [] };
  const after = readFileSync(join(from.declared.folder, source));
  const place = join(to.declared.folder, target);
  if (!existsSync(place)) return { edits, files: [{ file: target, before: undefined, after }] };
  if (readFileSync(place).equals(after)) return { edits, files: [] };
  throw new DataRefusal(
    `${name}: its rows would be copied to ${target}, where another file is: move that, then promote`,
  );
}

/** A file that has the environment's name in its path belongs to it: the other one gets one of its own. */
function targetOf(source: string, from: EnvironmentFiles, to: EnvironmentFiles): string {
  const word = new RegExp(`(^|[/._-])${from.name.replace(/[.*+?^$()|[\]{}\\]/g, "\\$&")}(?=[/._-]|$)`, "g");
  return posix.normalize(source.replaceAll("\\", "/")).replace(word, (_, before: string) => before + to.name);
}

/** The edits that bring a change of settings into an environment's files. Throws a DataRefusal where none can. */
function placeSettings(files: EnvironmentFiles, change: Placed): FileEdit[] {
  const { path } = change;
  const isMember = path.at(-2) === "members";
  if (change.do === "remove") return files.takeOut(path, path.length > 2);
  if (change.do === "add") {
    const { role, ...more } = change.cells;
    const value = isMember && Object.keys(more).length === 0 ? role : change.cells;
    return [valueEdit("set", files.own, path, value)];
  }
  const held = find(files.root, path)?.value;
  const cells = Object.entries(change.cells);
  if (isMember && held?.kind === "scalar") {
    const values = Object.fromEntries(cells.map(([label, { from }]) => [label, from]));
    const { role = toPlainValue(held), ...more } = values;
    return files.set(path, Object.keys(more).length === 0 ? role : { role, ...more });
  }
  return cells.flatMap(([label, { from }]): FileEdit[] => {
    const place = [...path, label];
    const edits = files.set(place, from);
    if (from !== undefined) return edits;
    const other = files.filesWith(place).find((file) => !files.isOwn(file));
    if (other !== undefined) {
      throw new DataRefusal(
        `${change.name}: ${label} stands in ${other}, which other environments have as well, and no overlay takes it out: remove it there`,
      );
    }
    return edits.map((edit) => ({ ...edit, do: "remove" }));
  });
}

/** The file that keeps up to which commit an environment has what another one had, beside Pulumi.yaml. */
const promotionsFile = "promotions.yaml";

/** An environment has everything that another one had at a commit. */
interface PromotionEntry {
  to: string;
  from: string;
  commit: string;
  /** Where the commit stands. */
  place: string;
  /** True if it stands in a list. */
  isListed: boolean;
}

const entry = z.strictObject({
  from: z.string().min(1),
  commit: z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "must be the whole ID of a commit; correct it"),
});
const promotions = z.record(z.string(), z.union([entry, z.array(entry).min(1)]));

/** The entries of promotions.yaml: one for each environment, or a list where it gets from several. Throws a DataRefusal. */
function parsePromotions(text: string): PromotionEntry[] {
  const { data, at } = checkedIn(text, promotionsFile, promotions, {});
  return Object.entries(data).flatMap(([to, entries]) =>
    [entries].flat().map((one, index) => {
      const isListed = Array.isArray(entries);
      return { to, ...one, isListed, place: at(isListed ? [to, index, "commit"] : [to, "commit"]) };
    }),
  );
}

/** Two environments of a project, by name and file. */
interface Pair {
  root: string;
  /** The folder of Pulumi.yaml, from the top of the repository on. */
  prefix: string;
  from: { name: string; file: string };
  to: { name: string; file: string };
}

/**
 * Finds the commit since which `from` changed what is to be promoted: the one that promotions.yaml names, or the one that
 * brought the last promotion in the other direction, whichever is later; else the one since which there are both files.
 */
async function findBase(pair: Pair, entries: readonly PromotionEntry[]): Promise<PromotionBase> {
  const { from, to, root } = pair;
  if (await isShallow(root)) throw new DataRefusal(deepen);
  const isOf = (entry: PromotionEntry, one: string, other: string): boolean => entry.from === one && entry.to === other;
  const forth = entries.find((entry) => isOf(entry, from.name, to.name));
  const back = entries.find((entry) => isOf(entry, to.name, from.name));
  if (forth) await assertThere(root, forth);
  const returned = back && (await commitWith(pair, back));
  if (forth && returned !== undefined) {
    const isLater = await isAncestor(root, forth.commit, returned);
    return isLater ? { commit: returned, by: "return" } : { commit: forth.commit, by: "entry" };
  }
  if (returned !== undefined) return { commit: returned, by: "return" };
  if (forth) return { commit: forth.commit, by: "entry" };
  return { commit: await forkOfFiles(pair), by: "fork" };
}

async function assertThere(root: string, { commit, place, from }: PromotionEntry): Promise<void> {
  try {
    await runGit(root, "cat-file", "-e", `${commit}^{commit}`);
  } catch {
    const short = commit.slice(0, 12);
    throw new DataRefusal(
      `${place}: there is no commit ${short}, perhaps because the history was rewritten: name a commit at which ${from} was promoted last, or remove the entry to begin where both files came to be`,
    );
  }
}

/** The commit that brought an entry of the other direction into promotions.yaml. */
async function commitWith({ root, prefix }: Pair, { commit, place }: PromotionEntry): Promise<string> {
  const path = posix.join(prefix, promotionsFile);
  const words = ["log", "--no-show-signature", "--first-parent", "-m", "--format=%H", "-1", `-S${commit}`];
  const found = (await runGit(root, ...words, "HEAD", "--", path)).trim();
  if (found !== "") return found;
  throw new DataRefusal(`${place}: this entry is in no commit yet: commit what the last promotion wrote, then promote`);
}

/** The latest commit that added one of the two files: since then they stand beside each other. */
async function forkOfFiles({ root, prefix, from, to }: Pair): Promise<string> {
  const paths = [from, to].map(({ file }) => pathInRepository(prefix, file));
  const words = [
    "log",
    "--no-show-signature",
    "--first-parent",
    "-m",
    "--no-renames",
    "--diff-filter=A",
    "--format=%H",
  ];
  for (const [index, path] of paths.entries()) {
    const added = await runGit(root, ...words, "-1", "HEAD", "--", path);
    const { name, file } = index === 0 ? from : to;
    if (added.trim() === "") throw new DataRefusal(`${file} of ${name} is in no commit yet: commit it, then promote`);
  }
  return (await runGit(root, ...words, "-1", "HEAD", "--", ...paths)).trim();
}

async function isAncestor(root: string, one: string, other: string): Promise<boolean> {
  try {
    await runGit(root, "merge-base", "--is-ancestor", one, other);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 1) return false;
    throw error;
  }
}

/** Changes that are listed; all are counted. */
const maxListed = 1_000;

const signs = { add: "+", change: "~", remove: "-" } as const;

/** A promotion for people. */
export function renderPromotion(promotion: Promoted): string {
  const { from, to, base, taken, conflicts, notes } = promotion;
  const by = {
    entry: "promotions.yaml",
    return: `the last promotion from ${to} to ${from}`,
    fork: "the first commit with both files",
  }[base.by];
  const more = taken.length - maxListed;
  const lines = [
    `${from} → ${to}, what changed since ${base.commit.slice(0, 12)} (${by})`,
    ...taken.slice(0, maxListed).map(changeLine),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, from, to)),
    ...notes.map((note) => `note: ${note}`),
    ...outcomeLines(promotion),
  ];
  return `${lines.map(unbroken).join("\n")}\n`;
}

function changeLine(change: PromotedChange): string {
  if (change.do === "rename") return `  ~ ${change.name}  column ${change.former} → ${change.now}`;
  const cells =
    change.do === "change"
      ? Object.entries(change.cells).map(([label, { from, to }]) => `${label}: ${shown(to)} → ${shown(from)}`)
      : change.do === "add"
        ? Object.entries(change.cells).flatMap(([label, value]) =>
            value === undefined || value === null || change.row?.labels.includes(label)
              ? []
              : `${label}: ${shown(value)}`,
          )
        : [];
  return `  ${signs[change.do]} ${change.name}${cells.length > 0 ? `  ${cells.join(", ")}` : ""}`;
}

function conflictLines({ name, label, ...values }: PromotionConflict, from: string, to: string): string[] {
  const width = Math.max("base".length, from.length, to.length);
  const line = (side: string, value: unknown): string => `      ${side.padEnd(width)}  ${shown(value)}`;
  return [
    `  ! ${name}${label === undefined ? "" : `/${label}`}  conflict`,
    line("base", values.base),
    line(from, values.from),
    line(to, values.to),
  ];
}

function outcomeLines({ to, taken, conflicts, left, leftConflicts, untouched, kept, written }: Promoted): string[] {
  const count = (verb: PromotedChange["do"]): number => taken.filter((change) => change.do === verb).length;
  const summary = formatCounts([
    [count("add"), "added"],
    [count("change") + count("rename"), "changed"],
    [count("remove"), "removed"],
    [conflicts.length, conflicts.length === 1 ? "conflict" : "conflicts"],
    [kept, `kept as in ${to}`],
    [untouched, `of ${to} alone, untouched`],
    [left.length + leftConflicts, "left for another time"],
  ]);
  const isNothing = taken.length + conflicts.length === 0;
  const lines = [[isNothing ? "nothing to promote" : "", summary].filter((part) => part !== "").join("; ")];
  if (conflicts.length > 0)
    lines.push(
      "nothing is written: decide each conflict with --ours <name> or --theirs <name>, or change one of the files",
    );
  else if (written.length > 0) lines.push(`written: ${written.join(", ")}`);
  else if (taken.length > 0) lines.push(`--write brings this into the files of ${to}`);
  return lines;
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === "") return "(nothing)";
  const short = shortened(value, 200);
  return typeof short === "string" ? short : JSON.stringify(short);
}
