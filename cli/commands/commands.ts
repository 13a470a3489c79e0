import { type Command, InvalidArgumentError, Option } from "commander";
import path from "node:path";
import { EngineError, processTerminal, pulumiVersion } from "../../engine/cli/cli.ts";
import { dayVariable, isDay } from "../../machine/today.ts";
import type { CallFlags } from "./call.ts";
import type { Flavour, PipelineOptions } from "./ci/pipelines.ts";
import type { DoctorOptions } from "./doctor/doctor.ts";
import type { DumpOptions } from "./dumpPlatform.ts";
import type { EmulatorCommandOptions } from "./emulator/running.ts";
import type { InitOptions } from "./init/project.ts";
import type { PullOptions } from "./pulling.ts";
import type { DriftOptions } from "./report/drifting.ts";
import type { ReportOnly, ReportOptions } from "./report/reporting.ts";
import type { SchemaOptions } from "./tableSchema.ts";
import type { VerifyOptions } from "./verify/verify.ts";

// The commands with their flags. What they do is loaded when it is needed: others are to start fast.

const collect = (value: string, all: string[]): string[] => [...all, value];

/** Adds the command that calls one endpoint with the configuration of a stack. */
export function addApiCommand(program: Command): void {
  program
    .command("api")
    .description("call one endpoint of the platform")
    .argument("[endpoint]", "name of the endpoint, such as readteam; without one they are listed")
    .argument("[request]", "the request as JSON, or - to read it from standard input", "{}")
    .action(async (endpoint: string | undefined, request: string, _, command: Command) => {
      const { call } = await import("./call.ts");
      await call(endpoint, request, command.optsWithGlobals<CallFlags>());
    });
}

/** Adds the command that checks what a run presumes, and says what to do. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("check whether a run will work, and how to mend it")
    .option(
      "--table <id:key>",
      "another table, with the labels of its natural key joined by + (repeatable)",
      collect,
      [],
    )
    .option("-j, --json", "print JSON")
    .action(async (_, command: Command) => {
      const { runDoctor } = await import("./doctor/doctor.ts");
      process.exitCode = await runDoctor(command.optsWithGlobals<DoctorOptions>(), processTerminal);
    });
}

/** Adds the command that tries the facts of the interface on a platform, in a sandbox that it leaves as it was. */
export function addVerifyCommand(program: Command): void {
  program
    .command("verify")
    .description("try in a sandbox whether the platform behaves as the interface says")
    .option(
      "--sandbox <name=ID>",
      "something for tests, such as organization=new or countries=<table ID> (repeatable)",
      collect,
      [],
    )
    .option("--generate", "generate an app as well, which no call removes")
    .option("--notify", "send notifications as well, to the account's own address")
    .option("-j, --json", "print JSON")
    .action(async (_, command: Command) => {
      const { runVerify } = await import("./verify/verify.ts");
      process.exitCode = await runVerify(command.optsWithGlobals<VerifyOptions>(), processTerminal);
    });
}

/** Adds the command that writes what is on a platform as an environment. */
export function addDumpCommand(program: Command): void {
  program
    .command("dump")
    .description("write what is on a platform to files")
    .argument("[folder]", "the folder; created if it is missing")
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
        "for what import.json is written: an Environment of files alone, one of a program, or single resources of the plugin (default: dynamic in the folder of a program, else files)",
      ).choices(["files", "dynamic", "plugin", "none"]),
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
      const { dumpPlatform } = await import("./dumpPlatform.ts");
      await dumpPlatform(folder, command.optsWithGlobals<DumpOptions>());
    });
}

/** Adds the command that reports what a change does to each environment, or what differs between two of them. */
export function addReportCommand(program: Command): void {
  const stacks = collectStacks(program);
  const command = reporting(program.command("report").description("report what a change does to each environment"));
  command
    .option("--base <commit>", "what the working tree is compared with (default: HEAD)")
    .option("--from <environment>", "compare the files of this environment with those of --to instead")
    .option("--to <environment>", "the environment that --from is compared with")
    .addOption(stateOption())
    .option("--expect-no-changes", "fail when anything changes")
    .option("--expect-plan <digest>", "fail when the plan is not this one, sha256:…: of one environment")
    .option("--data-only", "fail when a file changes that no environment reads")
    // As a variable as well: a tool of the version before ignores it.
    .addOption(
      new Option(
        "--outputs <file>",
        "append added, changed, removed and stops to this file, for later jobs of a pipeline",
      ).env("MICROAPPS_REPORT_OUTPUTS"),
    )
    .action(async (names: string[], _, own: Command) => {
      const options = own.optsWithGlobals<ReportOptions & ReportOnly & { all?: boolean }>();
      const { runReport } = await import("./report/reporting.ts");
      await runReport({ ...options, stacks: chosen(names, stacks, options.all) });
    });
}

