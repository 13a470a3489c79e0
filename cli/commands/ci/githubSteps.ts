import type { Environment, Pipelines } from "./pipelines.ts";
import { indentLines, install, installPulumi } from "./scripts.ts";

// GitHub's own actions and no others, each by its commit.
const actions = {
  checkout: "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0",
  setUpNode: "actions/setup-node@a0853c24544627f65ddf259abe73b1d18a591444 # v5.0.0",
  upload: "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2",
  download: "actions/download-artifact@634f93cb2916e3fdff6788551b99b062d0335ce0 # v5.0.0",
};
export const quote = (text: string): string => JSON.stringify(text);

export const heading = ({ command }: Pipelines, what: string): string => `# ${what}
# Written by '${command}'; docs/pipelines.md of pulumi-microapps explains it.`;

/** Where the steps of all jobs run; nothing at the top of the repository. */
export const defaults = ({ folder }: Pipelines): string => `defaults:
  run:
    shell: bash${folder === "" ? "" : `\n    working-directory: ${quote(folder)}`}`;

/** The embedded engine keeps the state in a folder, which only a runner of one's own has. */
export const runner = ({ engine }: Pipelines): string => (engine === "embedded" ? "self-hosted" : "ubuntu-latest");

export const setUpNode = `# Not pinned by its content: the newest Node of this line.
- uses: ${actions.setUpNode}
  with:
    node-version: 24
    package-manager-cache: false`;

export const checkout = (ref?: string): string => `- uses: ${actions.checkout}
  with:${ref === undefined ? "" : `\n    ref: ${ref}`}
    fetch-depth: 0
    persist-credentials: false`;

export const run = (name: string, lines: readonly string[], env: Readonly<Record<string, string>> = {}): string => {
  const variables = Object.entries(env).map(([key, value]) => `    ${key}: ${value}`);
  return [
    `- name: ${name}`,
    ...(variables.length > 0 ? ["  env:", ...variables] : []),
    "  run: |",
    indentLines(lines, 4),
  ].join("\n");
};

// The plan goes from job to job outside of the working tree, where whoever wrote the branch can put nothing.
export const keepPlan = `- uses: ${actions.upload}
  with:
    name: microapps-plan
    path: \${{ runner.temp }}/plan
    if-no-files-found: error`;
export const takePlan = `- uses: ${actions.download}
  with:
    name: microapps-plan
    path: \${{ runner.temp }}/plan`;
export const keepApproved = (name: string): string => transfer(`microapps-approved-${name}`, "approved").keep;
export const takeApproved = (name: string): string => transfer(`microapps-approved-${name}`, "approved").take;

/** Variables of a run on an environment: its credential goes to its own platform and no other. */
export function credentials({ endpoint, origin }: Environment, engine: Pipelines["engine"]): Record<string, string> {
  return {
    MICROAPPS_ENDPOINT: quote(endpoint),
    MICROAPPS_ALLOWED_ENDPOINTS: quote(origin),
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

export const tools = (pipelines: Pipelines): string[] => [
  setUpNode,
  run("Install what the project has locked", [install]),
  ...(pipelines.engine === "pulumi"
    ? [
        run(
          "Install the Pulumi CLI",
          [...installPulumi("$RUNNER_TEMP", pipelines), 'echo "$RUNNER_TEMP/pulumi" >> "$GITHUB_PATH"'],
          {
            PULUMI_VERSION: quote(pipelines.version),
          },
        ),
      ]
    : []),
];

/** Steps that hand a folder of the runner on to another job. */
export const transfer = (name: string, folder: string): { keep: string; take: string } => ({
  keep: keepPlan.replace("microapps-plan", name).replace("/plan\n", `/${folder}\n`),
  take: takePlan.replace("microapps-plan", name).replace(/plan$/, folder),
});

export const steps = (...all: readonly string[]): string => indentLines(all.join("\n"), 6);

/** A workflow that runs each night, and when somebody starts it, with the jobs of each environment. */
export function nightlyWorkflow(
  pipelines: Pipelines,
  { title, name, cron }: { title: string; name: string; cron: string },
  jobsOf: (environment: Environment) => string,
): string {
  return `${heading(pipelines, title)}
name: ${name}
on:
  schedule:
    - cron: "${cron}"
  workflow_dispatch:
permissions: {}
${defaults(pipelines)}
jobs:
${pipelines.environments.map(jobsOf).join("\n\n")}
`;
}
