import { randomBytes } from "node:crypto";
import grpc from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import type { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { goJson, type Json } from "./gojson.ts";
import { parsePath, type Path } from "./paths.ts";
import {
  type Checked,
  type DetailedChange,
  DiffUnavailable,
  type Difference,
  type Found,
  type Identity,
  type Invoked,
  type Outcome,
  PartialFailure,
  type Provider,
  ProviderError,
  type Sides,
  type Updated,
  type UpdateOptions,
} from "./provider.ts";
import type { Service } from "./service.ts";
import { nameOf, packageOf, typeOf } from "./urns.ts";
import {
  containsSecret,
  containsUnknown,
  markSecrets,
  mapProperties,
  type Properties,
  revealed,
  Secret,
} from "./values.ts";
import { fromStruct, toStruct } from "./wire.ts";

export const channelOptions = {
  "grpc.max_receive_message_length": 400 * 1024 * 1024,
  "grpc.max_send_message_length": 400 * 1024 * 1024,
};

const everything = { secrets: true, resources: true, unknowns: true };
/** How configurations are checked and compared. */
const plainly = { secrets: false, resources: false, unknowns: true };
type Client = InstanceType<typeof providerService.ResourceProviderClient>;
type Callback<Response> = (error: ServiceError | null, response: Response) => void;

/** What a provider is told first. */
export interface Greeting {
  engineAddress: string;
  /** The folder of the plugin. */
  folder: string;
}

export class ProviderClient implements Provider {
  readonly #service: Service;
  readonly #greeting: Greeting;
  #client: Promise<Client> | undefined;
  /** Agreed on in a handshake or, with providers that know none, when they are configured. */
  #understands = { secrets: false, resources: false, previews: false };
  #shookHands = false;
  /** Until it is configured for good; false when its configuration holds unknowns. */
  #known = true;

  constructor(service: Service, greeting: Greeting) {
    this.#service = service;
    this.#greeting = greeting;
  }

  async version(): Promise<string> {
    const info = await this.#ask<PluginInfo>((client, done) => client.getPluginInfo(new emptyProto.Empty(), done));
    return info.getVersion();
  }

  async checkConfig(urn: string, olds: Properties, news: Properties): Promise<Checked> {
    const request = new providerProto.CheckRequest();
    request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn));
    request.setOlds(toStruct(olds, plainly)).setNews(toStruct(news, plainly));
    try {
      const answer = await this.#ask<pb.CheckResponse>((client, done) => client.checkConfig(request, done));
      const checked = this.#checked(answer, news);
      // None were sent.
      markSecrets(checked.inputs, news);
      return checked;
    } catch (error) {
      if (isUnimplemented(error)) return { inputs: news, failures: [] };
      throw error;
    }
  }

  async diffConfig(
    urn: string,
    oldInputs: Properties,
    oldOutputs: Properties,
    inputs: Properties,
  ): Promise<Difference> {
    const request = new providerProto.DiffRequest();
    request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn));
    request
      .setOldInputs(toStruct(oldInputs, plainly))
      .setOlds(toStruct(oldOutputs, plainly))
      .setNews(toStruct(inputs, plainly));
    try {
      return difference(await this.#ask<pb.DiffResponse>((client, done) => client.diffConfig(request, done)));
    } catch (error) {
      if (isUnimplemented(error)) return { changes: "unknown", replaces: [], changed: [], deleteBeforeReplace: false };
      throw error;
    }
  }

  async configure({ urn, id }: Identity, inputs: Properties): Promise<void> {
    if (containsUnknown(inputs)) {
      this.#known = false;
      return;
    }
    const request = new providerProto.ConfigureRequest();
    request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setId(id);
    request.setAcceptsecrets(true).setAcceptresources(true).setSendsOldInputs(true).setSendsOldInputsToDelete(true);
    request.setArgs(toStruct(inputs, everything));
    const variables = request.getVariablesMap();
    for (const [name, value] of Object.entries(mapProperties(inputs, revealed))) {
      const text = typeof value === "string" ? value : goJson(value as Json);
      if (name !== "version") variables.set(`${packageOf(typeOf(urn))}:config:${name}`, text);
    }
    const response = await this.#ask<pb.ConfigureResponse>((client, done) => client.configure(request, done));
    if (this.#shookHands) return;
    this.#understands = {
      secrets: response.getAcceptsecrets(),
      resources: response.getAcceptresources(),
      previews: response.getSupportspreview(),
    };
  }

  async check(urn: string, olds: Properties, news: Properties, preview: boolean): Promise<Checked> {
    if (!this.#known) return { inputs: news, failures: [] };
    const request = new providerProto.CheckRequest();
    request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setRandomseed(randomBytes(32));
    request.setOlds(this.#struct(olds, preview)).setNews(this.#struct(news, preview));
    return this.#checked(await this.#ask<pb.CheckResponse>((client, done) => client.check(request, done)), news);
  }

  #checked(response: pb.CheckResponse, news: Properties): Checked {
    const inputs = fromStruct(response.getInputs());
    if (!this.#understands.secrets) markSecrets(inputs, news);
    return { inputs, failures: failuresOf(response) };
  }

  async diff(
    { urn, id }: Identity,
    olds: Sides,
    inputs: Properties,
    ignoreChanges: string[],
    preview: boolean,
  ): Promise<Difference> {
    if (!this.#known) {
      throw new DiffUnavailable(
        "The provider for this resource has inputs that are not known during preview.\n" +
          "This preview may not correctly represent the changes that will be applied during an update.",
      );
    }
    const request = new providerProto.DiffRequest();
    request.setId(id).setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setIgnorechangesList(ignoreChanges);
    request.setOldInputs(this.#struct(olds.inputs, preview)).setOlds(this.#struct(olds.outputs, preview));
    request.setNews(this.#struct(inputs, preview));
    return difference(await this.#ask<pb.DiffResponse>((client, done) => client.diff(request, done)));
  }

  async create(urn: string, inputs: Properties, timeout: number, preview: boolean): Promise<Outcome> {
    const foreseen = { id: "", refreshBeforeUpdate: false };
    if (preview && !this.#known) return { ...foreseen, outputs: {} };
    if (preview && !this.#understands.previews) return { ...foreseen, outputs: inputs };
    const request = new providerProto.CreateRequest();
    request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setTimeout(timeout).setPreview(preview);
    request.setProperties(this.#struct(inputs, preview));
    const response = await this.#ask<pb.CreateResponse>((client, done) => client.create(request, done), inputs);
    const id = response.getId();
    if (id === "" && !preview) throw new ProviderError("the provider did not return an ID from its create");
    return {
      id,
      outputs: this.#outputs(response.getProperties(), inputs),
      refreshBeforeUpdate: response.getRefreshBeforeUpdate(),
    };
  }

  async read({ urn, id }: Identity, olds: Sides, timeout: number): Promise<Found> {
    if (!this.#known) return { id, outputs: {}, inputs: {}, refreshBeforeUpdate: false };
    const request = new providerProto.ReadRequest();
    request.setId(id).setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setTimeout(timeout);
    request.setProperties(this.#struct(olds.outputs, false)).setInputs(this.#struct(olds.inputs, false));
    const response = await this.#ask<pb.ReadResponse>(
      (client, done) => client.read(request, done),
      olds.outputs,
      olds.inputs,
    );
    return {
      id: response.getId(),
      outputs: this.#outputs(response.getProperties(), olds.outputs),
      inputs: response.hasInputs() ? this.#outputs(response.getInputs(), olds.inputs) : undefined,
      refreshBeforeUpdate: response.getRefreshBeforeUpdate(),
    };
  }

  async update({ urn, id }: Identity, olds: Sides, inputs: Properties, options: UpdateOptions): Promise<Updated> {
    if (options.preview && !this.#known) return { outputs: {}, refreshBeforeUpdate: false };
    if (options.preview && !this.#understands.previews) return { outputs: inputs, refreshBeforeUpdate: false };
    const request = new providerProto.UpdateRequest();
    request.setId(id).setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn));
    request.setTimeout(options.timeout).setIgnorechangesList(options.ignoreChanges).setPreview(options.preview);
    request.setOldInputs(this.#struct(olds.inputs, false)).setOlds(this.#struct(olds.outputs, false));
    request.setNews(this.#struct(inputs, options.preview));
    const response = await this.#ask<pb.UpdateResponse>((client, done) => client.update(request, done), inputs);
    return {
      outputs: this.#outputs(response.getProperties(), inputs),
      refreshBeforeUpdate: response.getRefreshBeforeUpdate(),
    };
  }

  async delete({ urn, id }: Identity, olds: Sides, timeout: number): Promise<void> {
    const request = new providerProto.DeleteRequest();
    request.setId(id).setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setTimeout(timeout);
    request.setProperties(this.#struct(olds.outputs, false)).setOldInputs(this.#struct(olds.inputs, false));
    await this.#ask<Empty>((client, done) => client.delete(request, done));
  }

  async invoke(token: string, given: Properties, preview: boolean): Promise<Invoked> {
    if (!this.#known) return { outputs: {}, failures: [] };
    const request = new providerProto.InvokeRequest().setTok(token).setPreview(preview);
    request.setArgs(this.#struct(given, false));
    const response = await this.#ask<pb.InvokeResponse>((client, done) => client.invoke(request, done));
    const outputs = fromStruct(response.getReturn());
    const secret = !this.#understands.secrets && containsSecret(given);
    return {
      outputs: secret ? mapProperties(outputs, (value) => new Secret(revealed(value))) : outputs,
      failures: failuresOf(response),
    };
  }

  cancel(): void {
    // Whether it heard is not waited for: running steps are, in any case.
    void this.#cancel();
  }

  async #cancel(): Promise<void> {
    await this.#ask<Empty>((client, done) => client.cancel(new emptyProto.Empty(), done)).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#service.stop(() => this.#cancel());
    await this.#client?.then((connected) => connected.close()).catch(() => undefined);
  }

  #struct(properties: Properties, unknowns: boolean): ReturnType<typeof toStruct> {
    return toStruct(properties, { ...this.#understands, unknowns });
  }

  #outputs(struct: Parameters<typeof fromStruct>[0], inputs: Properties): Properties {
    const outputs = fromStruct(struct);
    if (!this.#understands.secrets) markSecrets(outputs, inputs);
    return outputs;
  }

  async #connect(): Promise<Client> {
    const address = await this.#service.address;
    const client = new providerService.ResourceProviderClient(
      address,
      grpc.credentials.createInsecure(),
      channelOptions,
    );
    const { engineAddress, folder } = this.#greeting;
    const request = new providerProto.ProviderHandshakeRequest().setEngineAddress(engineAddress);
    request.setRootDirectory(folder).setProgramDirectory(folder).setConfigureWithUrn(true);
    request.setSupportsRefreshBeforeUpdate(true).setInvokeWithPreview(true);
    try {
      const answer = await promised<pb.ProviderHandshakeResponse>((done) => client.handshake(request, done));
      this.#shookHands = true;
      this.#understands = {
        secrets: answer.getAcceptSecrets(),
        resources: answer.getAcceptResources(),
        previews: true,
      };
    } catch (error) {
      if (!isUnimplemented(error)) throw await this.#explained(error);
    }
    return client;
  }

  /** `secretsOf`: where the outputs and inputs of a partial failure get their secret marks from. */
  async #ask<Response>(
    start: (client: Client, done: Callback<Response>) => unknown,
    secretsOf: Properties = {},
    inputSecretsOf: Properties = {},
  ): Promise<Response> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    try {
      return await promised<Response>((done) => start(client, done));
    } catch (error) {
      if (!isServiceError(error) || isUnimplemented(error)) throw error;
      const partial = partialFailure(error);
      if (partial) {
        const inputs = partial.hasInputs() ? this.#outputs(partial.getInputs(), inputSecretsOf) : undefined;
        const outputs = this.#outputs(partial.getProperties(), secretsOf);
        throw new PartialFailure(partial.getReasonsList(), {
          id: partial.getId(),
          outputs,
          inputs,
          refreshBeforeUpdate: partial.getRefreshBeforeUpdate(),
        });
      }
      throw await this.#explained(error);
    }
  }

  /** What to tell of a call that failed: a provider that has ended says more than the broken connection to it. */
  async #explained(error: unknown): Promise<unknown> {
    if (!isServiceError(error)) return error;
    if (error.code === grpc.status.UNAVAILABLE || error.code === grpc.status.CANCELLED) {
      const ended = await this.#service.ended();
      if (ended !== undefined) return new ProviderError(ended);
    }
    return new ProviderError(error.details === "" ? error.message : error.details);
  }
}

const promised = <Response>(start: (done: Callback<Response>) => unknown): Promise<Response> =>
  new Promise((resolve, reject) => {
    start((error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });

const failuresOf = (response: pb.CheckResponse | pb.InvokeResponse): Checked["failures"] =>
  response.getFailuresList().map((failure) => ({ property: failure.getProperty(), reason: failure.getReason() }));

function isServiceError(error: unknown): error is ServiceError {
  return typeof error === "object" && error !== null && "code" in error && "details" in error && "metadata" in error;
}

const isUnimplemented = (error: unknown): boolean => isServiceError(error) && error.code === grpc.status.UNIMPLEMENTED;

function partialFailure(error: ServiceError): pb.ErrorResourceInitFailed | undefined {
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(encoded)) return undefined;
  const detail = statusProto.Status.deserializeBinary(encoded)
    .getDetailsList()
    .find((any) => any.getTypeName() === "pulumirpc.ErrorResourceInitFailed");
  return detail && providerProto.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
}

function difference(response: pb.DiffResponse): Difference {
  const { DiffChanges } = providerProto.DiffResponse;
  const changes = response.getChanges();
  const detail = [...response.getDetaileddiffMap().entries()].map(([path, diff]) => ({
    path: readable(path),
    change: { ...kinds(diff.getKind()), input: diff.getInputdiff() },
  }));
  return {
    changes: changes === DiffChanges.DIFF_SOME ? "some" : changes === DiffChanges.DIFF_NONE ? "none" : "unknown",
    replaces: response.getReplacesList(),
    changed: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
    ...(detail.length > 0 ? { detail } : {}),
  };
}

/** A path that cannot be read names the property that is called so. */
function readable(path: string): Path {
  try {
    const parsed = parsePath(path);
    return parsed.length > 0 ? parsed : [path];
  } catch {
    return [path];
  }
}

function kinds(kind: pb.PropertyDiff.Kind): Pick<DetailedChange, "kind" | "replaces"> {
  const { Kind } = providerProto.PropertyDiff;
  switch (kind) {
    case Kind.ADD:
      return { kind: "add", replaces: false };
    case Kind.ADD_REPLACE:
      return { kind: "add", replaces: true };
    case Kind.DELETE:
      return { kind: "delete", replaces: false };
    case Kind.DELETE_REPLACE:
      return { kind: "delete", replaces: true };
    case Kind.UPDATE_REPLACE:
      return { kind: "update", replaces: true };
    default:
      return { kind: "update", replaces: false };
  }
}
