import { EngineError } from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { createClient } from "../../../provider/client/client.ts";
import type { Client } from "../../../provider/client/options.ts";
import type { Fact } from "../../../provider/conformance/fact.ts";
import type { FixtureIDs } from "../../../provider/conformance/fixtures.ts";
import { createRawClient, SandboxLoginError } from "../../../provider/conformance/platformClient.ts";
import { runFacts, type FactResult } from "../../../provider/conformance/run.ts";
import type { Profile } from "../../../provider/habits/profile.ts";
import { readProfile } from "../../../provider/layers/profileFile.ts";
import type { Configuration } from "../../../provider/pulumi/configuration/configuration.ts";
import { originOf } from "../../../provider/pulumi/configuration/origins.ts";
import { locatePlatform } from "../../../provider/pulumi/platform.ts";
import type { Subject } from "../doctor/subject.ts";
import { answerOf } from "./answer.ts";
import { Interruption, timesOf, type Times } from "./interruption.ts";
import { readOrRefuse, type SandboxNames, type VerifyOptions } from "./options.ts";
import { differencesOf, scoreOf, statusOf, type VerifyOutcome } from "./outcome.ts";
import { changesSince, profileOf, type Seen } from "./profileFile.ts";
import type { RehearsedPart } from "./rehearsal/parts.ts";
import { rehearse, type Rehearsed } from "./rehearsal/rehearsing.ts";
import { withoutAddresses } from "./rendering.ts";
import { removeLeftovers, type Remainder } from "./sandbox/cleaning.ts";
import { groundsOf, helpersOf } from "./sandbox/grounds.ts";
import { refuseNamesake } from "./sandbox/guarding.ts";
import { digestOf, Journal } from "./sandbox/journal.ts";
import { RequestGuard } from "./sandbox/keeping.ts";
import { limitsBelow } from "./sandbox/limits.ts";
import {
  callerOf,
  examineTables,
  fixturesOf,
  lookMs,
  newApp,
  organizationFor,
  textAt,
  toVisibleAfter,
} from "./sandbox/preparing.ts";
import { NoAnswer, PatientSender, Sender } from "./sandbox/sending.ts";

/** Everything a run needs. */
export interface Work {
  subject: Subject;
  settings: Configuration;
  /** The folder of the journals. */
  folder: string;
  /** Undefined where only what is left over is removed. */
  names: SandboxNames | undefined;
  /** Facts of the package: IDs that stand in them are made up. */
  facts: readonly Fact[];
  /** Facts of files that are named. */
  more: readonly Fact[];
  earlier: Profile | undefined;
  options: VerifyOptions;
  mark: string;
  /** Longest times (default: by --timeout). */
  times?: Times | undefined;
  /** Resources that are rehearsed (default: all). */
  parts?: readonly RehearsedPart[] | undefined;
  show: (text: string) => void;
  warn: (text: string) => void;
  /** The time in milliseconds since the epoch. */
  now: () => number;
}

/** A platform that is connected to. */
interface Connection {
  url: string;
  client: Client;
  /** A client that knows more of the platform, as soon as more is known. */
  clientOf: (profile: Profile | undefined) => Client;
  known: Profile | undefined;
  sender: Sender;
  hide: (text: string) => string;
  stop: Interruption;
  times: Times;
}

/** Removes what earlier runs have left, and tries the facts; undefined where there is nothing to try. */
export async function onPlatform(work: Work): Promise<VerifyOutcome | undefined> {
  const { settings, subject, names } = work;
  subject.mask.add(names?.helpers.map(({ password }) => password) ?? []);
  const { url, close } = await locatePlatform(settings.endpoint, subject.folder).catch((error: unknown): never => {
    throw new EngineError(`the emulator does not start: ${messageOf(error)}`, 2);
  });
  const { email, password, apiKey, wireNames, profile } = settings;
  const known = work.earlier ?? readOrRefuse(() => readProfile(profile, subject.folder));
  const clientOf: Connection["clientOf"] = (profile) =>
    createClient({ endpoint: url, email, password, apiKey, wireNames, profile });
  const client = clientOf(known);
  const times = work.times ?? timesOf(work.options.timeout);
  const stop = new Interruption(work.warn, times.limitMs);
  stop.late.addEventListener("abort", () => void client.close());
  const sender = new Sender({ url, signal: stop.late });
  const hide = (text: string): string => withoutAddresses(subject.mask.hide(text));
  try {
    await callerOf(client, hide);
    const connection = { url, client, clientOf, known, sender, hide, stop, times };
    await removeLeftOvers(work, connection);
    return names === undefined ? undefined : await inJournal(work, names, connection);
  } catch (error) {
    // Everything fails that is on its way then.
    throw stop.late.aborted && !(error instanceof Stopped) ? new Stopped(stop.describe()) : error;
  } finally {
    stop.end();
    sender.close();
    await client.close();
    await close();
  }
}

