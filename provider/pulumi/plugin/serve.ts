import grpc from "@grpc/grpc-js";
import type { handleServerStreamingCall, handleUnaryCall } from "@grpc/grpc-js";
import type { PluginAttach } from "@pulumi/pulumi/proto/plugin_pb.js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { listenForOwn } from "../../../machine/loopback.ts";
import { readOwnPackage } from "../../../machine/ownPackage.ts";
import { keepingNames } from "../../../machine/structs.ts";
import { statusOf } from "./failures.ts";
import type { Plugin } from "./provider.ts";

/** Inline rows may be many: the engine's own bound. */
const maxMessageBytes = 400 * 1024 * 1024;

interface Served {
  port: number;
  orphaned: () => void;
}

/**
 * Serves the plugin on a port of this machine, to this user's processes, for as long as the process lives; `orphaned`
 * ends what is under way since the engine has ended. What it does not offer is answered UNIMPLEMENTED.
 * @param engine address of the engine that started it
 */
export async function serve(engine: string | undefined): Promise<Served> {
  let loading: Promise<Plugin> | undefined;
  const loaded = (): Promise<Plugin> => (loading ??= load());
  const load = async (): Promise<Plugin> => {
    const { Plugin } = await import("./provider.ts");
    return new Plugin(readOwnPackage().version, engine);
  };

  const server = new grpc.Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
  });
  server.addService(keepingNames(providerService.ResourceProviderService), handlers(loaded));
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const { port } = await listenForOwn((socket) => injector.injectConnection(socket));
  // Whoever waits for the port gets it first.
  setImmediate(() => void loaded().catch(() => undefined)); // the first call reports why
  return {
    port,
    orphaned: () => void loading?.then((plugin) => plugin.cancel(true)).catch(() => undefined),
  };
}

/** Handlers of the plugin, by the names of gRPC. */
export function handlers(loaded: () => Promise<Plugin>): grpc.UntypedServiceImplementation {
  const asks =
    <Request, Answer>(
      work: (plugin: Plugin, request: Request) => Answer | Promise<Answer>,
    ): handleUnaryCall<Request, Answer> =>
    ({ request }, done) => {
      loaded()
        .then((plugin) => work(plugin, request))
        .then(
          (answer) => done(null, answer),
          (error: unknown) => done(statusOf(error)),
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
        (error: unknown) => call.emit("error", statusOf(error)),
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
