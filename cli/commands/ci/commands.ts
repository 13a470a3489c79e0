import { type Command, Option } from "commander";
import type { Flavour, PipelineOptions } from "./pipelines.ts";
import { pulumiVersion } from "./pulumiVersion.ts";

const flavours: Flavour[] = ["github", "gitlab"];

/** Adds the command that writes the pipelines of a project. */
export function addCiCommand(program: Command): void {
  program
    .command("ci")
    .description("write the pipelines of a repository")
    .addArgument(program.createArgument("<system>", "whose pipelines").choices(flavours))
    .addOption(
      new Option("--engine <engine>", "what applies: the Pulumi CLI, or the embedded engine")
        .choices(["pulumi", "embedded"])
        .default("pulumi"),
    )
    .option("--branch <name>", "the branch that is applied", "main")
    .option("--cli-version <version>", "version of the Pulumi CLI that pipelines install", pulumiVersion)
    .option("--cli-digest <sha256>", "SHA-256 of its archive for Linux on x64, which pins it by content")
    .option("-o, --output <folder>", "the top of the repository, where they are written (default: that of Git)")
    .option("--force", "overwrite files that are otherwise")
    .option("--check", "write nothing, and end with 7 when they are not current")
    .action(async (flavour: Flavour, _, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { writePipelines } = await import("./pipelines.ts");
      process.stdout.write(writePipelines(flavour, command.optsWithGlobals<PipelineOptions>()));
    });
}