/** Adds the command that reports what was changed by hand. */
export function addDriftCommand(program: Command): void {
  const stacks = collectStacks(program);
  reporting(program.command("drift").description("report what was changed on the platform by hand"))
    .addOption(stateOption(" --show-secrets", ", with MICROAPPS_ENDPOINT in the environment"))
    .option("--tolerate", "tolerate the drift for a time: add it to drift.yaml")
    .option("--because <text>", "the reason")
    .option("--until <day>", "the last day, at most 90 days from now (default: 30 days from now)")
    .action(async (names: string[], _, own: Command) => {
      const options = own.optsWithGlobals<ReportOptions & DriftOptions & { all?: boolean }>();
      const { runDrift } = await import("./report/drifting.ts");
      await runDrift({ ...options, stacks: chosen(names, stacks, options.all) });
    });
}

/** The flags that all reports have. */
const reporting = (command: Command): Command =>
  command
    .argument("[environments...]", "the environments, by name or stack (default: all of environments.yaml)")
    .option("--all", "all that environments.yaml lists")
    .option("--file <file>", "the Environment file, where environments.yaml does not say it")
    .option("-o, --output <file>", "write it to this file instead of printing it")
    .addOption(new Option("--format <format>", "the format").choices(["md", "json", "text"]).default("text"))
    .addOption(dayOption());

const stateOption = (flag = "", besides = ""): Option =>
  new Option(
    "--state <file>",
    `the state, as 'stack export${flag}' prints it, where its backend is out of reach${besides}; - reads it from standard input`,
  );

/** The day as of which people with an end are counted. The provider reads it from the environment as well. */
const dayOption = (): Option =>
  new Option("--now <day>", "the day (UTC) by which people with an end count")
    .env(dayVariable)
    .argParser((day: string) => {
      if (!isDay(day)) throw new EngineError("--now must be a day of the calendar, such as 2026-12-31");
      process.env[dayVariable] = day;
      return day;
    });

/** The program takes its own option wherever it stands, and remembers the last one: here all of them count. */
function collectStacks(program: Command): readonly string[] {
  const stacks: string[] = [];
  program.on("option:stack", (name: string) => stacks.push(name));
  return stacks;
}

function chosen(names: readonly string[], stacks: readonly string[], all: boolean | undefined): string[] {
  const named = [...new Set([...stacks, ...names])];
  if (all && named.length > 0) throw new EngineError("--all and names of environments cannot be used together");
  return named;
}

/** Adds the commands that work on Environment files alone: no stack, passphrase, platform or program is needed. */
export function addEnvironmentCommands(program: Command): void {
  const environment = program.command("environment").description("check and show Environment files");
  const ofFile = (name: string, description: string): Command =>
    environment
      .command(name)
      .description(description)
      .argument("[file]", "the file; without it, that of the stack given with --stack");
  ofFile(
    "check",
    "report everything that is wrong with an Environment file and its rows, without stack, passphrase or platform",
  )
    .addOption(dayOption())
    .option("--base <commit>", "refuse what would stop a change from this commit, such as removals without their line")
    .action(async (file: string | undefined, _, command: Command) => {
      const { checkFile } = await import("./environment/files.ts");
      process.stdout.write(await checkFile(file, command.optsWithGlobals()));
    });
  ofFile("show", "print an Environment file merged with everything that it extends")
    .option("--origin", "show the file, line and column of each value")
    .option("-j, --json", "print it as JSON")
    .action(async (file: string | undefined, _, command: Command) => {
      const { showFile } = await import("./environment/files.ts");
      process.stdout.write(showFile(file, command.optsWithGlobals()));
    });
  ofFile(
    "schema",
    "write the JSON Schema by which an editor completes an Environment file down to the labels and values of its rows",
  )
    .option("--out <file>", "where to write it (default: environment.schema.json beside the Environment file)")
    .action(async (file: string | undefined, _, command: Command) => {
      const { describeFile } = await import("./environment/files.ts");
      process.stdout.write(await describeFile(file, command.optsWithGlobals()));
    });
}

