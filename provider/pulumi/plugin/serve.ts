import grpc from "@grpc/grpc-js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { listenForOwn } from "../../../machine/loopback.ts";
import { readOwnPackage } from "../../../machine/ownPackage.ts";
import { keepingNames } from "../../../machine/structs.ts";
import { handlers } from "./handlers.ts";
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
