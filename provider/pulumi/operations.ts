import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../contract/errors.ts";
import { InputError, type PlatformFunction } from "../functions/function.ts";
import { Mask } from "../messages/masks.ts";
import { TeamClaims } from "../resources/members/teamClaims.ts";
import { calledBy, Identities, named } from "../resources/model/identities.ts";
import type { Change, Context, Observed, OfflineContext, Problem, Resource } from "../resources/model/resource.ts";
import { PartialFailure, randomID, ResourceError } from "../resources/model/resource.ts";
import { RowClaims } from "../resources/rows/claims.ts";
import { bindingOutput, bound, isMoved, platformOf } from "./configuration/binding.ts";
import type { Configuration } from "./configuration/configuration.ts";
import { unlessLate } from "./lifetime/deadline.ts";
import type { Platform } from "./platform.ts";
import type { Reporter } from "./progress.ts";
import { check, diff, foreseen, inputOnlyOf, inputsIn, keyed, listed, parse, type Properties } from "./properties.ts";
import { RefusedLogin } from "./refusedLogin.ts";
import { maskOf, textsIn } from "./secrets.ts";
import { refuseUndeclared, removalsIn } from "./undeclared.ts";

/** What one call of an engine is about. */
export interface Call {
  resource: Resource;
  urn: string | undefined;
  /** Seconds that it may take; undefined or 0 for as long as the resource itself allows. */
  timeout?: number;
  /** Texts of its properties that no message may show. */
  secrets?: readonly string[];
  /** Random bytes of the engine for this resource. */
  seed?: Uint8Array;
}

/** A call that failed, in one sentence without secrets. `partial` is what exists all the same. */
export class Failure extends Error {
  readonly partial: { id: string; outputs: Properties } | undefined;
  /** Whether the platform does not know the credentials. */
  readonly refused: boolean;
  constructor(message: string, partial?: { id: string; outputs: Properties }, refused = false) {
    super(message);
    this.partial = partial;
    this.refused = refused;
  }
}

interface Surroundings {
  /** Throws when it can't be used. */
  configuration: () => Configuration;
  /** The program's folder. */
  directory: string;
  report: Reporter;
  /** Whether the engine reads before each diff. */
  readsFirst?: boolean;
  /** Aborted when the run is cancelled or its engine is gone. */
  signal: AbortSignal;
}