/** A run that ended before its end. */
class Stopped extends EngineError {}

/** Removes what earlier runs on this platform have made and left. */
async function removeLeftOvers({ settings, folder, names, warn }: Work, { client }: Connection): Promise<void> {
  const journals = Journal.leftOver(folder, digestOf(settings.endpoint), warn);
  let remainders = 0;
  for (const journal of journals) {
    const left = await removeLeftovers(client, journal).finally(() => journal.end());
    remainders += left.length;
    if (left.length === 0) warn(`Removed what run ${journal.run.mark} had left.`);
    for (const remainder of left) warn(`Left over by run ${journal.run.mark}: ${describeRemainder(remainder)}`);
  }
  if (names === undefined && journals.length === 0) warn("Nothing is left over.");
  if (remainders > 0 && names === undefined) throw new EngineError("something is left over on the platform");
}

const describeRemainder = ({ thing, ids, why }: Remainder): string => `${thing.kind} ${ids.join(", ")}: ${why}`;

/** A run with a journal, which ends with everything removed. */
async function inJournal(work: Work, names: SandboxNames, connection: Connection): Promise<VerifyOutcome> {
  const { settings, folder, mark, now, warn } = work;
  const { clientOf, known, stop, times } = connection;
  const tables = names.tables as Readonly<Record<string, string>>; // none is undefined
  const journal = Journal.begin(folder, { mark, platform: digestOf(settings.endpoint), tables, startedAt: now() });
  let left: Remainder[] = [];
  const results: FactResult[] = [];
  let tried: (Tried & { resources: Rehearsed[] }) | undefined;
  let failure: unknown;
  try {
    const found = await attempt(work, names, journal, connection, results);
    tried = { ...found, resources: await rehearsed(work, found, journal, connection) };
  } catch (error) {
    if (!stop.signal.aborted) failure = error;
  } finally {
    work.show("removing what was made");
    // Removing things may depend on the habits that the facts found.
    const cleaner = clientOf(profileOf(results, seenBy(work, {}), known));
    const end = setTimeout(() => void cleaner.close(), times.cleaningMs);
    left = await removeLeftovers(cleaner, journal).finally(() => journal.end());
    clearTimeout(end);
    await cleaner.close();
  }
  if (failure !== undefined) {
    for (const remainder of left) warn(`Left on the platform: ${describeRemainder(remainder)}`);
    throw failure; // oxlint-disable-line typescript/only-throw-error -- it was thrown above
  }
  if (stop.signal.aborted || tried === undefined) {
    const removal =
      left.length === 0 ? "what was made is removed" : "something is left over, which 'verify --clean' removes";
    throw new Stopped(`${stop.describe()}: ${removal}`);
  }
  return outcomeOf(work, tried, left, connection);
}

interface Tried {
  results: FactResult[];
  limits: Profile["limits"];
  sandbox: FixtureIDs;
}

/** Rehearses each resource with what the facts found. */
async function rehearsed(
  work: Work,
  { results, limits, sandbox }: Tried,
  journal: Journal,
  { url, known, stop, hide }: Connection,
): Promise<Rehearsed[]> {
  const { settings, names, mark, show, parts } = work;
  const profile = profileOf(results, seenBy(work, limits), known);
  const tables = names?.tables ?? {};
  const { allowed: _, ...own } = settings; // the run's address was checked
  return rehearse({
    ...{ settings: { ...own, endpoint: url }, profile, tables, sandbox, mark, journal, parts, hide, show },
    signal: stop.signal,
  });
}

