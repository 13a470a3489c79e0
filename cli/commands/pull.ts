import type { Command } from "commander";
import type { PullOptions } from "./pulling.ts";

/** Adds the command that takes what was changed by hand into the files. */
export function addPullCommand(program: Command): void {
  program
    .command("pull")
    .description("take what was changed by hand into the files")
    .argument("[environment]", "which one, by name or stack")
    .argument("[things...]", "which changes: a thing as drift names it, or <thing>/<key> (default: all)")
    .option("-y, --yes", "write without asking")
    .option("--json", "print what was found as JSON, and ask nothing")
    .option("--into <file>", "write into this file of the environment, as overrides of what stands elsewhere")
    .option("--foreign", "take rows that nobody owns as well")
    .option(
      "--state <file>",
      "the state, as 'stack export --show-secrets' prints it, where its backend is out of reach; - reads it from standard input",
    )
    .option("--dirty", "write although files of the environment are not committed")
    .option("--non-interactive", "ask nothing: show alone, unless --yes is given")
    .action(async (environment: string | undefined, things: string[], _, own: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { runPull } = await import("./pulling.ts");
      await runPull(
        [...(environment === undefined ? [] : [environment]), ...things],
        own.optsWithGlobals<PullOptions>(),
      );
    });
}
