import type { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb.js";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../../machine/failures.ts";
import { packageFolder } from "../../../machine/ownPackage.ts";
import { keepMemorySmall } from "../../../machine/processes.ts";
import type { Recall, Resource } from "../../resources/resource.ts";
import { resourceNamed } from "../../resources/resources.ts";
import {
  accountKeys,
  bindingOutput,
  configuration,
  type Configuration,
  ConfigurationError,
  configure,
  describeMisplacedSecrets,
  isMoved,
  platformOf,
  secretKeys,
  unknownNames,
  warnOfCertificates,
} from "../configuration.ts";
import { onEngineEnd } from "../lifetime.ts";
import { environmentType, pickOwnSettings } from "../names.ts";
import { type Call, type Departure, Failure, Operations, sentenceOf } from "../operations.ts";
import { refusalOf } from "../platform.ts";
import { type Reporter, reporterTo } from "../progress.ts";
import {
  hiddenNames,
  hideProperties,
  holdsUnknown,
  maskOf,
  type Properties,
  secrecy,
  secretCells,
  secretsOf,
  stablesOf,
  unhidden,
  unknownValue,
  explainRefusedIgnores,
} from "../properties.ts";
import { UnfinishedFailure } from "./failures.ts";
import { decode, type Decoded, type Detail, details, detailsOf, encode } from "./wire.ts";

/**
 * Answers a construct once the engine cancels. It has reported why, and would report a construct that its monitor lets
 * wait as another failure.
 */
async function answerCancelled(signal: AbortSignal): Promise<pb.ConstructResponse> {
  if (!signal.aborted) await once(signal, "abort");
  return new providerProto.ConstructResponse();
}

/** The plugin: every resource behind `pulumirpc.ResourceProvider`, one configuration for each process. */
export class Plugin {
  readonly #version: string;
  #stopped = new AbortController();
  #engine: string | undefined;
  #report: Reporter;
  #operations: Operations | undefined;
  #looksForDrift = true;
  #saidUnseen = false; // that drift was not checked
  #misplaced: string | undefined; // a problem of the configuration that makes all declarations and calls fail
  /** The reference by which the engine knows this provider; undefined where it does not tell. */
  #reference: string | undefined;
  readonly #own: Reporter | undefined;
  readonly #recall: Recall | undefined;

  /**
   * @param own reports to an engine in this process
   * @param recall what the state of that engine has
   */
  constructor(version: string, engine: string | undefined, own?: Reporter, recall?: Recall) {
    this.#own = own;
    this.#recall = recall;
    this.#version = version;
    this.#engine = engine;
    this.#report = own ?? reporterTo(engine);
  }

  handshake(request: pb.ProviderHandshakeRequest): pb.ProviderHandshakeResponse {
    const engine = request.getEngineAddress();
    if (engine !== "") {
      this.#engine = engine;
      this.#report = this.#own ?? reporterTo(engine);
    }
    return new providerProto.ProviderHandshakeResponse().setAcceptSecrets(true).setAcceptOutputs(true);
  }

  /** A plugin that somebody started by hand serves one engine after the other. */
  attach(request: PluginAttach): void {
    const address = request.getAddress();
    const stopped = new AbortController();
    this.#stopped = stopped;
    this.#engine = address;
    this.#report = reporterTo(address);
    onEngineEnd(address, () => stopped.abort());
  }

  getPluginInfo(): InstanceType<typeof pluginProto.PluginInfo> {
    return new pluginProto.PluginInfo().setVersion(this.#version);
  }

  /** As tools/packageSchema.ts makes it of the definitions. */
  getSchema(): pb.GetSchemaResponse {
    return new providerProto.GetSchemaResponse().setSchema(
      readFileSync(join(packageFolder, "plugin/schema.json"), "utf8"),
    );
  }

  async checkConfig(request: pb.CheckRequest): Promise<pb.CheckResponse> {
    const { values, secrets, texts } = decode(request.getNews());
    const explicit = isExplicit(request.getUrn());
    const problems = problemsOf(values, explicit);
    if (problems.length === 0 && !holdsUnknown(values)) {
      const [olds, settings] = [decode(request.getOlds()).values, settingsOf(values, explicit)];
      problems.push(...otherPlatform(olds, values, settings), ...(await tryLogin(olds, values, settings)));
    }
    const mask = maskOf(values, texts);
    return answerCheck(
      encode(values, new Set([...secrets, ...secretSettings])),
      problems.map((problem) => mask.hide(problem)),
    );
  }

  /** A changed configuration is used for what there is: it is no other platform until the resources say so. */
  diffConfig(request: pb.DiffRequest): pb.DiffResponse {
    const olds = decode(request.getOldInputs() ?? request.getOlds());
    return answerDiff(listChangedSettings(olds, decode(request.getNews())), []);
  }

  configure(request: pb.ConfigureRequest): pb.ConfigureResponse {
    const { values, secrets } = decode(request.getArgs()); // engines mark secrets here, and not before
    this.#misplaced = describeMisplacedSecrets((key) => secrets.has(key));
    if (secrets.has("profile")) this.#refuseMisplaced(); // each call would name the file that there is not
    const urn = request.getUrn();
    const configuration = settingsOf(values, isExplicit(urn ?? ""));
    warnOfCertificates(this.#report);
    this.#reference = urn ? `${urn}::${request.getId() || unknownValue}` : undefined;
    this.#looksForDrift = configuration.driftOnPreview ?? true;
    this.#operations = new Operations({
      configuration: () => configuration,
      directory: process.cwd(), // an engine starts a plugin in the program's folder; a handshake has its own
      ...{ engine: this.#engine, isHosted: this.#own !== undefined },
      report: this.#report,
      recall: this.#recall,
      readsFirst: this.#looksForDrift,
      foresees: true,
      signal: this.#stopped.signal,
    });
    this.#operations.began(urn);
    return new providerProto.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true);
  }

  async construct(request: pb.ConstructRequest): Promise<pb.ConstructResponse> {
    this.#refuseMisplaced();
    if (request.getType() !== environmentType) {
      throw new Error(`this version of pulumi-microapps has no component ${request.getType()}`);
    }
    // Loaded when it is needed: most runs construct nothing here.
    const { construct } = await import("./environment.ts");
    const { signal } = this.#stopped;
    return Promise.race([construct(request, this.#reference), answerCancelled(signal)]);
  }

  async check(request: pb.CheckRequest): Promise<pb.CheckResponse> {
    const { resource, sent, known, call } = about(request);
    const olds = sent(request.getOlds());
    const news = sent(request.getNews());
    this.#refuseMisplaced();
    const asked = { ...call(olds, news), seed: request.getRandomseed_asU8() };
    const planned = { ...known(news), ...secrecy(resource, news.secrets) };
    const { inputs, problems } = await this.#configured.check(asked, known(olds), planned);
    return answerCheck(toStruct(resource, inputs, news), problems);
  }

  async diff(request: pb.DiffRequest): Promise<pb.DiffResponse> {
    const { resource, sent, known, call } = about(request);
    const olds = sent(request.getOlds());
    const news = sent(request.getNews());
    assertAllowed(resource, request, news);
    const asked = { ...call(olds, news), ignores: request.getIgnorechangesList() };
    const change = await this.#configured.diff(asked, request.getId(), known(olds), known(news));
    const inputs = sent(request.getOldInputs());
    const secrets = new Set([...olds.secrets, ...inputs.secrets, ...news.secrets, ...secretsOf(resource, news.values)]);
    return answerDiff(
      detailsOf(resource, change, { outputs: olds.values, inputs: inputs.values }, news.values, secrets),
      change.replaces,
    )
      .setStablesList(stablesOf(resource))
      .setDeletebeforereplace(resource.deleteBeforeReplace ?? false);
  }

  async create(request: pb.CreateRequest): Promise<pb.CreateResponse> {
    const { resource, sent, known, call } = about(request);
    const inputs = sent(request.getProperties());
    const answer = new providerProto.CreateResponse().setRefreshBeforeUpdate(this.#looksForDrift);
    if (request.getPreview()) {
      const outputs = await this.#configured.foreseen(call(inputs), inputs.values);
      return answer.setProperties(toStruct(resource, outputs, inputs));
    }
    const { id, outputs } = await this.#configured
      .create({ ...call(inputs), timeout: request.getTimeout() }, known(inputs))
      .catch(this.#unfinished(resource, inputs));
    return answer.setId(id).setProperties(toStruct(resource, outputs, inputs));
  }

  async read(request: pb.ReadRequest): Promise<pb.ReadResponse> {
    const { resource, sent, known, call } = about(request);
    const state = sent(request.getProperties());
    const inputs = sent(request.getInputs());
    const answer = new providerProto.ReadResponse();
    const asked = { ...call(state, inputs), timeout: request.getTimeout() };
    const id = request.getId();
    const found = await this.#configured
      .read(asked, id, known(state), inputs.values)
      .catch((error: unknown) => this.#unseen(request, error));
    if (found instanceof providerProto.ReadResponse) return found;
    if (!found) return answer;
    const secrets = new Set([...state.secrets, ...inputs.secrets]);
    // Without inputs, those of the state stay.
    if (found.inputs) answer.setInputs(toStruct(resource, found.inputs, { ...inputs, secrets }));
    return answer
      .setId(found.id)
      .setProperties(toStruct(resource, found.outputs, { ...state, secrets }))
      .setRefreshBeforeUpdate(this.#looksForDrift);
  }

  async update(request: pb.UpdateRequest): Promise<pb.UpdateResponse> {
    const { resource, sent, known, call } = about(request);
    const olds = sent(request.getOlds());
    const news = sent(request.getNews());
    assertAllowed(resource, request, news);
    const asked = { ...call(olds, news), ignores: request.getIgnorechangesList() };
    const answer = new providerProto.UpdateResponse().setRefreshBeforeUpdate(this.#looksForDrift);
    if (request.getPreview()) {
      const outputs = await this.#configured.foreseen(asked, news.values, olds.values);
      return answer.setProperties(toStruct(resource, outputs, news));
    }
    const outputs = await this.#configured
      .update({ ...asked, timeout: request.getTimeout() }, request.getId(), known(olds), known(news))
      .catch(this.#unfinished(resource, news));
    return answer.setProperties(toStruct(resource, outputs, news));
  }

  async delete(request: pb.DeleteRequest): Promise<void> {
    const { sent, known, call } = about(request);
    const state = sent(request.getProperties());
    const asked = { ...call(state), timeout: request.getTimeout() };
    await this.#configured.delete(asked, request.getId(), known(state));
  }

  /** For an engine in this process: no call of gRPC asks for it. */
  async departs(request: pb.DeleteRequest): Promise<Departure | undefined> {
    const { sent, known, call } = about(request);
    const state = sent(request.getProperties());
    return this.#configured.departs(call(state), known(state));
  }

  async invoke(request: pb.InvokeRequest): Promise<pb.InvokeResponse> {
    const [, , name = ""] = request.getTok().split(":");
    const { functionNamed } = await import("../../functions/functions.ts");
    const definition = functionNamed(name);
    if (!definition) throw new Error(`this version of pulumi-microapps has no function ${request.getTok()}`);
    this.#refuseMisplaced();
    const { values, secrets, texts } = decode(request.getArgs());
    const result = await this.#configured.invoke(definition, values, texts);
    const answer = new providerProto.InvokeResponse();
    if ("problems" in result) return answer.setFailuresList(result.problems.map(failureOf));
    // An answer to a secret argument may repeat it: then all outputs are secrets.
    return answer.setReturn(encode(result.outputs, new Set(secrets.size > 0 ? Object.keys(result.outputs) : [])));
  }

  /** The things of a type that the platform has, all on one page. */
  async list(request: pb.ListRequest): Promise<pb.ListResponse[]> {
    const token = request.getToken();
    const limit = request.getLimit() < 1 ? Infinity : request.getLimit();
    const { listingOf } = await import("../../functions/functions.ts");
    const listing = listingOf(token.split(":").at(-1) ?? "", limit);
    if (!listing) throw new Error(`this version of pulumi-microapps does not list ${token}`);
    this.#refuseMisplaced();
    const { values, texts } = decode(request.getQuery());
    if (holdsUnknown(values))
      return [new providerProto.ListResponse().setComputed(new providerProto.ListResponse.Computed())];
    const result = await this.#configured.invoke(listing, values, texts);
    if ("problems" in result) throw new Error(result.problems.map(sentenceOf).join("; "));
    return answerList(listing.outputs.parse(result.outputs).items);
  }

  /** Ends running operations between two calls of the platform; the state keeps what is done. */
  cancel(isOrphaned = false): void {
    if (isOrphaned) this.#operations?.orphaned();
    this.#stopped.abort();
  }

  /** Ends a run of the engine in this process, which has saved what it was answered. */
  async end(): Promise<void> {
    this.#stopped.abort();
    this.#operations?.ended();
    await this.#operations?.close();
  }

  #refuseMisplaced(): void {
    if (this.#misplaced !== undefined) throw new Error(this.#misplaced);
  }

  get #configured(): Operations {
    if (!this.#operations) throw new Error("the provider was not configured");
    return this.#operations;
  }

  /**
   * An engine reads with the login that the state remembers, before it knows a renewed one: a refusal must not keep it
   * from ever getting that far. What is declared now was tried when the provider was checked.
   */
  async #unseen(request: pb.ReadRequest, error: unknown): Promise<pb.ReadResponse> {
    const [state, inputs] = [request.getProperties(), request.getInputs()];
    const known = state !== undefined && state.getFieldsMap().getLength() > 0; // else it is an import
    if (!(error instanceof Failure && error.refused && this.#looksForDrift && known)) throw error;
    if (!this.#saidUnseen) {
      this.#saidUnseen = true;
      const reported = this.#report(undefined, (text) => text);
      reported.warning(
        "the platform refuses the login that the state remembers: what was changed by hand was not looked for. " +
          "The next up remembers the login of the configuration; a refresh takes it from MICROAPPS_… variables.",
      );
      await reported.heard();
    }
    const answer = new providerProto.ReadResponse().setId(request.getId()).setProperties(state);
    if (inputs) answer.setInputs(inputs);
    return answer.setRefreshBeforeUpdate(this.#looksForDrift);
  }

  #unfinished(resource: Resource, inputs: Decoded): (error: unknown) => never {
    return (error) => {
      if (!(error instanceof Failure) || !error.partial) throw error;
      const { id, outputs } = error.partial;
      throw new UnfinishedFailure(error.message, {
        id,
        outputs: toStruct(resource, outputs, inputs),
        refreshBeforeUpdate: this.#looksForDrift,
      });
    };
  }
}

/** Properties of a resource that an engine sent, under the names by which the resource knows them. */
interface Sent extends Decoded {
  /** True for options of an earlier version, which hid no properties. */
  isFormer: boolean;
}

/** A call about one resource, and what was sent with it. */
interface About {
  resource: Resource;
  /** Takes properties apart that an engine sends. */
  sent: (properties: Struct | undefined) => Sent;
  /** Puts the URN among the properties, where a resource finds it. */
  known: (sent: Decoded) => Properties;
  call: (...sent: readonly Decoded[]) => Call;
}

/** The resource that a request is about. */
function about(request: { getUrn: () => string }): About {
  const urn = request.getUrn();
  const type = urn.split("::")[2]?.split("$").at(-1) ?? "";
  const resource = resourceNamed(type.split(":").at(-1) ?? "");
  if (!resource) throw new Error(`this version of pulumi-microapps has no resource type ${type}`);
  if (resource.name === "SeedRows") keepMemorySmall();
  return {
    resource,
    sent: (properties) => seen(resource, decode(properties, resource)),
    known: ({ values }) => ({ ...values, resourceUrn: urn }),
    call: (...sent) => ({ resource, urn, secrets: sent.flatMap(({ texts }) => texts) }),
  };
}

/**
 * Properties of a resource as an engine gets them: secret is what was secret, and what always is. What an earlier version
 * left keeps its names, under which an engine compares it with what is read.
 */
function toStruct(
  resource: Resource,
  properties: Properties,
  sent: Pick<Decoded, "secrets"> & { isFormer?: boolean },
): Struct {
  const { resourceUrn, ...rest } = properties;
  const secrets = [...sent.secrets, ...secretsOf(resource, properties)];
  const cells = secretCells(resource, rest);
  if (sent.isFormer) return encode(rest, new Set(secrets), cells);
  return encode(hideProperties(resource, rest), new Set(Object.keys(hideProperties(resource, named(secrets)))), cells);
}

const seen = (resource: Resource, { values, secrets, texts }: Decoded): Sent => ({
  isFormer: hiddenNames(resource).some((name) => name in values),
  values: unhidden(resource, values),
  secrets: new Set(Object.keys(unhidden(resource, named(secrets)))),
  texts,
});

const named = (names: Iterable<string>): Properties => Object.fromEntries([...names].map((name) => [name, true]));

/** Throws when an option can't be honoured. The engine hands over no others, nor these with a check or a create. */
function assertAllowed(resource: Resource, request: pb.DiffRequest | pb.UpdateRequest, { values }: Decoded): void {
  const refusal = explainRefusedIgnores(resource, request.getIgnorechangesList(), values);
  if (refusal !== undefined) throw new Error(refusal);
}

const { PropertyDiff, DiffResponse } = providerProto;

/** The answer to a diff. @param replaces names of properties whose change makes a new thing */
function answerDiff(changes: readonly Detail[], replaces: readonly string[]): pb.DiffResponse {
  const answer = new DiffResponse().setHasdetaileddiff(true).setReplacesList([...replaces]);
  const { DIFF_SOME, DIFF_NONE } = DiffResponse.DiffChanges;
  answer.setChanges(changes.length > 0 ? DIFF_SOME : DIFF_NONE);
  const names = new Set<string>();
  for (const { path, kind, among } of changes) {
    const name = /^\w+/.exec(path)?.[0] ?? path;
    names.add(name);
    const kinds = replaces.includes(name) ? replacing : updating;
    answer.getDetaileddiffMap().set(path, new PropertyDiff().setKind(kinds[kind]).setInputdiff(among === "inputs"));
  }
  return answer.setDiffsList([...names]);
}

const { Kind: kinds } = PropertyDiff;
const updating = { add: kinds.ADD, delete: kinds.DELETE, update: kinds.UPDATE } as const;
const replacing = { add: kinds.ADD_REPLACE, delete: kinds.DELETE_REPLACE, update: kinds.UPDATE_REPLACE } as const;

/** The answer to a check. */
function answerCheck(inputs: Struct, problems: readonly string[]): pb.CheckResponse {
  return new providerProto.CheckResponse()
    .setInputs(inputs)
    .setFailuresList(problems.map((reason) => failureOf({ reason })));
}

/** Failure of a check. It names no property, because an engine would print its value. */
const failureOf = ({ property = "", reason }: { property?: string; reason: string }): pb.CheckFailure =>
  new providerProto.CheckFailure().setProperty(property).setReason(reason);

const answerList = (items: readonly { id: string; name: string }[]): pb.ListResponse[] =>
  items.map(({ id, name }) => {
    const found = new providerProto.ListResponse.Result().setId(id).setName(name);
    return new providerProto.ListResponse().setResult(found);
  });

/** True for the URN of a program's own provider, not the one that the configuration makes. */
function isExplicit(urn: string): boolean {
  const name = urn.split("::").at(-1) ?? "";
  return name !== "" && name !== "default" && !name.startsWith("default_");
}

/** The configuration of a provider from its inputs. */
const settingsOf = (inputs: Properties, explicit: boolean): Configuration =>
  configure(pickOwnSettings(inputs), process.env, explicit);

/** Finds problems of a provider's inputs; skips values that are not known yet. */
export function problemsOf(inputs: Properties, explicit: boolean): string[] {
  const shown = (key: string): string => (explicit ? key : `microapps:${key}`);
  const unknown = unknownNames(pickOwnSettings(inputs), configuration.keyof().options, shown);
  if (unknown.length > 0) return unknown.map(({ key, reason }) => `${shown(key)} ${reason}`);
  if (holdsUnknown(inputs)) return [];
  try {
    settingsOf(inputs, explicit);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [error.message];
  }
}

/** Names of the secrets of a configuration. */
const secretSettings: ReadonlySet<string> = new Set(secretKeys);

/** Which settings of a provider changed. */
function listChangedSettings(before: Decoded, after: Decoded): Detail[] {
  const [olds, news] = [pickOwnSettings(before.values), pickOwnSettings(after.values)];
  const names = [...new Set([...Object.keys(olds), ...Object.keys(news)])];
  const changed = names.filter((name) => JSON.stringify(olds[name]) !== JSON.stringify(news[name]));
  return details(olds, news, changed, new Set([...before.secrets, ...after.secrets, ...secretSettings]));
}

/**
 * The refusal of another platform than that of a provider in the state. An engine saves a provider before its resources
 * refuse the platform, and reads them with the saved one before each later preview: the stack could not go back.
 */
function otherPlatform(olds: Properties, news: Properties, settings: Configuration): string[] {
  const placeIn = ({ endpoint, organizationID }: Partial<Properties>) => ({ endpoint, organizationID });
  const [was, is] = [placeIn(olds), placeIn(news)];
  const { endpoint, organizationID } = was;
  // A variable of the environment decides for all runs alike.
  if (isDeepStrictEqual(was, is) || !isDeepStrictEqual(is, placeIn({ ...settings }))) return [];
  if (typeof endpoint !== "string") return [];
  const place = { endpoint, organizationID: typeof organizationID === "string" ? organizationID : undefined };
  try {
    isMoved({ [bindingOutput]: platformOf({ ...settings, ...place }) }, settings);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

/**
 * The platform's refusal of the credentials of a provider that is in the state already: a wrong password would be saved
 * with "unchanged", and fail in the next run. They are tried when they differ from those of the last run, and before
 * drift is looked for; a platform that can't be reached refuses nobody.
 */
async function tryLogin(olds: Properties, news: Properties, settings: Configuration): Promise<string[]> {
  if (Object.keys(olds).length === 0) return []; // nothing was made: the first call finds out
  const changed = ["endpoint", ...accountKeys].some((key) => !isDeepStrictEqual(olds[key], news[key]));
  const emulated = settings.endpoint.startsWith("emulator:"); // which takes a while to start
  if (!changed && (emulated || settings.driftOnPreview === false)) return [];
  const refusal = await refusalOf(settings);
  return refusal ? [`the platform refuses the login, and the state keeps the one that it has: ${refusal.message}`] : [];
}
