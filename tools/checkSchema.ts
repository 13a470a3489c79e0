import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "semver";
import { readOwnPackage } from "../machine/ownPackage.ts";
import { breaksBetween, mayBreak } from "./breaks.ts";
import { packageSchema, type PackageSchema } from "./packageSchema.ts";

// Part of `make check`: promises of the last released schema still hold, unless the version number allows breaking
// them. A release copies plugin/schema.json to tools/released/schema-<version>.json.
const folder = join(import.meta.dirname, "../../tools/released");
const [last] = readdirSync(folder)
  .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as PackageSchema)
  .sort((a, b) => compare(b.version, a.version));
if (!last) throw new Error(`${folder} has no schema`);

const { version } = readOwnPackage();
if (!mayBreak(last.version, version)) {
  for (const sentence of breaksBetween(last, packageSchema(version))) {
    process.stderr.write(
      `plugin/schema.json: ${sentence}. That breaks programs of ${last.version}: bring it back, or raise the ` +
        `${last.version.startsWith("0.") ? "minor" : "major"} version of package.json\n`,
    );
    process.exitCode = 1;
  }
}
