import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { EngineError } from "../../engine/index.ts";
import { today } from "../../machine/today.ts";
import { listEnds } from "../../provider/environment/checks.ts";
import type { Declaration } from "../../provider/environment/declaration.ts";
import { LateError, rootOf, textIfAny, until } from "../../provider/files/files.ts";
import { type TreeEntry, treeOf, workingTreeOf } from "../../provider/files/git.ts";
import { describePlace } from "../../provider/layers/document.ts";
import {
  type AlsoChanged,
  type ChangeSet,
  type EnvironmentChanges,
  notCompared,
  type Note,
  orderThings,
  type Section,
  stable,
  type Thing,
} from "./changeSet.ts";
import {
  DataRefusal,
  type Declared,
  declareNothing,
  entryNamed,
  type EnvironmentEntry,
  type EnvironmentReading,
  environmentsFile,
  environmentsIn,
  formerEnvironments,
  originOf,
  readDeclaration,
  readEnvironments,
  sound,
} from "./environments.ts";
import type { ReadFile } from "./plan.ts";
import { compareDeclarations } from "./section.ts";
import { BaseTree, commitOf, forkOf, WorkingTree } from "./trees.ts";

/** What a report is made of. */
export interface ReportRequest {
  /** The folder of Pulumi.yaml. */
  folder: string;
  /** A commit, by any name that Git knows. */
  base: string;
  /** Names of environments or stacks; all that environments.yaml lists without any. */
  stacks: readonly string[];
  /** The Environment file, where environments.yaml names none. */
  file?: string | undefined;
  /** Aborts when no more is to be read. */
  deadline?: AbortSignal | undefined;
  /** The second part of an environment; absent where nobody asks for it. */
  pending?: ((entry: EnvironmentEntry, declared: Declared, change: Section) => Promise<Section>) | undefined;
  /** The digest of an environment's plan; absent, or undefined, where nobody can tell it. */
  plan?: ((entry: EnvironmentEntry, read: ReadFile) => Promise<string | undefined>) | undefined;
}

/** The exit status of an environment that there is not. */
const noSuchStack = 6;

/** Both sides of a report, and what is asked for. */
interface Sides {
  request: ReportRequest;
  base: BaseTree;
  tree: WorkingTree;
}

/** Compares what each environment declares at the base with the working tree. Nothing of either runs, nothing is sent. */
export async function report(request: ReportRequest): Promise<ChangeSet> {
  const root = rootOf(request.folder);
  if (!existsSync(join(root, ".git"))) {
    throw new DataRefusal(`${request.folder} is not in a Git repository, so there is no base to compare with`);
  }
  const tree = new WorkingTree(root, realpathSync(request.folder));
  const tip = await commitOf(root, request.base);
  const head = await headOf(root);
  const { commit, behind } = await forkOf(root, tip, head);
  const base = await BaseTree.of(root, tree.prefix, commit);
  try {
    const sides: Sides = { request, base, tree };
    const { entries, former, files } = await environmentsOf(sides);
    const environments: EnvironmentChanges[] = [];
    for (const entry of entries)
      environments.push(await inTime(request.deadline, entry, () => environmentChanges(sides, entry, former)));
    const committed = head === commit ? base.entries : head === "" ? new Map() : await treeOf(root, head);
    const also = await alsoChanged(sides, await workingTreeOf(root, committed), files);
    const shownBase = { ref: request.base, commit, ...(behind > 0 ? { behind } : {}) };
    return { version: 1, kind: "report", base: shownBase, alsoChanged: also, environments };
  } finally {
    base.remove();
  }
}

/** The changes of an environment by the deadline of a report: all or nothing. */
async function inTime(
  deadline: AbortSignal | undefined,
  { name, stack, file }: ListedEntry,
  work: () => Promise<EnvironmentChanges>,
): Promise<EnvironmentChanges> {
  try {
    if (deadline?.aborted !== true) return await (deadline ? until(deadline, work) : work());
  } catch (error) {
    if (!(error instanceof LateError)) throw error;
  }
  const why = "the report took longer than it may: report fewer environments, or smaller files";
  return { name, stack, file, change: notCompared(why), problems: [], flags: [], notes: [] };
}

/** An environment, and whether the working tree lists it still. */
type ListedEntry = EnvironmentEntry & { isListed: boolean };

interface Listed {
  entries: ListedEntry[];
  /** The environments that the base lists. */
  former: ReadonlyMap<string, EnvironmentEntry>;
  /** The Environment files of all environments on both sides. */
  files: { before: string[]; after: string[] };
}

