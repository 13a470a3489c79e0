import {
  EngineError,
  isPipeline,
  printable,
  printableJson,
  type Terminal,
  withoutCommands,
} from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { originOf } from "../../../provider/pulumi/configuration/origins.ts";
import { progressLine } from "../progressLine.ts";
import { examine, type Check } from "./checks.ts";
import type { CheckContext } from "./context.ts";
import type { ProgramTable } from "./declared.ts";
import { keyCheck, loginCheck, rightsCheck } from "./families/account.ts";
import { answerCheck } from "./families/answer.ts";
import { clockCheck, connectionChecks } from "./families/connection.ts";
import { callsForNames, habitChecks } from "./families/habits.ts";
import { organizationChecks } from "./families/organizations.ts";
import { configurationCheck, programCheck } from "./families/program.ts";
import { callsForReading, readingChecks } from "./families/reading.ts";
import { callsPerTable, maxTables, tableChecks } from "./families/tables.ts";
import { machineNetwork, type Network } from "./network.ts";
import { findingsOf, screenOf, statusOf, type DoctorOutcome } from "./rendering.ts";
import { subjectOf, type Subject, type SubjectOptions } from "./subject.ts";

/** Flags of the command. */
export interface DoctorOptions extends Omit<SubjectOptions, "tables"> {
  table: string[];
  json?: boolean;
}

/** Replacements for parts of this machine; tests set them. */
export interface DoctorSurroundings {
  network?: Network;
  now?: () => number;
  timeoutMs?: number;
}

/** Milliseconds that one call may take. */
const callMs = 30_000;

/** Calls to the platform beside those of organizations and tables: two answers, login, logout, rights, key, page size. */
const otherCalls = 7;

/** The checks, each after those that it presumes. */
const checksOf = (subject: Subject, organizations = organizationChecks(subject)): Check[] => [
  configurationCheck,
  programCheck,
  ...connectionChecks,
  answerCheck,
  clockCheck,
  loginCheck,
  keyCheck,
  ...organizations,
  rightsCheck(organizations),
  ...tableChecks(subject),
  ...readingChecks,
  ...habitChecks,
];

/** Most calls that these checks make. */
const maxCalls = (subject: Subject): number =>
  otherCalls +
  callsForNames +
  callsForReading +
  organizationChecks(subject).length +
  callsPerTable * Math.min(maxTables, subject.declared.tables.length);

/** Looks at everything and prints what was seen; the answer is the exit status. */
export async function runDoctor(
  options: DoctorOptions,
  terminal: Terminal,
  surroundings: DoctorSurroundings = {},
): Promise<number> {
  const tables = options.table.map(tableIn);
  const subject = await subjectOf({ ...options, tables }, terminal);
  const outcome = await diagnose(subject, terminal, surroundings);
  const columns = (terminal.output.isTTY && terminal.output.columns) || widthOfPipes; // some terminals say 0
  const text = options.json ? printableJson(outcome, 2) : printable(screenOf(outcome, columns), false);
  terminal.output.write(`${isPipeline(terminal.environment) ? withoutCommands(text) : text}\n`);
  return outcome.status;
}

/** Reads `<table>:<label>[+<label>…]`. */
function tableIn(text: string): ProgramTable {
  const at = text.lastIndexOf(":");
  const key = text.slice(at + 1).split("+");
  if (at <= 0 || key.includes("")) {
    throw new EngineError(`--table ${text} must have the form <table ID>:<label>[+<label>…], as in countries:Code`);
  }
  return { table: text.slice(0, at), key, labels: [], isHidden: false, at: { table: "--table", key: "--table" } };
}

/** Columns where the output has no width. */
const widthOfPipes = 100;

/** Makes the checks. Nothing of the platform is changed. */
export async function diagnose(
  subject: Subject,
  terminal: Terminal,
  surroundings: DoctorSurroundings = {},
): Promise<DoctorOutcome> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once("SIGINT", stop);
  const progress = progressLine(terminal.errors);
  const most = maxCalls(subject);
  const context: CheckContext = {
    subject,
    network: surroundings.network ?? machineNetwork,
    signal: stopped.signal,
    now: surroundings.now ?? Date.now,
    timeoutMs: surroundings.timeoutMs ?? callMs,
    most,
    learned: { tables: new Map() },
  };
  try {
    const results = await examine(checksOf(subject), context, (title) => progress.show(subject.mask.hide(title)));
    await context.learned.calls?.close();
    const { settings, place } = subject;
    return {
      version: 1,
      status: statusOf(results),
      stack: place.stack ?? null,
      platform: settings === undefined ? null : (originOf(settings.endpoint) ?? null),
      calls: { made: context.learned.calls?.made ?? 0, most },
      findings: findingsOf(results, subject.mask),
    };
  } catch (error) {
    await context.learned.calls?.close();
    if (stopped.signal.aborted) throw new EngineError("interrupted: what was not looked at is not known");
    throw new Error(subject.mask.hide(messageOf(error)), { cause: error });
  } finally {
    progress.end();
    process.removeListener("SIGINT", stop);
    await context.learned.stopEmulator?.();
  }
}
