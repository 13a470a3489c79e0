import { Command } from "commander";
import { addEmulatorCommand } from "../../cli/commands/commands.ts";

// The emulator as a process of its own, for tests that end it.
const program = new Command();
addEmulatorCommand(program);
await program.parseAsync();
