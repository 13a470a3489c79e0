import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { request } from "undici";
import { stringify } from "yaml";
import { readCalls } from "../../emulator/index.ts";
import { createClient, type Client } from "../../platform/client/index.ts";
import { variableOf } from "../../provider/pulumi/configuration.ts";

export const repository = path.join(import.meta.dirname, "../../..");
const administrator = { email: "admin@example.com", password: "admin", apiKey: "dev-key" };

/** The command line inside of the package, with its engine. */
export const microapps: readonly string[] = [
  process.execPath,
  "--no-warnings",
  path.join(repository, "dist/bundle/microapps.js"),
];

/** One figure beside what it has to reach. */
export interface Figure {
  job: string;
  value: number;
  /** Lowest and highest of the runs that `value` is the median of; absent for what was measured once. */
  range?: readonly [number, number];
  /** `ratio`, `calls`, `ms`, `s`, `MB`, `KB`. */
  unit: string;
  /** The value must not be above it. */
  target: number;
}

/** A figure of one measurement, or of several: their median, so that a hiccup of the machine does not count. */
export function figure(job: string, measured: number | readonly number[], unit: string, target: number): Figure {
  const rounded = (value: number): number => (unit === "calls" ? value : Number(value.toPrecision(3)));
  if (typeof measured === "number") return { job, value: rounded(measured), unit, target };
  const range = [rounded(Math.min(...measured)), rounded(Math.max(...measured))] as const;
  return { job, value: rounded(median(measured)), range, unit, target };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Milliseconds that a piece of work takes. */
export async function timeWork(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Does two pieces of work in turn, and returns what the first takes as a multiple of the second. */
export async function ratiosOf(
  rounds: number,
  ours: () => Promise<unknown>,
  floor: () => Promise<unknown>,
): Promise<number[]> {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const least = await timeWork(floor);
    ratios.push((await timeWork(ours)) / least);
  }
  return ratios;
}

/** Does a piece of work for each, so many at a time. */
export async function each<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Most memory that a process ever had, in MB; known on Linux alone. */
export function peakMemory(pid: number | undefined): number {
  if (pid === undefined || process.platform !== "linux") return Number.NaN;
  const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1]) / 1024;
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

/** Cost of a command: seconds but for memory, which is the most that its own process had, in MB. */
export interface Took {
  /** To its first line, and to its end. */
  first: number;
  whole: number;
  /** Processor time of it and of all processes that it waited for. */
  processor: number;
  memory: number;
}

/** Seconds in what `times` of a shell prints, `0m1.234s`. */
const secondsIn = (text: string): number => {
  const [, minutes = "0", seconds = "0"] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
};

/** Runs a command to its end; throws where that is not 0. */
export async function run(command: readonly string[], cwd?: string, env?: NodeJS.ProcessEnv): Promise<Took> {
  const started = performance.now();
  const shell = ["-c", 'echo $$ >&3; "$0" "$@"; status=$?; times >&3; exit $status', ...command];
  const variables = { ...process.env, NODE_COMPILE_CACHE: undefined, ...env }; // each has its own cache, or none
  const child = spawn("sh", shell, { cwd, env: variables, stdio: ["ignore", "pipe", "inherit", "pipe"] });
  let [first, memory, told] = [Number.NaN, Number.NaN, ""];
  child.stdio[3]?.on("data", (text: Buffer) => (told += text.toString()));
  // The peak never falls: the last look before the end counts.
  const look = setInterval(() => {
    const [pid] = readChildren(Number(told.split("\n")[0]));
    try {
      if (pid !== undefined) memory = peakMemory(pid) || memory; // of one that has just ended nothing is known
    } catch {
      // It has just ended.
    }
  }, 20);
  const last: string[] = [];
  const lines = createInterface({ input: child.stdout ?? Readable.from([]) });
  lines.once("line", () => (first = (performance.now() - started) / 1000));
  lines.on("line", (line) => void last.splice(0, last.push(line) - 20));
  const [status] = (await once(child, "close")) as [number | null]; // the event's first argument
  clearInterval(look);
  if (status !== 0) throw new Error([`${command.join(" ")} ended with ${String(status)}`, ...last].join("\n"));
  const processor = (told.trim().split("\n").at(-1) ?? "").split(" ").map(secondsIn);
  return {
    ...{ first, memory, whole: (performance.now() - started) / 1000 },
    processor: processor.reduce((sum, one) => sum + one, 0),
  };
}

/** Process IDs of the children of a process; none where nobody knows. */
function readChildren(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  try {
    return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").map(Number) : [];
  } catch {
    return [];
  }
}

