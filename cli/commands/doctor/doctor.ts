import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import path, { join } from "node:path";
import { TLSSocket } from "node:tls";
import { type GlobalOptions, openStack } from "../../../engine/cli/globals.ts";
import * as engine from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { readOwnPackage } from "../../../machine/ownPackage.ts";
import { nearest } from "../../../machine/spelling.ts";
import { agentFor } from "../../../platform/client/http/proxies.ts";
import type { Client } from "../../../platform/client/index.ts";
import { pages } from "../../../platform/client/lists.ts";
import { endpoints, knownPathSpellings } from "../../../platform/contract/endpoints.ts";
import { declarable } from "../../../platform/contract/values.ts";
import {
  answerIn,
  ApiError,
  at,
  type ErrorCode,
  isObject,
  jsonIn,
  refusalIn,
  textOf,
} from "../../../platform/contract/wire.ts";
import type { Mask } from "../../../platform/messages/masks.ts";
import { formatCount, printableLine, quote, some } from "../../../platform/messages/text.ts";
import { readEnvironment } from "../../../provider/environment/declaration.ts";
import { things } from "../../../provider/environment/things.ts";
import { describePlace, valuePlace } from "../../../provider/layers/document.ts";
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
import { keyText } from "../../../provider/seedRows/digests.ts";
import type { Seed } from "../../../provider/seedRows/inputs.ts";
import { tableOption } from "../../dump/tables.ts";
import { DataRefusal, readEnvironments } from "../../report/environments.ts";
import { isOfVariables, ofType, progressLine, readOwnSettings, seedsIn, stackSettings } from "../platform.ts";

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

/** What was seen, and what to do about it. */
export interface Finding {
  /** `noted` is worth knowing; nothing fails because of it. */
  is: "well" | "noted" | "wrong";
  seen: string;
  means?: string;
  /** Commands and settings, one a line; the first is the likeliest. */
  mend?: readonly string[];
  /** True if the platform refuses who calls. */
  isRefusal?: boolean;
}

const well = (seen: string): Finding => ({ is: "well", seen });
const note = (seen: string, means = ""): Finding => ({ is: "noted", seen, means });
export const wrong = (seen: string, means = "", ...mend: string[]): Finding => ({ is: "wrong", seen, means, mend });
const refused = (...words: Parameters<typeof wrong>): Finding => ({ ...wrong(...words), isRefusal: true });

/** A table of the program, or one that a person names. */
interface ProgramTable {
  table: string;
  /** Labels of the natural key, without the column that names the parent row. */
  key: readonly string[];
  /** Other labels that rows declare. */
  labels: readonly string[];
  /** True if its rows stand below those of another table. */
  isSubTable: boolean;
  /** Where it is named: a place in a file, or `--table`. */
  at: string;
}

/** Everything that checks look at, and what earlier ones have learned. */
export interface Context {
  settings: Configuration;
  /** The folder of the project, or where the command runs. */
  folder: string;
  url: URL;
  /** What the program has, as its files and the state tell. */
  program: {
    tables: readonly ProgramTable[];
    /** Names by ID. */
    organizations: ReadonlyMap<string, unknown>;
    teams: readonly string[];
    usesApps: boolean;
  };
  environment: NodeJS.ProcessEnv;
  /** Milliseconds that one call may take. */
  timeoutMs: number;
  /** Refuses calls that may change something, and sends each once: some platforms lock an account after a few logins. */
  client: Client;
  count: () => void;
  /** The command that sets a key where it is set now, and one that runs another command in the same place. */
  set: (key: string, value?: string) => string;
  run: (words: string) => string;
  learned: { reached?: Reached; failure?: string; userID?: string; tables: Map<string, TableLook> };
}

/** An answer to a request without an account. */
interface Reached {
  status: number;
  location: string | undefined;
  text: string;
  /** How far the platform's clock is ahead of ours, in milliseconds; undefined where it tells no time. */
  aheadMs: number | undefined;
  /** End of the certificate, in milliseconds since the epoch. */
  validUntil: number | undefined;
}

