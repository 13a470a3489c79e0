import { type Command, Option } from "commander";
import type { PromoteOptions } from "./promoting.ts";

/** Adds the command that brings changes of one environment into another. */
export function addPromoteCommand(program: Command): void {
  program
    .command("promote")
    .description(
      "bring what one environment's files have changed since the last promotion into another environment's: shows it, and writes with --write",
    )
    .argument("<from>", "the environment that has the changes")
    .argument("<to>", "the environment that gets them")
    .option("--only <names...>", "these things or rows alone (countries, countries/DE), with what they link to")
    .option("--ours <names...>", "keep what <to> has where these conflict")
    .option("--theirs <names...>", "take what <from> has where these conflict")
    .addOption(
      new Option("--conflicts <size>", "whether two changes of one row conflict by cell or as a row")
        .choices(["cell", "row"])
        .default("cell"),
    )
    .option("--write", "write the files, and promotions.yaml")
    .option("--fold", "with --write: move what all environments over a file then agree on into that file")
    .option("--dirty", "go on although files are not committed")
    .option("-j, --json", "print it as JSON")
    .action(async (from: string, to: string, _, own: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { runPromote } = await import("./promoting.ts");
      await runPromote(from, to, own.optsWithGlobals<PromoteOptions>());
    });
}
