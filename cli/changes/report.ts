import { existsSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { today } from "../../machine/settings/today.ts";
import { listEnds } from "../../provider/environment/checks/peopleChecks.ts";
import { LateError, until } from "../../provider/files/deadline.ts";
import { rootOf, toSlashes } from "../../provider/files/repository.ts";
import { BaseTree } from "./base/baseTree.ts";
import { CommitError, commitOf, forkOf } from "./base/commits.ts";
import { layoutOnly, type BothTexts } from "./base/decidingFlags.ts";
import { readAtBase, readInTree } from "./base/declared.ts";
import { driftFile, environmentsFile, environmentsIn, type EnvironmentEntry } from "./base/environments.ts";
import { profileFlags, profileIn } from "./base/profileFlags.ts";
import { describeSetting } from "./base/projectFlags.ts";
import { driftFlags, findLoosened, findLoosenedExpectations } from "./loosened.ts";
import { notCompared, type ChangeSet, type EnvironmentChanges, type Note, type Section } from "./model/changeSet.ts";
import { declareNothing, type Declared, type EnvironmentReading } from "./model/source.ts";
import { stable } from "./model/values.ts";
import { compareDeclarations } from "./plan/plans.ts";
import { flagsOfProject, flagsOfStack, inRepository, textsOf, type Sides } from "./projectChanges.ts";

/** PromotedSubject of a report. */
export interface ReportRequest {
  /** The folder of Pulumi.yaml. */
  folder: string;
  /** A commit, by any name that Git knows. */
  base: string;
  /** Names of environments or stacks; all that environments.yaml lists without any. */
  stacks: readonly string[];
  /** The Environment file, where environments.yaml names none. */
  file?: string | undefined;
  /** The profile that a variable names, which counts more than that of a stack. */
  profile?: string | undefined;
  /** Aborts when no more is to be read. */
  deadline?: AbortSignal | undefined;
  /** The second part of an environment; absent where nobody asks for it. */
  pending?: ((entry: EnvironmentEntry, declared: Declared) => Promise<Section>) | undefined;
}

/** A request that no report can be made for. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  /** True if it is an environment that is not there. */
  readonly isMissing: boolean;
  constructor(message: string, isMissing = false) {
    super(message);
    this.isMissing = isMissing;
  }
}

