import { spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { repository } from "../harness/project.ts";

/** How a job ended. */
export interface JobEnd {
  status: number;
  /** Output of its steps. */
  log: string;
  /** The page of the job. */
  summary: string;
  outputs: Record<string, string>;
  /** Where its clone is. */
  folder: string;
}

type Variables = Readonly<Record<string, string>>;

/** Secrets and variables of the hosting system's environment, for the jobs that name it. */
export interface Settings {
  vars: Variables;
  secrets: Variables;
}

const texts = z.record(z.string(), z.coerce.string());
const step = z.looseObject({
  id: z.string().optional(),
  uses: z.string().optional(),
  with: texts.default({}),
  env: texts.default({}),
  run: z.string().optional(),
});
const defaults = z.object({ run: z.object({ "working-directory": z.string().optional() }) }).default({ run: {} });
const gitHubJob = z.looseObject({
  if: z.string().optional(),
  environment: z.string().optional(),
  outputs: texts.default({}),
  defaults,
  steps: z.array(step),
});
const workflow = z.looseObject({ defaults, jobs: z.record(z.string(), gitHubJob) });
const gitLabJob = z.looseObject({
  variables: texts.default({}),
  environment: z.object({ name: z.string() }).optional(),
  script: z.array(z.string()),
  artifacts: z.object({ paths: z.array(z.string()) }).optional(),
});

/** Runs the jobs that pipelines declare: their very steps, each job in a fresh clone, with the variables that it declares. */
export class Runner {
  readonly #folder: string;
  readonly #remote: string;
  readonly #settings: Readonly<Record<string, Settings>>;
  readonly #bin: string;

  /** @param settings of each environment, and under "" those of the repository */
  constructor(folder: string, remote: string, settings: Readonly<Record<string, Settings>>) {
    this.#folder = folder;
    this.#remote = remote;
    this.#settings = settings;
    this.#bin = join(folder, "bin");
    for (const own of ["home", "temporary"]) mkdirSync(join(folder, own), { recursive: true });
    mkdirSync(this.#bin);
    this.program("node", `exec "${process.execPath}" "$@"`);
    // Installs what this repository has, and writes down which lock it was asked for.
    this.program(
      "npm",
      `[ "$1" = ci ] && [ -f package-lock.json ] || { echo "npm $*: no lock here" >&2; exit 1; }
echo "$PWD $(cat package-lock.json)" >> "${this.#folder}/installed"
mkdir -p node_modules/.bin && ln -s "${repository}"/node_modules/* node_modules/
printf '#!/bin/sh\\nexec node --no-warnings "${repository}/dist/bundle/microapps.js" "$@"\\n' > node_modules/.bin/microapps
chmod +x node_modules/.bin/microapps`,
    );
  }

  /** The locks that were installed, each behind its folder. */
  get installed(): string[] {
    return readFileSync(join(this.#folder, "installed"), "utf8").trim().split("\n");
  }

  /** A job of a workflow of GitHub; undefined when its condition does not hold. */
  async gitHub(file: string, name: string, given: Context, own: Variables = {}): Promise<JobEnd | undefined> {
    const whole = workflow.parse(parse(file));
    const job = gitHubJob.parse(whole.jobs[name]);
    const settings = this.#settings[job.environment ?? ""] ?? { vars: {}, secrets: {} };
    const steps: Record<string, { outputs: Variables }> = {};
    const place = mkdtempSync(join(this.#folder, "job-"));
    const context = { ...given, ...settings, steps, runner: { temp: join(place, "temp") } };
    if (job.if !== undefined && evaluated(job.if, context) !== "true") return undefined;
    for (const each of ["work", "temp"]) mkdirSync(join(place, each));
    const files = { GITHUB_STEP_SUMMARY: "summary", GITHUB_OUTPUT: "output", GITHUB_PATH: "path" };
    const standing = Object.fromEntries(Object.entries(files).map(([key, each]) => [key, join(place, each)]));
    const within = join(
      place,
      "work",
      job.defaults.run["working-directory"] ?? whole.defaults.run["working-directory"] ?? "",
    );
    for (const each of Object.values(standing)) writeFileSync(each, "");
    const end: JobEnd = { status: 0, log: "", summary: "", outputs: {}, folder: join(place, "work") };
    for (const each of job.steps) {
      if (each.uses !== undefined) {
        await this.#action(each.uses, each.with, place, context);
        continue;
      }
      const env = Object.fromEntries(Object.entries(each.env).map(([key, text]) => [key, evaluated(text, context)]));
      const fixed = { CI: "true", GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: join(place, "work") };
      const paths = readFileSync(join(place, "path"), "utf8").trim().split("\n").reverse();
      const all = { ...fixed, RUNNER_TEMP: join(place, "temp"), ...standing, ...own, ...env };
      const ended = await this.#bash(each.run ?? "", within, all, paths);
      end.log += ended.log;
      if (each.id !== undefined) steps[each.id] = { outputs: outputsIn(readFileSync(join(place, "output"), "utf8")) };
      end.status = ended.status;
      if (end.status !== 0) break;
    }
    end.summary = readFileSync(join(place, "summary"), "utf8");
    end.outputs = Object.fromEntries(Object.entries(job.outputs).map(([key, text]) => [key, evaluated(text, context)]));
    return end;
  }

  /** A job of the pipeline of GitLab. */
  async gitLab(
    file: string,
    name: string,
    commit: string,
    given: Variables = {},
    own: Variables = {},
  ): Promise<JobEnd> {
    const job = gitLabJob.parse((parse(file) as Record<string, unknown>)[name]);
    const { vars, secrets } = this.#settings[job.environment?.name ?? ""] ?? { vars: {}, secrets: {} };
    const work = mkdtempSync(join(this.#folder, "job-"));
    if (job.variables["GIT_STRATEGY"] !== "none") await this.#clone(work, commit);
    const artifacts = join(this.#folder, "gitlab-artifacts");
    if (existsSync(artifacts)) cpSync(artifacts, work, { recursive: true });
    const all = { CI: "true", GITLAB_CI: "true", CI_PROJECT_DIR: work, CI_COMMIT_SHA: commit };
    const lines = job.script.join("\n");
    const { status, log } = await this.#bash(lines, work, {
      ...all,
      ...job.variables,
      ...vars,
      ...secrets,
      ...given,
      ...own,
    });
    for (const path of job.artifacts?.paths ?? []) {
      if (existsSync(join(work, path))) cpSync(join(work, path), join(artifacts, path), { recursive: true });
    }
    const pages = ["report.md", "plan.md", "drift.md"].map((page) => join(work, "microapps-report", page));
    const summary = pages.filter((page) => existsSync(page)).map((page) => readFileSync(page, "utf8"));
    return { status, log, summary: summary.at(-1) ?? "", outputs: {}, folder: work };
  }

  /** Puts a program into the path of every job. */
  program(name: string, text: string): void {
    writeFileSync(join(this.#bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(this.#bin, name), 0o755);
  }

  /** Plays the pinned actions. */
  async #action(uses: string, given: Variables, place: string, context: Context): Promise<void> {
    const words = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, evaluated(text, context)]));
    if (uses.startsWith("actions/checkout@")) {
      await this.#clone(join(place, "work"), words["ref"] ?? evaluated("${{ github.sha }}", context));
    } else if (!uses.startsWith("actions/setup-node@")) {
      throw new Error(`the action ${uses} is none that pipelines may use`);
    }
  }

  async #clone(into: string, commit: string): Promise<void> {
    const lines = `git clone --quiet --no-checkout "$REMOTE" . && git checkout --quiet --detach "$COMMIT"`;
    const { status, log } = await this.#bash(lines, into, { REMOTE: this.#remote, COMMIT: commit });
    if (status !== 0) throw new Error(log);
  }

  /** Runs a script with these variables and no others, but for those that each machine has. */
  #bash(
    script: string,
    cwd: string,
    variables: Variables,
    paths: readonly string[] = [],
  ): Promise<{ status: number; log: string }> {
    const machine = {
      PATH: `${[this.#bin, ...paths.filter(Boolean)].join(":")}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(this.#folder, "home"),
      TMPDIR: join(this.#folder, "temporary"),
      LANG: "C.UTF-8",
    };
    const { NODE_COMPILE_CACHE: cache } = process.env;
    const quick = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache };
    const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
      cwd,
      env: { ...machine, ...quick, ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let log = "";
    const collect = (data: Buffer): void => void (log += data.toString());
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ status: code ?? -1, log }));
    });
  }
}

/** Parses a step's file of outputs: `name=value`, or `name<<end`, lines, `end`. */
function outputsIn(text: string): Record<string, string> {
  const found = text.matchAll(/^(\w+)(?:=(.*)|<<(.+)\n([^]*?)\n\3)$/gm);
  return Object.fromEntries(
    [...found].map(([, name = "", line, , lines]): [string, string] => [name, line ?? lines ?? ""]),
  );
}

/** Values that expressions of workflows name. */
interface Context {
  [name: string]: unknown;
}

/** A text with its `${{ … }}` evaluated; an expression that is more than these workflows need is an error. */
const evaluated = (text: string, context: Context): string =>
  text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => String(value(expression.trim(), context) ?? ""));

type Value = string | number | boolean | undefined;

function value(expression: string, context: Context): Value {
  const either = expression.split("||");
  if (either.length > 1) return either.map((each) => value(each.trim(), context)).find(Boolean);
  const both = expression.split("&&");
  if (both.length > 1) {
    const all = both.map((each) => value(each.trim(), context));
    return all.find((each) => !each) ?? all.at(-1);
  }
  const [, left = "", sign, right = ""] = /^(.+?)\s*([!=]=)\s*(.+)$/.exec(expression) ?? [];
  if (sign !== undefined) return (value(left, context) === value(right, context)) === (sign === "==");
  if (expression === "!cancelled()") return true;
  const [, quoted] = /^'([^']*)'$/.exec(expression) ?? [];
  if (quoted !== undefined) return quoted;
  if (!/^[a-z][\w.-]*$/i.test(expression)) throw new Error(`no such expression: ${expression}`);
  const [root = "", ...path] = expression.split(".");
  if (!(root in context)) throw new Error(`${root} is not known here: ${expression}`);
  const found = path.reduce<unknown>((from, key) => {
    return typeof from === "object" && from !== null && Object.hasOwn(from, key) ? Reflect.get(from, key) : "";
  }, context[root]);
  return typeof found === "object" ? "Object" : (found as Value);
}
