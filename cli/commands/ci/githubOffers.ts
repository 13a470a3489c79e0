import {
  checkout,
  credentials,
  defaults,
  heading,
  nightlyWorkflow,
  quote,
  run,
  runner,
  steps,
  tools,
  transfer,
} from "./githubSteps.ts";
import { promoteChanges, pullChanges, pushPatch, requestOnGitHub, runRequest, useToken } from "./offers.ts";
import type { Environment, Pipelines } from "./pipelines.ts";

const root = "$GITHUB_WORKSPACE";
const folder = "$RUNNER_TEMP/offer";

/** Takes each night what was changed by hand into the files of each environment, as one pull request for each. */
export function pullWorkflow(pipelines: Pipelines): string {
  const title = "Offers each night what was changed by hand as edits of the files: one pull request an environment.";
  return nightlyWorkflow(pipelines, { title, name: "Environments pull", cron: "47 3 * * *" }, (environment) =>
    pullJobs(pipelines, environment),
  );
}

function pullJobs(pipelines: Pipelines, environment: Environment): string {
  const { name, job, stack } = environment;
  const { engine, branch } = pipelines;
  const pull = run("Take what was changed by hand into the files", pullChanges(engine, folder, root), {
    ENVIRONMENT: quote(name),
    ...(engine === "pulumi" ? { STACK: quote(stack) } : {}),
    MICROAPPS_READ_ONLY: quote("true"),
    ...credentials(environment, engine),
  });
  const artifact = transfer(`microapps-pull-${name}`, "offer");
  return `  pull-${job}:
    if: \${{ github.ref == 'refs/heads/${branch}' }}
    runs-on: ${runner(pipelines)}
    timeout-minutes: 30
    permissions:
      contents: read
    # An environment of its own, which asks nobody: give it an account that may only read.
    environment: ${quote(`${name}-read`)}
    concurrency:
      group: microapps-${job}
      cancel-in-progress: false
    steps:
${steps(checkout(), ...tools(pipelines), pull, artifact.keep)}
${offerJob(pipelines, {
  job: `offer-${job}`,
  needs: `pull-${job}`,
  take: artifact.take,
  name: quote(`pull-${name}`),
  title: quote(`Take changes by hand in ${name} into the files`),
})}`;
}

/** Promotes on demand, as one pull request for each pair of environments. */
export function promoteWorkflow(pipelines: Pipelines): string {
  const { environments, branch } = pipelines;
  const choice = (name: string, description: string): string => `      ${name}:
        description: ${description}
        required: true
        type: choice
        options: [${environments.map((each) => quote(each.name)).join(", ")}]`;
  const artifact = transfer("microapps-promote", "offer");
  const promote = run("Promote", promoteChanges(folder, root), {
    FROM: "${{ inputs.from }}",
    TO: "${{ inputs.to }}",
    ONLY: "${{ inputs.only }}",
  });

  return `${heading(pipelines, "Brings what one environment has changed into another one's files, as a pull request.")}
name: Environments promote
on:
  workflow_dispatch:
    inputs:
${choice("from", "The environment that has the changes")}
${choice("to", "The environment that gets them")}
      only:
        description: These things or rows alone, such as countries/DE, spaces between them
permissions: {}
${defaults(pipelines)}
jobs:
  # No secret: files are read and written.
  promote:
    if: \${{ github.ref == 'refs/heads/${branch}' }}
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: read
    steps:
${steps(checkout(), ...tools({ ...pipelines, engine: "embedded" }), promote, artifact.keep)}
${offerJob(pipelines, {
  job: "offer",
  needs: "promote",
  take: artifact.take,
  name: "promote/${{ inputs.from }}/${{ inputs.to }}",
  title: "Promote ${{ inputs.from }} to ${{ inputs.to }}",
})}
`;
}

interface Offer {
  job: string;
  needs: string;
  take: string;
  /** The branch, below `microapps/`. */
  name: string;
  title: string;
}

/** Pushes and opens the request: it may write, and has no credential of a platform. */
function offerJob(pipelines: Pipelines, { job, needs, take, name, title }: Offer): string {
  const offer = run(
    "Bring it to its branch, and open, renew or close the request",
    [...useToken("x-access-token", "GITHUB_TOKEN"), ...pushPatch(folder, root), ...runRequest(folder, requestOnGitHub)],
    {
      NAME: name,
      TITLE: title,
      BASE: quote(pipelines.branch),
      BOT: quote("github-actions[bot]"),
      BOT_EMAIL: quote("41898282+github-actions[bot]@users.noreply.github.com"),
      GITHUB_TOKEN: "${{ github.token }}",
    },
  );
  const atTop = pipelines.folder === "" ? "" : "\n    defaults:\n      run:\n        working-directory: .";
  return `
  # It may write to branches, and has no credential of a platform; nothing that is installed runs here.
  ${job}:
    needs: ${needs}
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: write
      pull-requests: write
    concurrency:
      group: microapps-${job}
      cancel-in-progress: false${atTop}
    steps:
${steps(checkout(), take, offer)}`;
}