/** Adds the command that takes what was changed by hand into the files. */
export function addPullCommand(program: Command): void {
  program
    .command("pull")
    .description("take what was changed by hand into the files")
    .argument("[environment]", "the environment, by name or stack")
    .argument("[things...]", "the changes: a thing as drift names it, or <thing>/<key> (default: all)")
    .option("-y, --yes", "write without asking")
    .option("--into <file>", "write overrides into this file of the environment")
    .option("--foreign", "also take rows and people that nobody declares")
    .addOption(stateOption(" --show-secrets"))
    .option("--dirty", "write even if files of the environment are not committed")
    .option("--non-interactive", "ask nothing, and only show unless --yes is given")
    .action(async (environment: string | undefined, things: string[], _, own: Command) => {
      const { runPull } = await import("./pulling.ts");
      await runPull(
        [...(environment === undefined ? [] : [environment]), ...things],
        own.optsWithGlobals<PullOptions>(),
      );
    });
}

/** Flags of promote. */
interface PromoteOptions {
  cwd?: string;
  only?: string[];
  ours?: string[];
  theirs?: string[];
  write?: boolean;
  dirty?: boolean;
}

/** Adds the command that brings changes of one environment into another. */
export function addPromoteCommand(program: Command): void {
  program
    .command("promote")
    .description("bring the changes of one environment to another")
    .argument("<from>", "the environment that has the changes")
    .argument("<to>", "the environment that gets them")
    .option("--only <names...>", "only these things or rows (countries, countries/DE)")
    .option("--ours <names...>", "keep what <to> has where these conflict")
    .option("--theirs <names...>", "take what <from> has where these conflict")
    .option("--write", "write the files, and promotions.yaml")
    .option("--dirty", "continue even if files are not committed")
    .action((from: string, to: string, _, own: Command) => runPromote(from, to, own.optsWithGlobals<PromoteOptions>()));
}

/** Promotes, prints what is or would be written, and sets the exit status. */
async function runPromote(from: string, to: string, options: PromoteOptions): Promise<void> {
  const { cwd = ".", only = [], ours = [], theirs = [] } = options;
  const { write = false, dirty = false } = options;
  const both = ours.find((name) => theirs.includes(name));
  if (both !== undefined) throw new EngineError(`--ours and --theirs both name ${both}: give it to one of them`);
  const { printable, projectFolder } = await import("../../engine/index.ts");
  const { promote, renderPromotion } = await import("../between/promotion/promote.ts");
  const folder = projectFolder(path.resolve(cwd));
  const promoted = await promote({ folder, from, to, only, ours, theirs, write, dirty });
  process.stdout.write(printable(renderPromotion(promoted), false));
  if (promoted.conflicts.length > 0) process.exitCode = 2;
}

/** Adds the command that writes the pipelines of a project. */
export function addCiCommand(program: Command): void {
  program
    .command("ci")
    .description("write the pipelines of a repository")
    .addArgument(program.createArgument("<system>", "whose pipelines").choices(["github", "gitlab"]))
    .addOption(
      new Option("--engine <engine>", "the engine that applies: the Pulumi CLI, or the embedded one")
        .choices(["pulumi", "embedded"])
        .default("pulumi"),
    )
    .option("--branch <name>", "the branch that is applied", "main")
    .option("--cli-version <version>", "version of the Pulumi CLI that pipelines install", pulumiVersion)
    .option("--cli-digest <sha256>", "SHA-256 of its archive for Linux on x64, which pins it by content")
    .option("-o, --output <folder>", "the top of the repository, to which they are written (default: that of Git)")
    .option("--force", "overwrite files that were edited")
    .option("--check", "write nothing, and end with 7 if they are not current")
    .action(async (flavour: Flavour, _, command: Command) => {
      const { writePipelines } = await import("./ci/pipelines.ts");
      process.stdout.write(writePipelines(flavour, command.optsWithGlobals<PipelineOptions>()));
    });
}

/** Adds the command that writes the files of a project. */
export function addInitCommand(program: Command): void {
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
      collect,
      [],
    )
    .option("--email <address>", "who logs in to it (default: the emulator's administrator)")
    .option("--environments <names>", "names, separated by commas, such as dev,staging,prod (default: dev)")
    .addOption(
      new Option("--ci <system>", "the system whose pipelines are written").choices(["github", "gitlab", "none"]),
    )
    .option("--name <name>", "name of the project (default: that of the folder)")
    .option("--from <folder>", "take over what 'microapps dump' wrote there")
    .option("-y, --yes", "ask nothing: take the defaults")
    .action(async (_, command: Command) => {
      const { initProject } = await import("./init/project.ts");
      await initProject(command.optsWithGlobals<InitOptions>(), processTerminal);
    });
}

