import { promoteChanges, pullChanges, pushPatch, requestOnGitLab, runRequest, useToken } from "./offers.ts";
import type { Environment, Pipelines } from "./pipelines.ts";
import {
  applyStack,
  approvePlan,
  commentOnGitLab,
  git,
  indentLines,
  install,
  installFromBase,
  installPulumi,
  lookForDrift,
  planAll,
  reportBranch,
} from "./scripts.ts";

/** A fresh folder outside of the clone: what lies there comes from no branch. */
const freshFolder = 'temp="$(mktemp -d)"';
const temp = "$temp";
const root = "$CI_PROJECT_DIR";

/** The pipelines, in their one file. */
export function gitlab(pipelines: Pipelines): Record<string, string> {
  const { command, environments } = pipelines;
  const jobs = [
    reportJob(pipelines),
    commentJob(pipelines),
    planJob(pipelines),
    ...(pipelines.approve ? environments.map((environment) => approveJob(pipelines, environment)) : []),
    ...environments.map((environment) => applyJob(pipelines, environment)),
    ...environments.map((environment) => driftJob(pipelines, environment)),
    ...environments.map((environment) => pullJobs(pipelines, environment)),
    promoteJobs(pipelines),
  ];
  const text = `# Says in each merge request what it will do to each environment, applies what was merged, and looks for drift.
# Written by '${command}'; docs/pipelines.md of pulumi-microapps explains it.
stages: [report, comment, plan, ${pipelines.approve ? "approve, " : ""}apply, drift, pull, offer]
default:
  # Not pinned by its content: name the image with its digest (node@sha256:…) where that matters.
  image: node:24
  timeout: 60 minutes
variables:
  GIT_DEPTH: "0"

${jobs.join("\n\n")}
`;
  return { ".gitlab-ci.yml": text };
}

const quoted = (text: string): string => JSON.stringify(text);

const script = (...lines: readonly string[]): string => `  script:\n    - |\n${indentLines(lines, 6)}`;

/** The folder of the project; nothing at the top of the repository. */
const intoFolder = ({ folder }: Pipelines): string[] => (folder === "" ? [] : [`cd "${folder}"`]);

/** The embedded engine keeps the state in a folder, which only a runner of one's own has. */
const tags = ({ engine }: Pipelines): string => (engine === "embedded" ? "\n  tags: [microapps]" : "");

const onRequest = ({ branch }: Pipelines): string =>
  `$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "${branch}"`;
const onBranch = ({ branch }: Pipelines): string =>
  `$CI_COMMIT_BRANCH == "${branch}" && ($CI_PIPELINE_SOURCE == "push" || $CI_PIPELINE_SOURCE == "web" && $FROM == null)`;
const onSchedule = ({ branch }: Pipelines): string =>
  `$CI_COMMIT_BRANCH == "${branch}" && $CI_PIPELINE_SOURCE == "schedule"`;
const rules = (condition: string, more = ""): string => `  rules:\n    - if: '${condition}'${more}`;

/**
 * Prepares the files that a job passes on. A new folder takes the place of anything that a branch has under that name.
 */
const handOn = (page: string): string[] => [
  'rm -rf "$CI_PROJECT_DIR/microapps-report"',
  'mkdir "$CI_PROJECT_DIR/microapps-report"',
  `cp ${page} "$CI_PROJECT_DIR/microapps-report"`,
];

const artifacts = (title: string): string => `  artifacts:
    when: always
    expire_in: 30 days
    expose_as: ${title}
    paths: [microapps-report/]`;

function reportJob(pipelines: Pipelines): string {
  return `# No secret, and nothing of the branch runs: its files are read, by the tool that the base has locked.
report:
  stage: report
${rules(onRequest(pipelines))}
${script(
  freshFolder,
  `${git(root)} fetch --quiet origin "+refs/heads/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME:refs/remotes/origin/microapps-base"`,
  "BASE=refs/remotes/origin/microapps-base",
  ...intoFolder(pipelines),
  ...installFromBase(temp, root, pipelines),
  ...reportBranch(temp, `${temp}/report.env`),
  `cat "${temp}/report.md"`,
  ...handOn(`"${temp}"/report.*`),
  'exit "$status"',
)}
${artifacts("Environments report")}
    reports:
      dotenv: microapps-report/report.env`;
}

