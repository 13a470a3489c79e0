import type { Command } from "commander";
import { resolve } from "node:path";
import { printableJson } from "../../engine/cli/cli.ts";

/** Adds the command by which a person believes an intent file that has no seal of theirs. */
export function addTrustCommand(program: Command): void {
  program
    .command("trust")
    .description(
      "believe an intent file of an earlier version or another machine, which runs refuse; prints what it tells",
    )
    .argument("<file>", "the file, as the message names it")
    .action(async (file: string, _, command: Command) => {
      const { cwd = "." } = command.optsWithGlobals<{ cwd?: string }>();
      // Loaded when it is needed: the emulator is to start fast.
      const { trustIntent } = await import("../../provider/resources/records/intents.ts");
      process.stdout.write(`${printableJson(await trustIntent(resolve(cwd), file), 2)}\n`);
    });
}
