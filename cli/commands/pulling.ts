import path from "node:path";
import { ask, EngineError, isInteractive, processTerminal, projectFolder, stateInClear } from "../../engine/index.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { toSlashes } from "../../provider/files/files.ts";
import { fileOf } from "../between/editor/edits.ts";
import { writeFiles } from "../between/editor/writing.ts";
import { EnvironmentFiles, filesOf } from "../between/placing.ts";
import { listItems, planPull, type Pulled, type PullItem } from "../between/pull.ts";
import { type Look, tolerating } from "../report/drift.ts";
import {
  DataRefusal,
  type Declared,
  driftFile,
  entryNamed,
  type EnvironmentEntry,
  environmentsFile,
  readDeclaration,
  readEnvironments,
  sound,
} from "../report/environments.ts";
import { changeLine, toVisible } from "../report/rendering.ts";
import { pending } from "../report/section.ts";
import { stateOf } from "../report/state.ts";
import { assertCommitted } from "../report/trees.ts";
import { lookAt, toleratedIn } from "./report/drifting.ts";
import { statuses, textOf } from "./report/reporting.ts";

/** Flags of `pull`. */
export interface PullOptions {
  cwd?: string;
  stack?: string;
  yes?: boolean;
  into?: string;
  foreign?: boolean;
  dirty?: boolean;
  state?: string;
  nonInteractive?: boolean;
}

/** One environment with all that is live beyond its files. */
interface Live {
  entry: EnvironmentEntry;
  declared: Declared;
  items: PullItem[];
  /** Changes that drift.yaml tolerates: taken where they are named. */
  tolerated: ReadonlySet<PullItem>;
  look: Look;
}

/** Shows what is live and not in the files, takes it into them when that is wanted, and sets the exit status. */
export async function runPull(words: readonly string[], options: PullOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const folder = projectFolder(cwd);
  const { name, things } = chosen(folder, words, options.stack);
  const live = await findLive(cwd, name, options);
  const items = selected(live, things);
  const pulled = await planPull(items, live.declared);
  const terminal = processTerminal;
  const asks = options.yes !== true && isInteractive(terminal, options.nonInteractive === true);
  if (pulled.files.length > 0 && (options.yes === true || asks) && options.dirty !== true)
    await assertCommitted(folder, [...filesOf(live.declared), ...pulled.files.map(({ file }) => file)]);
  const { repaired, left, ...wanted } = asks
    ? await askAll(pulled, live.declared)
    : { ...pulled, repaired: 0, left: 0 };
  const writes = wanted.files.length > 0 && (options.yes === true || asks);
  if (writes) await writeFiles(live.declared.folder, wanted.files);
  const tolerated = things.length > 0 ? 0 : live.tolerated.size;
  const shown = { ...live.entry, pulled: wanted, look: live.look, isWritten: writes, repaired, left, tolerated };
  process.stdout.write(describePull(shown, asks));
  process.exitCode = statusOf(wanted, live.look, asks ? repaired + left > 0 : items.length > 0 && !writes);
}

function statusOf({ items }: Pulled, look: Look, remains: boolean): number {
  if (look.isRefused) return statuses.login;
  if (look.unread.length > 0) return statuses.unread;
  if (items.some(({ refused }) => refused !== undefined)) return statuses.stopped;
  return remains ? statuses.changes : 0;
}

/** The environment and the things that the words name. */
function chosen(
  folder: string,
  words: readonly string[],
  stack: string | undefined,
): { name: string; things: string[] } {
  const entries = readEnvironments(folder) ?? [];
  if (entries.length === 0)
    throw new EngineError(
      `there is no ${environmentsFile} beside Pulumi.yaml that says which file is whose: write one, such as dev: { file: dev.yaml }`,
    );
  const isName = (word: string | undefined): boolean =>
    entries.some((each) => each.name === word || each.stack === word);
  const [first, ...rest] = words;
  if (first !== undefined && isName(first)) return { name: first, things: rest };
  const [only] = entries;
  const name = stack ?? (entries.length === 1 ? only?.name : undefined);
  if (name !== undefined) return { name, things: [...words] };
  throw new EngineError(
    `say which environment: microapps pull <environment>; there is ${entries.map((each) => each.name).join(", ")}`,
  );
}

