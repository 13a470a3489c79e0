import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { documents, ownFolders } from "./documents.ts";

// `make docs` writes what is made of definitions; with --check it names those that are stale and writes nothing.
const folder = join(import.meta.dirname, "../../docs");
const check = process.argv.includes("--check");

function stale(name: string, mend: () => void): void {
  if (!check) {
    mend();
    return;
  }
  process.stderr.write(`${join("docs", name)} is stale: run make docs\n`);
  process.exitCode = 1;
}

const wanted = await documents();
for (const [name, text] of Object.entries(wanted)) {
  const file = join(folder, name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
  stale(name, () => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  });
}
// A page of what is no more.
for (const name of ownFolders.flatMap((own) => readdirSync(join(folder, own)).map((file) => `${own}/${file}`))) {
  if (!(name in wanted)) stale(name, () => rmSync(join(folder, name)));
}
