#!/usr/bin/env node
import module from "node:module";

// An engine waits for the port: what was compiled once is not compiled again. What Node warns of is no news of a run.
module.enableCompileCache();
process.removeAllListeners("warning");

const [{ serve }, { endWithParent }] = await Promise.all([
  import("../pulumi/plugin/serve.ts"),
  import("../pulumi/parent.ts"),
]);
const { port, stop } = await serve(process.argv[2]);
process.stdout.write(`${port}\n`);
endWithParent(stop);
// This is how an engine ends a provider, which has five seconds then.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    stop();
    process.exit(0);
  });
}
