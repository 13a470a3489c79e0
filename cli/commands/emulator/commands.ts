import { InvalidArgumentError, Option, type Command } from "commander";
import type { WireNames } from "../../../platform/contract/endpoints.ts";
import type { EmulatorCommandOptions } from "./running.ts";

const renamed = ["platformFormat", "storecopy", "uploadFileToStore"] as const satisfies (keyof WireNames)[];

// Loaded when they run: other commands are to start fast.
const commands = () => import("./running.ts");

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
    .option(
      "--wire-name <ours=theirs>",
      `a name that clients spell differently: ${renamed.join(", ")}; may be given again`,
      wireNameIn,
      {},
    )
    .option("--verbose", "print each call with a remark on what the platform ignores, such as a misspelt label")
    .option("--read-only", "refuse every call that changes the platform")
    .addOption(new Option("--strict", "refuse values that do not fit a field's type").conflicts("loose"))
    .option("--loose", "take any value for any field");
}

function portIn(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError("It must be 0 to 65535.");
  return port;
}

function wireNameIn(text: string, names: WireNames): WireNames {
  const [ours = "", theirs = ""] = text.split(/=(.*)/s);
  const name = renamed.find((name) => name === ours);
  if (name === undefined || !/^[\w-]+$/.test(theirs)) {
    throw new InvalidArgumentError(`It must be ${renamed.map((name) => `${name}=<name>`).join(", or ")}.`);
  }
  return { ...names, [name]: theirs };
}

function listed(name: string, names: string[]): string[] {
  return [...names, name];
}
