import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import type { Message } from "google-protobuf";
import type { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { randomBytes } from "node:crypto";
import type { Departure } from "../events.ts";
import { goJson, type JsonValue } from "../values/json.ts";
import { fromStruct, toStruct } from "../values/structs.ts";
import { nameOf, packageOf, typeOf } from "../values/urns.ts";
import {
  containsSecret,
  containsUnknown,
  mapProperties,
  markSecrets,
  type PropertyMap,
  revealSecrets,
  Secret,
} from "../values/values.ts";
import {
  type Capabilities,
  Connection,
  differenceOf,
  failuresOf,
  partialFailure,
  type ConnectionOptions,
  isServiceError,
  isUnimplemented,
  type Service,
} from "./connection.ts";
import {
  type Checked,
  type Created,
  type Difference,
  DiffUnavailable,
  type Identity,
  type InputsAndOutputs,
  type Invoked,
  InitError,
  type ResourceProvider,
  ProviderError,
  type ReadResult,
  type Updated,
  type UpdateOptions,
} from "./provider.ts";

const asIs = { secrets: true, resources: true, unknowns: true };
/** How configurations are sent to be checked and compared. */
const asPlain = { secrets: false, resources: false, unknowns: true };

/** A message that names a resource in three ways. */
interface Naming<Message> {
  setUrn(urn: string): Message;
  setName(name: string): Message;
  setType(type: string): Message;
}

/** Gives a request its resource. */
const of = <Message extends Naming<Message>>(request: Message, urn: string): Message =>
  request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn));

/** A provider behind gRPC: the host of dynamic providers, or a plugin. */
export class ProviderClient implements ResourceProvider {
  readonly #connection: Connection;
  /** The capabilities that a provider without a handshake reports when it is configured. */
  #configuredCapabilities: Capabilities = { secrets: false, resources: false, previews: false };
  /** True if its configuration is known; with unknowns in it the provider is not asked. */
  #known = true;

  constructor(service: Service, options: ConnectionOptions) {
    this.#connection = new Connection(service, options);
  }

