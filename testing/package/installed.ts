import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { repository } from "../harness/project.ts";
import { executable } from "../programs/cli.ts";

const execute = promisify(execFile);

const manifest = z.object({
  version: z.string(),
  bin: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()),
});
const packed = z.array(
  z.object({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
);

/** The package as npm packs it and installs it, in an empty folder elsewhere. */
export interface Installed {
  folder: string;
  version: string;
  files: string[];
  /** Bytes of the archive. */
  size: number;
}

export async function installPackage(): Promise<Installed> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "microapps-")));
  const environment = { ...process.env, npm_config_cache: join(folder, "cache"), npm_config_offline: "true" };
  const words = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await execute("npm", words, { cwd: repository, env: environment });
  const [archive] = packed.parse(JSON.parse(stdout));
  if (!archive) throw new Error("npm packed nothing");

  const modules = join(folder, "node_modules");
  await mkdir(modules);
  await execute("tar", ["-xzf", join(folder, archive.filename), "-C", modules]);
  await cp(join(modules, "package"), join(modules, "pulumi-microapps"), { recursive: true });
  await rm(join(modules, "package"), { recursive: true });
  const { version, bin, dependencies, peerDependencies } = manifest.parse(
    JSON.parse(await readFile(join(modules, "pulumi-microapps/package.json"), "utf8")),
  );
  // Links its dependencies, and nothing else that this repository has installed.
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(repository, "node_modules", name), join(modules, name));
  }
  await mkdir(join(modules, ".bin"));
  for (const [name, file] of Object.entries(bin)) {
    await chmod(join(modules, "pulumi-microapps", file), 0o755);
    await symlink(join("../pulumi-microapps", file), join(modules, ".bin", name));
  }
  return { folder, version, files: archive.files.map(({ path }) => path), size: archive.size };
}

/** Environment for working in the folder; nothing of it is this user's own. */
export const ownEnvironment = ({ folder }: Installed): Record<string, string> => ({
  PULUMI_HOME: join(folder, ".pulumi-home"),
  XDG_STATE_HOME: join(folder, ".state"),
  NO_COLOR: "1",
  COLUMNS: "200",
});

/** The environment of a folder of its own for the guides, whose npm installs what is here in place of what a registry has. */
export async function environmentOfGuides(installed: Installed): Promise<Record<string, string>> {
  const bin = join(installed.folder, "bin");
  await mkdir(bin);
  const install = `[ "$1" = install ] && exec ln -s '${installed.folder}/node_modules' node_modules`;
  await writeFile(join(bin, "npm"), `#!/bin/sh\n${install}\nexec '${executable("npm") ?? ""}' "$@"\n`, { mode: 0o755 });
  const path = [bin, dirname(process.execPath), process.env["PATH"]].join(delimiter);
  return { ...ownEnvironment(installed), PATH: path, npm_config_offline: "true" };
}