/** Looks at the platform of an environment, with reads alone. */
async function findLive(
  cwd: string,
  name: string,
  { into, foreign, state: file }: Pick<PullOptions, "into" | "foreign" | "state">,
): Promise<Live> {
  const folder = projectFolder(cwd);
  const entries = readEnvironments(folder) ?? [];
  const entry = entryNamed(entries, name);
  const declared = sound(readDeclaration(entry.file, folder), `${entry.file} can't be read`);
  const own = into === undefined ? undefined : toSlashes(path.relative(folder, path.resolve(cwd, into)));
  const files = new EnvironmentFiles(declared, entry, entries, own);
  const { stack, text } =
    file === undefined
      ? await stateInClear(cwd, entry.stack, process.env)
      : { stack: entry.stack, text: await textOf(cwd, file) };
  const state = stateOf(text);
  if (state.interrupted > 0)
    throw new DataRefusal("a run was interrupted: run up or refresh first, so that the state is whole");
  const target = { ...entry, stack, state: file };
  const look = await lookAt(cwd, stack, target, state.resources, { changed: true, foreign });
  const items = await listItems(look, files, await pending(state, declared));
  const reasonFor = tolerating(entry.name, toleratedIn(folder), Date.now());
  const isWhole = ({ kind, op }: PullItem["change"]): boolean => kind === "setting" && op === "remove";
  const tolerated = new Set(
    items.filter(({ thing, change }) => reasonFor(thing, isWhole(change) ? undefined : change.name)),
  );
  return { entry, declared, items, tolerated, look };
}

/** Items of the things and rows that are named: where none is, all that are not tolerated. */
function selected({ items, tolerated }: Live, names: readonly string[]): PullItem[] {
  if (names.length === 0) return items.filter((item) => !tolerated.has(item));
  const isMeant = (item: PullItem, name: string): boolean => name === item.thing || name === itemName(item);
  const strange = names.find((name) => !items.some((item) => isMeant(item, name)));
  if (strange !== undefined) {
    const there = [...new Set(items.map(({ thing }) => thing))].join(", ");
    throw new EngineError(`nothing of ${strange} was changed by hand${there === "" ? "" : `; there is ${there}`}`);
  }
  return items.filter((item) => names.some((name) => isMeant(item, name)));
}

/** Asks a person about each item; counts those that are left, or that the next run is to repair. */
async function askAll(
  { items, files }: Pulled,
  declared: Declared,
): Promise<Pulled & Pick<Shown, "repaired" | "left">> {
  const answers: Record<string, PullItem[]> = { take: [], repair: [], leave: [] };
  const refused = items.filter((item) => item.refused !== undefined);
  for (const item of items.filter((item) => !refused.includes(item))) {
    process.stdout.write(`${describeItem(item)}\n`);
    const answer = await ask(processTerminal, "take it into the files, repair it with the next up, or leave it?", [
      "take",
      "repair",
      "leave",
    ]);
    answers[answer]?.push(item);
  }
  const { take = [], repair = [], leave = [] } = answers;
  const pulled = repair.length + leave.length === 0 ? { items: take, files } : await planPull(take, declared);
  return { ...pulled, items: [...pulled.items, ...refused], repaired: repair.length, left: leave.length };
}

interface Shown extends Pick<EnvironmentEntry, "name" | "stack"> {
  pulled: Pulled;
  look: Pick<Look, "unread" | "notes">;
  isWritten: boolean;
  /** Changes by the answer of a person, and those that drift.yaml tolerates. */
  repaired: number;
  left: number;
  tolerated: number;
}

/** An item as the command line takes it: `countries/AT`, `acme/eng/ada@example.com`. */
const itemName = ({ thing, change }: PullItem): string => `${thing}/${change.name}`;

/** One item in one line, with the files that it changes. */
function describeItem({ kind, thing, change, edits, refused }: PullItem): string {
  const files = refused === undefined ? [...new Set(edits.map(fileOf))] : [];
  const where = [`${kind} ${thing}`, ...files].map(toVisible).join(", ");
  return `  ${changeLine(change)}  (${where})${refused === undefined ? "" : `\n      left: ${toVisible(refused)}`}`;
}

/** Describes a pull for a terminal. */
export function describePull(shown: Shown, wasAsked: boolean): string {
  const { name, stack, pulled, look, isWritten, repaired, left, tolerated } = shown;
  const { items, files } = pulled;
  const lines = [toVisible(name)];
  if (!wasAsked || items.some(({ refused }) => refused !== undefined))
    lines.push(...items.filter(({ refused }) => !wasAsked || refused !== undefined).map(describeItem));
  for (const text of look.unread) lines.push(`  not read: ${toVisible(text)}`);
  for (const text of look.notes) lines.push(`  ${toVisible(text)}`);
  const names = files.map(({ file }) => toVisible(file)).join(", ");
  const taken = items.filter(({ refused }) => refused === undefined).length;
  if (items.length + repaired + left + tolerated + look.unread.length === 0) lines.push("  the files say what is live");
  else if (isWritten)
    lines.push(
      `${formatCount(taken, "change")} written into ${names}: look at the diff, then run up, which updates the state alone`,
    );
  else if (files.length > 0) lines.push(`${formatCount(taken, "change")} for ${names}; --yes writes them`);
  if (tolerated > 0) lines.push(`${formatCount(tolerated, "change")} left, as ${driftFile} says: name one to take it`);
  if (left > 0) lines.push(`${formatCount(left, "change")} left as live: pull and drift name it again`);
  if (repaired > 0)
    lines.push(`${formatCount(repaired, "change")} to repair: microapps up --refresh -s ${toVisible(stack)} does it`);
  return `${lines.join("\n")}\n`;
}
