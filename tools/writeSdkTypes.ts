import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "oxfmt";
import { writeSdkTypes } from "./sdkTypes.ts";

// `make docs` writes sdk/args.ts, so that editors show each input's description; with --check it only compares.
const file = join(import.meta.dirname, "../../sdk/args.ts");
const { code: text } = await format(file, writeSdkTypes(), { printWidth: 120 });
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  process.stderr.write("sdk/args.ts is stale: run make docs\n");
  process.exitCode = 1;
}
