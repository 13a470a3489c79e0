// Started by Pulumi's language host.
import { existsSync } from "node:fs";
import * as modules from "node:module";
import { fileURLToPath } from "node:url";

const program = new URL("../dist/bundle/pulumi-resource-microapps.js", import.meta.url);

function problem() {
  if (!modules.registerHooks) return `the plugin needs Node 22.19 or newer, and this is ${process.version}`;
  if (!existsSync(program))
    return `the plugin is not built: run 'npm install' in ${fileURLToPath(new URL(".", import.meta.url))}`;
}

const reason = problem();
if (reason) {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(1);
}
void import(program.href);
