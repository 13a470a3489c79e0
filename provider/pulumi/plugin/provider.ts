import pluginProto, { type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import { once } from "node:events";
import { functionNamed } from "../../functions/functions.ts";
import type { Recall } from "../../resources/model/resource.ts";
import type { Resource } from "../../resources/resource.ts";
import { warnOfCertificates } from "../configuration/certificates.ts";
import { describeMisplacedSecrets } from "../configuration/configuration.ts";
import { Failure, sentenceOf } from "../failure.ts";
import { onEngineEnd } from "../lifetime/engineConnection.ts";
import { Operations, type Departure } from "../operations.ts";
import { reporterTo, type Reporter } from "../progress.ts";
import { holdsUnknown, secretsOf, stablesOf, unknownValue } from "../properties.ts";
import { maskOf, secrecy } from "../secrets.ts";
import { about, assertAllowed, toStruct } from "./about.ts";
import { answerCheck, answerDiff, answerList, failureOf } from "./answers.ts";
import { detailsOf } from "./details.ts";
import { UnfinishedFailure } from "./failures.ts";
import { listingOf } from "./listings.ts";
import { tryLogin } from "./login.ts";
import { environmentType, schemaText } from "./schema.ts";
import { listChangedSettings, isExplicit, problemsOf, secretSettings, settingsOf } from "./settings.ts";
import { decode, encode, type Decoded } from "./wire.ts";

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

  getSchema(): pb.GetSchemaResponse {
    return new providerProto.GetSchemaResponse().setSchema(schemaText(this.#version));
  }

  async checkConfig(request: pb.CheckRequest): Promise<pb.CheckResponse> {
    const { values, secrets, texts } = decode(request.getNews());
    const explicit = isExplicit(request.getUrn());
    const problems = problemsOf(values, explicit);
    if (problems.length === 0 && !holdsUnknown(values)) {
      problems.push(...(await tryLogin(decode(request.getOlds()).values, values, settingsOf(values, explicit))));
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
    const change = await this.#configured.diff(call(olds, news), request.getId(), known(olds), known(news));
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
    const answer = new providerProto.UpdateResponse().setRefreshBeforeUpdate(this.#looksForDrift);
    if (request.getPreview()) {
      const outputs = await this.#configured.foreseen(call(olds, news), news.values, olds.values);
      return answer.setProperties(toStruct(resource, outputs, news));
    }
    const outputs = await this.#configured
      .update({ ...call(olds, news), timeout: request.getTimeout() }, request.getId(), known(olds), known(news))
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