function commentJob(pipelines: Pipelines): string {
  return `# Nothing is checked out here. Without a token the report stays what the job above hands on.
comment:
  stage: comment
  needs: [{ job: report, artifacts: true }]
${rules(`${onRequest(pipelines)} && $MICROAPPS_COMMENT_TOKEN`, "\n      when: always")}
  variables:
    GIT_STRATEGY: none
  resource_group: microapps-comment-$CI_MERGE_REQUEST_IID
${script("node --input-type=module <<'SCRIPT'", ...commentOnGitLab.split("\n"), "SCRIPT")}`;
}

function planJob(pipelines: Pipelines): string {
  const { environments } = pipelines;
  return `# No secret: what people look at before they approve the jobs below.
plan:
  stage: plan${tags(pipelines)}
${rules(onBranch(pipelines))}
  variables:
    ENVIRONMENTS: ${quoted(environments.map(({ name }) => name).join(" "))}
${script(
  freshFolder,
  ...intoFolder(pipelines),
  install,
  'BEFORE="$CI_COMMIT_BEFORE_SHA"',
  ...planAll(`${temp}/plan`, `cat "${temp}/plan.md"`, root, pipelines),
  ...handOn(`"${temp}"/plan.md "${temp}"/plan/*.json`),
)}
${artifacts("Environments plan")}`;
}

/** Signs what somebody saw: the digest comes from who starts the job, the key from an environment of its own. */
function approveJob(pipelines: Pipelines, { name, job }: Environment): string {
  return `# Start it with EXPECT, the digest that people saw, and CODE_REVIEWED=yes once they read the code that the plan flags.
# Its environment has the key of approvals, and no credential.
approve-${job}:
  stage: approve${tags(pipelines)}
  needs: [plan]
${rules(onBranch(pipelines), "\n      when: manual")}
  environment: { name: ${quoted(`${name}-approve`)}, action: prepare }
  variables:
    ENVIRONMENT: ${quoted(name)}
${script(
  freshFolder,
  ...intoFolder(pipelines),
  install,
  `cp "$CI_PROJECT_DIR/microapps-report/$ENVIRONMENT.json" "${temp}"`,
  ...approvePlan(`${temp}/$ENVIRONMENT.json`, `${temp}/approved/$ENVIRONMENT.json`),
  'rm -rf "$CI_PROJECT_DIR/microapps-approved"',
  `cp -r "${temp}/approved" "$CI_PROJECT_DIR/microapps-approved"`,
)}
  artifacts:
    expire_in: 30 days
    paths: [microapps-approved/]`;
}

/** The credential of an environment goes to its own platform and no other. */
const destination = ({ endpoint, origin }: Environment): string =>
  `export MICROAPPS_ENDPOINT='${endpoint}' MICROAPPS_ALLOWED_ENDPOINTS='${origin}'`;

const tools = (pipelines: Pipelines): string[] => [
  freshFolder,
  ...intoFolder(pipelines),
  install,
  ...(pipelines.engine === "pulumi"
    ? [
        `PULUMI_VERSION=${pipelines.version}`,
        "(",
        ...installPulumi(temp, pipelines).map((line) => `  ${line}`),
        ")",
        `export PATH="${temp}/pulumi:$PATH"`,
      ]
    : []),
];

function applyJob(pipelines: Pipelines, environment: Environment): string {
  const { name, job, stack, after } = environment;
  return `# Who approves, and the variables with the credential, are settings of this environment.
apply-${job}:
  stage: apply${tags(pipelines)}
  needs: [${[pipelines.approve ? `approve-${job}` : "plan", ...after.map((each) => `apply-${each}`)].join(", ")}]
${rules(onBranch(pipelines))}
  environment: { name: ${quoted(name)} }
  resource_group: microapps-${job}
${script(
  ...tools(pipelines),
  destination(environment),
  `cp "$CI_PROJECT_DIR/microapps-${pipelines.approve ? "approved" : "report"}/${name}.json" "${temp}"`,
  `export MICROAPPS_APPROVED="${temp}/${name}.json"`,
  `STACK='${stack}'`,
  applyStack(pipelines.engine),
)}`;
}

function driftJob(pipelines: Pipelines, environment: Environment): string {
  const title = "# An environment of its own, which asks nobody: give it an account that may only read.";
  return `${title}
${readingJob(pipelines, environment, "drift", onSchedule(pipelines), [
  ...lookForDrift(pipelines.engine, `${temp}/drift.md`),
  `cat "${temp}/drift.md"`,
  ...handOn(`"${temp}/drift.md"`),
  'exit "$status"',
])}
${artifacts("Environments drift")}`;
}

/** A job that looks at an environment with an account that may only read. */
function readingJob(
  pipelines: Pipelines,
  environment: Environment,
  stage: string,
  condition: string,
  lines: readonly string[],
): string {
  const { name, job, stack } = environment;
  return `${stage}-${job}:
  stage: ${stage}${tags(pipelines)}
  needs: []
${rules(condition)}
  environment: { name: ${quoted(`${name}-read`)}, action: access }
  resource_group: microapps-${job}
${script(
  ...tools(pipelines),
  destination(environment),
  "export MICROAPPS_READ_ONLY=true",
  `ENVIRONMENT='${name}' STACK='${stack}'`,
  ...lines,
)}`;
}

const folder = "$CI_PROJECT_DIR/microapps-offer";

const offerArtifacts = `  artifacts:
    expire_in: 30 days
    paths: [microapps-offer/]`;

/** Edits are made outside of the clone's own folder for them, which would be part of the patch. */
const handOnOffer = [
  'rm -rf "$CI_PROJECT_DIR/microapps-offer"',
  `cp -r "${temp}/offer" "$CI_PROJECT_DIR/microapps-offer"`,
];

function pullJobs(pipelines: Pipelines, environment: Environment): string {
  const { name, job } = environment;
  const condition = `${onSchedule(pipelines)} && $MICROAPPS_PULL_TOKEN`;
  return `# Offers what was changed by hand as edits of the files. Its account may only read.
${readingJob(pipelines, environment, "pull", condition, [
  ...pullChanges(pipelines.engine, `${temp}/offer`, root),
  ...handOnOffer,
])}
${offerArtifacts}

${offerJob(pipelines, `offer-${job}`, `pull-${job}`, condition, [
  `export NAME='pull-${name}' TITLE='Take changes by hand in ${name} into the files'`,
])}`;
}

function promoteJobs(pipelines: Pipelines): string {
  const condition = `$CI_COMMIT_BRANCH == "${pipelines.branch}" && $CI_PIPELINE_SOURCE == "web" && $FROM && $TO && $MICROAPPS_PULL_TOKEN`;
  return `# Start a pipeline with FROM and TO, and ONLY where it is to be a part: files are read and written, without a secret.
promote:
  stage: pull
  needs: []
${rules(condition)}
${script(freshFolder, ...intoFolder(pipelines), install, ...promoteChanges(`${temp}/offer`, root), ...handOnOffer)}
${offerArtifacts}

${offerJob(pipelines, "offer-promotion", "promote", condition, [
  'export NAME="promote/$FROM/$TO" TITLE="Promote $FROM to $TO"',
])}`;
}

/** Pushes and opens the request: it has no credential of a platform. */
function offerJob(
  { branch }: Pipelines,
  name: string,
  needs: string,
  condition: string,
  names: readonly string[],
): string {
  return `# It may write to branches, and has no credential of a platform; nothing that is installed runs here.
${name}:
  stage: offer
  needs: [{ job: ${needs}, artifacts: true }]
${rules(condition)}
  resource_group: microapps-${name}
${script(
  ...names,
  `export BASE='${branch}' BOT=microapps BOT_EMAIL=microapps@noreply.invalid`,
  `${git("$CI_PROJECT_DIR")} remote set-url origin "$CI_SERVER_URL/$CI_PROJECT_PATH.git"`,
  ...useToken("oauth2", "MICROAPPS_PULL_TOKEN"),
  ...pushPatch(folder, root),
  ...runRequest(folder, requestOnGitLab),
)}`;
}
