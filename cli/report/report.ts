import { existsSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { EngineError } from "../../engine/index.ts";
import { today } from "../../machine/today.ts";
import { some } from "../../platform/messages/text.ts";
import { listEnds } from "../../provider/environment/checks.ts";
import { type Declaration, formerKeys, listSources } from "../../provider/environment/declaration.ts";
import {
  LateError,
  maxMegabytesOfLayer,
  pathInRepository,
  rootOf,
  textIfAny,
  toSlashes,
  until,
} from "../../provider/files/files.ts";
import { type TreeEntry, treeOf, workingTreeOf } from "../../provider/files/git.ts";
import { describePlace } from "../../provider/layers/document.ts";
import {
  type AlsoChanged,
  type ChangeSet,
  type EnvironmentChanges,
  notCompared,
  type Note,
  type Section,
  stable,
} from "./changeSet.ts";
import { DataRefusal, type EnvironmentEntry, environmentsFile, environmentsIn } from "./environments.ts";
import { compareDeclarations } from "./section.ts";
import { type Declared, declareNothing, type EnvironmentReading, readDeclaration } from "./source.ts";
import { BaseTree, commitOf, forkOf, readAtBase, readInTree } from "./trees.ts";

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
  pending?: ((entry: EnvironmentEntry, declared: Declared) => Promise<Section>) | undefined;
  /** The digest of an environment's plan; absent, or undefined, where nobody can tell it. */
  plan?: ((entry: EnvironmentEntry) => Promise<string | undefined>) | undefined;
}

/** The exit status of an environment that there is not. */
const noSuchStack = 6;