/** Sends one request without an account, through the proxy of the environment where there is one. */
function probe(url: URL, method: "GET" | "POST", timeoutMs: number): Promise<Reached> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === "https:" ? https : http;
    const began = Date.now();
    const headers = { "content-type": "application/json", accept: "application/json" };
    const agent = agentFor(url, {}, timeoutMs);
    const sent = request(url, { method, headers, agent, signal: AbortSignal.timeout(timeoutMs) });
    sent.once("error", reject);
    sent.once("response", (response) => {
      const { headers: answered, socket, statusCode: status = 0 } = response;
      const time = Date.parse(answered.date ?? "");
      const aheadMs = Number.isNaN(time) ? undefined : time - (began + Date.now()) / 2;
      const validUntil = socket instanceof TLSSocket ? Date.parse(socket.getPeerCertificate().valid_to) : undefined;
      const ended = (text = ""): void => resolve({ status, location: answered.location, text, aheadMs, validUntil });
      textOf(response, 1).then(ended, reject);
    });
    sent.end(method === "POST" ? "{}" : undefined);
  });
}

/** The code of a system's error; of the first one, where each address of a name has its own. */
function codeOf(error: unknown): string {
  const { code, errors, name } = (error ?? {}) as { code?: unknown; errors?: unknown; name?: unknown };
  if (name === "AbortError" || name === "TimeoutError") return "ETIMEDOUT";
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "no code";
}

/** The platform at the beginning of a sentence. */
const shown = ({ settings: { endpoint } }: Context): string =>
  endpoint.startsWith("emulator:") ? "The emulator" : (originOf(endpoint) ?? "The platform");

const addressOf = ({ url }: Context, path: string): URL => new URL(url.pathname.replace(/\/+$/, "") + path, url.origin);

/** A failed call; `words` are the platform's own in one line: nobody else knows the reason. */
type Failed = { error: ApiError; code: ErrorCode; words: string };

async function outcomeOf<Answer>(call: Promise<Answer>): Promise<{ answer: Answer } | Failed> {
  try {
    return { answer: await call };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { error, code: error.code, words: printableLine(error.platformMessage).replace(/[.]+$/, "") };
  }
}

/** A failed call of which a check knows nothing better: only "not found" says that something is not there. */
function explain(context: Context, { error, code, words }: Failed): Finding {
  const seen = `${shown(context)} does not answer ${error.endpoint} as it should (${code}): ${words}.`;
  return { ...wrong(seen, error.hint, context.run("doctor")), isRefusal: code === "unauthorized" };
}

