import { lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { EngineError, oneLine, printable, projectFolder, pulumiVersion } from "../../../engine/index.ts";
import { isIn, rootOf } from "../../../provider/files/files.ts";
import { originOf } from "../../../provider/pulumi/configuration.ts";
import { type EnvironmentEntry, environmentsFile, readEnvironments } from "../../report/environments.ts";
import { planName } from "../../report/rendering.ts";
import { statuses } from "../report/reporting.ts";
import { filesFrom } from "../templates.ts";

export type Engine = "pulumi" | "embedded";

/** The properties of a project's pipelines. */
export interface Pipelines {
  /** In an order in which they can be applied. */
  environments: readonly PipelineEnvironment[];
  engine: Engine;
  /** The branch that is applied. */
  branch: string;
  /** Folder of Pulumi.yaml in the repository; empty at its top. */
  folder: string;
  /** Version of the Pulumi CLI, and the SHA-256 of its archive for Linux on x64; undefined where nobody named it. */
  version: string;
  digest?: string | undefined;
  /** The command line that writes them. */
  command: string;
}

/** An environment as pipelines see it. */
interface PipelineEnvironment {
  name: string;
  stack: string;
  /** Its name in the names of jobs. */
  job: string;
  /** The output of the job that plans which has its digest. */
  plan: string;
  /** Names of the jobs that come first. */
  after: readonly string[];
  endpoint: string;
  /** The origin that its credential may go to. */
  origin: string;
}

/** Environments in the order of `after:`; what can't be carried out is refused. */
export function inOrder(entries: readonly EnvironmentEntry[]): PipelineEnvironment[] {
  if (entries.length === 0) throw problem("it lists nothing");
  const jobs = new Map<string, string>();
  for (const { name } of entries) {
    const job = jobOf(name);
    const other = [...jobs.keys()].find((each) => planName(each) === planName(name));
    if (other !== undefined) throw problem(`${other} and ${name} would be one job: rename one`);
    jobs.set(name, job);
  }
  const ordered: PipelineEnvironment[] = [];
  const isDone = (name: string): boolean => ordered.some((each) => each.name === name);
  for (let waiting = entries; waiting.length > 0;) {
    const next = waiting.find(({ after }) => after.every(isDone));
    if (!next) throw problem(circleOrMissing(waiting, jobs));
    ordered.push(toPipeline(next));
    waiting = waiting.filter((each) => each !== next);
  }
  return ordered;
}

const problem = (text: string): EngineError => new EngineError(`${environmentsFile}: ${oneLine(text)}`);

/** Jobs have no dots in their names. */
const jobOf = (name: string): string => name.replaceAll(".", "_");

function circleOrMissing(waiting: readonly EnvironmentEntry[], known: ReadonlyMap<string, string>): string {
  for (const { name, after } of waiting) {
    const missing = after.find((each) => !known.has(each));
    if (missing !== undefined) return `${name} comes after ${missing}, which it does not list`;
  }
  return `${waiting.map(({ name }) => name).join(", ")} wait for each other: leave out one after`;
}

function toPipeline({ name, stack, endpoint, after }: EnvironmentEntry): PipelineEnvironment {
  if (endpoint === undefined) throw problem(`${name} has no endpoint: its credential goes there, and nowhere else`);
  const origin = originOf(endpoint);
  if (origin === undefined) throw problem(`${name}.endpoint is not the address of a platform`);
  for (const text of [stack, endpoint]) {
    // Quotes, dollars and braces would have a meaning in a pipeline or in its shell.
    if (!/^[\w.:/?=&%@+~,[\]-]*$/.test(text)) throw problem(`${JSON.stringify(text)} can't stand in a pipeline`);
  }
  return { name, stack, job: jobOf(name), plan: planName(name), after: after.map(jobOf), endpoint, origin };
}

/** Whose pipelines are written. */
export type Flavour = "github" | "gitlab";

/** Values of each system: what stands before the names of its files, its own folders, and how a job shows a page. */
const systems: Readonly<Record<Flavour, Readonly<Record<string, string>>>> = {
  github: {
    top: ".github/workflows/",
    temp: "$RUNNER_TEMP",
    root: "$GITHUB_WORKSPACE",
    outputs: "$GITHUB_OUTPUT",
    plans: "$GITHUB_OUTPUT",
    summary: ' >> "$GITHUB_STEP_SUMMARY"',
  },
  gitlab: {
    top: ".",
    temp: "$temp",
    root: "$CI_PROJECT_DIR",
    outputs: "$temp/report.env",
    plans: "$temp/plan.env",
    summary: "",
  },
};

/** Git at the top of the clone: a branch may have what Git takes for a repository in any folder below. */
const gitAt = (root: string): string => `git -C "${root}" -c safe.bareRepository=explicit`;

/** Renders the pipelines of a project, by file. */
export function renderPipelines(flavour: Flavour, pipelines: Pipelines): Record<string, string> {
  const { environments, engine, branch, folder, version, digest = "", command } = pipelines;
  const system = systems[flavour];
  const onBranch = `$CI_COMMIT_BRANCH == "${branch}"`;
  const values = {
    ...system,
    ...{ branch, folder, version, digest, command, pulumi: engine === "pulumi" },
    git: gitAt(system["root"] ?? ""),
    install: "npm ci --ignore-scripts --no-audit --no-fund", // runs nothing of what is installed
    microapps: "node_modules/.bin/microapps",
    releases: "https://get.pulumi.com/releases/sdk",
    below: folder === "" ? "" : `${folder}/`,
    runner: engine === "embedded" ? "self-hosted" : "ubuntu-latest",
    ofRequest: { ref: "${{ github.event.pull_request.head.sha }}" },
    onRequest: `$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "${branch}"`,
    onBranch: `${onBranch} && ($CI_PIPELINE_SOURCE == "push" || $CI_PIPELINE_SOURCE == "web")`,
    onSchedule: `${onBranch} && $CI_PIPELINE_SOURCE == "schedule"`,
    environments: environments.map(({ after, ...each }, index) => ({
      ...each,
      isFirst: index === 0,
      first: ["plan", ...after.map((job) => `apply-${job}`)].join(", "),
    })),
  };
  const own = `ci/templates/${flavour}`;
  const files = Object.entries(filesFrom(own, values, `${own}/parts`, "ci/templates/scripts"));
  return Object.fromEntries(files.map(([name, text]) => [(system["top"] ?? "") + name, text]));
}

/** Flags of the command. */
export interface PipelineOptions {
  cwd?: string;
  engine: Engine;
  branch: string;
  cliVersion: string;
  cliDigest?: string;
  output?: string;
  force?: boolean;
  check?: boolean;
}

/** Writes the pipelines, or compares them; returns the messages. */
export function writePipelines(flavour: Flavour, options: PipelineOptions): string {
  const { root, pipelines } = described(flavour, options);
  const files = Object.entries(renderPipelines(flavour, pipelines)).map(([name, text]) => {
    return { name, text, was: textAt(root, name) };
  });
  const stale = files.filter(({ text, was }) => text !== was);
  if (options.check) {
    if (stale.length > 0) {
      const names = stale.map(({ name, was }) => `${name} ${was === undefined ? "is missing" : "is otherwise"}`);
      throw new EngineError(`${names.join("; ")}: write it with '${pipelines.command} --force'`, statuses.changes);
    }
    return report(files.map(({ name }) => `${name} is current`));
  }
  const others = stale.filter(({ was }) => was !== undefined);
  if (others.length > 0 && !options.force) {
    const names = others.map(({ name }) => name).join(", ");
    throw new EngineError(`${names}: it is there and is otherwise; nothing was written: add --force to overwrite it`);
  }
  for (const { name, text } of stale) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return report(files.map((file) => `${file.name} ${stale.includes(file) ? "written" : "is current"}`));
}

const report = (lines: readonly string[]): string => printable(lines.map((line) => `${line}\n`).join(""), false);

function described(flavour: Flavour, options: PipelineOptions): { root: string; pipelines: Pipelines } {
  const cwd = path.resolve(options.cwd ?? ".");
  const project = realpathSync(projectFolder(cwd));
  const output = options.output === undefined ? undefined : path.resolve(cwd, options.output);
  if (output !== undefined) mkdirSync(output, { recursive: true });
  const root = output === undefined ? rootOf(project) : realpathSync(output);
  if (!isIn(root, project)) {
    throw new EngineError(`--output names the top of the repository, and ${project} is not in it`);
  }
  const { engine, branch, cliVersion: version, cliDigest: digest } = options;
  if (digest !== undefined && !/^[0-9a-f]{64}$/.test(digest)) {
    throw new EngineError("--cli-digest is the SHA-256 of the CLI's archive, 64 digits and letters from a to f");
  }
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new EngineError("--cli-version is three numbers, such as 3.260.0");
  const folder = path.relative(root, project).replaceAll("\\", "/");
  const flags = [
    `--engine ${engine}`,
    ...(branch === "main" ? [] : [`--branch ${branch}`]),
    ...(version === pulumiVersion ? [] : [`--cli-version ${version}`]),
    ...(digest === undefined ? [] : [`--cli-digest ${digest}`]),
  ];
  const command = `microapps ci ${flavour} ${flags.join(" ")}`;
  return {
    root,
    pipelines: {
      environments: inOrder(listed(project)),
      engine,
      branch: named(branch),
      folder: named(folder),
      version,
      digest,
      command,
    },
  };
}

/** A name that stands in a pipeline, where a few signs have a meaning. */
function named(text: string): string {
  if (/^[\w./@-]*$/.test(text)) return text;
  throw new EngineError(`${JSON.stringify(text)} can't stand in a pipeline: use letters, digits, and ._-/@`);
}

function listed(project: string): readonly EnvironmentEntry[] {
  const entries = readEnvironments(project);
  if (entries) return entries;
  throw new EngineError(`there is no ${environmentsFile} beside Pulumi.yaml: list the environments there first`);
}

/** The text of a file; undefined where there is none. A link is refused: it would be followed. */
function textAt(root: string, name: string): string | undefined {
  const parts = name.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const place = path.join(root, ...parts.slice(0, length));
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) return undefined;
    if (found.isSymbolicLink()) throw new EngineError(`${place} is a symbolic link: nothing was written`);
  }
  return readFileSync(path.join(root, name), "utf8");
}
