import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { HostProgram, HostProvider } from "../../engine/cli/cli.ts";
import type { StepInfo } from "../../engine/index.ts";
import { packageFolder } from "../../machine/ownPackage.ts";
import {
  countRowsLeft,
  describeRenaming,
  findRenamings,
  type RenamedSide,
  type RowsLeft,
} from "../../provider/environment/leaving.ts";
import { toShownNames, describeNamed, findOwnResource, readName } from "../../provider/pulumi/names.ts";

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

/** A step of an engine's preview. */
type PreviewStep = Pick<StepInfo, "op" | "urn" | "properties" | "departure">;

/** A hint at the resource that comes. */
interface Hint {
  urn: string;
  message: string;
}

interface OfStep extends RenamedSide {
  step: string;
  /** Path in the file; undefined for a resource of a program. */
  path: readonly string[] | undefined;
  departure: PreviewStep["departure"];
}

/** Finds things of a preview that may only have another key, with the line that keeps each one what it is. */
export class RenamingWatch {
  readonly #left: OfStep[] = [];
  readonly #came: OfStep[] = [];
  readonly #environments = new Set<string>();

  /** Takes a step; parents come before what is below them, and deletions last. */
  take({ op, urn, properties = {}, departure }: PreviewStep): void {
    const { kind, name } = readName(urn);
    if (kind === "Environment") this.#environments.add(name);
    if (op !== "create" && op !== "delete") return;
    const root = [...this.#environments].find((each) => name.startsWith(`${each}/`));
    const below = root === undefined ? name : name.slice(root.length + 1);
    const path = root === undefined ? undefined : pathOf(kind, below);
    (op === "create" ? this.#came : this.#left).push({
      kind,
      step: urn,
      urn: path ? undefined : urn,
      name: below,
      values: toShownNames(properties),
      ...{ path, departure },
    });
  }

  /** The hints, once all steps are known. */
  hints(): Hint[] {
    return findRenamings(this.#left, this.#came, rowsLeft).map((renaming) => ({
      urn: renaming.came.step,
      message: describeRenaming(renaming, renaming.came.path?.join(".")),
    }));
  }
}

/** Rows of a seed that leaves, as its provider has counted them, or by the keys that both name. */
function rowsLeft(left: OfStep, came: OfStep): RowsLeft | undefined {
  if (!left.departure) return countRowsLeft(left, came);
  const { kept, gone } = left.departure;
  return { stay: kept[describeNamed(readName(came.step))] ?? 0, go: gone };
}

/** The place of a thing in an Environment file. */
function pathOf(kind: string, name: string): string[] {
  const [first = "", ...rest] = name.split("/");
  switch (kind) {
    case "SeedRows":
      return ["seeds", name];
    case "GeneratedApp":
      return ["apps", name];
    case "Notification":
      return ["notifications", name];
    case "RowFile":
      return ["seeds", first, "files", ...rest];
    default: {
      const [team, ...within] = rest;
      const people = kind === "TeamMember" ? ["members", ...within] : within; // or "roster"
      return ["organizations", first, ...(team === undefined ? [] : ["teams", team, ...people])];
    }
  }
}
