import { Argument, type Command } from "commander";
import type { ProviderKind } from "../../../provider/pulumi/configuration/configuration.ts";
import type { ProviderKindOptions } from "./changing.ts";

/** Adds to `state` the command that takes a stack from dynamic resources to the plugin, and back. */
export function addProviderKindCommand(program: Command): void {
  const state = program.commands.find((command) => command.name() === "state");
  if (state === undefined) return;
  addNamed(state, "provider-kind", false);
  addNamed(state, "door", true); // its former name
}

const addNamed = (state: Command, name: string, hidden: boolean): void =>
  void state
    .command(name, { hidden })
    .description(
      "rewrite the state as if all resources had been registered as dynamic resources, or through the plugin; nothing is sent",
    )
    .addArgument(new Argument("<kind>").choices(["plugin", "dynamic"]))
    .option(
      "--file <file>",
      "an export of `pulumi stack export` in place of the stack's own state; - reads and prints it",
    )
    .action(async (kind: ProviderKind, _, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { changeProviderKind } = await import("./changing.ts");
      await changeProviderKind(kind, command.optsWithGlobals<ProviderKindOptions>());
    });
