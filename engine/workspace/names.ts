import { readdirSync } from "node:fs";

/** The version of the Pulumi CLI that this engine was held against. */
export const pulumiVersion = "3.260.0";

/** The name of a project's file without its ending. */
const project = "Pulumi";

/** Endings by which some reader finds a file of settings; which one wins differs. */
const endings = ["yaml", "yml", "json", "toml"];

/** The file of settings behind one name in a folder. */
export interface SettingsFile {
  /** The file that is read; undefined where there is none. */
  file: string | undefined;
  /** Why it can't be believed; undefined where it can. */
  why: string | undefined;
}

/** Finds the project file among the files of a folder. */
export const projectFileAmong = (files: readonly string[]): SettingsFile => among(files, project);

/** Finds a stack's file, which has the ending of the project's file. */
export function stackFileAmong(files: readonly string[], stack: string, projectFile = `${project}.yaml`): SettingsFile {
  const own = stackFileOf(stack, projectFile);
  const { file, why } = among(files, `${project}.${stack}`);
  if (why !== undefined || file === undefined || file === own) return { file, why };
  return { file, why: `${file} is not read, since the project's file is ${projectFile}: rename it to ${own}` };
}

/** The name of a stack's file beside a project file. */
export const stackFileOf = (stack: string, projectFile: string): string =>
  `${project}.${stack}.${projectFile.endsWith(".yml") ? "yml" : "yaml"}`;

function among(files: readonly string[], name: string): SettingsFile {
  const names = endings.map((ending) => `${name}.${ending}`);
  // Where letters have no case, other spellings are the same file.
  const found = files.filter((each) => names.some((one) => one.toLowerCase() === each.toLowerCase())).sort();
  const [file] = found;
  if (found.length > 1)
    return {
      file,
      why: `${found.join(" and ")} stand beside each other, and readers differ in which one counts: keep one`,
    };
  if (file === undefined || /^Pulumi\..*\.?ya?ml$/.test(file)) return { file, why: undefined };
  const [, ending] = /\.(\w+)$/.exec(file) ?? [];
  const yaml = `${name}.yaml`;
  return {
    file,
    why:
      ending === "json" || ending === "toml" ? `${file} is not read: write it as ${yaml}` : `rename ${file} to ${yaml}`,
  };
}

/** Names of what is in a folder; none where it is not there. Throws where that can't be known. */
export function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // reading a folder throws nothing else
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
