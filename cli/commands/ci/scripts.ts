import type { Engine, Pipelines } from "./pipelines.ts";

// Scripts of the jobs of both systems. They hold nothing of a project: names and addresses come in variables.

/** The Pulumi CLI that pipelines install, unless `ci` is called with another. */
export const pulumiVersion = "3.260.0";

/** Installs what the project has locked, without running anything of what is installed. */
export const install = "npm ci --ignore-scripts --no-audit --no-fund";

export const microapps = "node_modules/.bin/microapps";

/** Git at the top of the clone: a branch may have what Git takes for a repository in any folder below. */
export const git = (root: string): string => `git -C "${root}" -c safe.bareRepository=explicit`;

/**
 * Installs the tool that the base has locked into another folder: nothing of the branch runs.
 * @param root the top of the clone
 */
export const installFromBase = (temp: string, root: string, { folder }: Pipelines): string[] => [
  `mkdir -p "${temp}/tool"`,
  "for file in package.json package-lock.json .npmrc; do",
  `  if ${git(root)} cat-file -e "$BASE:${below(folder)}$file" 2>/dev/null; then`,
  `    ${git(root)} cat-file blob "$BASE:${below(folder)}$file" > "${temp}/tool/$file"`,
  "  fi",
  "done",
  `(cd "${temp}/tool" && ${install})`,
];

const below = (folder: string): string => (folder === "" ? "" : `${folder}/`);

/**
 * Reports the branch; the status is kept until the report is handed on.
 * @param outputs the file of what later jobs may ask for: added, changed, removed, stops
 */
export const reportBranch = (temp: string, outputs: string): string[] => [
  "status=0",
  `MICROAPPS_REPORT_OUTPUTS="${outputs}" "${temp}/tool/${microapps}" report --base "$BASE" --format md --output "${temp}/report.md" || status=$?`,
  `[ -f "${temp}/report.md" ] || exit "$status"`,
];

/**
 * Reports what each environment will become, for people and as data; a first push has no commit before it.
 * @param folder of the data; the page lies beside it
 * @param show shows the page
 * @param root the top of the clone
 */
export const planAll = (folder: string, show: string, root: string, { approve }: Pipelines): string[] => [
  `${git(root)} cat-file -e "$BEFORE^{commit}" 2>/dev/null || BEFORE=HEAD`,
  "status=0",
  `${microapps} report --base "$BEFORE" --format md --output "${folder}.md" || status=$?`,
  `[ -f "${folder}.md" ] || exit "$status"`,
  show,
  '[ "$status" = 0 ] || exit "$status"',
  `mkdir -p "${folder}"`,
  "for environment in $ENVIRONMENTS; do",
  `  ${microapps} report "$environment" --base "$BEFORE" --format json --output "${folder}/$environment.json"`,
  // The page of an unchanged environment has one line, without a digest.
  ...(approve ? [`  ${microapps} report --from "${folder}/$environment.json" --format text`] : []),
  "done",
];

/**
 * Signs the plan of an environment where people have seen its digest: it comes from whoever starts the job, never from a file.
 * @param plan what was planned
 * @param approved where the signed report goes
 */
export const approvePlan = (plan: string, approved: string): string[] => [
  `mkdir -p "$(dirname "${approved}")"`,
  `${microapps} approve "${plan}" --output "${approved}" --expect $EXPECT $([ "$CODE_REVIEWED" != yes ] || echo --code-reviewed)`,
];

/** Applies a stack. */
export const applyStack = (engine: Engine): string =>
  engine === "pulumi" ? 'pulumi up --stack "$STACK" --yes --non-interactive' : `${microapps} up --stack "$STACK" --yes`;

/** Looks for drift in one environment; the status is kept until the page is handed on. */
export const lookForDrift = (engine: Engine, page: string): string[] => {
  const drift = `${microapps} drift "$ENVIRONMENT" --format md --output "${page}"`;
  return [
    "status=0",
    engine === "pulumi"
      ? `pulumi stack export --stack "$STACK" --show-secrets | ${drift} --state - || status=$?`
      : `${drift} || status=$?`,
    `[ -f "${page}" ] || exit "$status"`,
  ];
};