/** An emulator in a process of its own, as a platform is. */
export class BenchPlatform {
  readonly url: string;
  readonly client: Client;
  /** Milliseconds from the start of the process to its address. */
  readonly startedIn: number;
  readonly #token: string;
  readonly #data: string;
  readonly #stop: () => Promise<void>;
  #session: Promise<Record<string, string>> | undefined;

  private constructor(url: string, console: string, data: string, startedIn: number, stop: () => Promise<void>) {
    this.url = url;
    this.#token = new URL(console.replace("console: ", "")).hash.replace("#token=", "");
    this.startedIn = startedIn;
    this.client = createClient({ endpoint: url, ...administrator });
    this.#data = data;
    this.#stop = stop;
  }

  /** Starts one with tables and users, and a data file. */
  static async start(tables: object = {}, users: readonly object[] = []): Promise<BenchPlatform> {
    const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
    const seed = path.join(folder, "platform.yaml");
    const data = path.join(folder, "platform.db");
    await writeFile(seed, stringify({ administrator, users, tables }));
    const started = performance.now();
    const words = [...microapps.slice(1), "emulator", "--data", data, "--seed", seed];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = async (): Promise<string> => String((await lines.next()).value);
    const url = await line();
    return new BenchPlatform(url, await line(), data, performance.now() - started, async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(folder, { recursive: true, force: true });
    });
  }

  get configuration(): Record<string, string> {
    const { email, password, apiKey } = administrator;
    return {
      "microapps:endpoint": this.url,
      "microapps:email": email,
      "microapps:password": password,
      "microapps:apiKey": apiKey,
    };
  }

  /** How many calls a piece of work makes, login and logout aside. */
  async calls(work: () => Promise<unknown>): Promise<number> {
    const count = (): number => readCalls(this.#data).filter(({ endpoint }) => !/^log(in|out)$/.test(endpoint)).length;
    const before = count();
    await work();
    return count() - before;
  }

  /** Headers of a session of the platform's administrator, the same ones each time. */
  session(): Promise<Record<string, string>> {
    const { email, password } = administrator;
    return (this.#session ??= this.client.login({ email, password }).then(({ authToken, userId }) => ({
      "content-type": "application/json",
      "x-auth-token": authToken,
      "x-user-id": userId,
    })));
  }

  /** The floor: posts a body that is ready, and drops the answer. */
  async post(endpoint: string, body: string): Promise<void> {
    const headers = await this.session();
    const answer = await request(`${this.url}/api/${endpoint}`, { method: "POST", headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`${endpoint} answered ${answer.statusCode}`);
  }

  /** Has the platform wait before each answer, as one on another continent does. */
  async delay(milliseconds: number): Promise<void> {
    const faults = milliseconds === 0 ? [] : [{ kind: "slow", milliseconds }];
    const headers = { authorization: `Bearer ${this.#token}` };
    const answer = await request(`${this.url}/_emulator/faults`, {
      ...{ method: "PUT", headers, body: JSON.stringify({ faults }) },
    });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`faults answered ${answer.statusCode}`);
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.#stop();
  }
}

/** A folder with a program, its stack `dev` on a platform. */
export class BenchProject {
  readonly folder: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #command: readonly string[];

  private constructor(folder: string, environment: NodeJS.ProcessEnv, command: readonly string[]) {
    this.folder = folder;
    this.#command = command;
    this.#environment = environment;
  }

  /**
   * @param from text of a program, or files alone: dev.yaml, which is written later or an example has
   * @param command what runs it
   */
  static async make(
    platform: BenchPlatform,
    from: { program?: string; example?: string },
    command = microapps,
  ): Promise<BenchProject> {
    const folder = await mkdtemp(path.join(tmpdir(), "microapps-bench-"));
    const { program, example } = from;
    if (program !== undefined) await writeFile(path.join(folder, "index.mjs"), program);
    if (example !== undefined)
      await cp(path.join(repository, "examples", example), folder, { recursive: true, filter: isSource });
    const runtime =
      program === undefined
        ? "runtime: yaml\nresources: { environment: { type: microapps:Environment, properties: { file: dev.yaml } } }"
        : "main: index.mjs\nruntime: { name: nodejs, options: { typescript: false } }";
    await writeFile(path.join(folder, "Pulumi.yaml"), `name: bench\n${runtime}\nbackend: { url: file://. }\n`);
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
    return run([...this.#command, ...words, "--stack", "dev"], this.folder, this.#environment);
  }

  /** Changes the program, or a file beside it. */
  write(text: string, file = "index.mjs"): Promise<void> {
    return writeFile(path.join(this.folder, file), text);
  }

  up(...words: string[]): Promise<Took> {
    return this.run("up", "--yes", "--skip-preview", ...words);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

const isSource = (file: string): boolean => !/node_modules|\.microapps|Pulumi\./.test(file);
