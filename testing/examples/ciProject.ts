import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freshFolder, repository } from "../harness/project.ts";

export const ciExamples = join(repository, "examples/ci");

/** A project elsewhere with the examples for CI, which has this package and what jest needs. */
export async function ciProject(): Promise<string> {
  const folder = await freshFolder();
  await cp(ciExamples, folder, { recursive: true });
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", jest: { transform: {} } }),
  );
  await mkdir(join(folder, "node_modules/@jest"), { recursive: true });
  await symlink(repository, join(folder, "node_modules/pulumi-microapps"));
  await symlink(join(repository, "node_modules/@jest/globals"), join(folder, "node_modules/@jest/globals"));
  return folder;
}