/** Compares what each environment declares at the base with the working tree. Nothing of either runs, nothing is sent. */
export async function report(request: ReportRequest): Promise<ChangeSet> {
  const root = rootOf(request.folder);
  if (!existsSync(join(root, ".git"))) {
    throw new DataRefusal(`${request.folder} is in no Git repository, so there is no base to compare with`);
  }
  const tip = await commitOf(root, request.base);
  const { commit, behind } = await forkOf(root, tip);
  const base = await BaseTree.of(root, commit);
  try {
    const prefix = toSlashes(relative(root, realpathSync(request.folder)));
    const place: Place = { folder: request.folder, root, base, head: await headOf(root), prefix, request };
    const { entries, former, files } = await environmentsOf(place);
    const environments: EnvironmentChanges[] = [];
    for (const entry of entries) {
      const work = (): Promise<EnvironmentChanges> =>
        environmentChanges(place, entry, former.get(entry.name), former.size === 0);
      environments.push(await inTime(request.deadline, entry, work));
    }
    const also = await alsoChanged(place, files.before, files.after);
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

interface Place extends Sides {
  request: ReportRequest;
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
async function environmentsOf(place: Place): Promise<Listed> {
  const { stacks, file } = place.request;
  const before = await place.base.text(pathInRepository(place.prefix, environmentsFile));
  const after = textIfAny(place.folder, environmentsFile, maxMegabytesOfLayer);
  const [was, is] = [environmentsIn(before ?? "{}"), environmentsIn(after ?? "{}")];
  const former = new Map(was.entries.map((entry) => [entry.name, entry]));
  const removed = was.entries.filter(({ name }) => !is.entries.some((each) => each.name === name));
  const listed = [
    ...is.entries.map((entry) => ({ ...entry, isListed: true })),
    ...removed.map((entry) => ({ ...entry, isListed: false })),
  ];
  const named = file === undefined ? [] : [file];
  const filesIn = (all: readonly EnvironmentEntry[]): string[] => [...all.map((each) => each.file), ...named];
  const files = { before: filesIn(was.entries), after: filesIn(is.entries) };
  if (file !== undefined) {
    const [name = file] = stacks;
    return { entries: [{ name, stack: name, file, after: [], isListed: true }], former, files };
  }
  const [wrong] = is.problems;
  if (wrong) throw new DataRefusal(`${wrong.place ?? environmentsFile}: ${wrong.text}`);
  if (listed.length === 0) {
    throw new DataRefusal(
      `there is no ${environmentsFile} beside Pulumi.yaml: write one, or name the file with --file`,
    );
  }
  const chosen = listed.filter(
    ({ name, stack }) => stacks.length === 0 || stacks.includes(name) || stacks.includes(stack),
  );
  const missing = stacks.filter((each) => !listed.some(({ name, stack }) => name === each || stack === each));
  if (missing.length > 0) {
    const names = listed.map(({ name }) => name).join(", ");
    throw new EngineError(`${environmentsFile} does not list ${missing.join(", ")}; there is ${names}`, noSuchStack);
  }
  return { entries: chosen, former, files };
}

async function environmentChanges(
  place: Place,
  entry: ListedEntry,
  former: EnvironmentEntry | undefined,
  isFirst: boolean,
): Promise<EnvironmentChanges> {
  const { request } = place;
  const isRemoved = !entry.isListed && !existsSync(join(request.folder, entry.file));
  const before = await readAtBase(place, former?.file ?? entry.file);
  const head: EnvironmentReading = isRemoved
    ? { declared: declareNothing(request.folder), problems: [], files: [] }
    : await readInTree({ ...place, folder: request.folder }, entry.file, before.declared?.rules);
  const isThere = head.declared ?? declareNothing(request.folder);
  const compared =
    before.declared && head.declared
      ? await compareDeclarations({ base: before.declared, head: head.declared })
      : { section: notCompared(before.why ?? "the file of the working tree can't be read"), problems: [] };
  const flags = [
    ...(before.declared && head.policy ? findLoosened(before.declared, head.policy) : []),
    ...(before.declared && head.declared ? findLoosenedExpectations(before.declared, head.declared) : []),
    ...entryFlags(entry, former, isFirst),
  ];
  const pending = head.declared && (await request.pending?.(entry, isThere));
  const plan = head.problems.length === 0 ? await request.plan?.(entry) : undefined;
  const ends = await listEnds(isThere.declaration, { directory: isThere.folder, day: today() });
  return {
    name: entry.name,
    stack: entry.stack,
    file: entry.file,
    change: compared.section,
    ...(pending ? { pending } : {}),
    ...(plan === undefined ? {} : { plan }),
    problems: [...head.problems, ...compared.problems],
    flags,
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

/** Of an address its origin alone, since the rest may be a credential; anything else as it is. */
const originOf = (text = ""): string => (/^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text).origin : text);

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

/** The two sides of a report. */
interface Sides {
  /** The folder of Pulumi.yaml, and its path from the top of the repository on. */
  folder: string;
  prefix: string;
  /** The top of the repository. */
  root: string;
  base: BaseTree;
  /** The commit of the working tree; empty where there is none. */
  head: string;
}

/**
 * The changed files that no declaration reads. One that is there on both sides has to be read on both of them: a file that
 * became data with this change was something else before.
 * @param before Environment files of the base, of all environments
 * @param after those of the working tree
 */
export async function alsoChanged(
  { folder, prefix, root, base, head }: Sides,
  before: readonly string[],
  after: readonly string[],
): Promise<AlsoChanged> {
  const committed = head === "" ? new Map<string, TreeEntry>() : await treeOf(root, head);
  const now = await workingTreeOf(root, committed);
  const then = base.entries;
  const paths = [...new Set([...then.keys(), ...now.keys()])].filter((path) => !isSame(then.get(path), now.get(path)));
  if (paths.length === 0) return { count: 0, files: [] };
  for (const file of before) await base.writeEnvironment(pathInRepository(prefix, file));
  const wasRead = readBy(before, join(base.folder, prefix), prefix);
  const isRead = readBy(after, folder, prefix);
  const isData = (entry: TreeEntry | undefined, path: string, read: ReadonlySet<string>): boolean =>
    entry === undefined || (entry.kind === "file" && read.has(path));
  const others = paths.filter((path) => !isData(then.get(path), path, wasRead) || !isData(now.get(path), path, isRead));
  // What was there before comes first: of new files a branch may have any number.
  const isNew = (path: string): boolean => !then.has(path);
  others.sort((a, b) => Number(isNew(a)) - Number(isNew(b)) || (a < b ? -1 : 1));
  return { count: others.length, files: others.slice(0, maxNamed) };
}

/** Paths, from the top of the repository on, of the files that declarations consist of and read. */
function readBy(files: readonly string[], folder: string, prefix: string): ReadonlySet<string> {
  const read = new Set<string>();
  for (const file of new Set(files)) {
    if (!existsSync(join(folder, file))) continue;
    const reading = readDeclaration(file, folder);
    const sources = reading.declared ? listSources(reading.declared.declaration) : [];
    for (const name of [...reading.files, ...sources]) read.add(pathInRepository(prefix, name));
  }
  return read;
}

const isSame = (one: TreeEntry | undefined, other: TreeEntry | undefined): boolean =>
  one?.id === other?.id && one?.kind === other?.kind && one?.mode === other?.mode;

/** Parts of its own policy that a change withdraws: until it is merged, the policy of the base holds. */
function findLoosened(base: Declared, { rules }: Pick<Declaration, "rules">): Note[] {
  const ruleText = (rule: Declaration["rules"][number]): string => stable({ ...rule, because: undefined });
  const left = new Set(rules.map(ruleText));
  const lost = base.rules.filter(({ rule }) => !left.has(ruleText(rule)));
  return lost.map(({ rule, at }) => ({
    text: `the rule on ${[rule.path].flat().join(".")} is taken out or changed: until it is merged, that of the base holds`,
    place: describePlace(at),
  }));
}

type Seed = Declaration["seeds"][string];
type Expect = NonNullable<Seed["expect"]>;

/** Expectations of seeds that hold their tables to less than those of the base did. */
export function findLoosenedExpectations(base: Declared, head: Declared): Note[] {
  return Object.entries(head.declaration.seeds).flatMap(([name, seed]) => {
    const former = [name, ...formerKeys(seed.formerly)].find((each) => base.declaration.seeds[each] !== undefined);
    const before = former === undefined ? undefined : base.declaration.seeds[former]?.expect;
    const lost = before ? listLost(before, seed.expect ?? {}) : [];
    if (lost.length === 0) return [];
    const place = head.place(["seeds", name, ...(seed.expect ? ["expect"] : [])]);
    return { text: `${name} expects less of its table: ${lost.join("; ")}`, place };
  });
}

/** Lists the requirements that are gone or weaker, each in its words. */
function listLost(before: Expect, after: Expect): string[] {
  const labels = (name: "unique" | "notNull"): string[] =>
    (before[name] ?? []).filter((label) => !after[name]?.includes(label)).map((label) => `${name} ${label} is gone`);
  const values = Object.entries(before.acceptedValues ?? {}).flatMap(([label, was]) => {
    const is = after.acceptedValues?.[label];
    const more = is?.filter((value) => !was.includes(value)) ?? [];
    if (!is) return [`acceptedValues of ${label} are gone`];
    return more.length === 0 ? [] : [`acceptedValues of ${label} have ${some(more.map(String), 10)} more`];
  });
  const links = Object.entries(before.relationships ?? {}).flatMap(([label, was]) => {
    const is = after.relationships?.[label];
    return stable(is) === stable(was) ? [] : [`relationships of ${label} ${is ? "lead elsewhere" : "are gone"}`];
  });
  const { min: least, max: most } = before.rowCount ?? {};
  const { min = 0, max = Infinity } = after.rowCount ?? {};
  return [
    ...labels("unique"),
    ...labels("notNull"),
    ...values,
    ...links,
    ...(least !== undefined && min < least ? [`rowCount.min is ${min}, and was ${least}`] : []),
    ...(most !== undefined && max > most
      ? [`rowCount.max is ${max === Infinity ? "gone" : max}, and was ${most}`]
      : []),
  ];
}
