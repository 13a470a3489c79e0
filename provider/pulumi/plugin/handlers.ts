import type { handleServerStreamingCall, handleUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { statusOf } from "./failures.ts";
import type { Plugin } from "./provider.ts";

/** Handlers of the plugin, by the names of gRPC. */
export function handlers(loaded: () => Promise<Plugin>): UntypedServiceImplementation {
  const asks =
    <Request, Answer>(
      work: (plugin: Plugin, request: Request) => Answer | Promise<Answer>,
    ): handleUnaryCall<Request, Answer> =>
    ({ request }, done) => {
      loaded()
        .then((plugin) => work(plugin, request))
        .then(
          (answer) => done(null, answer),
          async (error: unknown) => done(await statusOf(error)),
        );
    };
  const lists: handleServerStreamingCall<pb.ListRequest, pb.ListResponse> = (call) => {
    loaded()
      .then((plugin) => plugin.list(call.request))
      .then(
        (answers) => {
          for (const answer of answers) call.write(answer);
          call.end();
        },
        async (error: unknown) => call.emit("error", await statusOf(error)),
      );
  };
  const respond = <Request>(work: (plugin: Plugin, request: Request) => void | Promise<void>) =>
    asks(async (plugin, request: Request) => {
      await work(plugin, request);
      return new emptyProto.Empty();
    });
  return {
    handshake: asks((plugin, request: pb.ProviderHandshakeRequest) => plugin.handshake(request)),
    attach: respond((plugin, request: PluginAttach) => plugin.attach(request)),
    getPluginInfo: asks((plugin) => plugin.getPluginInfo()),
    getSchema: asks((plugin) => plugin.getSchema()),
    checkConfig: asks((plugin, request: pb.CheckRequest) => plugin.checkConfig(request)),
    diffConfig: asks((plugin, request: pb.DiffRequest) => plugin.diffConfig(request)),
    configure: asks((plugin, request: pb.ConfigureRequest) => plugin.configure(request)),
    construct: asks((plugin, request: pb.ConstructRequest) => plugin.construct(request)),
    check: asks((plugin, request: pb.CheckRequest) => plugin.check(request)),
    diff: asks((plugin, request: pb.DiffRequest) => plugin.diff(request)),
    create: asks((plugin, request: pb.CreateRequest) => plugin.create(request)),
    read: asks((plugin, request: pb.ReadRequest) => plugin.read(request)),
    update: asks((plugin, request: pb.UpdateRequest) => plugin.update(request)),
    delete: respond((plugin, request: pb.DeleteRequest) => plugin.delete(request)),
    invoke: asks((plugin, request: pb.InvokeRequest) => plugin.invoke(request)),
    list: lists,
    cancel: respond(async (plugin) => {
      plugin.cancel();
      await new Promise((resolve) => void setImmediate(resolve)); // constructs are answered first: an engine may hang up
    }),
  };
}
