import { promoteWorkflow, pullWorkflow } from "./githubOffers.ts";
import {
  checkout,
  credentials,
  defaults,
  heading,
  keepApproved,
  keepPlan,
  nightlyWorkflow,
  quote,
  run,
  runner,
  setUpNode,
  steps,
  takeApproved,
  takePlan,
  tools,
} from "./githubSteps.ts";
import type { Environment, Pipelines } from "./pipelines.ts";
import {
  applyStack,
  approvePlan,
  commentOnGitHub,
  indentLines,
  install,
  installFromBase,
  lookForDrift,
  planAll,
  reportBranch,
} from "./scripts.ts";

const temp = "$RUNNER_TEMP";
const root = "$GITHUB_WORKSPACE";

/** The workflows, by file. */
export function github(pipelines: Pipelines): Record<string, string> {
  return {
    ".github/workflows/microapps-report.yml": reportWorkflow(pipelines),
    ".github/workflows/microapps-apply.yml": applyWorkflow(pipelines),
    ".github/workflows/microapps-drift.yml": driftWorkflow(pipelines),
    ".github/workflows/microapps-pull.yml": pullWorkflow(pipelines),
    ".github/workflows/microapps-promote.yml": promoteWorkflow(pipelines),
  };
}

/** Inputs of the workflow that approves. */
const approvalInputs = `
    inputs:
      expect:
        description: The digests that people saw in the log of the plan, spaces between them
        required: true
      base:
        description: The commit before the merge
        default: HEAD^
      code-reviewed:
        description: People have read the code that the plan flags
        type: boolean
        default: false`;

/** Outputs for other jobs: the report, and its counts. */
const reportOutputs = ["report", "added", "changed", "removed", "stops"].map(
  (name) => `${name}: \${{ steps.report.outputs.${name} }}`,
);

function reportWorkflow(pipelines: Pipelines): string {
  const { branch, folder } = pipelines;
  const post = run(
    "Post it, or update the comment of before",
    ["node --input-type=module <<'SCRIPT'", ...commentOnGitHub.split("\n"), "SCRIPT"],
    {
      GITHUB_TOKEN: "${{ github.token }}",
      NUMBER: "${{ github.event.pull_request.number }}",
      REPORT: "${{ needs.report.outputs.report }}",
    },
  );
  return `${heading(pipelines, "Says in each pull request what it will do to each environment.")}
name: Environments report
on:
  pull_request:
    branches: [${quote(branch)}]
permissions: {}
${defaults(pipelines)}
jobs:
  # No secret, and nothing of the branch runs: its files are read, by the tool that the base has locked.
  report:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: read
    outputs:
${indentLines(reportOutputs, 6)}
    steps:
${steps(
  checkout("${{ github.event.pull_request.head.sha }}"),
  setUpNode,
  run("Install the tool of the base", installFromBase(temp, root, pipelines), {
    BASE: "${{ github.event.pull_request.base.sha }}",
  }),
  run(
    "Report",
    [
      ...reportBranch(temp, "$GITHUB_OUTPUT"),
      `cat "${temp}/report.md" >> "$GITHUB_STEP_SUMMARY"`,
      "end=\"$(node -p 'crypto.randomUUID()')\"",
      `{ echo "report<<$end"; cat "${temp}/report.md"; echo "$end"; } >> "$GITHUB_OUTPUT"`,
      'exit "$status"',
    ],
    { BASE: "${{ github.event.pull_request.base.sha }}" },
  ).replace("- name: Report", "- name: Report\n  id: report"),
)}
  # Nothing is checked out here. The token of a fork can't write: its report is the summary of the job above.
  comment:
    needs: report
    if: \${{ !cancelled() && needs.report.outputs.report != '' && github.event.pull_request.head.repo.full_name == github.repository }}
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      pull-requests: write
    concurrency:
      group: microapps-comment-\${{ github.event.pull_request.number }}
${folder === "" ? "" : "    defaults:\n      run:\n        working-directory: .\n"}    steps:
${steps(post)}
`;
}

