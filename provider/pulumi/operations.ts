import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { today } from "../../machine/today.ts";
import { ApiError } from "../../platform/contract/wire.ts";
import type { Mask } from "../../platform/messages/masks.ts";
import { printableLine } from "../../platform/messages/text.ts";
import { completeDialect, type Dialect } from "../../platform/profile/profile.ts";
import type { PlatformFunction } from "../functions/functions.ts";
import { readProfile } from "../layers/layers.ts";
import type { ListWaits } from "../people/members.ts";
import { InputError, type InputProblem, PartialFailure, ResourceError } from "../resources/common.ts";
import { Journal } from "../resources/journal.ts";
import type { Context, Diff, Observed, OfflineContext, Recall, Report, Resource } from "../resources/resource.ts";
import { resourceNamed } from "../resources/resources.ts";
import { type Identities, Run } from "../resources/run.ts";
import { describeDeparture } from "../seedRows/otherSeeds.ts";
import { ifNotThere, type RowsAhead } from "../seedRows/plan.ts";
import { addressOf, bind, bindingOutput, type Configuration, isMoved, platformOf } from "./configuration.ts";
import { RunningMark } from "./lifetime.ts";
import { oneThing, readName } from "./names.ts";
import type { PlatformAccess } from "./platform.ts";
import { Forecasts, type Phase, type Reporter } from "./progress.ts";
import {
  check,
  diff,
  foreseen,
  hiding,
  inputsIn,
  lastInputs,
  maskOf,
  parse,
  pickDeclaredInputs,
  pickSettable,
  pickWriteOnly,
  type Properties,
  toKeyed,
  toListed,
  unhidden,
  writeOnlyOf,
  leavingRows,
  withIgnored,
} from "./properties.ts";

/** One call of an engine. */
export interface Call {
  resource: Resource;
  urn: string | undefined;
  /** Seconds that it may take; undefined or 0 for as long as the resource itself allows. */
  timeout?: number;
  /** Texts of its properties that no message may show. */
  secrets?: readonly string[];
  /** What the program asked to ignore, by property paths. */
  ignores?: readonly string[];
  /** Random bytes of the engine for this resource. */
  seed?: Uint8Array;
}

export interface RunOptions extends ConnectionOptions {
  configuration: () => Configuration; // throws when it can't be used
  report: Reporter;
  /** The engine's address; without one, there is no other provider in the run. */
  engine?: string | undefined;
  /** What the state has, where the engine tells it. */
  recall?: Recall | undefined;
  /** True when the engine reads before each diff. */
  readsFirst?: boolean;
  /** True when the engine asks for creates and updates in a preview, too. */
  foresees?: boolean;
}

/** The platform, whatever the organization: an emulator's file may be another one in each folder. */
function journalPlace({ configuration, directory }: RunOptions): string {
  const place = addressOf(configuration().endpoint);
  return place.startsWith("emulator:") ? `emulator:${resolve(directory, place.slice("emulator:".length))}` : place;
}

type Asked = Omit<Call, "resource"> & { resource: { name: string }; phase?: Phase };

/** Tools for carrying out a call. */
interface Tools {
  configuration: Configuration;
  offline: OfflineContext;
  /** Throws when the state is of another platform. */
  online: (state?: Properties) => Promise<Context>;
  /** Adds the platform to a resource's outputs. */
  bound: (outputs: Properties) => Properties;
  clean: (text: string) => string;
}

/** What becomes of the parts of a thing that goes. */
export interface Departure {
  /** In words: `2 rows`. */
  size: string;
  /** How many stay for other resources, by their kinds and names. */
  kept: Readonly<Record<string, number>>;
  /** How many go. */
  gone: number;
}

/** Operations of both kinds of provider. Property values are plain, secrets in clear, unknown ones stand for themselves. */
export class Operations {
  readonly forecasts: Forecasts;
  readonly #options: RunOptions;
  readonly #connection: PlatformConnection;
  readonly #run: Run;
  readonly #identities: Identities;
  readonly #journal: Journal;
  readonly #mark: RunningMark;
  /** True when a program runs: without one, the configuration is the state's. */
  #isCurrent = false;
  readonly #login = new RefusedLogin();