/** The environments that are asked for, with those that the base has and the working tree has not. */
async function environmentsOf({ request, base, tree }: Sides): Promise<Listed> {
  const { stacks, file } = request;
  const was = formerEnvironments(await base.text(environmentsFile));
  const after = textIfAny(tree.folder, environmentsFile) ?? "{}";
  const is = file === undefined ? environmentsIn(after) : formerEnvironments(after);
  const former = new Map(was.map((entry) => [entry.name, entry]));
  const named = file === undefined ? [] : [file];
  const filesIn = (all: readonly EnvironmentEntry[]): string[] => [...all.map((each) => each.file), ...named];
  const files = { before: filesIn(was), after: filesIn(is) };
  if (file !== undefined) {
    const [name = file] = stacks;
    return { entries: [{ name, stack: name, file, after: [], isListed: true }], former, files };
  }
  const removed = was.filter(({ name }) => !is.some((each) => each.name === name));
  const listed = [
    ...is.map((entry) => ({ ...entry, isListed: true })),
    ...removed.map((entry) => ({ ...entry, isListed: false })),
  ];
  if (listed.length === 0) {
    throw new DataRefusal(
      `there is no ${environmentsFile} beside Pulumi.yaml: write one, or name the file with --file`,
    );
  }
  const isNamed = (entry: EnvironmentEntry, by: string): boolean => entry.name === by || entry.stack === by;
  const missing = stacks.filter((by) => !listed.some((entry) => isNamed(entry, by)));
  if (missing.length > 0) {
    const names = listed.map(({ name }) => name).join(", ");
    throw new EngineError(`${environmentsFile} does not list ${missing.join(", ")}; there is ${names}`, noSuchStack);
  }
  const chosen = listed.filter((entry) => stacks.length === 0 || stacks.some((by) => isNamed(entry, by)));
  return { entries: chosen, former, files };
}

async function environmentChanges(
  { request, base, tree }: Sides,
  entry: ListedEntry,
  listedBefore: Listed["former"],
): Promise<EnvironmentChanges> {
  const { name, stack, file } = entry;
  const former = listedBefore.get(name);
  const isRemoved = !entry.isListed && !existsSync(join(tree.folder, file));
  const before = await base.read(former?.file ?? file);
  const head: Omit<EnvironmentReading, "files" | "missing"> = isRemoved
    ? { declared: declareNothing(tree.folder), problems: [] }
    : await tree.read(file, before.declared?.rules);
  const { declared = declareNothing(tree.folder) } = head;
  const compared =
    before.declared && head.declared
      ? await compareDeclarations({ base: before.declared, head: head.declared })
      : { section: notCompared(before.why ?? "the file of the working tree can't be read"), problems: [] };
  const pending = head.declared && (await request.pending?.(entry, declared, compared.section));
  const plan = head.problems.length === 0 ? await request.plan?.(entry, (each) => tree.read(each)) : undefined;
  const ends = await listEnds(declared.declaration, { directory: declared.folder, day: today() });
  return {
    ...{ name, stack, file, change: compared.section },
    ...(pending ? { pending } : {}),
    ...(plan === undefined ? {} : { plan }),
    problems: [...head.problems, ...compared.problems],
    flags: [
      ...(before.declared && head.parts ? findLoosened(before.declared, head.parts) : []),
      ...entryFlags(entry, former, listedBefore.size === 0),
    ],
    notes: [...before.notes, ...ends],
  };
}

/** Flags for an entry of environments.yaml: the environment's place and its position in the order. */
function entryFlags(entry: ListedEntry, former: EnvironmentEntry | undefined, isFirst: boolean): Note[] {
  const flag = (text: string): Note => ({ text, place: environmentsFile });
  if (!former) {
    if (isFirst) return [];
    const endpoint = entry.endpoint === undefined ? "" : ` at ${originOf(entry.endpoint)}`;
    return [flag(`${environmentsFile} did not list it before: the stack ${entry.stack}${endpoint}`)];
  }
  if (!entry.isListed) return [flag(`${environmentsFile} does not list it any more`)];
  const names = ["stack", "file", "endpoint", "after"] as const;
  return names.flatMap((name) => {
    const [was, is] = [former[name] ?? "nothing", entry[name] ?? "nothing"].map(String);
    return was === is ? [] : [flag(`${name} changes from ${originOf(was)} to ${originOf(is)}`)];
  });
}

/** The commit of the working tree; empty where there is none. */
async function headOf(root: string): Promise<string> {
  try {
    return await commitOf(root, "HEAD");
  } catch (error) {
    if (error instanceof DataRefusal) return "";
    throw error;
  }
}

