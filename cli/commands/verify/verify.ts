import { createHash } from "node:crypto";
import {
  chosenIDs,
  loadFacts,
  sandboxNames,
  type Fact,
  type SandboxName,
} from "../../../emulator/conformance/facts.ts";
import * as conformance from "../../../emulator/conformance/run.ts";
import type { GlobalOptions } from "../../../engine/cli/globals.ts";
import {
  EngineError,
  isPipeline,
  printable,
  printableJson,
  withoutCommands,
  wrapLine,
  type Terminal,
} from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { nearest } from "../../../machine/spelling.ts";
import { createClient, type Client, type ClientOptions } from "../../../platform/client/index.ts";
import type { EndpointName } from "../../../platform/contract/endpoints.ts";
import { ApiError, at } from "../../../platform/contract/wire.ts";
import type { Mask } from "../../../platform/messages/masks.ts";
import { formatCount, printableLine, some } from "../../../platform/messages/text.ts";
import { readProfile } from "../../../provider/layers/layers.ts";
import { type Configuration, originOf } from "../../../provider/pulumi/configuration.ts";
import { chosenID } from "../../../provider/pulumi/names.ts";
import { locatePlatform } from "../../../provider/pulumi/platform.ts";
import { maskOf } from "../../../provider/pulumi/properties.ts";
import { progressLine, settingsOf } from "../platform.ts";

/** Flags of the command. */
export interface VerifyOptions extends GlobalOptions {
  sandbox: string[];
  generate?: boolean;
  notify?: boolean;
  json?: boolean;
}

/** Result of a run, as `--json` prints it: docs/verify.md has the shape. */
export interface VerifyOutcome {
  /** Version of this shape. */
  version: 2;
  /** The exit status. */
  status: 0 | 1 | 3;
  /** Origin of the platform. */
  platform: string;
  mark: string;
  resources: { resource: string; fits: number; misfits: number; notTried: number }[];
  /** `helps` is a setting for platforms that differ so, where there is one. */
  misfits: (Pick<Fact, "rule" | "source" | "resources"> &
    Record<"fact" | "expected" | "seen", string> & { helps: string | null })[];
  notTried: { fact: string; why: string }[];
  /** Things that could not be removed. */
  left: conformance.Left[];
}

/** The variable with the password of the sandbox's person. */
const personsPassword = "MICROAPPS_PERSON_PASSWORD";
/** Milliseconds for one call: a platform that answers in drops is not waited for. */
const callMs = 60_000;
/** Seconds for which a platform may show things late, as a run waits for it. */
const usualSeconds = 10;
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A refusal before anything was changed. */
const refusal = (why: string): EngineError => new EngineError(`nothing was changed: ${why}`, 2);

/** Everything a run works with. */
interface Work {
  settings: Configuration;
  sandbox: Map<string, string>;
  mark: string;
  mask: Mask;
  client: Client;
  call: conformance.Call;
  signal: AbortSignal;
  patienceMs: number;
  show: (text: string) => void;
  warn: (text: string) => void;
}

