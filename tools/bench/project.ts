import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { variableOf } from "../../provider/pulumi/configuration/keys.ts";
import { peakMemory } from "./measure.ts";
import type { BenchPlatform } from "./platform.ts";

const repository = path.join(import.meta.dirname, "../../..");
const settings = "runtime: { name: nodejs, options: { typescript: false } }\nbackend: { url: file://. }\n";

/** Cost of a command. */
export interface Took {
  /** Milliseconds to its first line, and to its end. */
  first: number;
  whole: number;
  /** Most memory that its own process had, in MB. */
  memory: number;
}

/** The output of a command. */
export async function output([file = "", ...words]: readonly string[], cwd?: string): Promise<string> {
  return (await promisify(execFile)(file, words, { cwd, maxBuffer: 2 ** 28 })).stdout;
}

/** Version of the Pulumi CLI on PATH, if there is one. */
export const findPulumiVersion = (): Promise<string | undefined> =>
  output(["pulumi", "version"]).then(
    (text) => text.trim(),
    () => undefined,
  );

/** The engine inside of the package. */
export const embedded: readonly string[] = [
  process.execPath,
  "--no-warnings",
  path.join(repository, "dist/bundle/microapps.js"),
];

/** A process that ended well. */
export async function run(command: readonly string[], cwd?: string, env?: NodeJS.ProcessEnv): Promise<Took> {
  const started = performance.now();
  const [file = "", ...words] = command;
  const variables = { ...process.env, NODE_COMPILE_CACHE: undefined, ...env }; // each has its own cache, or none
  const child = spawn(file, words, { cwd, env: variables, stdio: ["ignore", "pipe", "inherit"] });
  let first = Number.NaN;
  let memory = Number.NaN;
  // Memory can be read while the process runs, and the peak never falls.
  const look = setInterval(() => {
    try {
      const seen = peakMemory(child.pid);
      if (!Number.isNaN(seen)) memory = seen;
    } catch {
      // It has just ended.
    }
  }, 20);
  const lines = createInterface({ input: child.stdout });
  lines.once("line", () => (first = performance.now() - started));
  const last: string[] = [];
  lines.on("line", (line) => void last.splice(0, last.push(line) - 20));
  const [status] = (await once(child, "close")) as [number | null]; // the event's first argument
  clearInterval(look);
  if (status !== 0) throw new Error([`${command.join(" ")} ended with ${String(status)}`, ...last].join("\n"));
  return { first, whole: performance.now() - started, memory };
}

/** A folder with a program, its stack `dev` on a platform. */
export class BenchProject {
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #command: readonly string[];

  private constructor(folder: string, environment: NodeJS.ProcessEnv, command: readonly string[]) {
    this.#folder = folder;
    this.#command = command;
    this.#environment = environment;
  }

  /**
   * @param from text of the program, or the folder of an example
   * @param command what runs it (default: the engine inside of the package)
   */
  static async make(
    platform: BenchPlatform,
    from: { program: string } | { example: string },
    command = embedded,
  ): Promise<BenchProject> {
    const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
    if ("program" in from) await writeFile(path.join(folder, "index.mjs"), from.program);
    else await cp(path.join(repository, "examples", from.example), folder, { recursive: true, filter: isSource });
    const main = "program" in from ? "index.mjs" : "index.ts";
    await writeFile(path.join(folder, "Pulumi.yaml"), `name: bench\nmain: ${main}\n${settings}`);
    await mkdir(path.join(folder, "home"));
    await symlink(path.join(repository, "node_modules"), path.join(folder, "node_modules"));
    const configured = Object.entries(platform.configuration).map(
      ([key, value]) => [variableOf(key.replace("microapps:", "")), value] as const,
    );
    const environment = {
      HOME: path.join(folder, "home"),
      PULUMI_HOME: process.env["PULUMI_HOME"] ?? path.join(homedir(), ".pulumi"), // its plugins
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_CONFIG_PASSPHRASE: "bench",
      ...Object.fromEntries(configured),
    };
    const project = new BenchProject(folder, environment, command);
    await project.run("stack", "init");
    return project;
  }

  /** Runs a command on the stack. */
  run(...words: string[]): Promise<Took> {
    return run([...this.#command, ...words, "--stack", "dev"], this.#folder, this.#environment);
  }

  /** Changes the program, or a file beside it. */
  write(text: string, file = "index.mjs"): Promise<void> {
    return writeFile(path.join(this.#folder, file), text);
  }

  up(): Promise<Took> {
    return this.run("up", "--yes", "--skip-preview");
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}

const isSource = (file: string): boolean => !/node_modules|\.microapps/.test(file);