/** Adds the commands about one table. */
export function addTableCommand(program: Command): void {
  const table = program.command("table").description("inspect a table of the platform");
  table
    .command("schema")
    .description("describe the labels of a table, and how sure that is, as Table Schema, JSON Schema and TypeScript")
    .argument("<table>", "ID of the table")
    .option("--key <labels>", "labels of its natural key, joined by + (default: the first that identifies each row)")
    .option("--from <file>", "take the fields from a platform seed or an Environment file instead of the rows")
    .option("--out <folder>", "write <table>.schema.json, <table>.rows.schema.json and <table>.ts to this folder")
    .addOption(
      new Option("--as <form>", "print one of the three").choices(["table-schema", "json-schema", "typescript"]),
    )
    .option("--type <name>", "name of the TypeScript type")
    .option("-j, --json", "print what was found as JSON")
    .action(async (id: string, _, command: Command) => {
      const { describeTable } = await import("./tableSchema.ts");
      await describeTable(id, command.optsWithGlobals<SchemaOptions>());
    });
}

// Loaded when they run: other commands are to start fast.
const commands = () => import("./emulator/running.ts");

/** Adds the command that runs the emulator until it is interrupted. It prints its address, and on the next line the console's. */
export function addEmulatorCommand(program: Command): void {
  const emulator = withOptions(program.command("emulator"))
    .description("run the platform on this machine")
    .enablePositionalOptions()
    .action(async (options: EmulatorCommandOptions) => (await commands()).run(options));
  withOptions(emulator.command("exec"))
    .description("run a command with an emulator of its own, whose address is in MICROAPPS_ENDPOINT")
    .argument("<command...>", "the command and its parameters")
    .passThroughOptions()
    .action(async (words: string[], options: EmulatorCommandOptions, command: Command) =>
      (await commands()).execute(words, options, command),
    );
  emulator
    .command("health")
    .description("ask an emulator whether it is ready")
    .argument("<address>", "its address, such as http://127.0.0.1:8080")
    .action(async (address: string) => (await commands()).askHealth(address));
  const snapshot = emulator.command("snapshot").description("save or load the state of a running emulator");
  for (const [name, what, work] of [
    ["save", "save the state of a running emulator to a file", "saveSnapshot"],
    ["load", "load the state in a file into a running emulator", "loadSnapshot"],
  ] as const) {
    snapshot
      .command(name)
      .description(what)
      .argument("<file>", "the file, such as state.db")
      .argument("[address]", "the console's address, which has the token; else as MICROAPPS_ENDPOINT has it")
      .action(async (file: string, address?: string) => (await commands())[work](file, address));
  }
}

function withOptions(command: Command): Command {
  return command
    .option("--port <number>", "port to listen on; a free one when it is 0", portIn, 0)
    .option("--data <file>", "data file, created if it is missing; in memory without one")
    .option(
      "--seed <file>",
      "YAML file with tables, users and settings, or of an Environment; taken when the data file is new; later start adds its new tables and fields",
    )
    .option("--reseed", "reset the data file to its seed")
    .option(
      "--profile <file>",
      "platform-profile.yaml: behave as that platform was seen to behave; kept in the data file",
    )
    .addOption(
      new Option(
        "--snapshot <file>",
        "file that a snapshot was saved to, in place of a seed; taken when the data file is new",
      ).conflicts("seed"),
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--allow-host <name>",
      "another host name that requests may use, such as that of a proxy (repeatable)",
      listed,
      [],
    )
    .option(
      "--allow-origin <origin>",
      "origin of web pages that may call it, such as http://localhost:5173 (repeatable)",
      listed,
      [],
    )
    .option(
      "--allow-admin",
      "let other machines use /_emulator/ with the token, which MICROAPPS_EMULATOR_TOKEN chooses; as MICROAPPS_EMULATOR_ALLOW_ADMIN=true does",
    )
    .option("--public-url <address>", "address that clients are given; that of their own request without it")
    .option("--verbose", "print each call with a remark on what the platform ignores, such as a misspelt label")
    .option("--read-only", "refuse every call that changes the platform");
}

function portIn(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError("It must be 0 to 65535.");
  return port;
}

function listed(name: string, names: string[]): string[] {
  return [...names, name];
}
