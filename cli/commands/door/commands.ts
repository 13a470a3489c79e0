import { Argument, type Command } from "commander";
import type { ProviderKind } from "../../../provider/pulumi/configuration/configuration.ts";
import type { ProviderKindOptions } from "./door.ts";

/** Adds to `state` the command that takes a stack from dynamic resources to the plugin, and back. */
export function addProviderKindCommand(program: Command): void {
  const state = program.commands.find((command) => command.name() === "state");
  state
    ?.command("door")
    .description(
      "rewrite the state as if all resources had been registered as dynamic resources, or through the plugin; nothing is sent",
    )
    .addArgument(new Argument("<door>").choices(["plugin", "dynamic"]))
    .option(
      "--file <file>",
      "an export of `pulumi stack export` in place of the stack's own state; - reads and prints it",
    )
    .action(async (door: ProviderKind, _, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { changeProviderKind } = await import("./door.ts");
      await changeProviderKind(door, command.optsWithGlobals<ProviderKindOptions>());
    });
}
