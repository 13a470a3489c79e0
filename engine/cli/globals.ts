import type { Command } from "commander";
import path from "node:path";
import { EngineError } from "../errors.ts";
import type { ColorChoice } from "../terminal/colors.ts";
import { isInteractive, readTyped, type Terminal } from "../terminal/prompts.ts";
import type { Stack, Workspace } from "../workspace/workspace.ts";

/** The options of every command. */
export interface GlobalOptions {
  cwd?: string;
  stack?: string;
  color: ColorChoice;
  nonInteractive?: boolean;
}

/** Reads the options of the program and of the command together. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- each command knows its own options
export const optionsOf = <Options>(command: Command): Options & GlobalOptions => command.optsWithGlobals();

export async function openWorkspace(
  globals: GlobalOptions,
  terminal: Terminal,
  onDeriving?: () => void,
): Promise<Workspace> {
  // Loaded when it is needed: commands that have no stack are to start fast.
  const { Workspace } = await import("../workspace/workspace.ts");
  const asks = isInteractive(terminal, globals.nonInteractive ?? false);
  return Workspace.open({
    cwd: path.resolve(globals.cwd ?? "."),
    environment: terminal.environment,
    onDeriving,
    ...(asks ? { askPassphrase: (isNew) => askPassphrase(terminal, isNew) } : {}),
  });
}

/** Asks for the passphrase, which is not shown; for a new one twice. */
async function askPassphrase(terminal: Terminal, isNew: boolean): Promise<string> {
  const purpose = isNew ? "to protect the secrets of the stack" : "to unlock the secrets of the stack";
  const typed = await readTyped(terminal, `Enter your passphrase ${purpose}: `, true);
  if (isNew && (await readTyped(terminal, "Enter it again: ", true)) !== typed) {
    throw new EngineError("the passphrases differ: nothing was made");
  }
  return typed;
}

/** @param onDeriving called when the stack's key is being derived in another thread */
export async function openStack(globals: GlobalOptions, terminal: Terminal, onDeriving?: () => void): Promise<Stack> {
  const workspace = await openWorkspace(globals, terminal, onDeriving);
  return workspace.stack(globals.stack);
}

/** Pulumi's flags that this engine refuses, each with what it is for or what to use instead. */
const unsupportedFlags: Record<string, string> = {
  "--target <urn>": "work on a part of a stack",
  "--target-dependents": "work on a part of a stack",
  "--target-replace <urn>": "work on a part of a stack",
  "--replace <urn>": "force replacements",
  "--exclude <urn>": "work on a part of a stack",
  "--exclude-dependents": "work on a part of a stack",
  "--exclude-protected": "work on a part of a stack",
  "--plan <file>": "update plans",
  "--save-plan <file>": "update plans",
  "--policy-pack <path>": "policies",
  "--policy-pack-config <path>": "policies",
  "--continue-on-error": "go on after an error",
  "--import-file <file>": "imports",
  "--import-pending-creates <pair>": "imports",
  "--config-file <file>": "another configuration file",
  "-c, --config <key=value>": "configuration on the command line: use 'config set'",
  "--config-path": "configuration on the command line: use 'config set'",
  "--run-program": "run the program for this",
  "--attach-debugger": "debuggers",
  "--secrets-provider <provider>": "secrets providers other than the passphrase",
  "--remote": "remote deployments",
  "--remove": "remove the stack with its resources: run 'stack rm' afterwards",
  "--show-config": "showing the configuration: use 'config'",
  "--tracing <endpoint>": "tracing in the older format; for spans set OTEL_EXPORTER_OTLP_ENDPOINT",
  "--otel-traces <endpoint>": "spans by a flag: set OTEL_EXPORTER_OTLP_ENDPOINT",
  "-d, --debug": "debug logging, which may show secrets",
};

/** Adds the refused flags, hidden from the help. */
export function refuseFlags(command: Command): Command {
  for (const [flags, what] of Object.entries(unsupportedFlags)) {
    const name = flags.split(" ").find((word) => word.startsWith("--")) ?? flags;
    if (command.options.some(({ long }) => long === name)) continue;
    const option = command.createOption(flags).hideHelp();
    option.argParser(() => refuse(name, what));
    command.addOption(option);
    command.on(`option:${option.name()}`, () => refuse(name, what));
  }
  return command;
}

function refuse(name: string, what: string): never {
  throw new EngineError(
    `${name}: the embedded engine does not do this (${what}); the Pulumi CLI does, on the same state`,
  );
}
