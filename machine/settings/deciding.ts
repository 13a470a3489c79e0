// Files of a repository that decide what runs, where credentials go and where the state is. This is the one list: reports
// flag each change of them, and whatever no flag explains stops a seal.

/** A kind of such files. */
export interface Deciding {
  /** How paths end, from the project's folder on or from the top of the repository. */
  pattern: RegExp;
  decides: string;
  /** Where it counts: in and below the project's folder, in the folders above it too, or anywhere. */
  scope: "below" | "around" | "anywhere";
  /** How a reader of ours explains what changes in it; without one a change is named, and no more is known of it. */
  explained?: "settings" | "packages" | "code" | "other";
}

const runs = "what runs";

/** Decision made by pipelines. */
export const pipelineDecides = "what runs with which credential";

/** The list. A file is of the first kind that it fits. */
const kinds: readonly Deciding[] = [
  {
    pattern:
      /^(\.github\/(workflows|actions)\/|\.gitlab-ci\.ya?ml$|\.gitlab\/ci\/|azure-pipelines|\.circleci\/|Jenkinsfile|bitbucket-pipelines)/,
    decides: pipelineDecides,
    scope: "anywhere",
    explained: "other",
  },
  {
    pattern: /(^|\/)\.microapps\//,
    decides: "what a run believes of an earlier one",
    scope: "anywhere",
    explained: "other",
  },
  { pattern: /(^|\/)\.pulumi\//, decides: "what the state is taken for", scope: "anywhere" },
  {
    pattern: /(^|\/)Pulumi(\.[^/]*)?\.(ya?ml|json|toml)$/i,
    decides: `${runs} and where credentials go`,
    scope: "around",
    explained: "settings",
  },
  { pattern: /(^|\/)PulumiPlugin\.(ya?ml|json)$/i, decides: runs, scope: "below" },
  {
    pattern: /(^|\/)(environments|drift)\.ya?ml$/,
    decides: "where credentials go",
    scope: "below",
    explained: "other",
  },
  { pattern: /(^|\/)Main\.(ya?ml|json)$/i, decides: runs, scope: "below" },
  { pattern: /(^|\/)package\.json$/, decides: runs, scope: "around", explained: "packages" },
  { pattern: /(^|\/)(package-lock|npm-shrinkwrap)\.json$/, decides: runs, scope: "around", explained: "packages" },
  {
    pattern:
      /(^|\/)(yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|bun\.lockb?|bunfig\.toml|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.c?js|[tj]sconfig[^/]*\.json|\.env[^/]*|\.envrc|\.node-version|\.nvmrc|\.tool-versions|mise\.toml|\.mise\.toml)$/,
    decides: runs,
    scope: "around",
  },
  {
    pattern:
      /(^|\/)(requirements[^/]*\.txt|pyproject\.toml|poetry\.lock|uv\.lock|Pipfile(\.lock)?|setup\.(py|cfg)|go\.(mod|sum|work)|[^/]*\.(csproj|fsproj|vbproj|props|targets)|nuget\.config|global\.json|packages\.lock\.json|pom\.xml|[^/]*\.gradle(\.kts)?|gradle\.properties|gradle-wrapper\.(jar|properties)|Makefile|Dockerfile|justfile)$/i,
    decides: runs,
    scope: "around",
  },
  { pattern: /(^|\/)(node_modules|sdks|\.venv|vendor)\//, decides: runs, scope: "below" },
  {
    pattern: /\.([cm]?[jt]sx?|py|go|cs|fs|vb|java|kts?|scala|sh|bash|ps1|wasm|node|so|dll|exe|jar|whl|hcl|pp)$/i,
    decides: runs,
    scope: "below",
    explained: "code",
  },
];

/**
 * Describes the decision that a file makes; undefined for data.
 * @param path of the file in the repository
 * @param folder of Pulumi.yaml in the repository, empty at its top
 */
export function decidingKind(path: string, folder: string): Deciding | undefined {
  const isBelow = folder === "" || path.startsWith(`${folder}/`);
  const above = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  const isAbove = above === "" || folder === above || folder.startsWith(`${above}/`);
  return kinds.find(
    ({ pattern, scope }) => pattern.test(path) && (scope === "anywhere" || isBelow || (scope === "around" && isAbove)),
  );
}
