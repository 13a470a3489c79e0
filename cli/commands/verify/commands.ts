import { Option, type Command } from "commander";
import { processTerminal, type Terminal } from "../../../engine/cli/cli.ts";
import type { VerifyOptions } from "./options.ts";

interface FormerOptions {
  testBed?: boolean;
  bed?: string;
  printBed?: boolean;
}

const listed = (value: string, all: string[]): string[] => [...all, value];

/** Adds the command that tries the facts of the interface on a platform, in a sandbox that it leaves unchanged. */
export function addVerifyCommand(program: Command, terminal: Terminal = processTerminal): void {
  program
    .command("verify")
    .description("try in a sandbox of a platform what the interface promises, and say where it differs")
    .option("--sandbox", "the organization and the tables are for tests: without it nothing is sent")
    .addOption(new Option("--test-bed").hideHelp()) // former names
    .addOption(new Option("--bed <file>").hideHelp())
    .addOption(new Option("--print-bed").hideHelp())
    .option("--in <organizationID>", "the organization to work in, which no program manages")
    .option("--new", "make an organization for the run, and remove it again")
    .option(
      "--table <label:id>",
      "a table of the sandbox; --print-sandbox says which it may have (repeatable)",
      listed,
      [],
    )
    .option(
      "--sandbox-file <file>",
      "IDs of tables and fields, and people with passwords, as --print-sandbox prints them",
    )
    .option("--print-sandbox", "print the sandbox as a seed, for 'emulator --seed' or the operator of a platform")
    .option("--address <pattern>", "addresses that are invited, * is replaced", "microapps-*@example.com")
    .option("--apps", "generate apps as well, which no call removes")
    .option("--app <appID>", "an app of the account's, for notifications to its own address")
    .option("--file <address>", "a small text file that the platform may download, to try the storage of files")
    .option("--rows <number>", "rows that are inserted to see limits, and removed one by one", "50")
    .option("--timeout <time>", "how long a run may take: 90s, 30m; what it made is removed then", "2h")
    .option("--facts <file>", "further facts (repeatable)", listed, [])
    .option("--profile <file>", "say what has changed since this profile was written")
    .option("--write-profile <file>", "write how the platform behaves, such as platform-profile.yaml")
    .option("--force", "write over a profile that says something else")
    .option("--clean", "only remove what runs that were killed have left")
    .option("-j, --json", "print JSON")
    .action(async (_, command: Command) => {
      // Loaded when it is needed: the emulator is to start fast.
      const { runVerify } = await import("./verify.ts");
      const { testBed, bed, printBed, ...options } = command.optsWithGlobals<VerifyOptions & FormerOptions>();
      const current = { sandbox: testBed, sandboxFile: bed, printSandbox: printBed };
      process.exitCode = await runVerify({ ...current, ...options }, terminal);
    });
}