async function reachable(context: Context): Promise<Finding> {
  const { learned, url, timeoutMs } = context;
  context.count();
  try {
    learned.reached = await probe(addressOf(context, endpoints.readorganization.path), "POST", timeoutMs);
    return strangeAnswer(context, learned.reached) ?? well(`${shown(context)} answers as the platform does.`);
  } catch (error) {
    const code = codeOf(error);
    // The next check says why it gets no further.
    if (/^(?:CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) learned.failure = code;
    if (learned.failure !== undefined) return well(`${shown(context)} takes connections.`);
    const known: Readonly<Record<string, string>> = {
      ENOTFOUND: `No server is called ${url.hostname}.`,
      ECONNREFUSED: `Nothing listens at ${shown(context)}.`,
      ETIMEDOUT: `${shown(context)} does not answer.`,
    };
    const ended = `${shown(context)} ends the connection without an answer (${code}).`;
    const seen = /prox/i.test(messageOf(error)) ? `${messageOf(error)}.` : (known[code] ?? ended);
    const means = "The endpoint is mistyped, wants https://, or is known in another network (a VPN) alone.";
    return wrong(seen, means, context.set("endpoint"));
  }
}

/** What is wrong with an answer; undefined for one of the platform, which refuses in its own form who has no session. */
function strangeAnswer(context: Context, { status, location, text }: Reached): Finding | undefined {
  const wire = answerIn(text.trim());
  const refusal = wire === undefined ? undefined : refusalIn(wire);
  const isOurs = refusal !== undefined || (isObject(wire) && ("status" in wire || "body" in wire));
  const isLater = [407, 429, 511].includes(status) || status >= 500;
  if (!isLater && (isOurs ? ![404, 405].includes(status) : wire && [401, 403].includes(status))) return undefined;
  const title = /<title[^>]*>([^<]{1,80})/i.exec(text)?.[1];
  const page = title === undefined ? "something that is not JSON" : `the web page ${quote(printableLine(title))}`;
  const target = URL.parse(location ?? "", context.url.href)?.origin ?? "nowhere";
  const isRedirection = status >= 300 && status < 400;
  const what = isRedirection ? `a redirection to ${target}` : (refusal ?? (wire === undefined ? page : "other JSON"));
  const seen = `${shown(context)} answers with ${printableLine(what)} (HTTP ${status}) where the platform's API should be.`;
  if (isLater) return wrong(seen, "It, or a proxy on the way, is busy or down, or wants a login of its own.");
  const means = "The endpoint is another server's, or its path is wrong. No redirection is followed.";
  return wrong(seen, means, context.set("endpoint"));
}

function certificate({ url, settings, environment, learned: { failure, reached }, set }: Context): Finding {
  if (url.protocol === "http:") {
    if (!settings.insecure) return well("None is needed: http:// stays on this machine.");
    return note("microapps:insecure allows http://: everybody on the way can read passwords and answers.");
  }
  if (environment["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    const seen = "NODE_TLS_REJECT_UNAUTHORIZED=0 trusts every certificate: anybody on the way can read the password.";
    return wrong(seen, "", "unset NODE_TLS_REJECT_UNAUTHORIZED");
  }
  if (failure !== undefined) {
    const means = "It has expired, is another server's, or of an authority that NODE_EXTRA_CA_CERTS has to name.";
    return wrong(`The certificate of the platform is not trusted (${failure}).`, means, set("endpoint"));
  }
  const end = reached?.validUntil === undefined ? "some day" : new Date(reached.validUntil).toISOString().slice(0, 10);
  return well(`The certificate is valid until ${end}.`);
}

/** Minutes from which on clocks differ: headers have no fractions, and answers take a while. */
const maxMinutes = 5;

function clock({ learned: { reached } }: Context): Finding {
  if (reached?.aheadMs === undefined) return note("The platform does not say what time it is.");
  const minutes = Math.round(Math.abs(reached.aheadMs) / 60_000);
  if (minutes < maxMinutes) return well("It agrees with the platform's.");
  const amount = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  const seen = `The clock of this machine is ${amount} ${reached.aheadMs > 0 ? "behind" : "ahead of"} the platform's.`;
  return wrong(seen, "Certificates and tokens expire by it.", "timedatectl set-ntp true");
}

async function login(context: Context): Promise<Finding> {
  const { settings, learned, set } = context;
  const { token, userID = "", email = "", password = "", organizationID = "none" } = settings; // an ID that nothing has
  const begun = await outcomeOf(context.client.callerID());
  if ("answer" in begun) learned.userID = begun.answer;
  // A token is not logged in with: any answer but a refusal of the session shows that it is good.
  const tried = token === undefined ? begun : await outcomeOf(context.client.readorganization({ organizationID }));
  if ("answer" in tried || (token !== undefined && ["notFound", "forbidden", "invalidRequest"].includes(tried.code))) {
    return well(`The platform accepts ${token === undefined ? email : "the token"} as user ${learned.userID ?? ""}.`);
  }
  const { code, words } = tried;
  const answers: ErrorCode[] = ["unauthorized", "forbidden", "notFound", "rejected", "invalidRequest", "rateLimited"];
  if (!answers.includes(code)) return explain(context, tried);
  if (code === "rateLimited" || /\block|too many|attempts/i.test(words)) {
    const means = "Wait before the next try: each one may make it longer. An administrator can unlock an account.";
    return refused(`The platform accepts no login for now: ${words}.`, means);
  }
  if (token !== undefined) {
    const means = "It has expired, or belongs to another user than microapps:userID, or to another platform.";
    return refused(`The platform refuses the token of user ${userID}: ${words}.`, means, set("token"), set("userID"));
  }
  const [strange] = Object.entries({ password, email }).find(([, value]) => /^\s|\s$|[\r\n]/.test(value)) ?? [];
  const blank = strange === undefined ? "" : ` The ${strange} begins or ends with white space or a line break.`;
  const means = "One of the two is wrong, or the user is unknown here. It was tried once: more may lock the account.";
  const mend = [set(strange ?? "password"), set("email")];
  return refused(`The platform refuses the login of ${email.trim()}: ${words}.${blank}`, means, ...mend);
}

async function apiKey(context: Context): Promise<Finding> {
  if (context.settings.apiKey === undefined) {
    if (!context.program.usesApps) return well("None is set, and no app is generated that would need one.");
    return wrong("No API key is set, and the program generates apps.", "The operator gives it.", context.set("apiKey"));
  }
  const asked = await outcomeOf(context.client.createappwithpromptStatus({ appID: "none" }));
  if ("answer" in asked || ["notFound", "invalidRequest"].includes(asked.code)) return well("The platform accepts it.");
  if (asked.code === "unauthorized" && /key/i.test(asked.words)) {
    const means = "It was revoked or mistyped, or is of another platform: ask the operator.";
    return wrong(`The platform refuses the API key: ${asked.words}.`, means, context.set("apiKey"));
  }
  return explain(context, asked);
}

async function wireNames(context: Context): Promise<Finding> {
  const names = context.settings.wireNames ?? {};
  // A GET carries nothing out, and a server that knows the path refuses it otherwise than one that does not.
  const isThere = async (last: string): Promise<boolean> => {
    context.count();
    const path = endpoints.microappchildStorecopy.path.replace(/[^/]+$/, last);
    const reached = await probe(addressOf(context, path), "GET", context.timeoutMs).catch(() => undefined);
    return reached !== undefined && reached.status !== 404;
  };
  const other: Record<string, string> = {};
  const unseen: string[] = [];
  for (const name of ["storecopy", "uploadFileToStore"] as const) {
    const used = names[name] ?? name;
    if (await isThere(used)) continue;
    const alternative = used === name ? knownPathSpellings[name] : name;
    if (await isThere(alternative)) other[name] = alternative;
    else unseen.push(name);
  }
  const [own, theirs] = [Object.keys(other), Object.values(other)].map((each) => each.join(" and "));
  if (own) {
    const value = JSON.stringify({ ...names, ...other });
    return wrong(`The platform calls ${own} otherwise: ${theirs}.`, "", context.set("wireNames", value));
  }
  if (unseen.length === 0) return well("The platform knows the names that are configured.");
  return note(`Whether it knows ${unseen.join(" and ")} can't be seen without a call that changes something.`);
}

/** What reading a table brought: rows of each page, whether these were all, labels, and how many keys several rows have. */
type TableLook = { pages: number[]; isAll: boolean; labels: Set<string>; twice: number };

const rowsOf = ({ pages: sizes }: TableLook): number => sizes.reduce((sum, size) => sum + size, 0);

/** Tables that are looked at, and rows and pages after which reading one ends. */
const [maxTables, maxRows, maxPages] = [25, 20_000, 4];

async function tables(context: Context): Promise<Finding> {
  const { program, learned } = context;
  const seen: string[] = [];
  for (const declared of program.tables.slice(0, maxTables)) {
    const { table } = declared;
    const read = await outcomeOf(readTable(context, declared));
    if ("answer" in read) {
      learned.tables.set(table, read.answer);
      const rows = `${read.answer.isAll ? "" : "more than "}${formatCount(rowsOf(read.answer), "row")}`;
      seen.push(`${table} has ${rows === "0 rows" ? "no rows that this account sees" : rows}`);
    } else if (read.code === "notFound") {
      const means = "The ID is mistyped or a name, or of a table that was created again or is on another platform.";
      return wrong(`There is no table ${table} on the platform.`, means, `${declared.at}: table: <its ID>`);
    } else return explain(context, read);
  }
  const cut = program.tables.length > maxTables ? `; the first ${maxTables} were looked at` : "";
  if (seen.length > 0) return well(`${some(seen, 5)}${cut}.`);
  const means = "They come from the state and the stack's Environment file; or name one with --table <id>:<key>.";
  return note("No table is known.", means);
}

async function readTable({ client, timeoutMs }: Context, { table, key, isSubTable }: ProgramTable): Promise<TableLook> {
  const enough = new AbortController();
  const look: TableLook = { pages: [], isAll: true, labels: new Set(), twice: 0 };
  const [keys, twice] = [new Set<string>(), new Set<string>()];
  try {
    for await (const page of pages(client, { microAppID: table, signal: enough.signal, timeout: timeoutMs })) {
      look.pages.push(page.length);
      for (const row of page) {
        for (const label of Object.keys(declarable(row))) look.labels.add(label);
        const parts = key.map((label) => keyText(row[label]));
        // Below its parent a key identifies a row. Without one nobody sees which rows stand together.
        if (parts.includes(undefined) || (isSubTable && row.embeddingRowID === undefined)) continue;
        const text = JSON.stringify([parts, row.embeddingRowID]);
        if (keys.has(text)) twice.add(text);
        keys.add(text);
      }
      look.isAll = rowsOf(look) < maxRows && look.pages.length < maxPages;
      if (!look.isAll) break;
    }
  } finally {
    enough.abort(); // pages are read ahead
  }
  return { ...look, twice: twice.size };
}

function labels({ program, learned }: Context): Finding {
  const unseen: string[] = [];
  let isSeen = false;
  for (const { table, key, labels: own, at: place } of program.tables) {
    const { labels: seen = new Set<string>(), twice = 0 } = learned.tables.get(table) ?? {};
    if (seen.size === 0) continue; // there are no rows
    isSeen = true;
    for (const label of [...key, ...own].filter((each) => !seen.has(each))) {
      const bare = (text: string): string => text.toLowerCase().replaceAll(/[\s_-]/g, "");
      const near = [...seen].find((each) => bare(each) === bare(label)) ?? nearest(label, [...seen]);
      const isKey = key.includes(label);
      if (near === undefined && !isKey) unseen.push(`${table}.${label}`);
      if (near === undefined && !isKey) continue;
      const advice = near === undefined ? "" : ` Did you mean ${quote(near)}? Labels are case sensitive.`;
      const lost = isKey ? "Rows can't be told apart without it." : "A table drops unknown labels silently.";
      const what = `No row of table ${table} has the label ${quote(label)}${isKey ? ", which is in its key" : ""}.`;
      return wrong(what, lost + advice, `${place}: ${near ?? "<another label>"} instead of ${label}`);
    }
    if (twice === 0) continue;
    const what = `Rows of table ${table} share ${formatCount(twice, "key")}.`;
    const means = "Nobody can tell which of them a declared row is: make them differ, or name more labels as the key.";
    return wrong(what, means, `${place}: key: [${[...key, "<another label>"].join(", ")}]`);
  }
  if (!isSeen) return note("No row shows any: the first up says which ones a table did not keep.");
  if (unseen.length === 0) return well("The rows have the labels of the program, and its keys tell them apart.");
  const means = "If a table has no such label, what is written there is dropped without a word: the first up sees it.";
  return note(`No row has a value under ${some(unseen, 3)}.`, means);
}

function pageSize({ learned }: Context): Finding {
  const [largest] = [...learned.tables.values()].toSorted((one, other) => rowsOf(other) - rowsOf(one));
  const [first = 0, ...others] = largest?.pages ?? [];
  if (first === 0) return note("No table with rows was read, which would show how many come at once.");
  return well(`${others.length > 0 ? "A page has at most" : "One page had"} ${formatCount(first, "row")}.`);
}

async function userid(context: Context): Promise<Finding> {
  const { email, token } = context.settings;
  if (email === undefined || token !== undefined) return note("A token has no address that could be asked for.");
  const asked = await outcomeOf(context.client.userid({ email }));
  if ("code" in asked && ["timeout", "unreachable", "unauthorized"].includes(asked.code))
    return explain(context, asked);
  const found = "code" in asked ? `none: ${asked.words}` : asked.answer.userID;
  if (found === context.learned.userID) return well("The platform finds the user of an address.");
  const seen = `Asked for the user of ${email}, the platform finds ${found}.`;
  return note(seen, "Where the list of a team has user IDs alone, declare people by user IDs.");
}

/** Organizations and teams that are looked at. */
const [maxOrganizations, maxTeams] = [10, 50];

async function rights(context: Context): Promise<Finding> {
  const { settings, program, learned, set } = context;
  const known = [...program.organizations.keys()];
  const ids = settings.organizationID === undefined ? known : [settings.organizationID, ...known];
  for (const id of [...new Set(ids)].slice(0, maxOrganizations)) {
    const read = await outcomeOf(context.client.readorganization({ organizationID: id }));
    if ("answer" in read && read.answer.organization) continue;
    if ("code" in read && read.code !== "notFound") return explain(context, read);
    const means = "The ID is mistyped, or a name, or of another platform; or it was removed by hand.";
    const near = known.find((each) => program.organizations.get(each) === id) ?? nearest(id, known);
    const mend = id === settings.organizationID ? set("organizationID", near) : context.run("refresh");
    return wrong(`There is no organization ${id} on the platform.`, means, mend);
  }
  const who = settings.email ?? `user ${learned.userID ?? ""}`;
  const teamIDs = program.teams.slice(0, maxTeams);
  if (teamIDs.length === 0) {
    const means = "The first up shows it: creating an organization takes an administrator of the platform.";
    return note(`No endpoint says what ${who} may do, and the state has no team to see it by.`, means);
  }
  const listed = await outcomeOf(context.client.teammembers({ teamIDs }));
  if ("code" in listed) return explain(context, listed);
  const roles = listed.answer.teamMembers.flatMap(({ userID, email, role = "no known role" }) =>
    userID === learned.userID || email?.toLowerCase() === who.toLowerCase() ? [role] : [],
  );
  const admin = roles.filter((role) => role === "admin").length;
  const seen = `${who} is in ${roles.length} of the state's ${formatCount(teamIDs.length, "team")}, as administrator in ${admin}.`;
  const means = "Teams and members can be changed by administrators of the organization, the team or the platform.";
  return admin === teamIDs.length ? well(seen) : note(seen, means);
}

function versions({ folder }: Context): Finding {
  const { name, version } = readOwnPackage();
  const file = join(folder, "node_modules", name, "package.json");
  const installed = existsSync(file) ? at(jsonIn(readFileSync(file, "utf8")), "version") : version;
  if (installed === version) return well(`${name} ${version}, with Node.js ${process.versions.node}.`);
  const seen = `This is ${name} ${version}, and the project has ${printableLine(String(installed))}.`;
  return note(seen, "Call it with npx from the project's folder.");
}

/** The twelve checks, each after those that it needs: what needs one that found something wrong is skipped. */
export const checks: readonly (readonly [
  id: string,
  title: string,
  needs: readonly string[],
  look: (context: Context) => Promise<Finding> | Finding,
])[] = [
  ["reachable", "reachable", [], reachable],
  ["tls", "TLS", ["reachable"], certificate],
  ["clock", "clock", ["reachable", "tls"], clock],
  ["login", "login", ["reachable", "tls"], login],
  ["apiKey", "API key", ["login"], apiKey],
  ["wireNames", "wire names", ["login"], wireNames],
  ["tables", "tables", ["login"], tables],
  ["labels", "labels", ["tables"], labels],
  ["pages", "pages", ["tables"], pageSize],
  ["userid", "users by address", ["login"], userid],
  ["rights", "rights", ["login"], rights],
  ["versions", "versions", ["reachable"], versions],
];
