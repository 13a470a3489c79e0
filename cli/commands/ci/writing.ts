import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { EngineError, printable, projectFolder } from "../../../engine/index.ts";
import { maxMegabytesOfLayer, readText } from "../../../provider/files/files.ts";
import { isIn, rootOf } from "../../../provider/files/repository.ts";
import { environmentsFile, environmentsIn } from "../../changes/base/environments.ts";
import { statuses } from "../report/reporting.ts";
import { inOrder, pulumiVersion, type Engine, type Pipelines } from "./pipelines.ts";
import { renderPipelines, type Flavour } from "./templates.ts";

/** Flags of the command. */
export interface PipelineOptions {
  cwd?: string;
  engine: Engine;
  branch: string;
  cliVersion: string;
  cliDigest?: string;
  output?: string;
  force?: boolean;
  check?: boolean;
}

/** Writes the pipelines, or compares them; returns the messages. */
export function writePipelines(flavour: Flavour, options: PipelineOptions): string {
  const { root, pipelines } = described(flavour, options);
  const files = Object.entries(renderPipelines(flavour, pipelines)).map(([name, text]) => {
    return { name, text, was: textAt(root, name) };
  });
  const stale = files.filter(({ text, was }) => text !== was);
  if (options.check) {
    if (stale.length > 0) {
      const names = stale.map(({ name, was }) => `${name} ${was === undefined ? "is missing" : "is otherwise"}`);
      throw new EngineError(`${names.join("; ")}: write it with '${pipelines.command} --force'`, statuses.changes);
    }
    return report(files.map(({ name }) => `${name} is current`));
  }
  const others = stale.filter(({ was }) => was !== undefined);
  if (others.length > 0 && !options.force) {
    const names = others.map(({ name }) => name).join(", ");
    throw new EngineError(`${names}: it is there and is otherwise; nothing was written: add --force to overwrite it`);
  }
  for (const { name, text } of stale) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return report(files.map((file) => `${file.name} ${stale.includes(file) ? "written" : "is current"}`));
}

const report = (lines: readonly string[]): string => printable(lines.map((line) => `${line}\n`).join(""), false);

function described(flavour: Flavour, options: PipelineOptions): { root: string; pipelines: Pipelines } {
  const cwd = path.resolve(options.cwd ?? ".");
  const project = realpathSync(projectFolder(cwd));
  const root =
    options.output === undefined ? rootOf(project) : realpathSync(madeFolder(path.resolve(cwd, options.output)));
  if (!isIn(root, project)) {
    throw new EngineError(`--output names the top of the repository, and ${project} is not in it`);
  }
  const { engine, branch, cliVersion: version, cliDigest: digest } = options;
  if (digest !== undefined && !/^[0-9a-f]{64}$/.test(digest)) {
    throw new EngineError("--cli-digest is the SHA-256 of the CLI's archive, 64 digits and letters from a to f");
  }
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new EngineError("--cli-version is three numbers, such as 3.260.0");
  const folder = path.relative(root, project).replaceAll("\\", "/");
  const flags = [
    `--engine ${engine}`,
    ...(branch === "main" ? [] : [`--branch ${branch}`]),
    ...(version === pulumiVersion ? [] : [`--cli-version ${version}`]),
    ...(digest === undefined ? [] : [`--cli-digest ${digest}`]),
  ];
  const command = `microapps ci ${flavour} ${flags.join(" ")}`;
  return {
    root,
    pipelines: {
      environments: inOrder(listed(project)),
      engine,
      branch: named(branch),
      folder: named(folder),
      version,
      digest,
      command,
    },
  };
}

function madeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A name that stands in a pipeline, where a few signs have a meaning. */
function named(text: string): string {
  if (/^[\w./@-]*$/.test(text)) return text;
  throw new EngineError(`${JSON.stringify(text)} can't stand in a pipeline: use letters, digits, and ._-/@`);
}

function listed(project: string): ReturnType<typeof environmentsIn>["entries"] {
  if (!existsSync(path.join(project, environmentsFile))) {
    throw new EngineError(`there is no ${environmentsFile} beside Pulumi.yaml: list the environments there first`);
  }
  const { entries, problems } = environmentsIn(readText(project, environmentsFile, maxMegabytesOfLayer));
  const [wrong] = problems;
  if (wrong) throw new EngineError(`${wrong.place ?? environmentsFile}: ${wrong.text}`);
  return entries;
}

/** The text of a file; undefined where there is none. A link is refused: it would be followed. */
function textAt(root: string, name: string): string | undefined {
  const parts = name.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const place = path.join(root, ...parts.slice(0, length));
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found) return undefined;
    if (found.isSymbolicLink()) throw new EngineError(`${place} is a symbolic link: nothing was written`);
  }
  return readFileSync(path.join(root, name), "utf8");
}
