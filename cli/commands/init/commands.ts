import { type Command, Option } from "commander";
import { processTerminal, type Terminal } from "../../../engine/cli/cli.ts";
import type { InitOptions } from "./project.ts";

/** Adds the command that writes the files of a project. */
export function addInitCommand(program: Command, terminal: Terminal = processTerminal): void {
  program
    .command("init")
    .description("write the files of a project; asks for what no flag says")
    .addOption(
      new Option(
        "--language <language>",
        "yaml is files only, without a program; take it unless you need one (default: yaml)",
      ).choices(["yaml", "typescript", "javascript", "python", "go"]),
    )
    .option(
      "--endpoint <address>",
      "address of the platform, https://…; of one environment as <environment>=<address> (repeatable; default: an emulator)",
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option("--email <address>", "who logs in to it (default: the emulator's administrator)")
    .option("--environments <names>", "names by commas, such as dev,staging,prod (default: dev)")
    .addOption(new Option("--ci <system>", "whose pipelines are written").choices(["github", "gitlab", "none"]))
    .option("--name <name>", "name of the project (default: that of the folder)")
    .option("--from <folder>", "take over what 'microapps dump' wrote there")
    .option("-y, --yes", "ask nothing: take the defaults")
    .action(async (_, command: Command) => {
      // Loaded when it is needed: other commands are to start fast.
      const { initProject } = await import("./project.ts");
      await initProject(command.optsWithGlobals<InitOptions>(), terminal);
    });
}
