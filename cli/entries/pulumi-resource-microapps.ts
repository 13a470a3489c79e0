#!/usr/bin/env node
import { messageOf } from "../../machine/failures.ts";
import { compileOnce } from "../../machine/ownFolder.ts";
import { startEmulatorsHere } from "../commands/emulator/emulators.ts";

// An engine waits for the port: what was compiled once is not compiled again. What Node warns of is no news of a run.
compileOnce();
process.removeAllListeners("warning");
startEmulatorsHere();

// A language host requires this file, which therefore must not wait at its top level.
start().catch((error: unknown) => {
  process.stderr.write(`error: ${messageOf(error)}\n`);
  process.exitCode = 1;
});

async function start(): Promise<void> {
  const [{ serve }, { endWithEngine }] = await Promise.all([
    import("../../provider/pulumi/plugin/serve.ts"),
    import("../../provider/pulumi/lifetime.ts"),
  ]);
  const [, , engine] = process.argv;
  const { port, orphaned } = await serve(engine);
  endWithEngine(engine, orphaned);
  // This is how an engine ends a provider, which has five seconds then.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => process.exit(0));
  }
  process.stdout.write(`${port}\n`);
}