/** Tries the facts; each result is added to `found` at once. */
async function attempt(
  work: Work,
  names: SandboxNames,
  journal: Journal,
  connection: Connection,
  found: FactResult[],
): Promise<Tried> {
  const { settings, options, mark, subject, show } = work;
  const facts = [...work.facts, ...work.more];
  const { client, sender, hide, stop } = connection;
  const organization = await organizationFor(client, journal, names.organizationID);
  refuseNamesake(organization.name, subject.declared.organizationNames, organization.id);
  const userID = await client.callerID();
  const mayMake = { organizations: options.new === true, apps: options.apps === true };
  const invitee = options.address.replace("*", mark);
  const basic: FixtureIDs = {
    ...fixturesOf(names, settings, { userID, invitee, mayMake, rows: Number(options.rows) }),
    ...(await helpersOf(names, connection)),
    organization: organization.id,
    ...(options.file === undefined ? {} : { "file.url": options.file, "file.text": await textAt(options.file) }),
  };
  const guard = new RequestGuard(sender.send, groundsOf(work, names, basic, connection.url), journal);
  guard.own(organization.id);
  const patient = new PatientSender(guard.send);
  const { send, lost } = patient;
  const { wireNames } = settings;
  const rawClient = createRawClient({ send, sandbox: basic, habits: () => ({}), wireNames });
  try {
    show("looking at the tables of the sandbox");
    const { fields, lag } = await examineTables(rawClient, names.tables, mark);
    const longest = Math.max(lag, organization.lag);
    patient.pauseMs = longest === 0 ? 0 : longest + lookMs;
    const late = toVisibleAfter(longest);
    const limits = { ...(await limitsBelow(rawClient, names.tables.currencies, Number(options.rows))), ...late };
    await removeLeftovers(client, journal, (thing) => thing.kind === "row"); // facts are to find empty tables
    const app = options.app ?? (mayMake.apps ? await newApp(rawClient, settings.email ?? "", mark) : undefined);
    if (app !== undefined) guard.own(app);
    const sandbox: FixtureIDs = { ...fields, ...basic, ...(app === undefined ? {} : { app }) };
    const signal = AbortSignal.any([stop.signal, lost]);
    const done = (result: FactResult): void => {
      const count = found.push(result);
      show(`${count} of ${facts.length} facts: ${result.fact.id}`);
    };
    const results = await runFacts({ facts, send, sandbox, wireNames, signal, done });
    if (lost.aborted) throw lost.reason as NoAnswer;
    return { results: results.map((each) => withoutRefused(each, guard.refusals)), limits, sandbox };
  } catch (error) {
    const isExpected = [NoAnswer, SandboxLoginError, EngineError].some((kind) => error instanceof kind);
    // The platform's words may repeat what it was sent.
    const isUnfit = error instanceof EngineError && error.status === 3;
    throw isExpected ? new EngineError(hide(messageOf(error)), isUnfit ? 3 : 2) : error;
  } finally {
    await rawClient.leave().catch(() => undefined);
  }
}

/** A fact with a request outside of the sandbox counts as not tried. */
function withoutRefused(result: FactResult, refusals: ReadonlySet<string>): FactResult {
  const { fact } = result;
  if (result.status !== "failed" || typeof result.seen !== "string" || !refusals.has(result.seen)) return result;
  return { fact, status: "notTried", why: result.seen };
}

function outcomeOf(
  work: Work,
  { results, limits, resources }: Tried & { resources: Rehearsed[] },
  left: readonly Remainder[],
  { hide, sender, known }: Connection,
): VerifyOutcome {
  const { subject, earlier, mark, options, settings } = work;
  const seen = seenBy(work, limits);
  const { platform } = seen;
  const differences = differencesOf(results, hide);
  const changes = earlier === undefined ? null : changesSince(earlier, results, limits);
  const notTried = results.flatMap((each) =>
    each.status === "notTried" ? [{ fact: each.fact.id, why: hide(each.why) }] : [],
  );
  const profile = profileOf(results, seen, earlier);
  const isWritten = options.writeProfile !== undefined;
  const answer = answerOf(resources, differences, {
    ...{ found: profile, known, isWritten },
    consistencySeconds: settings.consistencySeconds,
  });
  return {
    version: 1,
    status: statusOf(answer, changes, left),
    stack: subject.place.stack ?? null,
    ...{ platform, answer, mark, requests: sender.made, score: scoreOf(results), differences, changes, notTried },
    profile,
    left: left.map(({ thing, ids, why }) => ({ kind: thing.kind, ids, why: hide(why) })),
  };
}

const seenBy = ({ settings, now }: Work, limits: Profile["limits"]): Seen => ({
  ...{ platform: originOf(settings.endpoint) ?? "", now: now(), limits, wireNames: { ...settings.wireNames } },
});