  constructor(options: RunOptions) {
    this.#options = options;
    const { directory, foresees = false, report } = options;
    this.#run = new Run(directory, foresees);
    this.#identities = this.#run.identities;
    // IDs are of the whole platform, whatever organization is configured.
    this.#journal = new Journal(() => journalPlace(options));
    this.#mark = new RunningMark(options.engine, () => journalPlace(options));
    if (options.isHosted) this.#journal.orphaned();
    this.#connection = new PlatformConnection(options);
    this.forecasts = new Forecasts(foresees, report);
  }

  /** An engine has configured the provider of this URN. */
  began(urn: string | undefined): void {
    try {
      this.#mark.set(urn);
    } catch {
      // With a configuration that can't be used every call fails, and says why.
    }
  }

  check(call: Call, olds: Properties, news: Properties): Promise<{ inputs: Properties; problems: string[] }> {
    this.#isCurrent = true;
    return this.#work("check", { ...call, phase: "check" }, async ({ offline, clean, configuration }) => {
      if (this.forecasts.isUpdate) await this.#connection.assertLogin(configuration);
      const { resource, urn } = call;
      this.#mark.declares();
      if (urn !== undefined) this.#identities.checked(urn, lastInputs(resource, olds));
      const declared = toListed(resource, news, olds);
      const { inputs, problems } = await check(resource, offline, toListed(resource, olds), declared);
      await this.forecasts.late(this.#run.rowClaims.late.splice(0), clean);
      return { inputs: toKeyed(resource, inputs), problems: problems.map(sentenceOf).map(clean) };
    });
  }

  diff(call: Call, id: string, olds: Properties, news: Properties): Promise<Diff> {
    // A refresh, for which no program runs, asks for nothing after it.
    const phase = this.#isCurrent ? "diff" : undefined;
    return this.#work("diff", { ...call, phase }, async ({ offline, configuration }) => {
      const moved = isMoved(olds, configuration);
      const { resource, ignores = [] } = call;
      const leaving = leavingRows(resource, ignores);
      const inputs = toListed(resource, { ...withIgnored(resource, ignores, olds, news), ...leaving });
      const { findings, ...change } = await diff(resource, offline, { ...olds, ...leaving }, inputs);
      this.#run.note(call.urn, findings);
      if (call.resource.identity) this.#journal.settle(call.urn, `${call.resource.name} ${id}`);
      const keeps = change.replaces.length === 0;
      const isChanged = moved || change.changed.length > 0;
      if (call.urn !== undefined) this.#identities.compared(call.urn, id, keeps);
      if (keeps) this.#refuseTwo(call, id);
      if (keeps && !isChanged) this.forecasts.report(call.urn, offline.report.info);
      return moved ? { ...change, changed: [...change.changed, bindingOutput] } : change;
    });
  }

  create(call: Call, inputs: Properties): Promise<Observed<Properties>> {
    return this.#work("create", call, async ({ online, bound }) => {
      const parsed = call.resource.inputs.parse(toListed(call.resource, inputs));
      const { id, outputs } = await call.resource.create(await online(), parsed);
      this.#refuseTwo(call, id);
      if (call.urn !== undefined) this.#identities.has(call.urn, id);
      return { id, outputs: bound(outputs) };
    });
  }

  /**
   * Reads the resource, with the inputs that would declare it as far as they are known; undefined when there is none.
   * `inputs` are those of the last run, if known.
   */
  read(
    call: Call,
    id: string,
    state: Properties,
    inputs?: Properties,
  ): Promise<(Observed<Properties> & { inputs?: Properties }) | undefined> {
    const { resource } = call;
    return this.#work("read", call, async ({ online, bound }) => {
      const last = toListed(resource, inputs ?? {});
      // A state holds what the resource itself returned.
      const found = await resource.read(await online(state), id, { ...state, ...pickWriteOnly(resource, last) });
      if (!found) return undefined;
      const [old, { inputs: own }] = [pickDeclaredInputs(resource, inputs ?? state), found];
      if (call.urn !== undefined) this.#identities.seen(call.urn, found.id, old);
      const outputs = bound(found.outputs); // inputs of which a part is not known would seem to have lost it
      if (writeOnlyOf(resource).length > 0 && !own) return { id: found.id, outputs };
      const whole = { ...inputsIn(resource, outputs), ...own };
      const isImport = Object.keys(last).length === 0; // engines check what they import, and write it as a program
      return { id: found.id, outputs, inputs: (isImport ? pickSettable : toKeyed)(resource, whole) };
    });
  }

  update(call: Call, id: string, olds: Properties, news: Properties): Promise<Properties> {
    const { resource } = call;
    return this.#work("update", call, async ({ online, bound }) => {
      const [context, { ignores = [] }] = [await online(olds), call];
      const leaving = leavingRows(resource, ignores);
      const looks = ignores.length > 0 && !("onConflict" in leaving);
      const there = looks ? await resource.read(context, id, olds) : undefined;
      const wanted = { ...withIgnored(resource, ignores, there?.outputs ?? news, news), ...leaving };
      const inputs = resource.inputs.parse(toListed(resource, wanted));
      const outputs = bound(await resource.update(context, id, olds, inputs));
      if ("onConflict" in leaving) outputs["onConflict"] = news["onConflict"];
      if (call.urn !== undefined) this.#identities.has(call.urn, id);
      return outputs;
    });
  }

  delete(call: Call, id: string, state: Properties): Promise<void> {
    const { resource, urn } = call;
    return this.#work("delete", call, async ({ online }) => {
      const context = await online(state);
      const owner = resource.identity && urn !== undefined ? this.#identities.findOwner(urn, id) : undefined;
      if (!resource.identity || !owner) await resource.delete(context, id, state);
      else {
        context.report.info(resource.identity.stays(state, owner));
        await resource.identity.letGo?.(context, state);
      }
      if (urn !== undefined) this.#identities.released(urn, id);
    });
  }

  /** What becomes of what a deletion is about, where more than its state decides it. Throws what refuses it. Offline. */
  departs({ resource, ...call }: Call, state: Properties): Promise<Departure | undefined> {
    return this.#work("departs", { ...call, resource }, async ({ offline }) => {
      let ahead: RowsAhead | undefined;
      const nothing = (): void => undefined;
      const rows = (found: RowsAhead): void => void (ahead = found);
      const report = { status: nothing, info: nothing, forecast: nothing, warning: nothing, rows };
      await resource.departs?.({ ...offline, report }, state);
      const size = ahead && describeDeparture(ahead);
      if (!ahead?.plan.exact || size === undefined) return undefined;
      return { size, kept: Object.fromEntries(ahead.keptForOthers), gone: ahead.plan.remove };
    });
  }

  /** The engine has ended, perhaps before it saved its last results. */
  orphaned(): void {
    this.#journal.orphaned();
  }

  /** The engine ends its run in order. */
  ended(): void {
    this.#journal.close(true);
    this.#mark.close();
  }

  /** Ends the session on the platform, if there is one. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Two resources that are one thing on the platform would undo each other, and one's deletion take the other's. */
  #refuseTwo({ resource, urn = "" }: Call, id: string): void {
    const other = resource.identity && urn !== "" ? this.#identities.other(urn, id) : undefined;
    if (other) throw new ResourceError(oneThing(readName(urn), other, id));
  }

  /** The outputs that a create, or an update of what is there, will have, in a preview. Offline. */
  foreseen(call: Call, inputs: Properties, old?: Properties): Promise<Properties> {
    return this.#work("preview", call, async ({ offline, online, bound }) => {
      if (old) await this.#compareAgain(call, offline, inputs, old);
      else await this.#foresee(call, inputs, offline, online);
      this.forecasts.report(call.urn, offline.report.info);
      this.#run.rowClaims.begins(call.urn);
      return bound(foreseen(call.resource, inputs, old));
    });
  }

  async #foresee(
    { resource, urn }: Call,
    news: Properties,
    offline: OfflineContext,
    online: Tools["online"],
  ): Promise<void> {
    const { readsFirst, signal, configuration } = this.#options;
    const look = async () => (readsFirst && this.#connection.isThere(configuration()) ? online() : undefined);
    const given = parse(resource, { ...toListed(resource, news), resourceUrn: urn });
    const seen = await resource.foresee?.({ ...offline, sleep: pausing(signal) }, given, look);
    if (seen !== undefined) this.forecasts.correct(urn, ifNotThere, seen);
  }

  /** Compares a seed anew that gives up rows, if the program has declared these elsewhere since. */
  async #compareAgain(
    { resource, urn }: Call,
    context: OfflineContext,
    news: Properties,
    old: Properties,
  ): Promise<void> {
    if (urn === undefined || !this.#run.rowClaims.gives(urn) || !(await this.forecasts.isOutdated(urn))) return;
    const inputs = toListed(resource, { ...news, resourceUrn: urn });
    const { findings } = await diff(resource, context, { ...old, resourceUrn: urn }, inputs);
    this.#run.note(urn, findings);
  }

  /** Calls a function; returns its outputs, or the problems of its inputs, such as a thing that does not exist. */
  invoke(
    definition: PlatformFunction,
    news: Properties,
    secrets: readonly string[] = [],
  ): Promise<{ outputs: Properties } | { problems: InputProblem[] }> {
    return this.#work("invoke", { resource: definition, urn: undefined, secrets }, async ({ online, clean }) => {
      const { inputs, unknown, problems } = parse(definition, news);
      for (const property of unknown) problems.push({ property, reason: "is not known before other resources exist" });
      if (problems.length === 0) problems.push(...(definition.check?.(inputs) ?? []));
      try {
        if (problems.length === 0) return { outputs: await definition.invoke(await online(), inputs) };
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        problems.push({ property: error.property, reason: error.message });
      }
      return { problems: problems.map((one) => ({ property: clean(one.property), reason: clean(one.reason) })) };
    });
  }

  async #work<Answer>(
    name: string,
    { urn, timeout, phase, secrets = [], seed }: Asked,
    work: (tools: Tools) => Promise<Answer>,
  ): Promise<Answer> {
    if (["create", "update", "delete"].includes(name)) this.#run.rowClaims.begins(urn);
    let [configuration, mask]: [Configuration?, Mask?] = []; // a mask is made for the first report
    const masked = (): Mask => (mask ??= maskOf(configuration, secrets));
    const clean = (text: string): string => masked().hide(text);
    const heard = this.#options.report(urn, clean);
    const forecast = this.forecasts.of(phase, urn, clean, heard.info);
    const time = timeout ? AbortSignal.timeout(timeout * 1000) : undefined;
    const stop = time ? AbortSignal.any([this.#options.signal, time]) : this.#options.signal;
    try {
      const settings = (configuration = this.#options.configuration());
      const offline = this.#offline(seed, settings, { ...heard, forecast });
      const online = async (state: Properties = {}): Promise<Context> => {
        isMoved(state, settings);
        return { ...(await this.#online(offline, settings, stop)), ...hiding(masked, secrets) };
      };
      const working = work({ configuration, offline, online, bound: (outputs) => bind(outputs, settings), clean });
      return await (time ? unlessLate(working, time) : working);
    } catch (error) {
      if (phase) this.forecasts.report(urn, heard.info); // an engine asks for nothing else
      const sentence = clean(this.#login.sentenceOf(error, urn !== undefined && !this.#isCurrent) ?? messageOf(error));
      const message = time?.aborted ? `not done within the ${timeout ?? 0} s of its timeout: ${sentence}` : sentence;
      const settings = configuration;
      throw failureOf(error, message, settings && ((outputs) => bind(outputs, settings)));
    } finally {
      await heard.heard();
    }
  }

  #offline(seed: Uint8Array | undefined, settings: Configuration, report: Report): OfflineContext {
    return {
      report,
      ...{ directory: this.#options.directory, day: today(), dialect: this.#connection.dialect(settings) },
      ...{ platform: platformOf(settings), lostData: settings.lostData },
      hasAPIKey: settings.apiKey !== undefined,
      ...{ appServer: settings.appServer, account: { email: settings.email, userID: settings.userID } },
      ...this.#run.known,
      journal: this.#journal,
      seed: () => (seed?.length ? seed : randomBytes(32)),
      recall: (kind) => this.#recalled(kind, platformOf(settings)),
    };
  }

  #recalled(kind: string, platform: string): ReturnType<Recall> {
    const resource = resourceNamed(kind);
    const all = (resource && this.#options.recall?.(kind)) ?? [];
    return all
      .map(({ outputs, ...one }) => ({ ...one, outputs: resource ? unhidden(resource, outputs) : outputs }))
      .filter(({ outputs: { [bindingOutput]: bound } }) => bound === undefined || bound === platform);
  }

  async #online(offline: OfflineContext, settings: Configuration, signal: AbortSignal) {
    return {
      ...offline,
      ...(await this.#connection.of(settings, offline.report.info)),
      onWait: (milliseconds: number, reason: string) =>
        offline.report.status(
          `waits ${Math.ceil(milliseconds / 1000)} s before it tries again: ${printableLine(reason)}`,
          true,
        ),
      sleep: pausing(signal),
      ...{ readsFirst: this.#options.readsFirst ?? false, signal, now: Date.now },
      assertAlone: this.#mark.assertAlone,
    };
  }
}

const pausing =
  (signal: AbortSignal) =>
  (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal });

/** What a connection to a platform needs. */
interface ConnectionOptions {
  /** The program's folder. */
  directory: string;
  /** Aborts when the run is cancelled or its engine has ended. */
  signal: AbortSignal;
  /** True in the engine's own process, which goes on after the run. */
  isHosted?: boolean;
  /** How long lists of members wait and are kept, where not as usual. */
  waits?: ListWaits | undefined;
}

/** The platform of a run: connected once, by the first call that needs it, and by the next one where that fails. */
class PlatformConnection {
  readonly #options: ConnectionOptions;
  #platform: Promise<PlatformAccess> | undefined;
  /** The connection whose notes were passed on. */
  #noted: Promise<PlatformAccess> | undefined;
  #dialect: Dialect | undefined;
  #refusal: Promise<Error | undefined> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** False of an emulator that was never started: a preview makes no file. */
  isThere({ endpoint }: Configuration): boolean {
    if (this.#platform || !endpoint.startsWith("emulator:")) return true;
    const file = addressOf(endpoint).slice("emulator:".length);
    return file !== "" && existsSync(resolve(this.#options.directory, file));
  }

  /** How the platform behaves, as the configuration's profile has it. */
  dialect({ profile }: Configuration): Dialect {
    return (this.#dialect ??= completeDialect(readProfile(profile, this.#options.directory)));
  }

  /** @param note gets what the start of the platform has to say, once */
  async of(
    settings: Configuration,
    note: (text: string) => void,
  ): Promise<Omit<PlatformAccess, "close" | "release" | "notes">> {
    const { directory, signal, waits } = this.#options;
    // Loaded when it is needed: nothing is sent in most runs.
    this.#platform ??= import("./platform.ts").then(({ connect }) => connect(settings, directory, signal, { waits }));
    try {
      const { client, members, tables, notes } = await this.#platform;
      if (this.#noted !== this.#platform) {
        this.#noted = this.#platform;
        notes.forEach(note);
      }
      return { client, members, tables };
    } catch (error) {
      this.#platform = undefined;
      throw error;
    }
  }

  /** Ends the session, if there is one; in the engine's process what was started alone, as the end of a host does. */
  async close(): Promise<void> {
    const platform = await this.#platform?.catch(() => undefined);
    this.#platform = undefined;
    await (this.#options.isHosted ? platform?.release() : platform?.close());
  }

  /**
   * Tries the login, once in a run, and throws the same refusal each time. A run that changes nothing asks the platform for
   * nothing else, and would be "unchanged" with a login that fails. The emulator of an endpoint guards nothing, and takes a
   * while to start.
   */
  async assertLogin(settings: Configuration): Promise<void> {
    if (settings.endpoint.startsWith("emulator:")) return;
    this.#refusal ??= import("./platform.ts").then(({ refusalOf }) => refusalOf(settings));
    const refusal = await this.#refusal;
    if (refusal) throw refusal;
  }
}

/** A call that failed, in one sentence without secrets. `partial` is what exists all the same. */
export class Failure extends Error {
  readonly partial: { id: string; outputs: Properties } | undefined;
  /** True when the platform refused the credentials. */
  readonly refused: boolean;
  constructor(message: string, partial?: { id: string; outputs: Properties }, refused = false) {
    super(message);
    this.partial = partial;
    this.refused = refused;
  }
}

/**
 * The failure that an engine gets for an error.
 * @param message its text, without secrets
 * @param bound adds to the outputs of what exists in part the platform that it is on; undefined where that is not known
 */
function failureOf(error: unknown, message: string, bound: ((outputs: Properties) => Properties) | undefined): Failure {
  if (error instanceof PartialFailure && bound && isSendable(error.outputs)) {
    return new Failure(message, { id: error.id, outputs: bound(error.outputs) });
  }
  return new Failure(message, undefined, error instanceof ApiError && error.code === "unauthorized");
}

/**
 * True when an error can carry a state to any engine: HTTP/2 on Node drops the connection at 64 KB, with all that other
 * resources are about to answer. A state that is not sent is not lost: the next run finds it on the platform.
 */
const isSendable = (state: Properties): boolean => Buffer.byteLength(JSON.stringify(state)) <= 50_000;

/** The message of an error for people. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A pause that ended early: Node's own words tell nobody what to do.
  return error.name === "AbortError" ? "cancelled before it was done. Run it again to go on." : error.message;
}

/** A problem as a sentence. No property goes with it to an engine, which would print the value: a secret, or a thousand rows. */
export const sentenceOf = ({ property, reason }: InputProblem): string =>
  property === "" ? reason : `${property}: ${reason}`;

/** Advice for a renewed login that the state does not have. */
const howToRenew =
  "A refresh or destroy logs in as the state remembers: after a renewal run up first, or set MICROAPPS_PASSWORD and MICROAPPS_ENDPOINT.";

/** Reports a refused login once: every call that needs one fails by the same error. */
class RefusedLogin {
  #reported: unknown;

  /**
   * The sentence for a refused login; undefined for other errors. `remembered` is true when the login comes from the
   * state.
   */
  sentenceOf(error: unknown, remembered: boolean): string | undefined {
    if (!(error instanceof ApiError && error.code === "unauthorized" && error.endpoint === "login")) return undefined;
    if (this.#reported === error) return "not done, since the platform refuses the login, as is said once in this run.";
    this.#reported = error;
    return remembered ? `${error.message} ${howToRenew}` : error.message;
  }
}

/** Milliseconds for work to end by itself after its time-out, and to report what it has done. */
const graceMs = 1_000;

/**
 * The answer of work, or an error once its time is up: calls that serve several resources at once, such as those about
 * members, do not end with the time of one.
 */
async function unlessLate<Answer>(work: Promise<Answer>, time: AbortSignal): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const expire = (): void =>
    void setTimeout(() => late.reject(new Error("the platform has not answered. Run it again to go on.")), graceMs);
  time.addEventListener("abort", expire, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    time.removeEventListener("abort", expire);
  }
}
