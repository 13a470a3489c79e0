import { posix } from "node:path";
import {
  filesIn,
  projectFileAmong,
  stackFileAmong,
  stackFileOf,
  type SettingsFile,
} from "../../../machine/settings/names.ts";
import { readSettings, SettingsError, stackContent, strictDocument } from "../../../machine/settings/strict.ts";
import { maxMegabytesOfLayer, textIfAny } from "../../../provider/files/files.ts";

/** The content of a project or stack file in the one form that is believed, or why it is not. */
export type ProjectContent = { content: Record<string, unknown> } | { why: string };

/** Reads the text of a project file. */
export const projectContent = (file: string, text: string | undefined): ProjectContent =>
  believed(file, () => readSettings(text ?? ""));

/** Reads the text of a stack's file. */
export const stackFileContent = (file: string, text: string | undefined): ProjectContent =>
  believed(file, () => stackContent(strictDocument(text ?? "")));

function believed(file: string, read: () => Record<string, unknown>): ProjectContent {
  try {
    return { content: plainly(read()) as Record<string, unknown> }; // a map stays one
  } catch (error) {
    if (error instanceof SettingsError) return { why: `${file}:${error.line}: it ${error.message}` };
    throw error;
  }
}

/** Numbers that are larger than those of JSON as texts. */
function plainly(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (Array.isArray(value)) return value.map(plainly);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainly(inner)]));
}

/** The folder of the stacks' files beside a project file; the project's own where it is unknown. */
function configFolder(read: ProjectContent): string {
  if (!("content" in read)) return "";
  const { config, stackConfigDir } = read.content;
  const folder = typeof config === "string" ? config : stackConfigDir;
  return typeof folder === "string" ? posix.normalize(folder.replaceAll("\\", "/")) : "";
}

/** One side of a comparison: the names in a folder beside Pulumi.yaml, and texts of files there. */
export interface Side {
  names: (folder: string) => readonly string[];
  text: (file: string) => string | undefined | Promise<string | undefined>;
}

/** The working tree, seen from the folder of Pulumi.yaml. */
export const inFolder = (folder: string): Side => ({
  names: (below) => filesIn(posix.join(folder, below)),
  text: (file) => textIfAny(folder, file, maxMegabytesOfLayer),
});

/** The files of a project on one side, relative to the folder of Pulumi.yaml. */
export interface ProjectFiles {
  project: string;
  stack: string;
  /** Why one of them is not believed by its name. */
  why: string[];
}

/** Names the project file and the one of a stack. */
export async function projectFilesOf(side: Side, stack: string): Promise<ProjectFiles> {
  const named: SettingsFile = projectFileAmong(side.names(""));
  const project = named.file ?? "Pulumi.yaml";
  const folder = configFolder(projectContent(project, await side.text(project)));
  const { why } = stackFileAmong(side.names(folder), stack, project);
  return {
    project,
    stack: posix.join(folder, stackFileOf(stack, project)),
    why: [named.why, why].flatMap((each) => each ?? []),
  };
}
