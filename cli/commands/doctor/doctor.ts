import { existsSync } from "node:fs";
import path from "node:path";
import { openStack, type GlobalOptions } from "../../../engine/cli/globals.ts";
import * as engine from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import type { Mask } from "../../../platform/messages/masks.ts";
import { formatCount } from "../../../platform/messages/text.ts";
import { readEnvironment } from "../../../provider/environment/declaration.ts";
import { things } from "../../../provider/environment/things.ts";
import { valuePlace, describePlace } from "../../../provider/layers/document.ts";
import {
  type Configuration,
  ConfigurationError,
  configure,
  originOf,
  readVariable,
  secretKeys,
  variableOf,
} from "../../../provider/pulumi/configuration.ts";
import { connect, locatePlatform } from "../../../provider/pulumi/platform.ts";
import { maskOf } from "../../../provider/pulumi/properties.ts";
import type { Seed } from "../../../provider/seedRows/inputs.ts";
import { tableOption } from "../../dump/tables.ts";
import { DataRefusal, readEnvironments } from "../../report/environments.ts";
import { ofType, seedsIn } from "../managed.ts";
import { progressLine } from "../progressLine.ts";
import { isOfVariables, readOwnSettings, stackSettings } from "../settings.ts";
import { checks, wrong, type Context, type Finding, type ProgramTable } from "./checks.ts";

/** Flags of the command. */
export interface DoctorOptions extends GlobalOptions {
  table: string[];
  json?: boolean;
}

/** Result of a run, as `--json` prints it: docs/doctor.md has the shape. */
export interface DoctorOutcome {
  /** Version of this shape. */
  version: 2;
  /** The exit status. */
  status: 0 | 2 | 3;
  stack: string | null;
  /** Origin of the platform; null where none is configured. */
  platform: string | null;
  /** Requests that were sent. */
  calls: number;
  /** `because` is the title of the check to mend first. */
  findings: (Partial<Omit<Finding, "is">> & {
    id: string;
    title: string;
    is: Finding["is"] | "skipped";
    because?: string;
  })[];
}

/** What is looked at, and what is wrong before anything can be sent. */
type Subject = Pick<Context, "set" | "run" | "folder" | "program"> & {
  settings?: Configuration;
  problem?: Finding;
  stack?: string;
  mask: Mask;
};

/** Makes the checks and prints what was seen; the answer is the exit status. */
export async function runDoctor(
  options: DoctorOptions,
  terminal: engine.Terminal,
  more: Partial<Context> = {},
): Promise<number> {
  const { environment, output, errors } = terminal;
  const subject = await subjectOf(options, terminal);
  const progress = progressLine(errors);
  const outcome = await diagnose(subject, { environment, ...more }, progress.show).finally(progress.end);
  const columns = (output.isTTY && output.columns) || 100; // some terminals say 0
  const text = options.json ? engine.printableJson(outcome, 2) : engine.printable(screenOf(outcome, columns), false);
  output.write(`${engine.isPipeline(environment) ? engine.withoutCommands(text) : text}\n`);
  return outcome.status;
}

/** A table that a person names, as `dump` reads it. */
const tableIn = (text: string): ProgramTable => ({
  ...tableOption(text),
  labels: [],
  isSubTable: false,
  at: "--table",
});

