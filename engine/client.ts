import { randomBytes } from "node:crypto";
import grpc from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import type { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { EngineError } from "./errors.ts";
import { goJson, type Json } from "./gojson.ts";
import { parsePath } from "./paths.ts";
import {
  type Checked,
  type DetailedChange,
  DiffUnavailable,
  type Difference,
  type Identity,
  type Outcome,
  PartialFailure,
  type Provider,
  ProviderError,
  type Sides,
  type UpdateOptions,
} from "./provider.ts";
import { nameOf, packageOf, typeOf } from "./urns.ts";
import { containsUnknown, markSecrets, mapProperties, type Properties, revealed } from "./values.ts";
import { fromStruct, toStruct } from "./wire.ts";

/** The process that serves a provider. */
export interface Service {
  address: Promise<string>;
  /** What to say when it has ended by itself; undefined while it runs. */
  ended: () => Promise<string | undefined>;
  stop: () => Promise<void>;
}

export const channelOptions = {
  "grpc.max_receive_message_length": 400 * 1024 * 1024,
  "grpc.max_send_message_length": 400 * 1024 * 1024,
};

const everything = { secrets: true, resources: true, unknowns: true };
type Callback<Response> = (error: ServiceError | null, response: Response) => void;

export class ProviderClient implements Provider {
  readonly #service: Service;
  #client: Promise<InstanceType<typeof providerService.ResourceProviderClient>> | undefined;
  #understands = { secrets: false, resources: false, previews: false };
  /** Until it is configured for good; false when its configuration holds unknowns. */
  #known = true;

  constructor(service: Service) {
    this.#service = service;
  }

  async checkConfig(urn: string, olds: Properties, news: Properties): Promise<Checked> {
    const request = new providerProto.CheckRequest();
    request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn));
    request.setOlds(toStruct(olds, everything)).setNews(toStruct(news, { ...everything, secrets: false }));
    try {
      return this.#checked(
        await this.#ask<pb.CheckResponse>((client, done) => client.checkConfig(request, done)),
        news,
      );
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
    const plain = { ...everything, secrets: false };
    request
      .setOldInputs(toStruct(oldInputs, plain))
      .setOlds(toStruct(oldOutputs, plain))
      .setNews(toStruct(inputs, plain));
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
    const failures = response.getFailuresList().map((f) => ({ property: f.getProperty(), reason: f.getReason() }));
    return { inputs, failures };
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
    if (preview && !this.#known) return { id: "", outputs: {} };
    if (preview && !this.#understands.previews) return { id: "", outputs: inputs };
    const request = new providerProto.CreateRequest();
    request.setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setTimeout(timeout).setPreview(preview);
    request.setProperties(this.#struct(inputs, preview));
    const response = await this.#ask<pb.CreateResponse>((client, done) => client.create(request, done), inputs);
    const id = response.getId();
    if (id === "" && !preview) throw new ProviderError("the provider did not return an ID from its create");
    return { id, outputs: this.#outputs(response.getProperties(), inputs) };
  }

  async read({ urn, id }: Identity, olds: Sides, timeout: number): ReturnType<Provider["read"]> {
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
    };
  }

  async update({ urn, id }: Identity, olds: Sides, inputs: Properties, options: UpdateOptions): Promise<Properties> {
    if (options.preview && !this.#known) return {};
    if (options.preview && !this.#understands.previews) return inputs;
    const request = new providerProto.UpdateRequest();
    request.setId(id).setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn));
    request.setTimeout(options.timeout).setIgnorechangesList(options.ignoreChanges).setPreview(options.preview);
    request.setOldInputs(this.#struct(olds.inputs, false)).setOlds(this.#struct(olds.outputs, false));
    request.setNews(this.#struct(inputs, options.preview));
    const response = await this.#ask<pb.UpdateResponse>((client, done) => client.update(request, done), inputs);
    return this.#outputs(response.getProperties(), inputs);
  }

  async delete({ urn, id }: Identity, olds: Sides, timeout: number): Promise<void> {
    const request = new providerProto.DeleteRequest();
    request.setId(id).setUrn(urn).setName(nameOf(urn)).setType(typeOf(urn)).setTimeout(timeout);
    request.setProperties(this.#struct(olds.outputs, false)).setOldInputs(this.#struct(olds.inputs, false));
    await this.#ask<Empty>((client, done) => client.delete(request, done));
  }

  cancel(): void {
    // Whether it heard is not waited for: running steps are, in any case.
    void this.#ask<Empty>((client, done) => client.cancel(new emptyProto.Empty(), done)).catch(() => undefined);
  }

  async close(): Promise<void> {
    const client = this.#client;
    if (client !== undefined) await client.then((connected) => connected.close()).catch(() => undefined);
    await this.#service.stop();
  }

  #struct(properties: Properties, unknowns: boolean): ReturnType<typeof toStruct> {
    return toStruct(properties, { ...this.#understands, unknowns });
  }

  #outputs(struct: Parameters<typeof fromStruct>[0], inputs: Properties): Properties {
    const outputs = fromStruct(struct);
    if (!this.#understands.secrets) markSecrets(outputs, inputs);
    return outputs;
  }

  async #connect(): Promise<InstanceType<typeof providerService.ResourceProviderClient>> {
    const address = await this.#service.address;
    return new providerService.ResourceProviderClient(address, grpc.credentials.createInsecure(), channelOptions);
  }

  /** `secretsOf`: where the outputs and inputs of a partial failure get their secret marks from. */
  async #ask<Response>(
    start: (client: InstanceType<typeof providerService.ResourceProviderClient>, done: Callback<Response>) => unknown,
    secretsOf: Properties = {},
    inputSecretsOf: Properties = {},
  ): Promise<Response> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    try {
      return await new Promise<Response>((resolve, reject) => {
        start(client, (error, response) => {
          if (error) reject(error);
          else resolve(response);
        });
      });
    } catch (error) {
      if (!isServiceError(error) || isUnimplemented(error)) throw error;
      const partial = partialFailure(error);
      if (partial) {
        const inputs = partial.hasInputs() ? this.#outputs(partial.getInputs(), inputSecretsOf) : undefined;
        const outputs = this.#outputs(partial.getProperties(), secretsOf);
        throw new PartialFailure(partial.getId(), outputs, inputs, partial.getReasonsList());
      }
      if (error.code === grpc.status.UNAVAILABLE || error.code === grpc.status.CANCELLED) {
        const ended = await this.#service.ended();
        if (ended !== undefined) throw new ProviderError(ended);
      }
      throw new ProviderError(error.details === "" ? error.message : error.details);
    }
  }
}

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
    path: parsePath(path),
    change: detailedChange(diff.getKind()),
  }));
  return {
    changes: changes === DiffChanges.DIFF_SOME ? "some" : changes === DiffChanges.DIFF_NONE ? "none" : "unknown",
    replaces: response.getReplacesList(),
    changed: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
    ...(detail.length > 0 ? { detail } : {}),
  };
}

function detailedChange(kind: pb.PropertyDiff.Kind): DetailedChange {
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
    case Kind.UPDATE:
      return { kind: "update", replaces: false };
    case Kind.UPDATE_REPLACE:
      return { kind: "update", replaces: true };
    default:
      throw new EngineError(`a provider answered with a kind of change ${String(kind)} that is not known`);
  }
}
