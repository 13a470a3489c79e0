import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { documents } from "./reference.ts";

// `make docs` writes the documents; with --check it names those that are stale and writes nothing.
const folder = join(import.meta.dirname, "../../docs");
const check = process.argv.includes("--check");

function written(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(documents())) {
  const file = join(folder, name);
  if (written(file) === text) continue;
  if (check) {
    process.stderr.write(`docs/${name} is stale: run make docs\n`);
    process.exitCode = 1;
  } else writeFileSync(file, text);
}