/** Tries the facts and prints what came of them; the answer is the exit status. */
export async function runVerify(options: VerifyOptions, terminal: Terminal): Promise<number> {
  const { environment, output, errors } = terminal;
  const sandbox = sandboxOf(options);
  const password = environment[personsPassword] ?? "";
  if (password !== "") sandbox.set("person.password", password);
  const { settings, folder, profile } = await settingsOf(options, terminal)
    .then((found) => ({ ...found, profile: readProfile(found.settings.profile, found.folder) }))
    .catch((error: unknown) => {
      throw refusal(messageOf(error)); // which quotes no credential
    });
  if (settings.readOnly === true) throw refusal("microapps:readOnly refuses what verify does");
  const mask = maskOf(settings, [password]);
  const { url, isEmulator, close } = await locatePlatform(settings.endpoint, folder).catch((error: unknown) => {
    throw refusal(`the emulator does not start: ${messageOf(error)}`);
  });
  const patienceMs = isEmulator ? 0 : (settings.consistencySeconds ?? usualSeconds) * 1000;
  const { allowed, wireNames, apiKey, email, token, userID: userId } = settings;
  const clients: Client[] = [];
  const clientOf = (account: Partial<ClientOptions>): Client => {
    const reach = { endpoint: url, ...(isEmulator ? {} : { allowed }), timeouts: { call: callMs } };
    const made = createClient({ ...reach, wireNames, profile, apiKey, consistencyMs: patienceMs, ...account });
    clients.push(made);
    return made;
  };
  const warn = (text: string): void => void errors.write(`${printable(mask.hide(text), false)}\n`);
  const stop = new AbortController();
  const end = (): void => {
    for (const signal of signals) process.off(signal, end); // a second one ends the process
    warn("Removing what was made. If this is interrupted, too, the next run removes it.");
    stop.abort();
  };
  for (const signal of signals) process.on(signal, end);
  const progress = progressLine(errors);
  try {
    const client = clientOf({ email, password: settings.password, token, userId });
    const call = callerOf(client, clientOf, sandbox, mask);
    const digest = createHash("sha256")
      .update(`${settings.endpoint} ${email ?? userId ?? ""}`)
      .digest("hex");
    const mark = `${conformance.ownMark}-${digest.slice(0, 8)}`;
    const show = (text: string): void => progress.show(mask.hide(text));
    const own = { settings, sandbox, mark, mask, client, call, signal: stop.signal, patienceMs };
    const outcome = await verify({ ...own, show, warn });
    progress.end();
    const columns = (output.isTTY && output.columns) || 100; // some terminals say 0
    const text = options.json ? printableJson(outcome, 2) : printable(screenOf(outcome, columns), false);
    output.write(`${isPipeline(environment) ? withoutCommands(text) : text}\n`);
    return outcome.status;
  } finally {
    progress.end();
    for (const signal of signals) process.off(signal, end);
    for (const each of clients) await each.close();
    await close();
  }
}

/** Names that a person may give; the others come from the configuration, a flag or a variable. */
const givenNames = (Object.keys(sandboxNames) as SandboxName[]).filter(
  (name) => !/^(?:caller|person)\.|^(?:generate|notify)$/.test(name),
);

/** What is for tests, by name. */
function sandboxOf({ sandbox, generate, notify }: VerifyOptions): Map<string, string> {
  const named = new Map<string, string>();
  for (const text of sandbox) {
    const [, given = text, value = ""] = /^([^=]+)=(.*)$/.exec(text) ?? [];
    const name = givenNames.find((one) => one === given);
    if (name === undefined) {
      const near = nearest(given, givenNames);
      const names = near === undefined ? `the names are ${givenNames.join(", ")}` : `did you mean ${near}=…?`;
      throw refusal(`--sandbox ${text} names nothing of a sandbox: ${names}`);
    }
    if (value === "") throw refusal(`--sandbox ${name} lacks its value: ${sandboxNames[name]}`);
    if (named.has(name)) throw refusal(`--sandbox ${name} is there twice`);
    named.set(name, value);
  }
  if (named.size === 0) {
    throw refusal(
      "verify makes and removes things, so it works only in an organization and in tables that are named for it: --sandbox organization=new makes one for the run, --sandbox countries=<ID> names an empty table",
    );
  }
  for (const [name, asked] of Object.entries({ generate, notify })) if (asked) named.set(name, "yes");
  return named;
}

/** Codes of calls that came to nothing. */
const unanswered = /^(?:unreachable|timeout|connectionLost|outcomeUnknown|rateLimited|unavailable)$/;

/** Calls the platform as the account, the sandbox's person, or with another session. Tokens are hidden from then on. */
function callerOf(
  client: Client,
  clientOf: (account: Partial<ClientOptions>) => Client,
  sandbox: Map<string, string>,
  mask: Mask,
): conformance.Call {
  let person: Client | undefined;
  return async (name, request, as) => {
    let who = client;
    if (as === "person") {
      who = person ??= clientOf({ email: sandbox.get("person"), password: sandbox.get("person.password") });
    } else if (typeof as === "object") who = clientOf({ token: as.authToken, userId: as.userId });
    try {
      const method = who[name] as (request: object) => Promise<object>; // TypeScript pairs no names
      const answer = await method(request);
      const token = at(answer, "authToken");
      if (typeof token === "string") mask.add([token]);
      return { answer };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, platformMessage, outcome } = error;
      if (unanswered.test(code) || outcome === "unknown") throw new conformance.Lost(message);
      return { refused: { code, message: code === "badAnswer" ? message : platformMessage } };
    }
  };
}

