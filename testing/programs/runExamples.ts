import { cp, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { leftRunning } from "../harness/processes.ts";
import { Cli, found } from "./cli.ts";
import { documented, obstacleOf, runDocumented } from "./documentation.ts";
import { examples, obstacle, runExample } from "./exampleRun.ts";
import { repository } from "./schema.ts";

// `make test-pulumi`: all examples under a Pulumi CLI, or those that ARGS names. An example that can't run here is a failure as
// well, since nothing is known of it: ARGS leaves it out.

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What is run under a CLI: the examples, and then those of the documentation. */
const jobs = [
  ...examples.map((example) => ({
    name: example.name,
    obstacle: (cli: Cli) => obstacle(example, cli),
    run: (cli: Cli, root: string) => runExample(example, cli, root),
  })),
  ...documented.map((job) => ({
    name: job.name,
    obstacle: (cli: Cli) => obstacleOf(job, cli),
    run: (cli: Cli, root: string) => runDocumented(job, cli, root),
  })),
];

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
  return root;
}

async function run(program: string, wanted: readonly string[]): Promise<number> {
  const root = await copied();
  process.once("SIGINT", () => say("interrupted: the command that runs ends, and everything is removed"));
  let passed = 0;
  const selected = jobs.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  try {
    const cli = new Cli(program, join(root, ".pulumi-home"));
    for (const job of selected) {
      const reason = job.obstacle(cli);
      if (reason !== undefined) {
        say(`not run  ${job.name}: ${reason}`);
        continue;
      }
      const started = Date.now();
      try {
        await job.run(cli, root);
        passed++;
        say(`passed   ${job.name} (${Math.round((Date.now() - started) / 1000)} s)`);
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
const unknown = wanted.filter((name) => !jobs.some((job) => job.name === name));
const program = found("pulumi");
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
