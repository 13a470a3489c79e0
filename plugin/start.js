// Started by Pulumi's language host, with the Pulumi SDK that npm installed for this folder.
import { existsSync } from "node:fs";
import * as modules from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const program = new URL("../dist/bundle/pulumi-resource-microapps.js", import.meta.url);
const require = modules.createRequire(import.meta.url);

function hasSdk() {
  try {
    return require.resolve("@pulumi/pulumi") !== "";
  } catch {
    return false;
  }
}

function problem() {
  if (!modules.registerHooks) return `the plugin needs Node 22.19 or newer, and this is ${process.version}`;
  if (!existsSync(program))
    return `the plugin is not built: run 'npm install' in ${fileURLToPath(new URL(".", import.meta.url))}`;
  if (!hasSdk()) return "the plugin needs the Pulumi SDK beside it: run 'npm install @pulumi/pulumi' in your project";
}

const reason = problem();
if (reason) {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(1);
}
// All of them from one place: two copies of gRPC don't take each other's objects.
const shared = /^(@pulumi\/pulumi|@grpc\/grpc-js|google-protobuf)(\/|$)/;
const folder = new URL(".", import.meta.url).href;
modules.registerHooks({
  resolve(name, context, next) {
    if (!shared.test(name) || context.parentURL?.startsWith(folder)) return next(name, context);
    return { url: pathToFileURL(require.resolve(name)).href, shortCircuit: true };
  },
});
void import(program.href);
