import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freshFolder, repository } from "../harness/project.ts";

/** A project elsewhere with the examples for CI, which has this package and what jest needs. */
export async function ciProject(): Promise<string> {
  const folder = await freshFolder();
  await cp(join(repository, "examples/ci"), folder, { recursive: true });
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", jest: { transform: {} } }),
  );
  await mkdir(join(folder, "node_modules/@jest"), { recursive: true });
  await symlink(repository, join(folder, "node_modules/pulumi-microapps"));
  await symlink(join(repository, "node_modules/@jest/globals"), join(folder, "node_modules/@jest/globals"));
  return folder;
}

/** Installs what the examples run by, beside this package; npm would otherwise take the links of the project away. */
export async function installBeside(folder: string, ...packages: readonly string[]): Promise<void> {
  const quietly = [
    "--prefer-offline",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-save",
    "--legacy-peer-deps",
  ];
  await promisify(execFile)("npm", ["install", ...quietly, ...packages, repository], { cwd: folder });
}
