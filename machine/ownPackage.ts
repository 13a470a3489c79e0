import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Folder of this package, seen from dist/machine as from dist/bundle. */
export const packageFolder = join(import.meta.dirname, "../..");

/** Name and version of this package, from its own package.json. */
export function readOwnPackage(): { name: string; version: string } {
  const text = readFileSync(join(packageFolder, "package.json"), "utf8");
  const { name, version } = JSON.parse(text) as { name: string; version: string }; // our own file
  return { name, version };
}
