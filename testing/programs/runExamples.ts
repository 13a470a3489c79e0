import { cp, mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { comparisons } from "../bothEngines/jobs.ts";
import { leftRunning } from "../harness/processes.ts";
import { repository } from "../harness/project.ts";
import { runGuides } from "../package/guides.ts";
import { environmentOfGuides, installPackage } from "../package/installed.ts";
import { Cli, executable } from "./cli.ts";
import { type Example, examples, obstacle, runExample } from "./exampleRun.ts";
import { runPolicies } from "./policies.ts";

// `make test-pulumi`: all examples under a Pulumi CLI, or those that ARGS names. An example that can't run here is a failure as
// well, since nothing is known of it: ARGS leaves it out.

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Job {
  name: string;
  run: (program: string, root: string) => Promise<string | undefined>;
}

/**
 * Jobs under a CLI: the examples and the guides. `run` returns the reason where one can't
 * run.
 */
const jobs: readonly Job[] = [
  ...examples.map((example) => ({
    name: example.name,
    run: (program: string, root: string) => attempt(example, program, root),
  })),
  {
    name: "policies",
    run: async (program, root) => {
      const cli = new Cli(program, homeIn(root));
      if (!cli.hasHost("yaml")) return "this Pulumi CLI comes without pulumi-language-yaml";
      await runPolicies(cli, root);
      return undefined;
    },
  },
  {
    name: "guides",
    run: runGuidesWithCli,
  },
  ...comparisons,
];

/** True when a word of ARGS names a job, by its beginning where it ends in `*`. */
const isNamed = (name: string, wanted: string): boolean =>
  wanted.endsWith("*") ? name.startsWith(wanted.slice(0, -1)) : name === wanted;

const homeIn = (root: string): string => join(root, ".pulumi-home");

/** The examples as they are committed, with the package beside them, in a folder of their own. */
async function copied(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "microapps-")));
  const left = ["node_modules", ".microapps", ".pulumi", ".venv", "sdks"];
  for (const name of ["Pulumi.yaml", "Pulumi.dev.yaml", "examples", "plugin"]) {
    await cp(join(repository, name), join(root, name), {
      recursive: true,
      filter: (path) => !left.includes(basename(path)),
    });
  }
  for (const name of ["package.json", "dist", "node_modules"]) await symlink(join(repository, name), join(root, name));
  await mkdir(join(root, ".git")); // files of another example count as the project's own in a repository
  return root;
}

/** Runs an example; the reason where it can't run here. */
async function attempt(example: Example, program: string, root: string): Promise<string | undefined> {
  const cli = new Cli(program, homeIn(root));
  const reason = obstacle(example, cli);
  if (reason === undefined) await runExample(example, cli, root);
  return reason;
}

/** Milliseconds for the guides, which take another engine here than in the test of the package. */
const limitMs = 1_800_000;

/** Runs all guides from the packed package with the Pulumi CLI on PATH. The shared stores that they name are folders here. */
async function runGuidesWithCli(): Promise<undefined> {
  const installed = await installPackage();
  const own = join(installed.folder, "guides");
  const [s3, postgresql] = ["s3", "postgresql"].map((name) => join(installed.folder, name)) as [string, string];
  try {
    for (const folder of [own, s3, postgresql]) await mkdir(folder);
    const able = { "pulumi-cli": "", s3: `file://${s3}`, postgresql: `file://${postgresql}` };
    const quiet = { PULUMI_SKIP_UPDATE_CHECK: "true", PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" };
    const problems = await runGuides(own, { ...(await environmentOfGuides(installed)), ...quiet }, able, limitMs);
    if (problems.length > 0) throw new Error(problems.join("\n"));
  } finally {
    await rm(installed.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function run(program: string, wanted: readonly string[]): Promise<number> {
  const root = await copied();
  process.once("SIGINT", () => say("interrupted: the command that runs ends, and everything is removed"));
  let passed = 0;
  const selected = jobs.filter(({ name }) => wanted.length === 0 || wanted.some((each) => isNamed(name, each)));
  try {
    for (const job of selected) {
      const started = Date.now();
      try {
        const reason = await job.run(program, root);
        if (reason === undefined) passed++;
        const seconds = Math.round((Date.now() - started) / 1000);
        say(reason === undefined ? `passed   ${job.name} (${seconds} s)` : `not run  ${job.name}: ${reason}`);
      } catch (error) {
        say(`failed   ${job.name}: ${error instanceof Error ? error.message : JSON.stringify(error)}`);
      }
    }
    const left = await leftRunning(root);
    if (left.length > 0) say(`failed   processes are left: ${left.join(", ")}`);
    if (passed < selected.length) say(`${passed} of ${selected.length} examples ran; ARGS="…" names those to run`);
    return passed === selected.length && left.length === 0 ? 0 : 1;
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((each) => !jobs.some(({ name }) => isNamed(name, each)));
const program = executable("pulumi");
if (unknown.length > 0) {
  process.stderr.write(
    `there is no example ${unknown.join(", ")}; there is ${jobs.map(({ name }) => name).join(", ")}\n`,
  );
  process.exitCode = 2;
} else if (program === undefined) {
  process.stderr.write(
    "There is no pulumi on PATH, and make test-pulumi runs the examples under it: install the Pulumi CLI.\n",
  );
  process.exitCode = 1;
} else process.exitCode = await run(program, wanted);
