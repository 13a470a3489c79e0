import { readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { providerKinds } from "../../provider/pulumi/configuration.ts";
import { Project, repository } from "../harness/project.ts";

export { providerKinds };
export type TestedKind = (typeof providerKinds)[number];

const here = "testing/released";

/** The versions of which there are recordings, the oldest first. */
export const versions = (): string[] =>
  readdirSync(join(repository, here))
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .toSorted((one, other) => one.localeCompare(other, undefined, { numeric: true }));

/** Folder of what a version left behind. */
export const recordedFolder = (version: string): string => join(repository, here, version);

/** The program of a version, as the present one runs it, with nothing on the stack or the platform yet. */
export async function programOf(version: string, providerKind: TestedKind): Promise<Project> {
  const project = await Project.copied(join(here, version), "released");
  project.environment["MICROAPPS_PROVIDER_KIND"] = providerKind;
  return project;
}

/** The files of a recording, and where a project has them. */
export const filesOf = (project: Project): Record<string, string> => ({
  "state.json": project.stateFile,
  "platform.db.gz": project.platform,
});

/** The program of a version with the state and the platform that the version left. */
export async function restored(version: string, providerKind: TestedKind): Promise<Project> {
  const project = await programOf(version, providerKind);
  for (const [name, file] of Object.entries(filesOf(project))) {
    const content = await readFile(join(recordedFolder(version), providerKind, name));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, name.endsWith(".gz") ? gunzipSync(content) : content);
  }
  return project;
}
