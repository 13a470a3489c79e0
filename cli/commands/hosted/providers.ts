import { callsOf, type HostedCalls } from "../../../engine/hosted/calls.ts";
import * as engine from "../../../engine/hosted/dynamic.ts";
import { readOwnPackage } from "../../../machine/ownPackage.ts";
import { findOwnResource } from "../../../provider/pulumi/names.ts";
import { describeUnfinished, UnfinishedFailure } from "../../../provider/pulumi/plugin/failures.ts";
import { type LogEntry, reporterThrough } from "../../../provider/pulumi/progress.ts";
import type { Recall } from "../../../provider/resources/resource.ts";

type Log = (entry: LogEntry) => boolean | undefined;

// Our own provider in the engine's process, as both kinds of it; each is loaded where a program has it.

export async function hostPlugin(address: string | undefined, log: Log, recall?: Recall): Promise<HostedCalls> {
  const { Plugin } = await import("../../../provider/pulumi/plugin/provider.ts");
  const { handlers } = await import("../../../provider/pulumi/plugin/handlers.ts");
  const plugin = new Plugin(readOwnPackage().version, address, reporterThrough(log), recall);
  return {
    call: callsOf(handlers(() => Promise.resolve(plugin))),
    departs: (request) => plugin.departs(request),
    end: () => plugin.end(),
  };
}

export async function hostDynamic(address: string, log: Log, recall: Recall): Promise<HostedCalls> {
  const { DynamicProviders } = await import("../../../provider/pulumi/dynamic.ts");
  const providers = new DynamicProviders({ engine: address, report: reporterThrough(log), recall, isHosted: true });
  const { operations } = providers;
  return engine.hostDynamic({
    configure: (settings, urn) => {
      providers.host = { get: (key) => settings[key], rawConfig: settings };
      operations.began(urn);
    },
    of: (code) => providers.named(findOwnResource(code) ?? ""),
    departs: (properties) => providers.departs(properties),
    describeUnfinished: (unfinished, details) =>
      describeUnfinished(new UnfinishedFailure(details, unfinished), details),
    stop: () => providers.stop(),
    end: () => {
      providers.stop();
      operations.ended();
      return operations.close();
    },
  });
}
