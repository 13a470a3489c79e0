import type { Command } from "commander";
import { dayOption } from "../report/commands.ts";

/** Adds the commands that work on Environment files alone: no stack, passphrase, platform or program is needed. */
export function addEnvironmentCommands(program: Command): void {
  const environment = program.command("environment").description("check and show Environment files");
  environment
    .command("check")
    .description(
      "say everything that is wrong with an Environment file and the rows that it names, without stack, passphrase or platform",
    )
    .argument("[file]", "the file; without it, that of the stack given with --stack")
    .addOption(dayOption())
    .option("--base <commit>", "refuse what would stop a change from this commit, such as removals without their line")
    .action(async (file: string | undefined, _, command: Command) => {
      const { checkFile } = await import("./files.ts");
      process.stdout.write(await checkFile(file, command.optsWithGlobals()));
    });
  environment
    .command("show")
    .description("print an Environment file with everything that it extends merged into it")
    .argument("[file]", "the file; without it, that of the stack given with --stack")
    .option("--origin", "say behind each value in which file, line and column it stands")
    .option("-j, --json", "print it as JSON")
    .action(async (file: string | undefined, _, command: Command) => {
      const { showFile } = await import("./files.ts");
      process.stdout.write(showFile(file, command.optsWithGlobals()));
    });
  environment
    .command("schema")
    .description(
      "write the JSON Schema by which an editor completes an Environment file down to the labels and values of its rows",
    )
    .argument("[file]", "the file; without it, that of the stack given with --stack")
    .option("--out <file>", "where to write it (default: environment.schema.json beside the Environment file)")
    .action(async (file: string | undefined, _, command: Command) => {
      const { describeFile } = await import("./files.ts");
      process.stdout.write(await describeFile(file, command.optsWithGlobals()));
    });
}
