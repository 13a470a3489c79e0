import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { HostProgram, HostProvider } from "../../engine/cli/cli.ts";
import { packageFolder } from "../../machine/ownPackage.ts";
import { findOwnResource } from "../../provider/pulumi/names.ts";

/** Set to give each provider a process of its own, where one is looked at or killed. */
const separately = "MICROAPPS_PROVIDER_PROCESS";

/** The folder that a run began in. */
let from: string | undefined;

/**
 * Hosts our own provider in the engine's process, where the program would use this very package: a process of its own
 * takes a quarter of a short run. It works in the program's folder, as it would there.
 */
export const hostOwn: HostProvider = (hosting) => {
  const { plugin, workdir } = hosting;
  const [folder, own] =
    plugin === undefined ? [folderFor(workdir), packageFolder] : [plugin, join(packageFolder, "plugin")];
  if (process.env[separately] || folder === undefined || !isSame(folder, own)) return undefined;
  return begin(hosting);
};

/**
 * Runs a project of files alone, `runtime: yaml` with Environments: its Pulumi.yaml, its configuration and the files that
 * it declares are read, and nothing of its folder is executed.
 */
export const hostFiles: HostProgram = ({ file, runtime, workdir, content }) => {
  if (runtime !== "yaml") return undefined;
  return {
    packages: ["microapps"],
    host: (hosting) => (hosting.plugin === undefined || hosting.plugin === "microapps" ? begin(hosting) : undefined),
    run: async (run) => {
      const { runFiles } = await import("./hosted/files.ts");
      await runFiles({ file, folder: workdir, content }, run);
    },
  };
};

/** Begins to work in the folder of a program, with our own provider. */
function begin({ plugin, workdir, engine, log, recall }: Parameters<HostProvider>[0]): ReturnType<HostProvider> {
  from ??= process.cwd();
  process.chdir(workdir);
  const load = async () => {
    const { hostDynamic, hostPlugin } = await import("./hosted/providers.ts");
    return plugin === undefined ? hostDynamic(engine, log, recall) : hostPlugin(engine, log, recall);
  };
  const provider = load().then(({ call, departs, end }) => ({
    ...{ call, departs },
    end: async () => {
      await end();
      if (from !== undefined) process.chdir(from);
      from = undefined;
    },
  }));
  return { provider, servesCode: (code) => findOwnResource(code) !== undefined };
}

/** The folder of the package that a program's dynamic resources name; undefined where there is none. */
function folderFor(workdir: string): string | undefined {
  try {
    return dirname(createRequire(join(workdir, "package.json")).resolve("pulumi-microapps/package.json"));
  } catch {
    return undefined;
  }
}

function isSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