/** Prepares the sandbox, tries the facts, and removes what is left, whatever happens. */
async function verify(work: Work): Promise<VerifyOutcome> {
  const { client, sandbox, call, mark, signal, patienceMs, show, warn } = work;
  const made: conformance.Made[] = [];
  const left: conformance.Left[] = [];
  let results: conformance.FactResult[] = [];
  try {
    await prepare(work, made).catch((error: unknown) => {
      throw error instanceof conformance.Lost ? refusal(error.message) : error;
    });
    const habits = new Set(Object.entries(client.dialect.habits).map((pair) => pair.join(": ")));
    const facts = loadFacts().filter(({ unless = "" }) => !habits.has(unless));
    let count = 0;
    const done = ({ fact }: conformance.FactResult): void => show(`${++count} of ${facts.length} facts: ${fact.id}`);
    const run = await conformance.runFacts({ facts, call, sandbox, mark, signal, patienceMs, done });
    ({ results } = run);
    left.push(...run.left);
  } finally {
    for (const one of made) left.push(...(await conformance.remove(call, one)));
    // An error is what the command ends with then, so what is left has to be said before.
    if (results.length === 0) for (const each of left) warn(leftLine(each));
  }
  return outcomeOf(results, left, work);
}

/** Completes the sandbox: who calls, its organization and its person. Removes what a killed run has left. */
async function prepare({ settings, sandbox, client, call, mark, warn }: Work, made: conformance.Made[]): Promise<void> {
  const asked = async (name: EndpointName, request: Record<string, unknown>, key: string): Promise<unknown> => {
    const reply = await call(name, request, "caller");
    return "answer" in reply ? at(reply.answer, key) : undefined;
  };
  const userID = await client.callerID().catch((error: unknown) => {
    throw error instanceof ApiError ? refusal(error.message) : error;
  });
  const { email, password, apiKey } = settings;
  for (const [name, value] of Object.entries({ userID, email, password, apiKey })) {
    if (value !== undefined) sandbox.set(`caller.${name}`, value);
  }
  const removed = (what: string, [left]: readonly conformance.Left[]): void =>
    warn(left ? `An earlier run has left ${what}: ${left.why}` : `Removed what an earlier run had left: ${what}.`);
  const own = chosenID(mark, "own") ?? "";
  for (const name of chosenIDs) sandbox.set(name, chosenID(mark, name) ?? "");
  for (const kind of ["team", "organization"] as const) {
    for (const id of [own, ...chosenIDs.map((name) => sandbox.get(name) ?? "")]) {
      const name = await asked(`read${kind}`, { [`${kind}ID`]: id }, `${kind}.name`);
      if (typeof name !== "string") continue;
      if (!name.startsWith(conformance.ownMark)) throw refusal(`${kind} ${id} has a name that verify never gives`);
      removed(`${kind} ${id}`, await conformance.remove(call, { kind, id }));
    }
  }
  for (const table of conformance.tables.flatMap((name) => sandbox.get(name) ?? [])) {
    const rows = (await conformance.rowsIn(call, table)) ?? []; // what a table can't do, facts show
    const foreign = rows.filter(({ isOwn }) => !isOwn).length;
    if (foreign > 0)
      throw refusal(`table ${table} has ${formatCount(foreign, "row")} that verify did not make: name an empty one`);
    const ids = some(
      rows.map(({ id }) => id),
      3,
    );
    if (ids !== "") removed(`rows ${ids} of table ${table}`, await conformance.removeRows(call, table));
  }
  const person = sandbox.get("person");
  const found = person === undefined ? undefined : await asked("userid", { email: person }, "userID");
  if (typeof found === "string") sandbox.set("person.userID", found);
  if (sandbox.get("organization") !== "new") return;
  sandbox.delete("organization");
  made.push({ kind: "organization", id: own });
  const info = { organizationInfo: { _id: own, name: `${mark} organization` } };
  const id = await asked("insertorganization", info, "organizationID");
  made.pop();
  if (typeof id === "string") {
    made.push({ kind: "organization", id });
    sandbox.set("organization", id);
  } else warn("No organization could be made, so what needs one is not tried.");
}

