import type { Pipelines } from "./pipelines.ts";
import { indentLines } from "./scripts.ts";

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
export const keepApproved = (name: string): string =>
  keepPlan.replace("microapps-plan", `microapps-approved-${name}`).replace("/plan\n", "/approved\n");
export const takeApproved = (name: string): string =>
  takePlan.replace("microapps-plan", `microapps-approved-${name}`).replace(/plan$/, "approved");

export const steps = (...all: readonly string[]): string => indentLines(all.join("\n"), 6);
