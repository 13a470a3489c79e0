import grpc from "@grpc/grpc-js";
import type { handleUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import engineProto from "@pulumi/pulumi/proto/engine_pb.js";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb.js";
import resourceService from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import type {
  ReadResourceRequest,
  ReadResourceResponse,
  RegisterResourceOutputsRequest,
  RegisterResourceRequest,
  RegisterResourceResponse,
  ResourceInvokeRequest,
  ResourceInvokeResponse,
} from "@pulumi/pulumi/proto/resource_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { listenForOwn, type Loopback } from "../../machine/loopback.ts";
import { keepingNames } from "../../machine/structs.ts";
import { messageOf } from "../errors.ts";
import type { LogEvent, Severity } from "../events.ts";
import { channelOptions } from "../providers/connection.ts";
import { refuseOtherVersion } from "../providers/packageVersions.ts";
import { ProviderError } from "../providers/provider.ts";
import type { ResourceMonitor } from "./resourceMonitor.ts";

const severities: readonly (Severity | undefined)[] = [undefined, "info", "warning", "error"];

/**
 * Serves Pulumi's ResourceMonitor and Engine, which the program and the providers call: on one port of loopback, for
 * processes of this user.
 */
export class MonitorServer {
  readonly #server = new grpc.Server(channelOptions);
  readonly #log: (event: LogEvent) => void;
  #loopback: Loopback | undefined;
  #resourceMonitor: ResourceMonitor | undefined;
  #rootResource = "";
  #waiting: (() => void)[] = [];
  #closed = false;
  #isAborted = false;
  /** End the requests that are being worked on. */
  readonly #underway = new Set<() => void>();
  #finish: () => void = () => undefined;
  /** Resolves when the program reports that it has registered everything. */
  readonly finished = new Promise<void>((resolve) => (this.#finish = resolve));
  address = "";

  /** @param log takes the messages of the program and of providers */
  constructor(log: (event: LogEvent) => void) {
    this.#log = log;
  }

  async listen(): Promise<string> {
    this.#server.addService(engineService.EngineService, {
      log: unary((request: LogRequest) => {
        this.#hear(request);
        return new emptyProto.Empty();
      }),
      getRootResource: unary(() => new engineProto.GetRootResourceResponse().setUrn(this.#rootResource)),
      setRootResource: unary((request: InstanceType<typeof engineProto.SetRootResourceRequest>) => {
        this.#rootResource = request.getUrn();
        return new engineProto.SetRootResourceResponse();
      }),
      startDebugging: unary(() => new emptyProto.Empty()),
      requirePulumiVersion: unary((request: InstanceType<typeof engineProto.RequirePulumiVersionRequest>) => {
        refuseOtherVersion(request.getPulumiVersionRange(), "the program");
        return new engineProto.RequirePulumiVersionResponse();
      }),
    });
    this.#server.addService(keepingNames(resourceService.ResourceMonitorService), this.#monitor());
    const injector = this.#server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
    this.#loopback = await listenForOwn((socket) => injector.injectConnection(socket));
    this.address = `127.0.0.1:${this.#loopback.port}`;
    return this.address;
  }

  serve(resourceMonitor: ResourceMonitor): void {
    this.#resourceMonitor = resourceMonitor;
    void resourceMonitor.aborted.then(() => {
      this.#isAborted = true;
      for (const end of this.#underway) end();
    });
  }

  release(): void {
    this.#closed = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  close(): void {
    this.release();
    this.#loopback?.close();
    this.#server.forceShutdown();
  }

  #hear(request: LogRequest): void {
    const severity = severities[request.getSeverity()];
    // Debug messages of the SDK quote whole answers with their secrets.
    if (severity === undefined) return;
    const urn = request.getUrn();
    this.#log({
      type: "log",
      severity,
      message: request.getMessage(),
      ...(urn === "" ? {} : { urn }),
      ...(request.getEphemeral() ? { ephemeral: true } : {}),
    });
  }

  #monitor(): Parameters<InstanceType<typeof grpc.Server>["addService"]>[1] {
    const refuse = (what: string): handleUnaryCall<unknown, unknown> =>
      unaryFailure(() => {
        const message = `the program uses ${what}, which the embedded engine does not do: run this program with the Pulumi CLI`;
        this.#resourceMonitor?.refuse(message);
        throw unavailable();
      });
    return {
      getDeploymentInfo: unary(() => this.#served().deploymentInfo()),
      // Newer ones get the features with the deployment's information.
      supportsFeature: refuse("a version of @pulumi/pulumi before 3.270"),
      registerResource: unary((request: RegisterResourceRequest) =>
        this.#unlessAborted<RegisterResourceResponse>((resourceMonitor) => resourceMonitor.register(request)),
      ),
      registerResourceOutputs: unary(async (request: RegisterResourceOutputsRequest) => {
        await this.#unlessAborted((resourceMonitor) => resourceMonitor.registerOutputs(request));
        return new emptyProto.Empty();
      }),
      signalAndWaitForShutdown: unary(async () => {
        this.#finish();
        if (!this.#closed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        return new emptyProto.Empty();
      }),
      readResource: unary((request: ReadResourceRequest) =>
        this.#unlessAborted<ReadResourceResponse>((resourceMonitor) => resourceMonitor.read(request)),
      ),
      existsResource: refuse("a look-up of an existing resource"),
      invoke: unary((request: ResourceInvokeRequest) => this.#invoke(request)),
      call: refuse("a method of a resource (call)"),
      registerStackTransform: refuse("stack transforms"),
      registerStackInvokeTransform: refuse("transforms of provider functions"),
      registerResourceHook: refuse("resource hooks"),
      registerErrorHook: refuse("error hooks"),
      registerPackage: refuse("a package with parameters or extensions"),
    };
  }

  #served(): ResourceMonitor {
    if (!this.#resourceMonitor) throw unavailable();
    return this.#resourceMonitor;
  }

  /** Calls a function. Its failure goes to the program, which may catch it. */
  async #invoke(request: ResourceInvokeRequest): Promise<ResourceInvokeResponse> {
    const result = await this.#unlessAborted((resourceMonitor) =>
      resourceMonitor.invoke(request).then(
        (response) => ({ response }),
        (error: unknown) => {
          if (error instanceof ProviderError) return { error };
          throw error;
        },
      ),
    );
    if ("error" in result) throw result.error;
    return result.response;
  }

  /** After an abort answers "unavailable", at which the SDK ends the program silently. */
  async #unlessAborted<Result>(work: (resourceMonitor: ResourceMonitor) => Promise<Result>): Promise<Result> {
    const resourceMonitor = this.#served();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const end = (): void => reject(unavailable());
    // Not a race with the promise of an abort: that one would keep each request and its answer until the end of the run.
    this.#underway.add(end);
    // A failure was reported where it happened.
    void work(resourceMonitor)
      .then(resolve, end)
      .finally(() => this.#underway.delete(end));
    if (this.#isAborted) end();
    return promise;
  }
}

const unavailable = (): Error & { code: number } =>
  Object.assign(new Error("resource monitor shut down"), { code: grpc.status.UNAVAILABLE });

/** Makes a unary handler from a function that returns or throws. */
function unary<Request, Response>(
  work: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return ({ request }, respond: sendUnaryData<Response>) => {
    void (async () => {
      try {
        respond(null, await work(request));
      } catch (error) {
        const isUnavailable = typeof error === "object" && error !== null && "code" in error;
        respond({ code: isUnavailable ? grpc.status.UNAVAILABLE : grpc.status.UNKNOWN, details: messageOf(error) });
      }
    })();
  };
}

const unaryFailure = (work: () => never): handleUnaryCall<unknown, unknown> => unary<unknown, unknown>(work);
