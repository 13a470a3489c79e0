import type { Engine } from "./pipelines.ts";
import { git, microapps } from "./scripts.ts";

// Scripts of jobs that offer edits of files as a request. What makes the edits has no right to push; what pushes has no
// credential of a platform and runs nothing of what is installed.

/** Takes changes by hand into the files. After status 2 the page names the rest. */
export const pullChanges = (engine: Engine, folder: string, root: string): string[] => {
  const pull = `${microapps} pull "$ENVIRONMENT" --yes --non-interactive`;
  const exported = 'pulumi stack export --stack "$STACK" --show-secrets | ';
  return [
    `mkdir -p "${folder}"`,
    "status=0",
    engine === "pulumi"
      ? `${exported}${pull} --state - > "${folder}/page" || status=$?`
      : `${pull} > "${folder}/page" || status=$?`,
    `cat "${folder}/page"`,
    '[ "$status" = 0 ] || [ "$status" = 2 ] || exit "$status"',
    ...keepPatch(folder, root),
  ];
};

/** Promotes from one environment to another; conflicts end it with status 2, and nothing is offered. */
export const promoteChanges = (folder: string, root: string): string[] => [
  `mkdir -p "${folder}"`,
  "status=0",
  `${microapps} promote "$FROM" "$TO" \${ONLY:+--only $ONLY} --write > "${folder}/page" || status=$?`,
  `cat "${folder}/page"`,
  '[ "$status" = 0 ] || exit "$status"',
  ...keepPatch(folder, root),
];

/** Keeps what a command wrote, and its status, for the job that offers it. */
const keepPatch = (folder: string, root: string): string[] => [
  `echo "$status" > "${folder}/status"`,
  `${git(root)} add --all -- ':(top)' ':(top,exclude,glob)**/node_modules/**' ':(top,exclude,glob)**/.microapps/**'`,
  `${git(root)} diff --cached --binary > "${folder}/patch"`,
];

/**
 * Brings a patch to its branch by a new commit, and decides about the request: `open`, `close` or `leave`. It never
 * forces a push, and leaves a branch alone that has a commit of somebody else.
 * @param folder of the patch
 * @param root the top of the clone
 */
export const pushPatch = (folder: string, root: string): string[] => [
  `in_clone() { ${git(root)} -c user.name="$BOT" -c user.email="$BOT_EMAIL" -c core.hooksPath=/dev/null "$@"; }`,
  'branch="microapps/$NAME"',
  'tip="$(in_clone ls-remote origin "refs/heads/$branch" | cut -f 1)"',
  "request=leave",
  `if [ ! -s "${folder}/patch" ]; then`,
  "  # Nothing differs, or what does can't be taken: then the page of the job above names it.",
  `  [ "$(cat "${folder}/status")" != 0 ] || request=close`,
  "else",
  '  others=""',
  '  if [ -n "$tip" ]; then',
  '    in_clone fetch --quiet origin "$tip"',
  '    others="$(in_clone log --format=%ae "HEAD..$tip" | grep -vxF "$BOT_EMAIL" || true)"',
  "  fi",
  '  if [ -n "$others" ]; then',
  '    echo "$branch has commits of somebody else: it is left as it is. Merge or delete it."',
  "  else",
  `    in_clone apply --index "${folder}/patch"`,
  '    tree="$(in_clone write-tree)"',
  '    parents="-p HEAD"',
  '    if [ -n "$tip" ] && in_clone merge-base --is-ancestor HEAD "$tip"; then',
  '      parents="-p $tip"',
  '    elif [ -n "$tip" ] && ! in_clone merge-base --is-ancestor "$tip" HEAD; then',
  '      parents="-p $tip -p HEAD"',
  "    fi",
  '    if [ -z "$tip" ] || [ "$tree" != "$(in_clone rev-parse "$tip^{tree}")" ]; then',
  '      commit="$(in_clone commit-tree "$tree" $parents -m "$TITLE")"',
  '      in_clone push --quiet origin "$commit:refs/heads/$branch"',
  "    fi",
  "    request=open",
  "  fi",
  "fi",
];

/** The text of a request: the page of the command, in a fence that it can't end. */
const describeRequest = `
import { readFileSync } from "node:fs";
const { NAME, TITLE, BASE, REQUEST, PAGE } = process.env;
const branch = \`microapps/\${NAME}\`;
const page = readFileSync(PAGE, "utf8").slice(0, 50000);
const fence = "\`".repeat(Math.max(3, ...(page.match(/\`+/g) ?? []).map(({ length }) => length + 1)));
const body = \`\${TITLE}. The diff has the lines of what changed; what is left as it is stands here with its reason.\\n\\n\${fence}text\\n\${page}\\n\${fence}\\n\`;
`.trim();

/** Opens, renews or closes the one pull request of a branch. */
export const requestOnGitHub = `${describeRequest}
const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN } = process.env;
const call = async (path, method = "GET", body = undefined) => {
  const headers = { authorization: \`Bearer \${GITHUB_TOKEN}\`, accept: "application/vnd.github+json" };
  const address = \`\${GITHUB_API_URL}/repos/\${GITHUB_REPOSITORY}/pulls\${path}\`;
  const answer = await fetch(address, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(\`\${method} pulls\${path}: \${answer.status}\`);
  return answer.json();
};
const [owner] = GITHUB_REPOSITORY.split("/");
const query = new URLSearchParams({ state: "open", head: \`\${owner}:\${branch}\`, base: BASE });
const own = (await call(\`?\${query}\`)).find(({ head }) => head.ref === branch);
if (REQUEST === "open") await (own ? call(\`/\${own.number}\`, "PATCH", { body }) : call("", "POST", { title: TITLE, head: branch, base: BASE, body }));
if (REQUEST === "close" && own) await call(\`/\${own.number}\`, "PATCH", { state: "closed" });`;

/** The same for the one merge request. */
export const requestOnGitLab = `${describeRequest}
const { CI_API_V4_URL, CI_PROJECT_ID, MICROAPPS_PULL_TOKEN } = process.env;
const call = async (path, method = "GET", body = undefined) => {
  const headers = { "private-token": MICROAPPS_PULL_TOKEN, "content-type": "application/json" };
  const address = \`\${CI_API_V4_URL}/projects/\${CI_PROJECT_ID}/merge_requests\${path}\`;
  const answer = await fetch(address, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(\`\${method} merge_requests\${path}: \${answer.status}\`);
  return answer.json();
};
const query = new URLSearchParams({ state: "opened", source_branch: branch, target_branch: BASE });
const own = (await call(\`?\${query}\`)).find(({ source_branch }) => source_branch === branch);
if (REQUEST === "open")
  await (own ? call(\`/\${own.iid}\`, "PUT", { description: body }) : call("", "POST", { title: TITLE, source_branch: branch, target_branch: BASE, description: body }));
if (REQUEST === "close" && own) await call(\`/\${own.iid}\`, "PUT", { state_event: "close" });`;

/** Runs a script of Node with the outcome of \`pushPatch\`. */
export const runRequest = (folder: string, script: string): string[] => [
  '[ "$request" != leave ] || exit 0',
  `REQUEST="$request" PAGE="${folder}/page" node --input-type=module <<'SCRIPT'`,
  ...script.split("\n"),
  "SCRIPT",
];

/** Lets Git push with a token that stands in no command line. */
export const useToken = (user: string, token: string): string[] => [
  `login="$(printf '%s' "${user}:$${token}" | base64 | tr -d '\\n')"`,
  "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=http.extraheader",
  'export GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $login"',
];