const releases = "https://get.pulumi.com/releases/sdk";

/** Installs the Pulumi CLI of one version into a folder, and checks what arrived. */
export const installPulumi = (temp: string, { digest }: Pipelines): string[] => [
  `cd "${temp}"`,
  'archive="pulumi-v$PULUMI_VERSION-linux-x64.tar.gz"',
  ...(digest === undefined
    ? [
        "# Not pinned by its content: the sums come from where the archive does. 'microapps ci' with --cli-digest pins it.",
        'sums="pulumi-$PULUMI_VERSION-checksums.txt"',
        `curl -fsSL --remote-name-all "${releases}/$archive" "${releases}/$sums"`,
        'grep " $archive\\$" "$sums" | sha256sum --check --strict',
      ]
    : [`curl -fsSL --remote-name "${releases}/$archive"`, `echo "${digest}  $archive" | sha256sum --check --strict`]),
  'tar -xzf "$archive"',
];

/** Posts a text, or updates the comment of before: the one with the marker that the bot itself wrote. */
export const commentOnGitHub = `
const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, NUMBER, REPORT } = process.env;
const call = async (path, method = "GET", body = undefined) => {
  const headers = { authorization: \`Bearer \${GITHUB_TOKEN}\`, accept: "application/vnd.github+json" };
  const address = \`\${GITHUB_API_URL}/repos/\${GITHUB_REPOSITORY}/issues/\${path}\`;
  const answer = await fetch(address, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(\`\${method} \${path}: \${answer.status}\`);
  return answer.json();
};
const isOwn = ({ user, body }) => user?.login === "github-actions[bot]" && body.startsWith("<!-- microapps-report -->");
let own;
for (let page = 1, some = [0]; !own && some.length > 0; page++) {
  some = await call(\`\${NUMBER}/comments?per_page=100&page=\${page}\`);
  own = some.find(isOwn);
}
await (own ? call(\`comments/\${own.id}\`, "PATCH", { body: REPORT }) : call(\`\${NUMBER}/comments\`, "POST", { body: REPORT }));
`.trim();

/** The same for a merge request. The bot is the owner of the token. */
export const commentOnGitLab = `
import { readFileSync } from "node:fs";
const { CI_API_V4_URL, CI_MERGE_REQUEST_PROJECT_ID, CI_MERGE_REQUEST_IID, MICROAPPS_COMMENT_TOKEN } = process.env;
const call = async (path, method = "GET", body = undefined) => {
  const headers = { "private-token": MICROAPPS_COMMENT_TOKEN, "content-type": "application/json" };
  const answer = await fetch(\`\${CI_API_V4_URL}/\${path}\`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(\`\${method} \${path}: \${answer.status}\`);
  return answer.json();
};
const body = readFileSync("microapps-report/report.md", "utf8");
const notes = \`projects/\${CI_MERGE_REQUEST_PROJECT_ID}/merge_requests/\${CI_MERGE_REQUEST_IID}/notes\`;
const bot = await call("user");
const isOwn = ({ author, body }) => author?.id === bot.id && body.startsWith("<!-- microapps-report -->");
let own;
for (let page = 1, some = [0]; !own && some.length > 0; page++) {
  some = await call(\`\${notes}?per_page=100&page=\${page}\`);
  own = some.find(isOwn);
}
await (own ? call(\`\${notes}/\${own.id}\`, "PUT", { body }) : call(notes, "POST", { body }));
`.trim();

/** Indents lines by this number of spaces. */
export const indentLines = (lines: string | readonly string[], spaces: number): string =>
  (typeof lines === "string" ? lines.split("\n") : lines)
    .map((line) => (line === "" ? "" : `${" ".repeat(spaces)}${line}`))
    .join("\n");