// Data are the files that a declaration reads. Every other file that a branch changes may run in a pipeline, whatever it
// is called: it is named, and people read it.

/** Names that a report has at most; all are counted. */
const maxNamed = 1_000;

/**
 * The changed files that no declaration reads. One that is there on both sides has to be read on both of them: a file that
 * became data with this change was something else before.
 */
async function alsoChanged(
  { base, tree }: Sides,
  now: ReadonlyMap<string, TreeEntry>,
  files: Listed["files"],
): Promise<AlsoChanged> {
  const then = base.entries;
  const paths = [...new Set([...then.keys(), ...now.keys()])].filter((path) => !isSame(then.get(path), now.get(path)));
  if (paths.length === 0) return { count: 0, files: [] };
  const [wasRead, isRead] = [await base.dataOf(files.before), await tree.dataOf(files.after)];
  const isData = (entry: TreeEntry | undefined, path: string, read: ReadonlySet<string>): boolean =>
    entry === undefined || (entry.kind === "file" && read.has(path));
  const others = paths.filter((path) => !isData(then.get(path), path, wasRead) || !isData(now.get(path), path, isRead));
  // What was there before comes first: of new files a branch may have any number.
  const isNew = (path: string): boolean => !then.has(path);
  others.sort((a, b) => Number(isNew(a)) - Number(isNew(b)) || (a < b ? -1 : 1));
  return { count: others.length, files: others.slice(0, maxNamed) };
}

const isSame = (one: TreeEntry | undefined, other: TreeEntry | undefined): boolean =>
  one?.id === other?.id && one?.kind === other?.kind && one?.mode === other?.mode;

/** Parts of its own policy that a change withdraws: until it is merged, the policy of the base holds. */
function findLoosened(base: Declared, { rules }: Pick<Declaration, "rules">): Note[] {
  const ruleText = (rule: Declaration["rules"][number]): string => stable({ ...rule, because: undefined });
  const left = new Set(rules.map(ruleText));
  const lost = base.rules.filter(({ rule }) => !left.has(ruleText(rule)));
  return lost.map(({ rule, at }) => ({
    text: `the rule on ${[rule.path].flat().join(".")} is removed or changed: until that is merged, the one of the base applies`,
    place: describePlace(at),
  }));
}

// Two environments as they are declared: what the files of the one have that those of the other lack.

/** The report of what differs from one environment to another one. Throws a DataRefusal. */
export async function reportBetween(folder: string, from: string, to: string): Promise<ChangeSet> {
  const change = await compareContents(declaredAs(folder, from), declaredAs(folder, to));
  const environment = { name: `${from} → ${to}`, change, problems: [], flags: [], notes: [] };
  return { version: 1, kind: "between", environments: [environment] };
}

/** The declaration of an environment, or of a file that belongs to none. Broken rules count for nothing here. */
function declaredAs(folder: string, name: string): Declared {
  const entries = readEnvironments(folder);
  const isListed = entries?.some((each) => each.name === name || each.stack === name) === true;
  const isFile = !isListed && /\.ya?ml$/i.test(name) && existsSync(resolve(folder, name));
  if (!isFile && !entries)
    throw new DataRefusal(
      `there is no ${environmentsFile} beside Pulumi.yaml that names ${name}: write one, or name the Environment file itself`,
    );
  const file = isFile ? name : entryNamed(entries ?? [], name).file;
  const reading = readDeclaration(file, folder);
  return reading.declared ?? sound(reading, `${name} can't be read`);
}

/** Settings that name the file of rows or people. */
const ofFiles: readonly string[] = ["source", "team"];

/** Compares two declarations as contents: no guard of either hides or refuses anything. */
export async function compareContents(base: Declared, head: Declared): Promise<Section> {
  const { section } = await compareDeclarations({ base, head, isOpen: true });
  return { ...section, things: orderThings(section.things.flatMap((thing) => withoutFiles({ ...thing, guards: [] }))) };
}

/** A thing without the name of its file where rows and people are alike; none where nothing else differs. */
function withoutFiles(thing: Thing): Thing[] {
  const tallies = [thing.rows, thing.people].flatMap((tally) => tally ?? []);
  const isAlike = tallies.every(({ add, change, remove }) => add + change + remove === 0);
  if (thing.op !== "change" || !isAlike) return [thing];
  const changes = thing.changes.filter(({ kind, name }) => kind !== "setting" || !ofFiles.includes(name));
  return changes.length + thing.omitted + thing.notes.length === 0 ? [] : [{ ...thing, changes }];
}
