import type { Environment, Pipelines } from "./pipelines.ts";
import {
  applyStack,
  commentOnGitHub,
  indentLines,
  install,
  installFromBase,
  installPulumi,
  lookForDrift,
  planAll,
  reportBranch,
} from "./scripts.ts";

// GitHub's own actions and no others, each by its commit.
const actions = {
  checkout: "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0",
  setUpNode: "actions/setup-node@a0853c24544627f65ddf259abe73b1d18a591444 # v5.0.0",
  upload: "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2",
  download: "actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0 # v5.0.0",
};
const temp = "$RUNNER_TEMP";
const root = "$GITHUB_WORKSPACE";

/** The workflows, by file. */
export function github(pipelines: Pipelines): Record<string, string> {
  return {
    ".github/workflows/microapps-report.yml": reportWorkflow(pipelines),
    ".github/workflows/microapps-apply.yml": applyWorkflow(pipelines),
    ".github/workflows/microapps-drift.yml": driftWorkflow(pipelines),
  };
}

const quoted = (text: string): string => JSON.stringify(text);

const heading = ({ command }: Pipelines, what: string): string => `# ${what}
# Written by '${command}'; docs/pipelines.md of pulumi-microapps explains it.`;

/** Where the steps of all jobs run; nothing at the top of the repository. */
const defaults = ({ folder }: Pipelines): string => `defaults:
  run:
    shell: bash${folder === "" ? "" : `\n    working-directory: ${quoted(folder)}`}`;

/** The embedded engine keeps the state in a folder, which only a runner of one's own has. */
const runner = ({ engine }: Pipelines): string => (engine === "embedded" ? "self-hosted" : "ubuntu-latest");

const setUpNode = `# Not pinned by its content: the newest Node of this line.
- uses: ${actions.setUpNode}
  with:
    node-version: 24
    package-manager-cache: false`;

const checkout = (ref?: string): string => `- uses: ${actions.checkout}
  with:${ref === undefined ? "" : `\n    ref: ${ref}`}
    fetch-depth: 0
    persist-credentials: false`;

const run = (name: string, lines: readonly string[], env: Readonly<Record<string, string>> = {}): string => {
  const variables = Object.entries(env).map(([key, value]) => `    ${key}: ${value}`);
  return [
    `- name: ${name}`,
    ...(variables.length > 0 ? ["  env:", ...variables] : []),
    "  run: |",
    indentLines(lines, 4),
  ].join("\n");
};

// The plan goes from job to job outside of the working tree, where whoever wrote the branch can put nothing.
const keepPlan = `- uses: ${actions.upload}
  with:
    name: microapps-plan
    path: \${{ runner.temp }}/plan
    if-no-files-found: error`;
const takePlan = `- uses: ${actions.download}
  with:
    name: microapps-plan
    path: \${{ runner.temp }}/plan`;

const steps = (...all: readonly string[]): string => indentLines(all.join("\n"), 6);

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
    branches: [${quoted(branch)}]
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

/** Variables of a run on an environment: its credential goes to its own platform and no other. */
function credentials({ endpoint, origin }: Environment, engine: Pipelines["engine"]): Record<string, string> {
  return {
    MICROAPPS_ENDPOINT: quoted(endpoint),
    MICROAPPS_ALLOWED_ENDPOINTS: quoted(origin),
    MICROAPPS_EMAIL: "${{ vars.MICROAPPS_EMAIL }}",
    MICROAPPS_PASSWORD: "${{ secrets.MICROAPPS_PASSWORD }}",
    MICROAPPS_API_KEY: "${{ secrets.MICROAPPS_API_KEY }}",
    ...stateOf(engine),
    PULUMI_CONFIG_PASSPHRASE: "${{ secrets.PULUMI_CONFIG_PASSPHRASE }}",
  };
}

