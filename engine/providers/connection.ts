import grpc from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import type { Lifetime, Service } from "../processes/service.ts";
import { ProviderError } from "./provider.ts";
import { partialFailure } from "./responses.ts";

export const channelOptions = {
  "grpc.max_receive_message_length": 400 * 1024 * 1024,
  "grpc.max_send_message_length": 400 * 1024 * 1024,
};

export type ResourceProviderClient = InstanceType<typeof providerService.ResourceProviderClient>;

/** A provider in this process, in place of one at an address. */
export interface OwnService extends Lifetime {
  client: Promise<ResourceProviderClient>;
}
type UnaryCallback<Response> = (error: ServiceError | null, response: Response) => void;
export type ProviderCall<Response> = (client: ResourceProviderClient, done: UnaryCallback<Response>) => unknown;

/** The addresses for a handshake. */
export interface ConnectionOptions {
  engineAddress: string;
  /** The folder of the plugin. */
  folder: string;
}

/** The kinds of values and calls that a provider supports. */
export interface Capabilities {
  secrets: boolean;
  resources: boolean;
  previews: boolean;
}

/** The connection to a provider, which opens with the first call. */
export class Connection {
  readonly #service: Service | OwnService;
  readonly #options: ConnectionOptions;
  #client: Promise<ResourceProviderClient> | undefined;
  /** The result of the handshake; undefined with providers that do not support one. */
  capabilities: Capabilities | undefined;

  constructor(service: Service | OwnService, options: ConnectionOptions) {
    this.#service = service;
    this.#options = options;
  }

  /**
   * Calls the provider. Throws a ProviderError, but for calls that it does not implement and for partial failures: those
   * errors of gRPC are for the caller to read.
   */
  async call<Response>(call: ProviderCall<Response>): Promise<Response> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    try {
      return await unary<Response>((done) => call(client, done));
    } catch (error) {
      if (isUnimplemented(error) || (isServiceError(error) && partialFailure(error))) throw error;
      throw await this.#explained(error);
    }
  }

  async close(cancel: () => Promise<void>): Promise<void> {
    await this.#service.stop(cancel);
    await this.#client?.then((connected) => connected.close()).catch(() => undefined);
  }

  async #connect(): Promise<ResourceProviderClient> {
    const service = this.#service;
    const client = await ("client" in service ? service.client : service.address.then(clientOf));
    const { engineAddress, folder } = this.#options;
    const request = new providerProto.ProviderHandshakeRequest().setEngineAddress(engineAddress);
    request.setRootDirectory(folder).setProgramDirectory(folder).setConfigureWithUrn(true);
    request.setSupportsRefreshBeforeUpdate(true).setInvokeWithPreview(true);
    try {
      const answer = await unary<pb.ProviderHandshakeResponse>((done) => client.handshake(request, done));
      this.capabilities = {
        secrets: answer.getAcceptSecrets(),
        resources: answer.getAcceptResources(),
        previews: true,
      };
    } catch (error) {
      if (!isUnimplemented(error)) throw await this.#explained(error);
    }
    return client;
  }

  /** Explains a failed call. The end of a provider explains more than the broken connection to it. */
  async #explained(error: unknown): Promise<unknown> {
    if (!isServiceError(error)) return error;
    if (error.code === grpc.status.UNAVAILABLE || error.code === grpc.status.CANCELLED) {
      const ended = await this.#service.ended();
      if (ended !== undefined) return new ProviderError(ended);
    }
    return new ProviderError(error.details === "" ? error.message : error.details);
  }
}

const clientOf = (address: string): ResourceProviderClient =>
  new providerService.ResourceProviderClient(address, grpc.credentials.createInsecure(), channelOptions);

const unary = <Response>(start: (done: UnaryCallback<Response>) => unknown): Promise<Response> =>
  new Promise((resolve, reject) => {
    start((error, response) => {
      if (error) reject(error);
      else resolve(response);
    });
  });

export function isServiceError(error: unknown): error is ServiceError {
  return typeof error === "object" && error !== null && "code" in error && "details" in error && "metadata" in error;
}

export const isUnimplemented = (error: unknown): boolean =>
  isServiceError(error) && error.code === grpc.status.UNIMPLEMENTED;