/** Finds out what is to be looked at. Nothing is sent. */
async function subjectOf(options: DoctorOptions, terminal: engine.Terminal): Promise<Subject> {
  const { environment } = terminal;
  const word = (text: string): string => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  const run = (words: string): string => {
    const flags = Object.entries({ "-s": subject.stack, "-C": options.cwd });
    const said = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, word(value)]));
    return ["microapps", words, ...said].join(" ");
  };
  const set = (key: string, value?: string): string => {
    const written = value === undefined ? [] : [word(value)];
    const isVariable = subject.stack === undefined || readVariable(environment, key) !== undefined;
    if (isVariable) return `export ${variableOf(key)}=${written[0] ?? "…"}`;
    const secret = (secretKeys as readonly string[]).includes(key) ? ["--secret"] : [];
    return run(["config set", ...secret, `microapps:${key}`, ...written].join(" "));
  };
  const secrets = secretKeys.flatMap((key) => readVariable(environment, key) ?? []);
  secrets.push(environment["PULUMI_CONFIG_PASSPHRASE"] ?? "");
  const tables = options.table.map(tableIn);
  const program: Context["program"] = { tables, organizations: new Map(), teams: [], usesApps: false };
  const folder = path.resolve(options.cwd ?? ".");
  const subject: Subject = { folder, program, mask: maskOf(undefined, secrets), run, set };
  try {
    if (isOfVariables(options.stack, environment)) return { ...subject, settings: configure({}, environment) };
    const stack = await openStack(options, terminal);
    const own = Object.entries(readOwnSettings(stack)).map(([key, { text }]) => [key, text] as const);
    const mask = maskOf(Object.fromEntries(own), secrets);
    Object.assign(subject, { stack: stack.name, folder: stack.project.workdir, mask });
    return { ...subject, settings: stackSettings(stack, environment), ...(await programOf(stack, program)) };
  } catch (error) {
    const isSaid = [engine.EngineError, ConfigurationError, DataRefusal].some((kind) => error instanceof kind);
    if (!isSaid || !(error instanceof Error)) throw error;
    const [, key = "endpoint"] = /microapps:(\w+)/.exec(error.message) ?? [];
    return { ...subject, problem: wrong(sentence(error.message), "", set(key)) };
  }
}