const leftLine = ({ kind, id, why }: conformance.Left): string => `LEFT OVER ${kind} ${id}: ${why}`;

function outcomeOf(
  results: readonly conformance.FactResult[],
  left: readonly conformance.Left[],
  { settings, mark, mask, signal }: Work,
): VerifyOutcome {
  const shown = (value: unknown): string => {
    const text = printableLine(mask.hide(value === undefined ? "nothing" : JSON.stringify(value)));
    return text.length > 160 ? `${text.slice(0, 160)}…` : text;
  };
  const misfits = results.flatMap((result): VerifyOutcome["misfits"] => {
    if (result.status !== "misfit") return [];
    const { id, rule, source, resources, helps = null } = result.fact;
    const seen = `${result.path === "" ? "" : `${mask.hide(result.path)}: `}${shown(result.seen)}`;
    return [{ fact: id, rule, source, resources, expected: shown(result.expected), seen, helps }];
  });
  const resources = [...new Set(results.flatMap(({ fact }) => fact.resources))].map((resource) => {
    const own = results.filter(({ fact }) => fact.resources.includes(resource));
    const count = (status: string): number => own.filter((each) => each.status === status).length;
    return { resource, fits: count("fits"), misfits: count("misfit"), notTried: count("notTried") };
  });
  const isCut = signal.aborted || results.some((result) => "isLost" in result);
  const status = misfits.length > 0 ? 3 : isCut || left.some(({ kind }) => kind !== "app") ? 1 : 0;
  const notTried = results.flatMap((each) =>
    each.status === "notTried" ? [{ fact: each.fact.id, why: mask.hide(each.why) }] : [],
  );
  const stays = left.map((each) => ({ ...each, id: mask.hide(each.id), why: mask.hide(each.why) }));
  const platform = originOf(settings.endpoint) ?? "";
  return { version: 2, status, platform, mark, resources, misfits, notTried, left: stays };
}

/** The outcome for people, in a number of columns. */
function screenOf({ platform, mark, resources, misfits, notTried, left }: VerifyOutcome, columns: number): string {
  const wrapped = (text: string): string[] => wrapLine(text, columns);
  const cells = Math.max(0, ...resources.map(({ resource }) => resource.length)) + 2;
  const row = (name: string, ...counts: (string | number)[]): string =>
    (name.padEnd(cells) + counts.map((count) => String(count || "").padStart(11)).join("")).trimEnd();
  const untried = notTried.flatMap(({ why }) => {
    const needs = /^they need (.*)/.exec(why)?.[1]?.split(", ");
    return needs?.map((need) => ` without ${need}`) ?? `, since ${why}`;
  });
  const parts: string[][] = [
    [
      row("needed by", "fits", "does not", "not tried"),
      ...resources.map((each) => row(each.resource, each.fits, each.misfits, each.notTried)),
    ],
    ...misfits.map(({ fact, rule, source, resources: by, expected, seen, helps }) => [
      ...wrapped(`DOES NOT FIT ${fact} ${rule} (${source})`),
      ...wrapped(`  needed by: ${by.join(", ")}`),
      ...wrapped(`  expected: ${expected}`),
      ...wrapped(`  seen: ${seen}`),
      ...(helps === null ? [] : wrapped(`  may help: ${/^check/.test(helps) ? "" : "a profile with "}${helps}`)),
    ]),
    [...Map.groupBy(untried, (why) => why)].flatMap(([why, { length }]) =>
      wrapped(`Not tried${why}: ${formatCount(length, "fact")}.`),
    ),
    left.flatMap((each) => wrapped(leftLine(each))),
    wrapped(
      `${misfits.length === 0 ? "Everything that was tried fits" : `${formatCount(misfits.length, "fact")} of the interface ${misfits.length === 1 ? "does" : "do"} not fit`} ${platform} (run ${mark}).`,
    ),
  ];
  return parts.flatMap((lines) => (lines.length > 0 ? [lines.join("\n")] : [])).join("\n\n");
}
