import { dirname, join, relative, resolve } from "node:path";
import { filesIn } from "../../machine/settings/names.ts";
import { readEnvironment } from "../../provider/environment/declaration.ts";
import { maxMegabytesOfLayer, textIfAny } from "../../provider/files/files.ts";
import { runGit } from "../../provider/files/git.ts";
import { environmentsFile, environmentsIn } from "../changes/base/environments.ts";

/** A file with the rows of a seed. */
export interface SeedFile {
  /** From the top of the repository on, with forward slashes. */
  path: string;
  key: readonly string[];
}

/** Folders of a repository that have a project, from its top on; the top itself is empty. */
export async function projectFolders(root: string): Promise<string[]> {
  const patterns = ["Pulumi.yaml", "Pulumi.yml", environmentsFile].map((name) => `:(top,glob)**/${name}`);
  const files = (await runGit(root, "ls-files", "-z", "--full-name", "--", ...patterns)).split("\0");
  const folders = files.filter((file) => file !== "").map((file) => dirname(file));
  return [...new Set(folders)].map((folder) => (folder === "." ? "" : folder)).sort();
}

/** The files of all seeds that the projects of a repository have, as far as their Environment files can be read. */
export function seedFilesIn(root: string, folders: readonly string[]): SeedFile[] {
  const found = new Map<string, SeedFile>();
  for (const project of folders) {
    const folder = join(root, project);
    for (const file of environmentFilesIn(folder)) {
      const seeds = readEnvironment(file, folder).declared?.seeds ?? {};
      for (const { source, key } of Object.values(seeds)) {
        if (source === undefined) continue;
        const path = relative(root, resolve(folder, source)).replaceAll("\\", "/");
        found.set(JSON.stringify([path, key]), { path, key });
      }
    }
  }
  return [...found.values()];
}

/** The Environment files of a project: those that environments.yaml lists, else that of each stack. */
function environmentFilesIn(folder: string): string[] {
  const listed = environmentsIn(textIfAny(folder, environmentsFile, maxMegabytesOfLayer) ?? "{}").entries;
  if (listed.length > 0) return [...new Set(listed.map(({ file }) => file))];
  return filesIn(folder).flatMap((name) => {
    const [, stack] = /^Pulumi\.(.+)\.ya?ml$/.exec(name) ?? [];
    return stack === undefined ? [] : `${stack}.yaml`;
  });
}