/** A message as a sentence. */
function sentence(message: string): string {
  const text = message.startsWith("microapps:") ? message : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** What a stack's state and Environment file have. A flag counts more than a file, and a file more than the state. */
async function programOf(stack: engine.Stack, named: Context["program"]): Promise<Partial<Subject>> {
  const { resources } = await stack.read();
  const { name, project } = stack;
  const byTable = new Map<string, ProgramTable>();
  const add = (table: string, whole: readonly string[], all: unknown, by: string | undefined, at: string): void => {
    const key = whole.filter((label) => label !== by); // that column names the parent row
    const labels = (Array.isArray(all) ? all.map(String) : []).filter((label) => label !== by && !key.includes(label));
    byTable.set(table, { table, key, labels, isSubTable: by !== undefined, at });
  };
  for (const { table, key, parent, outputs } of seedsIn(resources)) {
    add(table, key, outputs["labels"], parent?.by, "in the program");
  }
  let usesApps = ofType(resources, "GeneratedApp").length > 0;
  const { file } = readEnvironments(project.root)?.find((entry) => entry.stack === name) ?? { file: `${name}.yaml` };
  const folder = [project.root, project.workdir].find((each) => existsSync(path.join(each, file)));
  const { root, declared, problems = [] } = folder === undefined ? {} : readEnvironment(file, folder);
  for (const { kind, inputs, path: at } of declared && root ? things(declared) : []) {
    usesApps ||= kind === "GeneratedApp";
    if (kind !== "SeedRows" || !root) continue;
    const seed = inputs as unknown as Seed; // the file was checked
    const rows = Array.isArray(inputs["rows"]) ? (inputs["rows"] as object[]) : [];
    const labels = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    add(seed.table, seed.key, labels, seed.parent?.by, describePlace(valuePlace(root, [...at, "table"])));
  }
  for (const table of named.tables) byTable.set(table.table, table);
  const ofState = ofType(resources, "Organization");
  const organizations = new Map(ofState.map(({ id, outputs }) => [id, outputs["name"] as unknown]));
  const teams = [...new Set(ofType(resources, "Team").map(({ id }) => id))];
  const program = { tables: [...byTable.values()], organizations, teams, usesApps };
  const [first] = problems;
  if (!first) return { program };
  const seen = `Environment file ${file} has a problem: ${describePlace(first.at)}: ${first.message}`;
  return { program, problem: wrong(sentence(seen), "", `microapps environment check ${file}`) };
}

/** Makes the checks. Nothing of the platform is changed. */
async function diagnose(
  { settings, problem, mask, stack, ...subject }: Subject,
  more: Pick<Context, "environment"> & Partial<Context>,
  show: (text: string) => void,
): Promise<DoctorOutcome> {
  const { timeoutMs = 30_000 } = more;
  const endings: (() => Promise<void>)[] = [];
  let calls = 0;
  const contextOf = async (known: Configuration): Promise<Context> => {
    const { url, close } = await locatePlatform(known.endpoint, subject.folder);
    endings.push(close);
    const timeouts = { connect: timeoutMs, headers: timeoutMs, body: timeoutMs, call: timeoutMs };
    const once = { retries: { attempts: 1, connects: 1 }, onCall: () => calls++, timeouts };
    const reading = { ...known, endpoint: url, allowed: undefined, readOnly: true }; // the address was checked
    const { client, close: leave } = await connect(reading, subject.folder, undefined, once);
    endings.unshift(leave);
    const base = { ...subject, settings: known, timeoutMs, url: new URL(url), client, count: () => calls++ };
    return { ...base, learned: { tables: new Map() }, ...more };
  };
  try {
    const context = settings && !problem ? await contextOf(settings).catch(messageOf) : "nothing is configured";
    const findings: DoctorOutcome["findings"] = [];
    const broken = new Map<string, string>();
    let isRefusal = false;
    for (const [id, title, needs, look] of checks) {
      show(title);
      const because = needs.map((need) => broken.get(need)).find((cause) => cause !== undefined);
      if (because === undefined) {
        const unready = (why: string): Finding => problem ?? wrong(sentence(why), "", subject.set("endpoint"));
        const found = typeof context === "string" ? unready(context) : await look(context);
        isRefusal ||= found.isRefusal === true;
        if (found.is === "wrong") broken.set(id, title);
        const { is, seen, means = "", mend = [] } = found;
        const shown = { seen: mask.hide(seen), means: mask.hide(means), mend: mend.map((each) => mask.hide(each)) };
        findings.push({ id, title, is, ...shown });
      } else {
        broken.set(id, because);
        findings.push({ id, title, is: "skipped", because });
      }
    }
    const status = broken.size === 0 ? 0 : isRefusal ? 3 : 2;
    const where = { stack: stack ?? null, platform: originOf(settings?.endpoint ?? "") ?? null };
    return { version: 2, status, ...where, calls, findings };
  } catch (error) {
    throw new Error(mask.hide(messageOf(error)), { cause: error });
  } finally {
    for (const end of endings) await end();
  }
}

const marks = { well: "ok", noted: "note", wrong: "MEND", skipped: "-" } as const;

/** The outcome for people, in a number of columns; a command is never broken. */
function screenOf({ findings, calls }: DoctorOutcome, columns: number): string {
  const indent = " ".repeat(24);
  const lines = findings.flatMap(({ title, is, seen = "", means = "", mend = [], because }) => {
    const first = because === undefined ? seen : `Not looked at before this is mended: ${because}.`;
    const texts = [first, means].flatMap((text) => (text === "" ? [] : engine.wrapLine(indent + text, columns)));
    const start = (marks[is].padEnd(6) + title).padEnd(indent.length);
    return [
      start + (texts[0] ?? "").slice(indent.length),
      ...texts.slice(1),
      ...mend.map((each) => `${indent}  ${each}`),
    ];
  });
  const count = findings.filter(({ is }) => is === "wrong").length;
  const end = `${count === 0 ? "Nothing has" : `${formatCount(count, "thing")} ${count === 1 ? "has" : "have"}`} to be mended.`;
  return [...lines, "", `${end} ${formatCount(calls, "call")}, none of which changes anything.`].join("\n");
}
