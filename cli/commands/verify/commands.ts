import type { Command } from "commander";
import { processTerminal, type Terminal } from "../../../engine/cli/cli.ts";
import type { VerifyOptions } from "./verify.ts";

/** Adds the command that tries the facts of the interface on a platform, in a sandbox that it leaves as it was. */
export function addVerifyCommand(program: Command, terminal: Terminal = processTerminal): void {
  program
    .command("verify")
    .description("try in a sandbox what of the interface a platform keeps")
    .option(
      "--sandbox <name=ID>",
      "what is for tests and may be worked in, such as organization=new or countries=<table ID> (repeatable)",
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option("--generate", "generate an app as well, which no call removes")
    .option("--notify", "send notifications as well, to the account's own address")
    .option("-j, --json", "print JSON")
    .action(async (_, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { runVerify } = await import("./verify.ts");
      process.exitCode = await runVerify(command.optsWithGlobals<VerifyOptions>(), terminal);
    });
}
