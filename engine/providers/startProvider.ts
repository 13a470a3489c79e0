import type { Emit } from "../events.ts";
import type { Config } from "../workspace/config.ts";
import type { PluginFolder } from "../workspace/plugins.ts";
import type { Project } from "../workspace/project.ts";
import { startDynamicHost } from "./dynamicHost.ts";
import { type ProviderSettings, startHosted } from "./hosting.ts";
import { startPlugin } from "./pluginHost.ts";
import type { ResourceProvider } from "./provider.ts";
import { ProviderClient } from "./providerClient.ts";

export interface ProviderOptions extends ProviderSettings {
  project: Project;
  /** Name of the stack. */
  stack: string;
  config: Config;
  emit: Emit;
}

/** Starts a provider: the plugin, or without one the host of dynamic providers. */
export function startProvider(plugin: PluginFolder | undefined, options: ProviderOptions): ResourceProvider {
  return startHosted(plugin, options, () => startProcess(plugin, options)) ?? startProcess(plugin, options);
}

/** Starts a provider in a process of its own. */
function startProcess(plugin: PluginFolder | undefined, options: ProviderOptions): ProviderClient {
  const { project, stack, engineAddress, environment, emit } = options;
  const { workdir } = project;
  if (plugin) return new ProviderClient(startPlugin(plugin, options), { engineAddress, folder: plugin.folder });
  const service = startDynamicHost({
    project: project.name,
    stack,
    workdir,
    engineAddress,
    environment,
    onLine: (message, printed) => {
      emit({ type: "log", severity: printed === "stderr" ? "error" : "info", message, printed });
    },
  });
  return new ProviderClient(service, { engineAddress, folder: workdir });
}
