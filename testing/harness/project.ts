import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import { readSummary } from "../programs/pulumiSummary.ts";
import { runCommand } from "./commands.ts";

export const repository = join(import.meta.dirname, "../../..");
const microapps = join(repository, "dist/bundle/microapps.js");

/** How a command ended. `output` has both streams, in the order in which they came. */
export interface Ended {
  status: number | null;
  output: string;
}

/** A command that was started. */
export interface Running {
  /** Process ID of the engine. */
  pid: number;
  /** Output so far. */
  printed: () => string;
  ended: Promise<Ended>;
}

const event = z.looseObject({
  type: z.string(),
  op: z.string().optional(),
  name: z.string().optional(),
  internal: z.boolean().optional(),
});

const checkpoint = z.object({
  checkpoint: z.object({
    latest: z.object({
      resources: z
        .array(
          z.looseObject({
            urn: z.string(),
            id: z.string().optional(),
            inputs: z.record(z.string(), z.unknown()).default({}),
            outputs: z.record(z.string(), z.unknown()).default({}),
            dependencies: z.array(z.string()).default([]),
          }),
        )
        .default([]),
    }),
  }),
});

/** A resource as the state remembers it. */
export type StateResource = z.output<typeof checkpoint>["checkpoint"]["latest"]["resources"][number];

/** The salt of the passphrase "dev", as in this repository: a process derives the key once, which takes a third of a second. */
const encryptionsalt = "v1:+2w8hw2V2Tc=:v1:/8X+wlehSQdd5Hsf:J2tZab9CrIwyADaDprHAdwRKBswPGA==";

/**
 * Where each command of a project runs: always in the same folder, or in a fresh clone as in a pipeline, with the same files,
 * state and platform, another path and an empty home.
 */
export type Place = "folder" | "clones";

/** With TEST_CLONES set, all stories take place in clones. */
export const usualPlace: Place = process.env["TEST_CLONES"] === undefined ? "folder" : "clones";

/** A project in a folder of its own, run by the embedded engine as a user would. */
export class Project {
  place = usualPlace;
  #folder: string;
  readonly #program: string;
  /** Environment of commands, beside the usual variables. */
  readonly environment: Record<string, string | undefined>;
  readonly #name: string;

  private constructor(folder: string, program: string, name: string) {
    this.#folder = folder;
    this.#program = relative(folder, program);
    this.#name = name;
    this.environment = { PULUMI_CONFIG_PASSPHRASE: "dev", NO_COLOR: "1", ...homeIn(folder) };
  }

  /** Folder of Pulumi.yaml. */
  get folder(): string {
    return this.#folder;
  }

