// Run by npm when it installs this folder: a clone is built, the published package is.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
// Settings of the npm that started this, such as "write no lock", are not for the other one.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

function run(program, ...words) {
  // Standard output may be read as the schema.
  const { status } = spawnSync(program, words, {
    cwd: root,
    env,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(`${root}dist/bundle/pulumi-resource-microapps.js`)) {
  if (!existsSync(`${root}node_modules/esbuild`)) run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error");
  run("node", "tools/scripts/bundle.mjs");
}
