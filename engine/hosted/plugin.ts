import providerService from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import { readOwnPackage } from "../../machine/ownPackage.ts";
import { Plugin } from "../../provider/pulumi/plugin/provider.ts";
import { handlers } from "../../provider/pulumi/plugin/serve.ts";
import { type LogEntry, reporterThrough } from "../../provider/pulumi/progress.ts";
import { callsOf, type HostedCalls } from "./calls.ts";

/** The plugin in the engine's own process. */
export function hostPlugin(engine: string, log: (entry: LogEntry) => void): HostedCalls {
  const report = reporterThrough(log);
  const plugin = new Plugin(readOwnPackage().version, engine, report);
  return {
    call: callsOf(
      providerService.ResourceProviderService,
      handlers(() => Promise.resolve(plugin)),
    ),
    departs: (request) => plugin.departs(request),
    end: () => plugin.end(),
  };
}
