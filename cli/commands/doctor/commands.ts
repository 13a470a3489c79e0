import type { Command } from "commander";
import { processTerminal, type Terminal } from "../../../engine/cli/cli.ts";
import type { DoctorOptions } from "./doctor.ts";

/** Adds the command that checks what a run presumes, and says what to do. */
export function addDoctorCommand(program: Command, terminal: Terminal = processTerminal): void {
  program
    .command("doctor")
    .description("look whether a run will work, and say what to mend")
    .option(
      "--table <id:key>",
      "another table, with the labels of its natural key joined by + (repeatable)",
      (value: string, all: string[]) => [...all, value],
      [],
    )
    .option("-j, --json", "print JSON")
    .action(async (_, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { runDoctor } = await import("./doctor.ts");
      process.exitCode = await runDoctor(command.optsWithGlobals<DoctorOptions>(), terminal);
    });
}