/** What both doors do for an engine. Property values are plain, secrets in clear, unknown ones stand for themselves. */
export class Operations {
  /** Whether the run is known to be no preview. */
  isUpdate = false;
  readonly #surroundings: Surroundings;
  // Connected once, by the first who needs it.
  #platform: Promise<Platform> | undefined;
  readonly #claims = new TeamClaims();
  readonly #rowClaims: RowClaims;
  readonly #identities = new Identities();
  /** Whether a program runs: without one, the configuration is what the state remembers. */
  #isCurrent = false;
  readonly #login = new RefusedLogin();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#rowClaims = new RowClaims(surroundings.directory);
  }

  check(call: Call, olds: Properties, news: Properties): Promise<{ inputs: Properties; problems: string[] }> {
    this.#isCurrent = true;
    return this.#run(call, async ({ offline, clean }) => {
      const { resource, urn } = call;
      if (urn !== undefined) this.#identities.checked(urn, lastInputs(resource, olds));
      const given = listed(resource, news, olds);
      const { inputs, problems } = await check(resource, offline, listed(resource, olds), given);
      return { inputs: keyed(resource, inputs), problems: problems.map(sentenceOf).map(clean) };
    });
  }

  diff(call: Call, id: string, olds: Properties, news: Properties): Promise<Change> {
    const { resource } = call;
    return this.#run(call, async ({ offline, configuration }) => {
      const moved = isMoved(olds, configuration);
      const change = await diff(resource, offline, olds, listed(resource, news));
      const keeps = change.replaces.length === 0;
      if (call.urn !== undefined) this.#identities.compared(call.urn, id, keeps);
      if (keeps) this.#refuseTwo(call, id);
      return moved ? { ...change, changed: [...change.changed, bindingOutput] } : change;
    });
  }

  create(call: Call, inputs: Properties): Promise<Observed<Properties>> {
    const { resource } = call;
    return this.#run(call, async ({ online, bound }) => {
      const { id, outputs } = await resource.create(await online(), resource.inputs.parse(listed(resource, inputs)));
      this.#refuseTwo(call, id);
      if (call.urn !== undefined) this.#identities.has(call.urn, id);
      return { id, outputs: bound(outputs) };
    });
  }

  /**
   * What is there now, with the inputs that would declare it, as far as they are known; undefined when it is gone.
   * `inputs` are those of the last run, when the door knows them.
   */
  read(
    call: Call,
    id: string,
    state: Properties,
    inputs?: Properties,
  ): Promise<(Observed<Properties> & { inputs?: Properties }) | undefined> {
    const { resource } = call;
    return this.#run(call, async ({ online, bound }) => {
      const last = listed(resource, inputs ?? {});
      const inputOnly = inputOnlyOf(resource).filter((name) => last[name] !== undefined);
      const others = Object.fromEntries(inputOnly.map((name) => [name, last[name]]));
      // A state holds what the resource itself returned.
      const found = await resource.read(await online(state), id, { ...state, ...others });
      if (!found) return undefined;
      if (call.urn !== undefined) this.#identities.seen(call.urn, found.id, declared(resource, inputs ?? state));
      const { inputs: own } = found;
      const outputs = bound(found.outputs);
      // Inputs of which a part is not known would seem to have lost it.
      if (inputOnlyOf(resource).length > 0 && !own) return { id: found.id, outputs };
      return { id: found.id, outputs, inputs: keyed(resource, { ...inputsIn(resource, outputs), ...own }) };
    });
  }

  update(call: Call, id: string, olds: Properties, news: Properties): Promise<Properties> {
    const { resource } = call;
    return this.#run(call, async ({ online, bound }) => {
      const inputs = resource.inputs.parse(listed(resource, news));
      // The state is what the resource itself returned.
      const outputs = bound(await resource.update(await online(olds), id, olds, inputs));
      if (call.urn !== undefined) this.#identities.has(call.urn, id);
      return outputs;
    });
  }

  delete(call: Call, id: string, state: Properties): Promise<void> {
    const { resource, urn } = call;
    return this.#run(call, async ({ online }) => {
      const context = await online(state);
      const keeper = resource.identity && urn !== undefined ? this.#identities.keeper(urn, id) : undefined;
      if (!keeper) await refuseUndeclared(state, context.directory);
      if (!resource.identity || !keeper) await resource.delete(context, id, state);
      else {
        context.report.info(resource.identity.stays(state, keeper));
        await resource.identity.letGo?.(context, state);
      }
      if (urn !== undefined) this.#identities.released(urn, id);
    });
  }

  /** Two resources that are one thing on the platform would undo each other, and one's deletion take the other's. */
  #refuseTwo({ resource, urn }: Call, id: string): void {
    const other = resource.identity && urn !== undefined ? this.#identities.other(urn, id) : undefined;
    if (!other || urn === undefined) return;
    throw new ResourceError(
      `${calledBy(named(urn))} and ${calledBy(other)} are one thing on the platform: both have the ID ${id}. ` +
        `Remove one of them from the program; what is on the platform stays. If one was renamed, keep that one, with aliases.`,
    );
  }

  /** The outputs that a create, or an update of what is there, will have. Offline. */
  foreseen({ resource }: Call, inputs: Properties, old?: Properties): Properties {
    return bound(foreseen(resource, inputs, old), this.#surroundings.configuration());
  }

  /** What a function tells; or what is wrong with its inputs, what they name and is not there included. */
  invoke(
    definition: PlatformFunction,
    given: Properties,
    secrets: readonly string[] = [],
  ): Promise<{ outputs: Properties } | { problems: Problem[] }> {
    return this.#run({ urn: undefined, secrets }, async ({ online, clean }) => {
      const { inputs, unknown, problems } = parse(definition, given);
      for (const property of unknown) problems.push({ property, reason: "is not known before other resources exist" });
      if (problems.length === 0) problems.push(...(definition.check?.(inputs) ?? []));
      try {
        if (problems.length === 0) return { outputs: await definition.invoke(await online(), inputs) };
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        problems.push({ property: error.property, reason: error.message });
      }
      return {
        problems: problems.map(({ property, reason }) => ({ property: clean(property), reason: clean(reason) })),
      };
    });
  }

  async #run<Answer>(
    { urn, timeout, secrets = [], seed }: Omit<Call, "resource">,
    work: (tools: {
      configuration: Configuration;
      offline: OfflineContext;
      /** Throws when the state is of another platform. */
      online: (state?: Properties) => Promise<Context>;
      /** What a resource returned, with the platform that it is on. */
      bound: (outputs: Properties) => Properties;
      clean: (text: string) => string;
    }) => Promise<Answer>,
  ): Promise<Answer> {
    const { directory, report, readsFirst = false, signal } = this.#surroundings;
    let configuration: Configuration | undefined;
    let mask: Mask | undefined; // made when there is something to say
    const masked = (): Mask => (mask ??= maskOf(configuration, secrets));
    const clean = (text: string): string => masked().hide(text);
    const reported = report(urn, clean);
    const time = timeout ? AbortSignal.timeout(timeout * 1000) : undefined;
    try {
      configuration = this.#surroundings.configuration();
      const settings = configuration;
      const account = { email: settings.email, userID: settings.userID };
      const offline = {
        report: reported,
        directory,
        platform: platformOf(settings),
        appServer: settings.appServer,
        account,
        claims: this.#claims,
        identities: this.#identities,
        rowClaims: this.#rowClaims,
        removals: removalsIn,
        seed: seed?.length ? seed : randomBytes(32),
        isUpdate: this.isUpdate,
      };
      const stop = time ? AbortSignal.any([signal, time]) : signal;
      const online = async (state: Properties = {}): Promise<Context> => {
        isMoved(state, settings);
        return {
          ...offline,
          ...(await this.#connected(settings)),
          readsFirst,
          hide: (value) => masked().add(textsIn(value)),
          publicID: (id) => (new Mask(secrets).hides(id) ? randomID() : id),
          signal: stop,
          sleep: (milliseconds) => sleep(milliseconds, undefined, { signal: stop }),
          now: Date.now,
        };
      };
      const working = work({ configuration, offline, online, bound: (outputs) => bound(outputs, settings), clean });
      return await (time ? unlessLate(working, time) : working);
    } catch (error) {
      const message = clean(this.#login.sentenceOf(error, urn !== undefined && !this.#isCurrent) ?? saidBy(error));
      const told = time?.aborted ? `not done within the ${timeout ?? 0} s of its timeout: ${message}` : message;
      const refused = error instanceof ApiError && error.code === "unauthorized";
      if (!(error instanceof PartialFailure) || !configuration || !isSendable(error.outputs)) {
        throw new Failure(told, undefined, refused);
      }
      throw new Failure(told, { id: error.id, outputs: bound(error.outputs, configuration) });
    } finally {
      await reported.heard();
    }
  }

  async #connected(settings: Configuration): Promise<Omit<Platform, "close">> {
    const { directory, signal } = this.#surroundings;
    // Loaded when it is needed: nothing is sent in most runs.
    this.#platform ??= import("./platform.ts").then(({ connect }) => connect(settings, directory, signal));
    try {
      const { client, members, tables } = await this.#platform;
      return { client, members, tables };
    } catch (error) {
      this.#platform = undefined;
      throw error;
    }
  }
}

