import type { Command, Option } from "commander";
import { EngineError, messageOf } from "../errors.ts";
import { refusedFlags, type Refusals } from "./pulumiFlags.ts";

/** Reasons of the flags that are refused. */
const reasons = new WeakMap<Option, string>();

/** Values that a refused flag may have, since they are what happens anyway. */
const granted: Readonly<Record<string, readonly string[]>> = { "--secrets-provider": ["default", "passphrase"] };

const everywhere: Refusals = Object.fromEntries(
  Object.entries(refusedFlags[""] ?? {}).map(([flags, why]) => [flags.replace(/^-\w, /, ""), why]),
);

/**
 * Adds the flags that Pulumi's command of this name has and this engine refuses, hidden from the help. Those of all
 * commands have no short form but for operations: a value may begin with it.
 */
export function addRefusedFlags(command: Command, name: string): void {
  const refusals: Refusals = { ...everywhere, ...refusedFlags[name] };
  for (const [flags, why] of Object.entries(refusals)) {
    const option = command.createOption(flags).hideHelp();
    if (command.options.some(({ long }) => long === option.long)) continue;
    command.addOption(option);
    reasons.set(option, why);
  }
}

/** Variables of the Pulumi CLI that set a flag beside PULUMI_OPTION_<NAME>, and the commands of which they do it. */
const otherVariables: Readonly<Record<string, { name: string; of?: readonly string[] }>> = {
  "--yes": { name: "PULUMI_SKIP_CONFIRMATIONS" },
  "--parallel": { name: "PULUMI_PARALLEL" },
  "--continue-on-error": { name: "PULUMI_CONTINUE_ON_ERROR", of: ["up", "destroy"] },
  "--run-program": { name: "PULUMI_RUN_PROGRAM" },
};

/** Takes over the flags of a command that the environment has as PULUMI_OPTION_<NAME>, where the command line has none. */
export function takeFlags(action: Command, environment: NodeJS.ProcessEnv): void {
  for (const level of levelsOf(action)) {
    for (const option of level.options) {
      const isOwn = level === action || !isAmong(action, option);
      if (isOwn) takeFromEnvironment(level, option, environment);
    }
  }
}

/** Refuses the given flags of a command, or of those above it, that the embedded engine does not do. */
export function refuseFlags(action: Command): void {
  for (const level of levelsOf(action)) {
    for (const option of level.options) {
      const why = reasons.get(option);
      const source: unknown = level.getOptionValueSource(option.attributeName());
      if (why === undefined || source === undefined || source === "default") continue;
      if (level !== action && isAmong(action, option)) continue;
      const value: unknown = level.getOptionValue(option.attributeName());
      if (value === false || granted[option.long ?? ""]?.includes(String(value))) continue;
      refuse(source === "env" ? (takenFrom.get(option) ?? variableOf(option)) : (option.long ?? option.flags), why);
    }
  }
}

function levelsOf(command: Command): Command[] {
  return command.parent ? [command, ...levelsOf(command.parent)] : [command];
}

/** True if a command has an option of this name that it does not refuse. */
const isAmong = (command: Command, { long }: Option): boolean =>
  command.options.some((option) => option.long === long && !reasons.has(option));

/** The variable that Pulumi takes a flag from. */
const variableOf = ({ long = "" }: Option): string =>
  `PULUMI_OPTION_${long.slice(2).replaceAll("-", "_").toUpperCase()}`;

/** The variables that an option was taken from. */
const takenFrom = new WeakMap<Option, string>();

/** Finds the set variable that gives an option; that of the option's own name counts first. */
function setVariable(command: Command, option: Option, environment: NodeJS.ProcessEnv): string {
  const own = variableOf(option);
  const other = otherVariables[option.long ?? ""];
  const isOther = other && !environment[own] && (other.of?.includes(command.name()) ?? true);
  return isOther ? other.name : own;
}

function takeFromEnvironment(command: Command, option: Option, environment: NodeJS.ProcessEnv): void {
  const variable = setVariable(command, option, environment);
  const text = environment[variable];
  const attribute = option.attributeName();
  if (!text || option.long === undefined || command.getOptionValueSource(attribute) === "cli") return;
  takenFrom.set(option, variable);
  const isSwitch = option.isBoolean() || option.negate;
  const value = isSwitch ? isYes(variable, text) !== option.negate : valueOf(option, variable, text);
  command.setOptionValueWithSource(attribute, value, "env");
}

function isYes(variable: string, text: string): boolean {
  if (["true", "1"].includes(text.toLowerCase())) return true;
  if (["false", "0"].includes(text.toLowerCase())) return false;
  throw new EngineError(`${variable}: '${text}' must be true or false`);
}

function valueOf(option: Option, variable: string, text: string): unknown {
  try {
    const parse: ((value: string, previous: unknown) => unknown) | undefined = option.parseArg;
    return parse === undefined ? text : parse(text, undefined);
  } catch (error) {
    throw new EngineError(`${variable}: '${text}' ${messageOf(error)}`);
  }
}

function refuse(name: string, why: string): never {
  throw new EngineError(
    `${name}: the embedded engine does not do this (${why}); the Pulumi CLI does, on the same state`,
  );
}
