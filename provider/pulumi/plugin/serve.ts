import { readFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";
import type { handleUnaryCall } from "@grpc/grpc-js";
import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import { statusOf } from "./failures.ts";
import { Plugin, UnfinishedFailure } from "./provider.ts";

/** Inline rows may be many: the engine's own bound. */
const most = 400 * 1024 * 1024;

/**
 * Serves the plugin on a port of this machine, which it returns. What it does not offer is answered UNIMPLEMENTED.
 * @param engine address of the engine that started it
 */
export async function serve(engine: string | undefined): Promise<{ port: number; stop: () => void }> {
  const plugin = new Plugin(version(), engine);
  const server = new grpc.Server({ "grpc.max_receive_message_length": most, "grpc.max_send_message_length": most });
  server.addService(providerService.ResourceProviderService, {
    handshake: answering((request: Parameters<Plugin["handshake"]>[0]) => plugin.handshake(request)),
    attach: answering((request: Parameters<Plugin["attach"]>[0]) => {
      plugin.attach(request);
      return new emptyProto.Empty();
    }),
    getPluginInfo: answering(() => plugin.getPluginInfo()),
    getSchema: answering(() => plugin.getSchema()),
    checkConfig: answering((request: Parameters<Plugin["checkConfig"]>[0]) => plugin.checkConfig(request)),
    diffConfig: answering((request: Parameters<Plugin["diffConfig"]>[0]) => plugin.diffConfig(request)),
    configure: answering((request: Parameters<Plugin["configure"]>[0]) => plugin.configure(request)),
    check: answering((request: Parameters<Plugin["check"]>[0]) => plugin.check(request)),
    diff: answering((request: Parameters<Plugin["diff"]>[0]) => plugin.diff(request)),
    create: answering((request: Parameters<Plugin["create"]>[0]) => plugin.create(request)),
    read: answering((request: Parameters<Plugin["read"]>[0]) => plugin.read(request)),
    update: answering((request: Parameters<Plugin["update"]>[0]) => plugin.update(request)),
    delete: answering(async (request: Parameters<Plugin["delete"]>[0]) => {
      await plugin.delete(request);
      return new emptyProto.Empty();
    }),
    cancel: answering(() => {
      plugin.cancel();
      return new emptyProto.Empty();
    }),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  return {
    port,
    stop: () => {
      plugin.cancel();
      server.forceShutdown();
    },
  };
}

const answering =
  <Request, Answer>(work: (request: Request) => Answer | Promise<Answer>): handleUnaryCall<Request, Answer> =>
  ({ request }, done) => {
    const answer = async (): Promise<Answer> => work(request);
    answer().then(
      (value) => done(null, value),
      (error: unknown) => done(statusOf(error, error instanceof UnfinishedFailure ? error.unfinished : undefined)),
    );
  };

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "";
}