/** A problem as a sentence. No property goes with it to an engine, which would print the value: a secret, or a thousand rows. */
export const sentenceOf = ({ property, reason }: Problem) => (property === "" ? reason : `${property}: ${reason}`);

/** The inputs of the last run without what a door adds, and without what is large. */
function lastInputs(resource: Resource, olds: Properties): Properties {
  const left = new Set(["resourceUrn", "__provider", ...inputOnlyOf(resource)]);
  return Object.fromEntries(Object.entries(olds).filter(([name]) => !left.has(name)));
}

/** The inputs of a thing that is ours; undefined for what is only looked at. */
function declared(resource: Resource, last: Properties): Properties | undefined {
  if (inputOnlyOf(resource).length > 0) return undefined;
  const inputs = inputsIn(resource, last);
  return parse(resource, inputs).problems.length === 0 ? inputs : undefined;
}

/**
 * Whether an error can carry a state to any engine: HTTP/2 on Node drops the connection at 64 KB, with all that other
 * resources are about to answer. What is not sent is not lost: the next run finds it on the platform.
 */
const isSendable = (state: Properties): boolean => Buffer.byteLength(JSON.stringify(state)) <= 50_000;

function saidBy(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A pause that ended early: Node's own words tell nobody what to do.
  return error.name === "AbortError" ? "cancelled before it was done. Run it again to go on." : error.message;
}
