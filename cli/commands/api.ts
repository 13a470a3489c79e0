import type { Command } from "commander";
import type { CallFlags } from "./call.ts";

/** Adds the command that calls one endpoint with the configuration of a stack. */
export function addApiCommand(program: Command): void {
  program
    .command("api")
    .description("call one endpoint of the platform")
    .argument("[endpoint]", "name of the endpoint, such as readteam; without one they are listed")
    .argument("[request]", "the request as JSON, or - to read it from standard input", "{}")
    .action(async (endpoint: string | undefined, request: string, _, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { call } = await import("./call.ts");
      await call(endpoint, request, command.optsWithGlobals<CallFlags>());
    });
}
