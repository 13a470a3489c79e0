import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { EngineError, messageOf, Refusal, systemCode } from "../errors.ts";
import { isName, nameRule } from "../state/fileBackend.ts";
import { isObject } from "../values/json.ts";
import { filesIn, projectFileAmong } from "./names.ts";
import { readSettings, SettingsError } from "./strict.ts";

/** One entry of `config` in Pulumi.yaml. Its type is for the Pulumi CLI. */
interface ConfigDeclaration {
  /** The value where the stack has none; undefined where there is none. */
  fallback: unknown;
  secret: boolean;
}

export interface Project {
  name: string;
  file: string;
  /** The folder of Pulumi.yaml. */
  root: string;
  /** The language host of the program. Stacks and configuration work with any, runs with few. */
  runtime: string;
  /** The folder that the program and the provider run in. */
  workdir: string;
  /** The program in `workdir`: `.` or a file name. */
  entry: string;
  typescript: boolean;
  nodeArguments: string[];
  plugins: PluginFolder[];
  backendUrl: string | undefined;
  refreshAlways: boolean;
  /** The range of versions of the Pulumi CLI that may run it. */
  requiredVersion: string | undefined;
  config: Record<string, ConfigDeclaration>;
  /** The folder of the Pulumi.<stack>.yaml files. */
  stackConfigDir: string;
  content: Readonly<Record<string, unknown>>;
}

/** Finds Pulumi.yaml in `from` or above it, as Pulumi does. */
export function findProject(from: string): string {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const { file, why } = projectFileAmong(namesIn(folder).filter((name) => isFile(path.join(folder, name))));
    if (why !== undefined) throw new Refusal(`${folder}: ${why}`);
    if (file !== undefined) return path.join(folder, file);
    if (path.dirname(folder) === folder) {
      throw new EngineError(`no Pulumi.yaml project file found in ${path.resolve(from)} or above it`);
    }
  }
}

/** Names in a folder; none in one above the project that this user may pass and not list. */
function namesIn(folder: string): string[] {
  try {
    return filesIn(folder);
  } catch (error) {
    if (systemCode(error) === "EACCES") return [];
    throw error;
  }
}

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true;

export function readProject(file: string): Project {
  const raw = readYaml(file);
  const name = raw["name"];
  if (typeof name !== "string" || name === "") throw new EngineError(`${file}: 'name' is missing`);
  if (!isName(name)) throw new EngineError(`${file}: 'name' is not the name of a project: ${nameRule}`);
  const runtime = raw["runtime"];
  const runtimeName = isObject(runtime) ? runtime["name"] : runtime;
  if (typeof runtimeName !== "string") throw new EngineError(`${file}: 'runtime' is missing`);
  if (isObject(raw["environment"]) && Object.keys(raw["environment"]).length > 0) {
    throw new Refusal(`${file}: 'environment' is not served by the embedded engine: use the Pulumi CLI`);
  }
  const runtimeOptions = isObject(runtime) && isObject(runtime["options"]) ? runtime["options"] : {};
  const root = path.dirname(file);
  const { workdir, entry } = programOf(root, raw["main"]);
  const options = isObject(raw["options"]) ? raw["options"] : {};
  const backend = isObject(raw["backend"]) ? raw["backend"]["url"] : undefined;
  // A string in `config` is the old name of `stackConfigDir`.
  const configDir = typeof raw["config"] === "string" ? raw["config"] : raw["stackConfigDir"];
  return {
    name,
    file,
    root,
    runtime: runtimeName,
    workdir,
    entry,
    typescript: runtimeOptions["typescript"] !== false && isTypeScript(workdir, entry),
    plugins: pluginsOf(raw, file),
    nodeArguments: typeof runtimeOptions["nodeargs"] === "string" ? shellWords(runtimeOptions["nodeargs"]) : [],
    backendUrl: typeof backend === "string" ? backend : undefined,
    refreshAlways: options["refresh"] === "always",
    requiredVersion: requiredVersionIn(raw, file),
    config: isObject(raw["config"]) ? declarations(raw["config"]) : {},
    stackConfigDir: typeof configDir === "string" ? path.resolve(root, configDir) : root,
    content: raw,
  };
}

function requiredVersionIn({ requiredPulumiVersion }: Record<string, unknown>, file: string): string | undefined {
  if (requiredPulumiVersion === undefined || typeof requiredPulumiVersion === "string")
    return requiredPulumiVersion || undefined;
  throw new EngineError(`${file}: 'requiredPulumiVersion' must be a text such as '>=3.200.0'`);
}

/** Reads a YAML file that holds a map. */
export function readYaml(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new EngineError(`could not read ${file}: ${messageOf(error)}`);
  }
  return readBelieved(file, () => readSettings(text));
}

/** Runs what reads a file of settings, and names the file where it is not believed. */
export function readBelieved<Content>(file: string, read: () => Content): Content {
  try {
    return read();
  } catch (error) {
    if (error instanceof SettingsError) throw new EngineError(`${file}:${error.line}: ${error.message}`);
    throw error;
  }
}

/** Refuses a run without its program. Stacks and configuration may be there before it. */
export function refuseMissingProgram({ file, workdir, entry }: Project): void {
  const program = path.resolve(workdir, entry);
  if (!existsSync(program))
    throw new EngineError(`${file}: project 'main' could not be read: ${program} does not exist`);
}

function programOf(root: string, main: unknown): { workdir: string; entry: string } {
  if (typeof main !== "string" || main === "") return { workdir: root, entry: "." };
  const program = path.resolve(root, main);
  if (statSync(program, { throwIfNoEntry: false })?.isDirectory()) return { workdir: program, entry: "." };
  return { workdir: path.dirname(program), entry: path.basename(program) };
}

/** True if the program needs ts-node, which takes time to load. */
function isTypeScript(workdir: string, entry: string): boolean {
  if (entry !== ".") return /\.[cm]?ts$/.test(entry);
  const manifest = path.join(workdir, "package.json");
  let main = "";
  if (existsSync(manifest)) {
    try {
      const parsed: unknown = JSON.parse(readFileSync(manifest, "utf8"));
      if (isObject(parsed) && typeof parsed["main"] === "string") main = parsed["main"];
    } catch {
      // The runner reads the file too and reports what is wrong with it.
    }
  }
  if (main !== "" && existsSync(path.join(workdir, main))) return /\.[cm]?ts$/.test(main);
  return !existsSync(path.join(workdir, "index.js"));
}

function declarations(config: Record<string, unknown>): Record<string, ConfigDeclaration> {
  return Object.fromEntries(
    Object.entries(config).map(([key, declared]): [string, ConfigDeclaration] => {
      const written = isObject(declared) ? declared : { default: declared };
      return [key, { fallback: written["default"] ?? written["value"], secret: written["secret"] === true }];
    }),
  );
}

const shellWords = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");

/** A provider plugin that Pulumi.yaml names. */
export interface PluginFolder {
  /** The package that it serves. */
  name: string;
  /** The folder with its executable. */
  folder: string;
}

/** Lists the plugins in `plugins` and `packages` of Pulumi.yaml; paths count from its folder. */
function pluginsOf(raw: Record<string, unknown>, file: string): PluginFolder[] {
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
    const { name, path: folder } = isObject(entry) ? entry : {};
    if (typeof name !== "string" || name === "" || typeof folder !== "string") {
      throw new EngineError(`${file}: each entry of 'plugins.providers' needs a 'name' and a 'path'`);
    }
    return { name, folder };
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
    return { name, folder: source };
  });
}

const isFolder = (source: string): boolean => /^\.{1,2}([/\\]|$)/.test(source) || path.isAbsolute(source);
