import { appendFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { EngineError, oneLine, projectFolder, stateAtRest } from "../../../engine/index.ts";
import { textOf as textOfStream } from "../../../platform/contract/wire.ts";
import { textOrReason } from "../../../provider/files/files.ts";
import { isUnchanged, notCompared, stops, type ChangeSet, type Section } from "../../report/changeSet.ts";
import { DataRefusal, type Declared, type EnvironmentEntry } from "../../report/environments.ts";
import { describeOtherPlan, planAt, planDigest } from "../../report/plan.ts";
import { type Format, outputs, render } from "../../report/rendering.ts";
import { report, reportBetween } from "../../report/report.ts";
import { pending } from "../../report/section.ts";
import { StateError, stateOf } from "../../report/state.ts";

/** Flags of report and of drift. */
export interface ReportOptions {
  cwd?: string;
  /** As they were given, or their names; none for all environments. */
  stacks: string[];
  file?: string;
  format: Format;
  output?: string;
}

/** Flags of report alone. */
export interface ReportOnly {
  base?: string;
  from?: string;
  to?: string;
  state?: string;
  outputs?: string;
  dataOnly?: boolean;
  expectNoChanges?: boolean;
  expectPlan?: string;
}

/** Exit statuses of reports, as docs/exit-statuses.md has them. */
export const statuses = { stopped: 2, login: 3, unread: 4, noSuchStack: 6, changes: 7 } as const;

/** Milliseconds after which a report is printed with the parts that are ready. */
export const deadlineMs = 60_000;

/** Makes the report, writes it, and sets the exit status. */
export async function runReport(options: ReportOptions & ReportOnly): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const isBetween = options.from !== undefined || options.to !== undefined;
  const set = await (isBetween ? betweenOf(cwd, options) : reportOf(cwd, options));
  deliver(set, options, cwd);
  if (options.outputs !== undefined) appendFileSync(path.resolve(cwd, options.outputs), outputs(set));
  const others = set.alsoChanged?.count ?? 0;
  const other = options.expectPlan === undefined ? undefined : otherPlan(options.expectPlan, set);
  if (other !== undefined) process.stderr.write(`error: ${oneLine(other)}\n`);
  const isStopped = other !== undefined || set.environments.some((environment) => stops(environment).length > 0);
  if (isStopped || (options.dataOnly && others > 0)) process.exitCode = statuses.stopped;
  else if (options.expectNoChanges && (others > 0 || !set.environments.every(isUnchanged)))
    process.exitCode = statuses.changes;
}

/** Why the plan of the one environment is not the expected one; undefined where it is. */
function otherPlan(expected: string, { environments, kind }: ChangeSet): string | undefined {
  const [environment, ...more] = environments;
  if (!environment || more.length > 0 || kind !== "report")
    throw new EngineError("--expect-plan is of one environment: name it with --stack");
  return environment.plan === undefined
    ? "the plan can't be determined: the state can't be read here, or the Environment file is wrong"
    : describeOtherPlan(expected, environment.plan);
}

/** Compares the files of two environments. */
async function betweenOf(cwd: string, options: ReportOptions & ReportOnly): Promise<ChangeSet> {
  const { from, to, base, state, file, stacks } = options;
  if (from === undefined || to === undefined) throw new EngineError("--from and --to name one environment each");
  const [other] = Object.entries({ base, state, file, "name of an environment": stacks[0] }).filter(
    ([, value]) => value !== undefined,
  );
  if (other !== undefined || options.dataOnly)
    throw new EngineError(
      `--from and --to compare files with files: leave ${other ? other[0].replace(/^(?=[a-z]+$)/, "--") : "--data-only"} out`,
    );
  return reportBetween(projectFolder(cwd), from, to);
}

/** Makes a report of the working tree and the states. */
async function reportOf(cwd: string, options: ReportOptions & ReportOnly): Promise<ChangeSet> {
  const { base = "HEAD", stacks, file, state } = options;
  if (state !== undefined && stacks.length !== 1)
    throw new EngineError("--state is of one stack: name it with --stack");
  const folder = projectFolder(cwd);
  const own = file === undefined ? undefined : path.relative(folder, path.resolve(cwd, file));
  const texts = stateTexts(cwd, state);
  return report({
    ...{ folder, base, stacks, file: own },
    deadline: AbortSignal.timeout(deadlineMs),
    pending: (...asked) => pendingOf(texts, state, ...asked),
    plan: async ({ stack }, read) => {
      try {
        const text = await texts(stack);
        const parts = text === undefined ? undefined : await planAt(folder, stack, text, own, read);
        return parts && planDigest(parts);
      } catch (error) {
        if (error instanceof EngineError || error instanceof StateError || error instanceof DataRefusal)
          return undefined;
        throw error;
      }
    },
  });
}

/** Reads states, each once: as text, or undefined where there is no such stack. */
type StateTexts = (stack: string) => Promise<string | undefined>;

function stateTexts(cwd: string, file: string | undefined): StateTexts {
  const known = new Map<string, Promise<string | undefined>>();
  return (stack) => {
    const text = known.get(stack) ?? (file === undefined ? stateAtRest(cwd, stack, process.env) : textOf(cwd, file));
    known.set(stack, text);
    return text;
  };
}

/** @param file the state, where a flag names it: then it has to be readable */
async function pendingOf(
  texts: StateTexts,
  file: string | undefined,
  { stack }: EnvironmentEntry,
  declared: Declared,
  change: Section,
): Promise<Section> {
  try {
    const text = await texts(stack);
    return text === undefined ? notCompared("there is no state here") : await pending(stateOf(text), declared, change);
  } catch (error) {
    if (!(error instanceof EngineError || error instanceof StateError)) throw error;
    if (file === undefined) return notCompared(`the state can't be read here: ${error.message}`);
    throw error instanceof StateError ? new EngineError(`${file}: ${error.message}`) : error;
  }
}

/** Writes a report to the place that the flags name. */
export function deliver(
  set: ChangeSet,
  { format, output }: Pick<ReportOptions, "format" | "output">,
  cwd: string,
): void {
  const text = render(set, format);
  if (output === undefined) process.stdout.write(text);
  else writeFileSync(path.resolve(cwd, output), text);
}

/** Megabytes that a state, a report or a log of events may have. */
export const maxMegabytesOfState = 512;

/** Reads the file that a flag names, by the rules for files that a branch names; `-` is standard input, however slow. */
export async function textOf(
  cwd: string,
  file: string,
  megabytes = maxMegabytesOfState,
  input: AsyncIterable<Uint8Array> = process.stdin,
): Promise<string> {
  if (file === "-") {
    const text = await textOfStream(input, megabytes);
    if (text !== undefined) return text;
    throw new EngineError(`standard input has more than ${megabytes} MB`);
  }
  const found = textOrReason(cwd, file, megabytes);
  if ("text" in found) return found.text;
  throw new EngineError(`${file} can't be read: ${found.reason}`);
}
