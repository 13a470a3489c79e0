import type { ServiceError } from "@grpc/grpc-js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import statusProto from "@pulumi/pulumi/proto/status_pb.js";
import type { Message } from "google-protobuf";
import { statusCodes } from "../../machine/statusCodes.ts";
import type { Departure } from "../events.ts";
import type { Call } from "../hosted/calls.ts";
import { parsePath, type Path } from "../values/paths.ts";
import { ProviderError, type Checked, type DetailedChange, type Difference } from "./provider.ts";

export const channelOptions = {
  "grpc.max_receive_message_length": 400 * 1024 * 1024,
  "grpc.max_send_message_length": 400 * 1024 * 1024,
};

/** What serves a provider: a process, or something in this one. */
export interface Service {
  call: Promise<Call>;
  /** What becomes of what a deletion is about; only a provider in this process says so. */
  departs?: (request: pb.DeleteRequest) => Promise<Departure | undefined>;
  /** Describes how it ended by itself; undefined while it runs. */
  ended: () => Promise<string | undefined>;
  /** Ends it. `cancel` asks the provider to stop its work first. */
  stop: (cancel: () => Promise<void>) => Promise<void>;
}

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
  readonly #service: Service;
  readonly #options: ConnectionOptions;
  #call: Promise<Call> | undefined;
  /** The result of the handshake; undefined with providers that do not support one. */
  capabilities: Capabilities | undefined;

  constructor(service: Service, options: ConnectionOptions) {
    this.#service = service;
    this.#options = options;
  }

  /**
   * Calls the provider. Throws a ProviderError, but for calls that it does not implement and for partial failures: those
   * errors of gRPC are for the caller to read.
   */
  async call<Response>(method: string, request: Message): Promise<Response> {
    const call = await (this.#call ??= this.#connect());
    try {
      return await answerOf<Response>(call, method, request);
    } catch (error) {
      if (isUnimplemented(error) || (isServiceError(error) && partialFailure(error))) throw error;
      throw await this.#explained(error);
    }
  }

  departs(request: pb.DeleteRequest): Promise<Departure | undefined> {
    return this.#service.departs?.(request) ?? Promise.resolve(undefined);
  }

  close(cancel: () => Promise<void>): Promise<void> {
    return this.#service.stop(cancel);
  }

  async #connect(): Promise<Call> {
    const call = await this.#service.call;
    const { engineAddress, folder } = this.#options;
    const request = new providerProto.ProviderHandshakeRequest().setEngineAddress(engineAddress);
    request.setRootDirectory(folder).setProgramDirectory(folder).setConfigureWithUrn(true);
    request.setSupportsRefreshBeforeUpdate(true).setInvokeWithPreview(true);
    try {
      const answer = await answerOf<pb.ProviderHandshakeResponse>(call, "handshake", request);
      this.capabilities = {
        secrets: answer.getAcceptSecrets(),
        resources: answer.getAcceptResources(),
        previews: true,
      };
    } catch (error) {
      if (!isUnimplemented(error)) throw await this.#explained(error);
    }
    return call;
  }

  /** Explains a failed call. The end of a provider explains more than the broken connection to it. */
  async #explained(error: unknown): Promise<unknown> {
    if (!isServiceError(error)) return error;
    if (error.code === statusCodes.UNAVAILABLE || error.code === statusCodes.CANCELLED) {
      const ended = await this.#service.ended();
      if (ended !== undefined) return new ProviderError(ended);
    }
    return new ProviderError(error.details === "" ? error.message : error.details);
  }
}

/** Connects to a provider in a process of its own. */
export async function connectTo(address: string): Promise<{ call: Call; close: () => void }> {
  const [{ default: grpc }, { default: service }] = await Promise.all([
    import("@grpc/grpc-js"),
    import("@pulumi/pulumi/proto/provider_grpc_pb.js"),
  ]);
  const client = new service.ResourceProviderClient(address, grpc.credentials.createInsecure(), channelOptions);
  const methods = client as unknown as Record<string, (request: Message, done: Parameters<Call>[2]) => void>;
  return { call: (method, request, done) => methods[method]?.(request, done), close: () => client.close() };
}

const answerOf = <Response>(call: Call, method: string, request: Message): Promise<Response> =>
  new Promise((resolve, reject) => {
    call(method, request, (error, answer) => (error ? reject(error) : resolve(answer as Response)));
  });

export function isServiceError(error: unknown): error is ServiceError {
  return typeof error === "object" && error !== null && "code" in error && "details" in error && "metadata" in error;
}

export const isUnimplemented = (error: unknown): boolean =>
  isServiceError(error) && error.code === statusCodes.UNIMPLEMENTED;

/** Reads the failures of a check or a function. */
export const failuresOf = (response: pb.CheckResponse | pb.InvokeResponse): Checked["failures"] =>
  response.getFailuresList().map((failure) => ({ property: failure.getProperty(), reason: failure.getReason() }));

/** Reads the detail of an error about a resource that exists, but is not ready. */
export function partialFailure(error: ServiceError): pb.ErrorResourceInitFailed | undefined {
  const [encoded] = error.metadata.get("grpc-status-details-bin");
  if (!Buffer.isBuffer(encoded)) return undefined;
  const detail = statusProto.Status.deserializeBinary(encoded)
    .getDetailsList()
    .find((any) => any.getTypeName() === "pulumirpc.ErrorResourceInitFailed");
  return detail && providerProto.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
}

/** Reads the answer to a diff. */
export function differenceOf(response: pb.DiffResponse): Difference {
  const { DiffChanges } = providerProto.DiffResponse;
  const changes = response.getChanges();
  const detail = [...response.getDetaileddiffMap().entries()].map(([path, diff]) => ({
    path: pathOf(path),
    change: { ...kindOf(diff.getKind()), input: diff.getInputdiff() },
  }));
  return {
    changes: changes === DiffChanges.DIFF_SOME ? "some" : changes === DiffChanges.DIFF_NONE ? "none" : "unknown",
    replaces: response.getReplacesList(),
    changed: response.getDiffsList(),
    deleteBeforeReplace: response.getDeletebeforereplace(),
    ...(detail.length > 0 ? { detail } : {}),
  };
}

/** Reads a path; one that cannot be parsed is the name of a property. */
function pathOf(path: string): Path {
  try {
    const parsed = parsePath(path);
    return parsed.length > 0 ? parsed : [path];
  } catch {
    return [path];
  }
}

function kindOf(kind: pb.PropertyDiff.Kind): Pick<DetailedChange, "kind" | "replaces"> {
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
