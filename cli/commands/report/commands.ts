import { type Command, Option } from "commander";
import { EngineError } from "../../../engine/cli/cli.ts";
import { dayVariable, isDay } from "../../../machine/today.ts";
import { formats, type DriftOptions, type ReportOnly, type ReportOptions } from "./options.ts";

/** Adds the command that reports what a change does to each environment, or what differs between two of them. */
export function addReportCommand(program: Command): void {
  const stacks = collectStacks(program);
  const command = reporting(program.command("report").description("say what a change does to each environment"));
  command
    .option("--base <commit>", "what the working tree is compared with (default: HEAD)")
    .option("--from <environment>", "compare the files of this environment with those of --to instead")
    .option("--to <environment>", "the environment that --from is compared with")
    .option(
      "--state <file>",
      "the state, as 'stack export' prints it, where its backend is out of reach; - reads it from standard input",
    )
    .option("--expect-no-changes", "fail when anything changes")
    .option("--expect-plan <digest>", "fail when the plan is not this one, sha256:…: of one environment")
    .option("--data-only", "fail when a file changes that no environment reads")
    // As a variable as well: a tool of the version before ignores it.
    .addOption(
      new Option(
        "--outputs <file>",
        "append added, changed, removed and stops to it, for later jobs of a pipeline",
      ).env("MICROAPPS_REPORT_OUTPUTS"),
    )
    .action(async (names: string[], _, own: Command) => {
      const options = own.optsWithGlobals<ReportOptions & ReportOnly & { all?: boolean }>();
      // Loaded when it is needed: the emulator is to start fast.
      const { runReport } = await import("./reporting.ts");
      await runReport({ ...options, stacks: chosen(names, stacks, options.all) });
    });
}

/** Adds the command that reports what was changed by hand. */
export function addDriftCommand(program: Command): void {
  const stacks = collectStacks(program);
  reporting(program.command("drift").description("say what was changed on the platform by hand"))
    .option(
      "--state <file>",
      "the state, as 'stack export --show-secrets' prints it, where its backend is out of reach, with MICROAPPS_ENDPOINT in the environment; - reads it from standard input",
    )
    .option("--tolerate", "add what is there now to drift.yaml, which leaves it as it is for a time")
    // The name of the version before.
    .addOption(new Option("--accept").hideHelp())
    .option("--because <text>", "why it is left")
    .option("--until <day>", "until when, at most 90 days from now (default: 30 days from now)")
    .action(async (names: string[], _, own: Command) => {
      const { accept, ...rest } = own.optsWithGlobals<
        ReportOptions & DriftOptions & { all?: boolean; accept?: boolean }
      >();
      const options = { ...rest, tolerate: rest.tolerate ?? accept ?? false };
      // Loaded when it is needed: the emulator is to start fast.
      const { runDrift } = await import("./drifting.ts");
      await runDrift({ ...options, stacks: chosen(names, stacks, options.all) });
    });
}

/** The flags that all reports have. */
export const reporting = (command: Command): Command =>
  command
    .argument("[environments...]", "which ones, by name or stack (default: all of environments.yaml)")
    .option("--all", "all that environments.yaml lists")
    .option("--file <file>", "the Environment file, where environments.yaml does not say it")
    .option("-o, --output <file>", "write it there instead of printing it")
    .addOption(new Option("--format <format>", "how it is written").choices([...formats]).default("text"))
    .addOption(dayOption());

/** The day as of which people with an end are counted. The provider reads it from the environment as well. */
export const dayOption = (): Option =>
  new Option("--now <day>", "the day (UTC) by which people with an end count")
    .env(dayVariable)
    .argParser((day: string) => {
      if (!isDay(day)) throw new EngineError("--now must be a day of the calendar, such as 2026-12-31");
      process.env[dayVariable] = day;
      return day;
    });

/** The program takes its own option wherever it stands, and remembers the last one: here all of them count. */
export function collectStacks(program: Command): readonly string[] {
  const stacks: string[] = [];
  program.on("option:stack", (name: string) => stacks.push(name));
  return stacks;
}

export function chosen(names: readonly string[], stacks: readonly string[], all: boolean | undefined): string[] {
  const named = [...new Set([...stacks, ...names])];
  if (all && named.length > 0) throw new EngineError("--all and names of environments cannot be used together");
  return named;
}
