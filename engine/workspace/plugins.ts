import path from "node:path";
import { EngineError, Refusal } from "../errors.ts";
import { isObject } from "../values/json.ts";

/** A provider plugin that Pulumi.yaml names. */
export interface PluginFolder {
  /** The package that it serves. */
  name: string;
  /** The folder with its executable. */
  folder: string;
  version: string | undefined;
}

/** Lists the plugins in `plugins` and `packages` of Pulumi.yaml; paths count from its folder. */
export function pluginsOf(raw: Record<string, unknown>, file: string): PluginFolder[] {
  const root = path.dirname(file);
  return [...namedProviders(raw["plugins"], file), ...localPackages(raw["packages"], file)].map((plugin) => ({
    ...plugin,
    folder: path.resolve(root, plugin.folder),
  }));
}

function namedProviders(plugins: unknown, file: string): PluginFolder[] {
  if (plugins === undefined || plugins === null) return [];
  if (!isObject(plugins)) throw new EngineError(`${file}: 'plugins' must be a map`);
  for (const kind of ["languages", "analyzers"]) {
    if (Array.isArray(plugins[kind]) && plugins[kind].length > 0) {
      throw new Refusal(`${file}: 'plugins.${kind}' are not served by the embedded engine: use the Pulumi CLI`);
    }
  }
  const providers = plugins["providers"] ?? [];
  if (!Array.isArray(providers)) throw new EngineError(`${file}: 'plugins.providers' must be a list`);
  return providers.map((entry: unknown): PluginFolder => {
    const { name, path: folder, version } = isObject(entry) ? entry : {};
    if (typeof name !== "string" || name === "" || typeof folder !== "string") {
      throw new EngineError(`${file}: each entry of 'plugins.providers' needs a 'name' and a 'path'`);
    }
    return { name, folder, version: typeof version === "string" ? version : undefined };
  });
}

/** Reads what `pulumi package add <folder>` writes. Refuses packages that would have to be downloaded. */
function localPackages(packages: unknown, file: string): PluginFolder[] {
  if (!isObject(packages)) return [];
  return Object.entries(packages).map(([name, entry]): PluginFolder => {
    const source = isObject(entry) ? entry["source"] : entry;
    const unsupported = isObject(entry)
      ? ["parameters", "extensions"].filter((field) => entry[field] !== undefined)
      : [];
    if (typeof source !== "string" || !isFolder(source) || unsupported.length > 0) {
      const what = unsupported.length > 0 ? `with '${unsupported.join("' and '")}'` : "that is not a folder";
      throw new Refusal(
        `${file}: the package '${name}' ${what} is not served by the embedded engine, which starts plugins in folders only: ` +
          "use the Pulumi CLI",
      );
    }
    return { name, folder: source, version: undefined };
  });
}

const isFolder = (source: string): boolean => /^\.{1,2}([/\\]|$)/.test(source) || path.isAbsolute(source);
