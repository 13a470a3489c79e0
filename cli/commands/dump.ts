import { type Command, Option } from "commander";
import type { DumpOptions } from "./dumpPlatform.ts";

const collect = (value: string, all: string[]): string[] => [...all, value];

/** Adds the command that writes what is on a platform as an environment. */
export function addDumpCommand(program: Command): void {
  program
    .command("dump")
    .description("write what is on a platform as files")
    .argument("[folder]", "where to; made when it is missing")
    .option("--organization <id>", "an organization (repeatable)", collect, [])
    .option("--team <id>", "a team, with its members and its organization (repeatable)", collect, [])
    .option(
      "--table <id:key[:file]>",
      "a table by its ID, with the labels of its natural key joined by + and the file of its rows, .csv or .ndjson (repeatable)",
      collect,
      [],
    )
    .addOption(
      new Option(
        "--import <kind>",
        "for which resources import.json is written: those of an Environment, or the plugin's",
      )
        .choices(["dynamic", "plugin", "none"])
        .default("dynamic"),
    )
    .option(
      "--mask <file>",
      "mask values by the rules of this file, with the secret in MICROAPPS_MASK_SECRET or in the file of MICROAPPS_MASK_SECRET_FILE",
    )
    .option("--check <file>", "print what the rules of this file would leave unmasked, and write nothing")
    .option("--name <name>", "name of the Environment in the program", "environment")
    .option("--force", "overwrite what an earlier dump wrote")
    .option("-j, --json", "print the summary as JSON")
    .action(async (folder: string | undefined, _, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { dumpPlatform } = await import("./dumpPlatform.ts");
      await dumpPlatform(folder, command.optsWithGlobals<DumpOptions>());
    });
}

/** Adds a command that only the Pulumi CLI has, which reports that. */
export function addImportRefusal(program: Command): void {
  program
    .command("import", { hidden: true })
    .argument("[anything...]")
    .allowUnknownOption()
    .action(() => {
      throw new Error(
        "the embedded engine imports nothing: run 'pulumi import' of the Pulumi CLI in this project; 'microapps dump' writes a file for 'pulumi import --file'",
      );
    });
}
