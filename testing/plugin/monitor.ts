import grpc from "@grpc/grpc-js";
import type { handleUnaryCall } from "@grpc/grpc-js";
import engineService from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import resourceService from "@pulumi/pulumi/proto/resource_grpc_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import type { RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";

const { Struct } = structProto;

/** A monitor that takes what is registered, and answers with an ID and the same properties. */
export class Monitor {
  readonly #server = new grpc.Server();
  readonly registered: RegisterResourceRequest[] = [];
  /** Types that it answers never. */
  silent: string | undefined;
  address = "";

  async listen(): Promise<this> {
    const unary =
      <Request>(answer: (request: Request) => unknown): handleUnaryCall<Request, unknown> =>
      ({ request }, done) => {
        const answered = answer(request);
        if (answered !== undefined) done(null, answered);
      };
    const { RESOURCE_MONITOR_FEATURE_SECRETS: secrets } = resourceProto.ResourceMonitorFeature;
    this.#server.addService(resourceService.ResourceMonitorService, {
      getDeploymentInfo: unary(() => new resourceProto.DeploymentInfo().setSupportedfeaturesList([secrets])),
      registerResource: unary((request: RegisterResourceRequest) => {
        this.registered.push(request);
        if (request.getType() === this.silent) return undefined;
        const urn = `urn:pulumi:dev::tests::${request.getType()}::${request.getName()}`;
        const object = request.getObject() ?? new Struct();
        return new resourceProto.RegisterResourceResponse()
          .setUrn(urn)
          .setId(`id of ${request.getName()}`)
          .setObject(object);
      }),
      registerResourceOutputs: unary(() => new emptyProto.Empty()),
    });
    this.#server.addService(engineService.EngineService, { log: unary(() => new emptyProto.Empty()) });
    const port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    this.address = `127.0.0.1:${port}`;
    return this;
  }

  /** Registered inputs under a name. */
  inputs(name: string): Record<string, unknown> | undefined {
    return this.registered
      .find((one) => one.getName() === name)
      ?.getObject()
      ?.toJavaScript();
  }

  close(): void {
    this.#server.forceShutdown();
  }
}