/** Compares what each environment declares at the base with the working tree. Nothing of either runs, nothing is sent. */
export async function report(request: ReportRequest): Promise<ChangeSet> {
  const root = rootOf(request.folder);
  if (!existsSync(join(root, ".git"))) {
    throw new RequestError(`${request.folder} is in no Git repository, so there is no base to compare with`);
  }
  const tip = await commitOf(root, request.base);
  const { commit, behind } = await forkOf(root, tip);
  const base = await BaseTree.of(root, commit);
  try {
    const prefix = toSlashes(relative(root, realpathSync(request.folder)));
    const sides = { folder: request.folder, root, base, head: await headOf(root), prefix };
    const place: Place = { ...sides, request, unexplained: [] };
    const { entries, former, flags: listFlags } = await environmentsOf(place);
    const { flags: ofProject, unexplained } = await flagsOfProject(place);
    const flags = [...listFlags, ...driftFlags(await textsOf(place, driftFile)), ...ofProject];
    const environments: EnvironmentChanges[] = [];
    for (const entry of entries) {
      const known = former.get(entry.name);
      const work = (): Promise<EnvironmentChanges> =>
        environmentChanges({ ...place, unexplained }, entry, known, former.size === 0);
      environments.push({ ...(await inTime(request.deadline, entry, work)), ...depthIn(former, entry.name) });
    }
    const shownBase = { ref: request.base, commit, ...(behind > 0 ? { behind } : {}) };
    return { version: 1, kind: "report", base: shownBase, flags, environments };
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

/** Environments of the base that come before one, one after another. A circle ends where it began. */
function depthIn(former: ReadonlyMap<string, EnvironmentEntry>, name: string): { depth?: number } {
  const below = (each: string, above: readonly string[]): number => {
    const before = (former.get(each)?.after ?? []).filter((one) => former.has(one) && !above.includes(one));
    return Math.max(0, ...before.map((one) => 1 + below(one, [...above, each])));
  };
  return former.has(name) ? { depth: below(name, [name]) } : {};
}

interface Place extends Sides {
  request: ReportRequest;
  /** Changes of what all environments share that no flag explains. */
  unexplained: readonly Note[];
}

/** An environment, and whether the working tree lists it still. */
type ListedEntry = EnvironmentEntry & { isListed: boolean };

interface Listed {
  entries: ListedEntry[];
  /** The environments that the base lists. */
  former: ReadonlyMap<string, EnvironmentEntry>;
  flags: Note[];
}

/** The environments that are asked for, with those that the base has and the working tree has not. */
async function environmentsOf(place: Place): Promise<Listed> {
  const { stacks, file } = place.request;
  const { before, after } = await textsOf(place, environmentsFile);
  const [was, is] = [environmentsIn(before ?? "{}"), environmentsIn(after ?? "{}")];
  const former = new Map(was.entries.map((entry) => [entry.name, entry]));
  const removed = was.entries.filter(({ name }) => !is.entries.some((each) => each.name === name));
  const listed = [
    ...is.entries.map((entry) => ({ ...entry, isListed: true })),
    ...removed.map((entry) => ({ ...entry, isListed: false })),
  ];
  if (file !== undefined) {
    const [name = file] = stacks;
    return { entries: [{ name, stack: name, file, after: [], isListed: true }], former, flags: [] };
  }
  const [wrong] = is.problems;
  if (wrong) throw new RequestError(`${wrong.place ?? environmentsFile}: ${wrong.text}`);
  if (listed.length === 0) {
    throw new RequestError(
      `there is no ${environmentsFile} beside Pulumi.yaml: write one, or name the file with --file`,
    );
  }
  const chosen = listed.filter(
    ({ name, stack }) => stacks.length === 0 || stacks.includes(name) || stacks.includes(stack),
  );
  const missing = stacks.filter((each) => !listed.some(({ name, stack }) => name === each || stack === each));
  if (missing.length > 0) {
    const names = listed.map(({ name }) => name).join(", ");
    throw new RequestError(`${environmentsFile} does not list ${missing.join(", ")}; there is ${names}`, true);
  }
  const isSame = before !== after && stable(was.entries) === stable(is.entries);
  return {
    entries: chosen,
    former,
    flags: isSame ? [{ text: layoutOnly(environmentsFile), place: environmentsFile }] : [],
  };
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
  const isElsewhere = former?.endpoint !== entry.endpoint;
  const { stack, ...ofStack } = await flagsOfStack(place, entry, former, isElsewhere);
  const flags = [
    ...(before.declared && head.policy ? findLoosened(before.declared, head.policy) : []),
    ...(before.declared && head.declared ? findLoosenedExpectations(before.declared, head.declared) : []),
    ...entryFlags(entry, former, isFirst),
    ...ofStack.flags,
    ...(await flagsOfProfile(place, stack)),
  ];
  const pending = head.declared && (await request.pending?.(entry, isThere));
  const ends = await listEnds(isThere.declaration, { directory: isThere.folder, day: today() });
  return {
    name: entry.name,
    stack: entry.stack,
    file: entry.file,
    change: compared.section,
    ...(pending ? { pending } : {}),
    problems: [...head.problems, ...compared.problems],
    flags,
    notes: [...before.notes, ...ends],
  };
}

async function flagsOfProfile(place: Place, { before, after }: BothTexts): Promise<Note[]> {
  const { base, prefix, request } = place;
  const [was, is] = [before, after].map((text) => request.profile ?? profileIn(text));
  if (was !== undefined) await base.writeEnvironment(inRepository(place, was));
  return profileFlags({ name: was, folder: join(base.folder, prefix) }, { name: is, folder: request.folder });
}

/** Flags for an entry of environments.yaml: the environment's place and its position in the order. */
function entryFlags(entry: ListedEntry, former: EnvironmentEntry | undefined, isFirst: boolean): Note[] {
  const flag = (text: string): Note => ({ text, place: environmentsFile });
  if (!former) {
    if (isFirst) return [];
    const endpoint = entry.endpoint === undefined ? "" : ` at ${describeSetting(entry.endpoint)}`;
    return [flag(`${environmentsFile} did not list it before: the stack ${entry.stack}${endpoint}`)];
  }
  if (!entry.isListed) return [flag(`${environmentsFile} does not list it any more`)];
  const names = ["stack", "file", "endpoint", "after"] as const;
  return names.flatMap((name) => {
    const [was, is] = [former[name] ?? "nothing", entry[name] ?? "nothing"].map(String);
    return was === is ? [] : [flag(`${name} changes from ${describeSetting(was)} to ${describeSetting(is)}`)];
  });
}

/** The commit of the working tree; empty where there is none. */
async function headOf(root: string): Promise<string> {
  try {
    return await commitOf(root, "HEAD");
  } catch (error) {
    if (error instanceof CommitError) return "";
    throw error;
  }
}
