import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../../../machine/ownPackage.ts";
import type { Pipelines } from "./pipelines.ts";

/** Whose pipelines are written. */
export type Flavour = "github" | "gitlab";

/** Values of a template: texts and conditions by name, and what is repeated. */
type Values = Readonly<Record<string, string | boolean | readonly Readonly<Record<string, string | boolean>>[]>>;

const folder = join(packageFolder, "cli/commands/ci/templates");

/** A line that decides about others: its indent, its word, and the rest without the remark behind two dashes. */
const directive = /^( *)%(file|part|if|unless|each|insert|end)\b ?(.*?)(?: -- .*)?$/;

/** Files and parts of a template. Text outside of them is for its readers. */
class Template {
  readonly #blocks: Readonly<Record<"file" | "part", Map<string, string[]>>> = { file: new Map(), part: new Map() };

  constructor(...names: readonly string[]) {
    for (const name of names) {
      const lines = readFileSync(join(folder, `${name}.template`), "utf8").split("\n");
      for (let at = 0; at < lines.length; at++) {
        const [, , word, of = ""] = directive.exec(lines[at] ?? "") ?? [];
        if (word !== "file" && word !== "part") continue;
        const end = endOf(lines, at);
        this.#blocks[word].set(of, lines.slice(at + 1, end));
        at = end;
      }
    }
  }

  files(values: Values): Record<string, string> {
    const files = [...this.#blocks.file].map(([name, lines]) => [name, `${this.#render(lines, values).join("\n")}\n`]);
    return Object.fromEntries(files) as Record<string, string>; // pairs of texts
  }

  part(name: string, values: Values): string[] {
    const lines = this.#blocks.part.get(name);
    if (!lines) throw new Error(`no template has a part ${name}`);
    return this.#render(lines, values);
  }

  #render(lines: readonly string[], values: Values): string[] {
    const rendered: string[] = [];
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at] ?? "";
      const [, indent = "", word, rest = ""] = directive.exec(line) ?? [];
      if (word === undefined) {
        rendered.push(fill(line, values));
      } else if (word === "insert") {
        const [name = "", ...parameters] = rest.split(" | ");
        const part = this.part(name, { ...values, ...parametersIn(parameters, values) });
        rendered.push(...part.map((each) => (each === "" ? "" : indent + each)));
      } else {
        const end = endOf(lines, at);
        const body = lines.slice(at + 1, end);
        at = end;
        const value = values[rest];
        if (typeof value === "object")
          value.forEach((one) => rendered.push(...this.#render(body, { ...values, ...one })));
        else if (Boolean(value) === (word === "if")) rendered.push(...this.#render(body, values));
      }
    }
    return rendered;
  }
}

/** Replaces each `@name@` by its value. */
const fill = (text: string, values: Values): string =>
  text.replaceAll(/@(\w+)@/g, (_, name: string) => {
    const value = values[name];
    if (typeof value !== "string") throw new Error(`a template has no value for @${name}@`);
    return value;
  });

/** Reads `name=text` of each. */
const parametersIn = (parameters: readonly string[], values: Values): Record<string, string> =>
  Object.fromEntries(
    parameters.map((each) => [each.slice(0, each.indexOf("=")), fill(each.slice(each.indexOf("=") + 1), values)]),
  );

/** Index of the line that ends the block which begins at another one. */
function endOf(lines: readonly string[], start: number): number {
  let depth = 0;
  for (let at = start; at < lines.length; at++) {
    const word = directive.exec(lines[at] ?? "")?.[2];
    if (word === "end") depth--;
    else if (word !== undefined && word !== "insert") depth++;
    if (depth === 0) return at;
  }
  throw new Error(`nothing ends ${lines[start] ?? ""}`);
}

/** Values of each system: its folders, and how a job shows a page. */
const systems: Readonly<Record<Flavour, Readonly<Record<string, string>>>> = {
  github: {
    temp: "$RUNNER_TEMP",
    root: "$GITHUB_WORKSPACE",
    outputs: "$GITHUB_OUTPUT",
    summary: ' >> "$GITHUB_STEP_SUMMARY"',
  },
  gitlab: {
    temp: "$temp",
    root: "$CI_PROJECT_DIR",
    outputs: "$temp/report.env",
    summary: "",
  },
};

/** Git at the top of the clone: a branch may have what Git takes for a repository in any folder below. */
const gitAt = (root: string): string => `git -C "${root}" -c safe.bareRepository=explicit`;

/** Renders the pipelines of a project, by file. */
export function renderPipelines(flavour: Flavour, pipelines: Pipelines): Record<string, string> {
  const { environments, engine, branch, folder, version, digest = "", command } = pipelines;
  const system = systems[flavour];
  const onBranch = `$CI_COMMIT_BRANCH == "${branch}"`;
  return new Template("scripts", flavour).files({
    ...system,
    ...{ branch, folder, version, digest, command, pulumi: engine === "pulumi" },
    git: gitAt(system["root"] ?? ""),
    install: "npm ci --ignore-scripts --no-audit --no-fund", // runs nothing of what is installed
    microapps: "node_modules/.bin/microapps",
    releases: "https://get.pulumi.com/releases/sdk",
    below: folder === "" ? "" : `${folder}/`,
    runner: engine === "embedded" ? "self-hosted" : "ubuntu-latest",
    onRequest: `$CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == "${branch}"`,
    onBranch: `${onBranch} && ($CI_PIPELINE_SOURCE == "push" || $CI_PIPELINE_SOURCE == "web")`,
    onSchedule: `${onBranch} && $CI_PIPELINE_SOURCE == "schedule"`,
    environments: environments.map(({ after, ...each }, index) => ({
      ...each,
      isFirst: index === 0,
      first: ["plan", ...after.map((job) => `apply-${job}`)].join(", "),
    })),
  });
}
