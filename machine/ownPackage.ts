import { readFileSync } from "node:fs";

/** Name and version of this package, from its own package.json. */
export function ownPackage(): { name: string; version: string } {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { name, version } = JSON.parse(text) as { name: string; version: string }; // our own file
  return { name, version };
}