  /** Folder of the program. */
  get program(): string {
    return join(this.#folder, this.#program);
  }

  /** Leaves what other stacks and earlier versions would have left in the folder and at home. */
  async soil(): Promise<void> {
    const entry = { urn: "urn:pulumi:prod::tests::microapps:index:GeneratedApp::portal", thing: "GeneratedApp" };
    const line = `${JSON.stringify({ ...entry, startedAt: "2026-11-01T00:00:00Z" })}\n`;
    const name = "0123456789abcdef0123456789abcdef";
    const left = {
      [`.state/pulumi-microapps/journal/${name}.ndjson`]: line,
      [".state/pulumi-microapps/running/0123456789abcdef-0123456789abcdef-999999999-1-abcd-declares"]: "{}",
      ".state/pulumi-microapps/runs/0123456789abcdef/1-1-a-b.ndjson": line,
      ".state/pulumi-microapps/previews/0123456789abcdef/a": "left behind\n",
      ...Object.fromEntries(
        ["intents", "made", "deeds", "organizations"].map((kind) => [
          join(this.#program, ".microapps", kind, `${name}.json`),
          line,
        ]),
      ),
    };
    for (const [file, text] of Object.entries(left)) {
      const path = join(this.#folder, file);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, text, { mode: 0o600 });
    }
  }

  /** Goes on in a fresh clone: with the files of the project, the state and the platform, and with nothing else. */
  #clone(): void {
    if (this.place === "folder") return;
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "microapps-clone-")));
    renameSync(this.#folder, folder);
    const [before, home] = [homeIn(this.#folder), homeIn(folder)];
    this.#folder = folder;
    for (const name of Object.keys(home) as (keyof typeof home)[]) {
      if (this.environment[name] === before[name]) this.environment[name] = home[name];
    }
    this.environment["HOME"] = join(folder, ".home");
    emptyOf(this.program, ...Object.values(home), this.environment["HOME"]);
    mkdirSync(this.environment["HOME"]);
  }

  /** The project at the root of this repository, without a program, beside its files: a run is one process. */
  static async environment(): Promise<Project> {
    const project = await Project.copied("examples/environment", "microapps-example");
    const settings = await readFile(join(repository, "Pulumi.yaml"), "utf8");
    const here = settings.replaceAll("examples/environment/", "");
    await project.write("Pulumi.yaml", here.replace("path: plugin", `path: ${join(repository, "plugin")}`));
    await rm(join(project.folder, "index.ts"));
    return project;
  }

  /** A project of files alone, with this configuration in clear, whose environment is this file (default: dev.yaml). */
  static declaring(
    config: Readonly<Record<string, string>>,
    { file = "dev.yaml", ...settings }: { file?: string; outputs?: object } = {},
  ): Promise<Project> {
    const resources = { environment: { type: "microapps:Environment", properties: { file } } };
    return Project.running("", config, { main: undefined, runtime: "yaml", resources, ...settings });
  }

  /** A copy of the project of this name in a folder of this repository. */
  static async copied(source: string, name: string): Promise<Project> {
    const folder = await copied(source);
    return new Project(folder, folder, name);
  }

  /**
   * A project that runs this program on the stack `dev` with this configuration, all of it in clear.
   * @param settings more for Pulumi.yaml
   */
  static async running(
    program: string,
    config: Readonly<Record<string, string>>,
    settings: object = {},
  ): Promise<Project> {
    const folder = await freshFolder();
    const project = new Project(folder, folder, "tests");
    await linkPackages(folder);
    const runtime = { name: "nodejs", options: { typescript: false } };
    const files = {
      "Pulumi.yaml": JSON.stringify({
        name: "tests",
        runtime,
        main: "index.js",
        backend: { url: "file://." },
        ...settings,
      }),
      "Pulumi.dev.yaml": JSON.stringify({ encryptionsalt, config }),
      "package.json": JSON.stringify({ type: "module" }),
      "index.js": program,
    };
    for (const [file, text] of Object.entries(files)) await project.write(file, text);
    return project;
  }

  /** Starts a command of the executable on the stack `dev` in a process of its own. */
  start(command: string, ...flags: string[]): Running {
    this.#clone();
    if (isTurnOfPulumi())
      return spawned(pulumi, pulumiWords(command, flags), this.folder, environmentOf(this.environment));
    return started([microapps, ...words(command, flags)], this.folder, this.environment);
  }

  /** Runs a command of the executable on the stack `dev`. */
  run(command: string, ...flags: string[]): Promise<Ended> {
    this.#clone();
    const environment = environmentOf(this.environment);
    if (isTurnOfPulumi()) return spawned(pulumi, pulumiWords(command, flags), this.folder, environment).ended;
    return runCommand({ words: words(command, flags), folder: this.folder, environment });
  }

  /** Runs a command that must succeed with `--json`, and returns the planned or taken steps. */
  async steps(command: string, ...flags: string[]): Promise<string[]> {
    const output = await this.succeed(command, "--json", ...flags);
    const summary = readSummary(output);
    if (summary) return summary.resources.map(({ op, name }) => `${op} ${name}`);
    const events = output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => event.parse(JSON.parse(line)));
    return events.flatMap(({ type, op, name, internal }) =>
      type === "step" && op !== "same" && !internal ? [`${op ?? ""} ${name ?? ""}`] : [],
    );
  }

  /** The same without the steps that only read, in order. */
  async changes(command: string, ...flags: string[]): Promise<string[]> {
    return (await this.steps(command, ...flags)).filter((step) => !step.startsWith("refresh")).toSorted();
  }

  /** Runs a command that must succeed, and returns its output. */
  async succeed(command: string, ...flags: string[]): Promise<string> {
    const { status, output } = await this.run(command, ...flags);
    if (status !== 0) throw new Error(`${command} ended with ${String(status)}:\n${output}`);
    return output;
  }

  /** Nothing is left to do, and the platform matches the state, which a preview with the plugin checks as well. */
  async isSettled(readsFirst: boolean): Promise<void> {
    await this.succeed("preview --expect-no-changes");
    // Runs no program: with the same state its preview would be the same.
    if (!readsFirst) await this.succeed("refresh --preview-only --expect-no-changes");
  }

  /** Replaces a piece of a file of the program, which must be there exactly once. */
  async edit(file: string, piece: string, replacement: string): Promise<void> {
    const path = join(this.program, file);
    const text = await readFile(path, "utf8");
    if (text.split(piece).length !== 2) throw new Error(`"${piece}" is not in ${file} exactly once`);
    await writeFile(
      path,
      text.replace(piece, () => replacement),
    );
  }

  read(file: string): Promise<string> {
    return readFile(join(this.program, file), "utf8");
  }

  async write(file: string, text: string): Promise<void> {
    const path = join(this.program, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  /** The resources of the stack, without the engine's own, by the end of their URN. */
  async state(): Promise<Map<string, StateResource>> {
    const text = await this.stateText();
    const { resources } = checkpoint.parse(JSON.parse(text)).checkpoint.latest;
    const own = resources.filter(({ urn }) => !/::pulumi:(pulumi:Stack|providers:)/.test(urn));
    return new Map(own.map((resource) => [resource.urn.split("::").at(-1) ?? "", resource]));
  }

  get stateFile(): string {
    return join(this.folder, ".pulumi/stacks", this.#name, "dev.json");
  }

  /** The state file's text. */
  stateText(): Promise<string> {
    return readFile(this.stateFile, "utf8");
  }

  /** The emulator's data file. */
  get platform(): string {
    return join(this.program, ".microapps/dev.db");
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** Removes what a fresh clone does not have: notes of a program's folder, but for the data of an emulator, and a user's folders. */
export function emptyOf(program: string, ...homes: readonly string[]): void {
  for (const path of homes) rmSync(path, { recursive: true, force: true });
  const data = join(program, ".microapps");
  const left = readdirSync(program).includes(".microapps") ? readdirSync(data) : [];
  for (const name of left) if (!name.includes(".db")) rmSync(join(data, name), { recursive: true });
}

/** What a user's home is to a run; nothing is left in the user's own. */
const homeIn = (folder: string) => ({
  PULUMI_HOME: join(folder, ".pulumi-home"),
  XDG_STATE_HOME: join(folder, ".state"),
});

const words = (command: string, flags: readonly string[]): string[] => [
  ...command.split(" "),
  ...(command.startsWith("stack init") ? [] : ["--stack", "dev"]),
  ...flags,
];

/** A Pulumi CLI that runs the projects instead of the embedded engine. With TEST_PULUMI_TURNS the two take turns. */
const { TEST_PULUMI: pulumi = "", TEST_PULUMI_TURNS } = process.env;
/** True when that CLI runs all of them. */
export const runsInPulumi = pulumi !== "" && TEST_PULUMI_TURNS === undefined;
let turn = 0;
const isTurnOfPulumi = (): boolean => pulumi !== "" && (TEST_PULUMI_TURNS === undefined || ++turn % 2 === 1);

/** Words for the CLI, whose `--json` is of another form with each operation; `--output json` is that of both engines. */
const pulumiWords = (command: string, flags: readonly string[]): string[] => {
  const isOperation = /^(preview|up|refresh|destroy)\b/.test(command);
  const own = flags.flatMap((flag) => (flag === "--json" && isOperation ? ["--output", "json"] : [flag]));
  return [...words(command, own), "--non-interactive"];
};

/** Settings of whoever runs the tests, but not where Node keeps what it has compiled, and what the harness sets. */
const isSetting = (name: string): boolean =>
  /^(PULUMI|MICROAPPS|NODE)_/.test(name) && !["NODE_COMPILE_CACHE", "MICROAPPS_CONSISTENCY_SECONDS"].includes(name);

/** The environment of a process, without the settings of whoever runs the tests. */
export const environmentOf = (
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSetting(name))),
  ...own,
});

/** Runs a command line of the executable that has the account of a platform in its environment. */
export const runOn = (
  { url }: { url: string },
  { email, password }: { email: string; password: string },
  folder: string,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> => {
  const account = { MICROAPPS_ENDPOINT: url, MICROAPPS_EMAIL: email, MICROAPPS_PASSWORD: password };
  return runCommand({ words, folder, environment: environmentOf({ ...account, ...more }) });
};

/** Runs Node in a folder, without the settings of whoever runs the tests. */
export function started(
  commandLine: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
): Running {
  return spawned(process.execPath, ["--no-warnings", ...commandLine], cwd, environmentOf(environment));
}

/** Runs a program in a folder with these variables and no others. */
export function spawned(
  program: string,
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Running {
  const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const collect = (data: Buffer): void => void (output += data.toString());
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const status = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { pid: child.pid ?? 0, printed: () => output, ended: status.then((status) => ({ status, output })) };
}

/** The configuration of a stack for a platform, in clear; by default with the account that every emulator has. */
export const configOf = (
  { url }: { url: string },
  account: Readonly<Record<string, string>> = { email: "admin@example.com", password: "admin" },
): Record<string, string> =>
  Object.fromEntries(Object.entries({ endpoint: url, ...account }).map(([key, value]) => [`microapps:${key}`, value]));

/** A folder that holds nothing yet, under the name that processes in it see. */
export const freshFolder = async (): Promise<string> => realpath(await mkdtemp(join(tmpdir(), "microapps-")));

const linkPackages = (folder: string): Promise<void> =>
  symlink(join(repository, "node_modules"), join(folder, "node_modules"));

async function copied(example: string): Promise<string> {
  const folder = await freshFolder();
  const own = [".microapps", ".pulumi", "node_modules"];
  await cp(join(repository, example), folder, {
    recursive: true,
    filter: (path) => !own.includes(basename(path)),
  });
  await linkPackages(folder);
  return folder;
}