  get #capabilities(): Capabilities {
    return this.#connection.capabilities ?? this.#configuredCapabilities;
  }

  async checkConfig(urn: string, olds: PropertyMap, news: PropertyMap): Promise<Checked> {
    const request = of(new providerProto.CheckRequest(), urn);
    request.setOlds(toStruct(olds, asPlain)).setNews(toStruct(news, asPlain));
    try {
      const answer = await this.#ask<pb.CheckResponse>("checkConfig", request);
      const checked = this.#checked(answer, news);
      // The inputs were sent without their secret marks.
      markSecrets(checked.inputs, news);
      return checked;
    } catch (error) {
      if (isUnimplemented(error)) return { inputs: news, failures: [] };
      throw error;
    }
  }

  async diffConfig(
    urn: string,
    oldInputs: PropertyMap,
    oldOutputs: PropertyMap,
    inputs: PropertyMap,
  ): Promise<Difference> {
    const request = of(new providerProto.DiffRequest(), urn);
    request
      .setOldInputs(toStruct(oldInputs, asPlain))
      .setOlds(toStruct(oldOutputs, asPlain))
      .setNews(toStruct(inputs, asPlain));
    try {
      return differenceOf(await this.#ask<pb.DiffResponse>("diffConfig", request));
    } catch (error) {
      if (isUnimplemented(error)) return { changes: "unknown", replaces: [], changed: [], deleteBeforeReplace: false };
      throw error;
    }
  }

  async configure({ urn, id }: Identity, inputs: PropertyMap): Promise<void> {
    if (containsUnknown(inputs)) {
      this.#known = false;
      return;
    }
    const request = of(new providerProto.ConfigureRequest(), urn).setId(id);
    request.setAcceptsecrets(true).setAcceptresources(true).setSendsOldInputs(true).setSendsOldInputsToDelete(true);
    request.setArgs(toStruct(inputs, asIs));
    const variables = request.getVariablesMap();
    for (const [name, value] of Object.entries(mapProperties(inputs, revealSecrets))) {
      const text = typeof value === "string" ? value : goJson(value as JsonValue);
      if (name !== "version") variables.set(`${packageOf(typeOf(urn))}:config:${name}`, text);
    }
    const response = await this.#ask<pb.ConfigureResponse>("configure", request);
    this.#configuredCapabilities = {
      secrets: response.getAcceptsecrets(),
      resources: response.getAcceptresources(),
      previews: response.getSupportspreview(),
    };
  }

  async check(urn: string, olds: PropertyMap, news: PropertyMap, preview: boolean): Promise<Checked> {
    if (!this.#known) return { inputs: news, failures: [] };
    const request = of(new providerProto.CheckRequest(), urn).setRandomseed(randomBytes(32));
    request.setOlds(this.#struct(olds, preview)).setNews(this.#struct(news, preview));
    return this.#checked(await this.#ask<pb.CheckResponse>("check", request), news);
  }

  #checked(response: pb.CheckResponse, news: PropertyMap): Checked {
    const inputs = fromStruct(response.getInputs());
    if (!this.#capabilities.secrets) markSecrets(inputs, news);
    return { inputs, failures: failuresOf(response) };
  }

  async diff(
    { urn, id }: Identity,
    olds: InputsAndOutputs,
    inputs: PropertyMap,
    ignoreChanges: string[],
    preview: boolean,
  ): Promise<Difference> {
    if (!this.#known) {
      throw new DiffUnavailable(
        "The provider for this resource has inputs that are not known during preview.\n" +
          "This preview may not correctly represent the changes that will be applied during an update.",
      );
    }
    const request = of(new providerProto.DiffRequest(), urn).setId(id).setIgnorechangesList(ignoreChanges);
    request.setOldInputs(this.#struct(olds.inputs, preview)).setOlds(this.#struct(olds.outputs, preview));
    request.setNews(this.#struct(inputs, preview));
    return differenceOf(await this.#ask<pb.DiffResponse>("diff", request));
  }

  async create(urn: string, inputs: PropertyMap, timeout: number, preview: boolean): Promise<Created> {
    const planned = { id: "", refreshBeforeUpdate: false };
    if (preview && !this.#known) return { ...planned, outputs: {} };
    if (preview && !this.#capabilities.previews) return { ...planned, outputs: inputs };
    const request = of(new providerProto.CreateRequest(), urn).setTimeout(timeout).setPreview(preview);
    request.setProperties(this.#struct(inputs, preview));
    const response = await this.#ask<pb.CreateResponse>("create", request, inputs);
    const id = response.getId();
    if (id === "" && !preview) throw new ProviderError("the provider did not return an ID from its create");
    return {
      id,
      outputs: this.#outputs(response.getProperties(), inputs),
      refreshBeforeUpdate: response.getRefreshBeforeUpdate(),
    };
  }

  async read({ urn, id }: Identity, olds: InputsAndOutputs, timeout: number): Promise<ReadResult> {
    if (!this.#known) return { id, outputs: {}, inputs: {}, refreshBeforeUpdate: false };
    const request = of(new providerProto.ReadRequest(), urn).setId(id).setTimeout(timeout);
    request.setProperties(this.#struct(olds.outputs, false)).setInputs(this.#struct(olds.inputs, false));
    const response = await this.#ask<pb.ReadResponse>("read", request, olds.outputs, olds.inputs);
    return {
      id: response.getId(),
      outputs: this.#outputs(response.getProperties(), olds.outputs),
      inputs: response.hasInputs() ? this.#outputs(response.getInputs(), olds.inputs) : undefined,
      refreshBeforeUpdate: response.getRefreshBeforeUpdate(),
    };
  }

  async update(
    { urn, id }: Identity,
    olds: InputsAndOutputs,
    inputs: PropertyMap,
    options: UpdateOptions,
  ): Promise<Updated> {
    if (options.preview && !this.#known) return { outputs: {}, refreshBeforeUpdate: false };
    if (options.preview && !this.#capabilities.previews) return { outputs: inputs, refreshBeforeUpdate: false };
    const request = of(new providerProto.UpdateRequest(), urn).setId(id);
    request.setTimeout(options.timeout).setIgnorechangesList(options.ignoreChanges).setPreview(options.preview);
    request.setOldInputs(this.#struct(olds.inputs, false)).setOlds(this.#struct(olds.outputs, false));
    request.setNews(this.#struct(inputs, options.preview));
    const response = await this.#ask<pb.UpdateResponse>("update", request, inputs);
    return {
      outputs: this.#outputs(response.getProperties(), inputs),
      refreshBeforeUpdate: response.getRefreshBeforeUpdate(),
    };
  }

  async delete({ urn, id }: Identity, olds: InputsAndOutputs, timeout: number): Promise<void> {
    const request = of(new providerProto.DeleteRequest(), urn).setId(id).setTimeout(timeout);
    request.setProperties(this.#struct(olds.outputs, false)).setOldInputs(this.#struct(olds.inputs, false));
    await this.#ask<Empty>("delete", request);
  }

  departs({ urn, id }: Identity, olds: InputsAndOutputs): Promise<Departure | undefined> {
    const request = of(new providerProto.DeleteRequest(), urn).setId(id);
    return this.#connection.departs(request.setProperties(this.#struct(olds.outputs, false)));
  }

  async invoke(token: string, args: PropertyMap, preview: boolean): Promise<Invoked> {
    if (!this.#known) return { outputs: {}, failures: [] };
    const request = new providerProto.InvokeRequest().setTok(token).setPreview(preview);
    request.setArgs(this.#struct(args, false));
    const response = await this.#ask<pb.InvokeResponse>("invoke", request);
    const outputs = fromStruct(response.getReturn());
    const secret = !this.#capabilities.secrets && containsSecret(args);
    return {
      outputs: secret ? mapProperties(outputs, (value) => new Secret(revealSecrets(value))) : outputs,
      failures: failuresOf(response),
    };
  }

  cancel(): void {
    // Nobody waits for the answer: the run waits for its steps in any case.
    void this.#cancel();
  }

  async #cancel(): Promise<void> {
    await this.#ask<Empty>("cancel", new emptyProto.Empty()).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#connection.close(() => this.#cancel());
  }

  #struct(properties: PropertyMap, unknowns: boolean): ReturnType<typeof toStruct> {
    return toStruct(properties, { ...this.#capabilities, unknowns });
  }

  #outputs(struct: Parameters<typeof fromStruct>[0], inputs: PropertyMap): PropertyMap {
    const outputs = fromStruct(struct);
    if (!this.#capabilities.secrets) markSecrets(outputs, inputs);
    return outputs;
  }

  /** Calls the provider. `secretsOf`, `inputSecretsOf`: mark secrets in the outputs, inputs of a partial failure. */
  async #ask<Response>(
    method: string,
    request: Message,
    secretsOf: PropertyMap = {},
    inputSecretsOf: PropertyMap = {},
  ): Promise<Response> {
    try {
      return await this.#connection.call(method, request);
    } catch (error) {
      const partial = isServiceError(error) ? partialFailure(error) : undefined;
      if (!partial) throw error;
      const inputs = partial.hasInputs() ? this.#outputs(partial.getInputs(), inputSecretsOf) : undefined;
      throw new InitError(partial.getReasonsList(), {
        id: partial.getId(),
        outputs: this.#outputs(partial.getProperties(), secretsOf),
        inputs,
        refreshBeforeUpdate: partial.getRefreshBeforeUpdate(),
      });
    }
  }
}