function applyWorkflow(pipelines: Pipelines): string {
  const { environments, branch } = pipelines;
  const show = `cat "${temp}/plan.md" >> "$GITHUB_STEP_SUMMARY"`;
  const plan = run("Report each environment", planAll(`${temp}/plan`, show, root, pipelines), {
    BEFORE: `\${{ ${pipelines.approve ? "inputs.base || " : ""}github.event.before || 'HEAD' }}`,
    ENVIRONMENTS: quote(environments.map(({ name }) => name).join(" ")),
    PULUMI_BACKEND_URL: "${{ vars.PULUMI_BACKEND_URL }}",
  });
  return `${heading(pipelines, "Applies what was merged, environment by environment.")}
name: Environments apply
on:
  push:
    branches: [${quote(branch)}]
  workflow_dispatch:${pipelines.approve ? approvalInputs : ""}
permissions: {}
# One run at a time: the next one plans with the state that this one leaves.
concurrency:
  group: microapps-apply
  cancel-in-progress: false
${defaults(pipelines)}
jobs:
  # No secret: what people look at before they approve the jobs below.
  plan:
    if: \${{ github.ref == 'refs/heads/${branch}' }}
    runs-on: ${runner(pipelines)}
    timeout-minutes: 15
    permissions:
      contents: read
    steps:
${steps(checkout(), setUpNode, run("Install what the project has locked", [install]), plan, keepPlan)}
${environments
  .flatMap((environment) => [
    ...(pipelines.approve ? [approveJob(pipelines, environment)] : []),
    applyJob(pipelines, environment),
  ])
  .join("\n")}
`;
}

/** Signs what somebody saw: the digest comes from who starts the workflow, the key from an environment of its own. */
function approveJob(pipelines: Pipelines, { name, job }: Environment): string {
  return `
  # A push plans, and applies nothing: start this workflow with the digests that people saw.
  approve-${job}:
    needs: [plan]
    if: \${{ github.event_name == 'workflow_dispatch' }}
    runs-on: ${runner(pipelines)}
    timeout-minutes: 15
    permissions:
      contents: read
    # Has the key that approvals are signed with, and no credential. Its reviewers are those who may approve.
    environment: ${quote(`${name}-approve`)}
    steps:
${steps(
  checkout(),
  setUpNode,
  run("Install what the project has locked", [install]),
  takePlan,
  run("Approve what people saw", approvePlan(`${temp}/plan/$ENVIRONMENT.json`, `${temp}/approved/$ENVIRONMENT.json`), {
    ENVIRONMENT: quote(name),
    EXPECT: "${{ inputs.expect }}",
    CODE_REVIEWED: "${{ inputs.code-reviewed && 'yes' || '' }}",
    MICROAPPS_APPROVAL_KEY: "${{ secrets.MICROAPPS_APPROVAL_KEY }}",
    PULUMI_BACKEND_URL: "${{ vars.PULUMI_BACKEND_URL }}",
  }),
  keepApproved(name),
)}`;
}

function applyJob(pipelines: Pipelines, environment: Environment): string {
  const { name, job, stack, after } = environment;
  const needs = [pipelines.approve ? `approve-${job}` : "plan", ...after.map((each) => `apply-${each}`)];
  return `
  apply-${job}:
    needs: [${needs.join(", ")}]
    runs-on: ${runner(pipelines)}
    timeout-minutes: 60
    permissions:
      contents: read
    # Whom this environment asks for approval, and its secrets, are settings of the repository.
    environment: ${quote(name)}
    concurrency:
      group: microapps-${job}
      cancel-in-progress: false
    steps:
${steps(
  checkout(),
  ...tools(pipelines),
  pipelines.approve ? takeApproved(name) : takePlan,
  run("Apply what was planned, and nothing else", [applyStack(pipelines.engine)], {
    STACK: quote(stack),
    MICROAPPS_APPROVED: `\${{ runner.temp }}/${pipelines.approve ? "approved" : "plan"}/${name}.json`,
    ...(pipelines.approve ? { MICROAPPS_APPROVAL_KEY: "${{ secrets.MICROAPPS_APPROVAL_KEY }}" } : {}),
    ...credentials(environment, pipelines.engine),
  }),
)}`;
}

function driftWorkflow(pipelines: Pipelines): string {
  const title = "Looks each night for what was changed by hand.";
  return nightlyWorkflow(pipelines, { title, name: "Environments drift", cron: "17 3 * * *" }, (environment) =>
    driftJob(pipelines, environment),
  );
}

function driftJob(pipelines: Pipelines, environment: Environment): string {
  const { name, job, stack } = environment;
  const page = `${temp}/drift.md`;
  const look = run(
    "Look",
    [...lookForDrift(pipelines.engine, page), `cat "${page}" >> "$GITHUB_STEP_SUMMARY"`, 'exit "$status"'],
    {
      ENVIRONMENT: quote(name),
      ...(pipelines.engine === "pulumi" ? { STACK: quote(stack) } : {}),
      MICROAPPS_READ_ONLY: quote("true"),
      ...credentials(environment, pipelines.engine),
    },
  );
  return `  drift-${job}:
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
${steps(checkout(), ...tools(pipelines), look)}`;
}
