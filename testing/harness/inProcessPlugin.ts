import grpc from "@grpc/grpc-js";
import type providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { join } from "node:path";
import { readOwnPackage } from "../../machine/ownPackage.ts";
import { statusOf } from "../../provider/pulumi/plugin/failures.ts";
import { Plugin } from "../../provider/pulumi/plugin/provider.ts";
import { isLong } from "./drawn.ts";
import { plugin } from "./kinds.ts";
import type { TestedKind } from "./providerHost.ts";

/** A message of gRPC. */
interface Message {
  serializeBinary: () => Uint8Array;
}

/** A copy by the bytes that would travel. */
const copied = (message: Message): Message =>
  (message.constructor as unknown as { deserializeBinary: (bytes: Uint8Array) => Message }).deserializeBinary(
    message.serializeBinary(),
  );

type Work = (request: Message) => Message | undefined | Promise<Message | undefined>;

/**
 * The plugin in this process, as its client sees it: messages travel as bytes, and it finds its project in `folder`. A
 * process of its own takes half a second.
 */
function begin(engine: string, folder: string): InstanceType<typeof providerService.ResourceProviderClient> {
  process.cwd = () => folder;
  process.env["XDG_STATE_HOME"] = join(folder, ".state");
  const plugin = new Plugin(readOwnPackage().version, engine);
  const methods = plugin as unknown as Record<string, Work>;
  const running = new Set<Promise<void>>();
  const client = new Proxy(
    {},
    {
      get: (_, name: string) => {
        // A process that is killed writes nothing any more.
        if (name === "close") {
          return () => {
            plugin.cancel();
            return Promise.all(running);
          };
        }
        return (request: Message, done: (error: grpc.ServiceError | null, answer?: Message) => void) => {
          const work = Promise.resolve()
            .then(() => methods[name]?.call(plugin, copied(request)))
            .then(
              (answer) => done(null, answer && copied(answer)),
              async (error: unknown) => {
                const status = { metadata: new grpc.Metadata(), ...(await statusOf(error)) };
                done(Object.assign(new Error(), status) as grpc.ServiceError);
              },
            )
            .finally(() => running.delete(work));
          running.add(work);
        };
      },
    },
  );
  return client as InstanceType<typeof providerService.ResourceProviderClient>;
}

/** The plugin in the test's own process: for lives by the hundred. */
export const inProcess: TestedKind = { ...plugin, begin };

/** The plugin in the test's own process; `make test-long` gives it one of its own. */
export const here: TestedKind = isLong ? plugin : inProcess;
