import { type Command, Option } from "commander";
import { EngineError, exitStatuses, messageOf } from "../errors.ts";
import { processTerminal, type Terminal } from "../terminal/prompts.ts";
import { oneLine, printable, writeOn } from "../terminal/text.ts";
import { addConfigCommands } from "./configs.ts";
import { addOperations, type Descriptions } from "./operations.ts";
import { answerDashedValue, answerFlag, refuseVariables } from "./pulumi.ts";
import { addStackCommands } from "./stacks.ts";
import { addStateCommands } from "./states.ts";

/** Adds the engine's commands, with their names and flags of Pulumi. */
export function addEngineCommands(
  program: Command,
  terminal: Terminal = processTerminal,
  descriptions?: Descriptions,
): void {
  program
    .configureOutput({ outputError: (text, write) => write(refusal(text)) })
    .option("-C, --cwd <folder>", "run as if started in this folder")
    .option("-s, --stack <name>", "the stack to work on (default: PULUMI_STACK, then the selected one)")
    .option("--non-interactive", "never ask, not even on a terminal")
    .addOption(
      new Option("--color <when>", "when to print in colour").choices(["always", "never", "auto"]).default("auto"),
    );
  addOperations(program, terminal, descriptions);
  addStackCommands(program, terminal);
  addStateCommands(program, terminal);
  addConfigCommands(program, terminal);
  // What Pulumi has as well answers its flags, and refuses its variables.
  for (const command of program.commands) {
    command.hook("preAction", () => refuseVariables(terminal.environment));
    for (const each of [command, ...command.commands]) {
      const answer = each.name() === "set" ? answerDashedValue : answerFlag;
      each.configureOutput({ outputError: (text, write) => write(refusal(answer(text))) });
    }
  }
}

/** Commander's message about a command line, with words from it on one line; advice and help stand below. */
function refusal(text: string): string {
  const [, message = "", advice = ""] = /^([^]*?)((?:\n\((?:Did you mean|The Pulumi CLI).*\))?\n*)$/.exec(text) ?? [];
  return oneLine(message) + printable(advice, false);
}

/** A message, with what it repeats of the command line on one line. */
function withWordsOnOneLine(message: string): string {
  const broken = process.argv.filter((word) => word !== oneLine(word));
  return broken.reduce((text, word) => text.replaceAll(word, () => oneLine(word)), message);
}

/** Prints a failure as one sentence and sets the exit status. */
export function reportFailure(error: unknown, terminal: Terminal = processTerminal): void {
  const text = printable(`error: ${withWordsOnOneLine(messageOf(error))}`, false);
  writeOn(terminal.errors, terminal.environment)(`${text}\n`);
  process.exitCode = error instanceof EngineError ? error.status : exitStatuses.failed;
}

// Exports for declaring further commands, which load the rest of the engine when they run.
export { EngineError } from "../errors.ts";
export { oneLine, printable, printableJson } from "../terminal/text.ts";
export { pulumiVersion } from "../workspace/names.ts";
export type { HostProgram } from "../program/hostedProgram.ts";
export type { HostProvider } from "../providers/starting.ts";
export { processTerminal, type Terminal } from "../terminal/prompts.ts";
export { refuseUnknownCommands } from "./pulumi.ts";
