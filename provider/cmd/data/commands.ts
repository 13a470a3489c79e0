import type { Command } from "commander";
import { Option } from "commander";
import { formats, type Format } from "../../changes/rendering/render.ts";

/** Flags of `changes`. */
export interface ChangesOptions {
  cwd?: string;
  format: Format;
  output?: string;
  expectNoChanges?: boolean;
}

/** Adds the command that compares two environments, or two versions of one. */
export function addChangesCommand(program: Command): void {
  program
    .command("changes")
    .description("compare two environments: settings, people, apps, and rows by their keys")
    .argument("<from>", "an environment (its files), <environment>@<commit>, live:<environment> or dump:<folder>")
    .argument("<to>", "the same forms")
    .option("-o, --output <file>", "write it there instead of printing it")
    .addOption(new Option("--format <format>", "how it is written").choices(formats).default("text"))
    .option("--expect-no-changes", "fail when anything differs")
    .action(async (from: string, to: string, _, own: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { runChanges } = await import("./comparing.ts");
      await runChanges(from, to, own.optsWithGlobals<ChangesOptions>());
    });
}