/** Where the state is. */
const stateOf = (engine: Pipelines["engine"]): Record<string, string> => ({
  PULUMI_BACKEND_URL: "${{ vars.PULUMI_BACKEND_URL }}",
  ...(engine === "pulumi" ? { PULUMI_ACCESS_TOKEN: "${{ secrets.PULUMI_ACCESS_TOKEN }}" } : {}),
});

const tools = (pipelines: Pipelines): string[] => [
  setUpNode,
  run("Install what the project has locked", [install]),
  ...(pipelines.engine === "pulumi"
    ? [
        run("Install the Pulumi CLI", [...installPulumi(temp, pipelines), `echo "${temp}/pulumi" >> "$GITHUB_PATH"`], {
          PULUMI_VERSION: quoted(pipelines.version),
        }),
      ]
    : []),
];

function applyWorkflow(pipelines: Pipelines): string {
  const { environments, branch } = pipelines;
  const show = `cat "${temp}/plan.md" >> "$GITHUB_STEP_SUMMARY"`;
  const plan = run("Report each environment", planAll(`${temp}/plan`, show, root), {
    BEFORE: "${{ github.event.before || 'HEAD' }}",
    ENVIRONMENTS: quoted(environments.map(({ name }) => name).join(" ")),
    PULUMI_BACKEND_URL: "${{ vars.PULUMI_BACKEND_URL }}",
  });
  return `${heading(pipelines, "Applies what was merged, environment by environment.")}
name: Environments apply
on:
  push:
    branches: [${quoted(branch)}]
  workflow_dispatch:
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
${environments.map((environment) => applyJob(pipelines, environment)).join("\n")}
`;
}

function applyJob(pipelines: Pipelines, environment: Environment): string {
  const { name, job, stack, after } = environment;
  const needs = ["plan", ...after.map((each) => `apply-${each}`)];
  return `
  apply-${job}:
    needs: [${needs.join(", ")}]
    runs-on: ${runner(pipelines)}
    timeout-minutes: 60
    permissions:
      contents: read
    # Whom this environment asks for approval, and its secrets, are settings of the repository.
    environment: ${quoted(name)}
    concurrency:
      group: microapps-${job}
      cancel-in-progress: false
    steps:
${steps(
  checkout(),
  ...tools(pipelines),
  takePlan,
  run("Apply what was planned, and nothing else", [applyStack(pipelines.engine)], {
    STACK: quoted(stack),
    MICROAPPS_APPROVED: `\${{ runner.temp }}/plan/${name}.json`,
    ...credentials(environment, pipelines.engine),
  }),
)}`;
}

function driftWorkflow(pipelines: Pipelines): string {
  return `${heading(pipelines, "Looks each night for what was changed by hand.")}
name: Environments drift
on:
  schedule:
    - cron: "17 3 * * *"
  workflow_dispatch:
permissions: {}
${defaults(pipelines)}
jobs:
${pipelines.environments.map((environment) => driftJob(pipelines, environment)).join("\n\n")}
`;
}

function driftJob(pipelines: Pipelines, environment: Environment): string {
  const { name, job, stack } = environment;
  const page = `${temp}/drift.md`;
  const look = run(
    "Look",
    [...lookForDrift(pipelines.engine, page), `cat "${page}" >> "$GITHUB_STEP_SUMMARY"`, 'exit "$status"'],
    {
      ENVIRONMENT: quoted(name),
      ...(pipelines.engine === "pulumi" ? { STACK: quoted(stack) } : {}),
      MICROAPPS_READ_ONLY: quoted("true"),
      ...credentials(environment, pipelines.engine),
    },
  );
  return `  drift-${job}:
    runs-on: ${runner(pipelines)}
    timeout-minutes: 30
    permissions:
      contents: read
    # An environment of its own, which asks nobody: give it an account that may only read.
    environment: ${quoted(`${name}-read`)}
    concurrency:
      group: microapps-${job}
      cancel-in-progress: false
    steps:
${steps(checkout(), ...tools(pipelines), look)}`;
}
