import type { Command } from "commander";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { EngineError } from "../errors.ts";

// A script that was written for the Pulumi CLI gets nothing of it that is taken in silence here.

/** What an error about an unknown word says where no word of ours is near. */
const elsewhere = "\n(The Pulumi CLI, which may have it, works on the same state.)";

/** The text of an error about an unknown option of a command that Pulumi has as well. */
export const answerFlag = (error: string): string =>
  /^error: unknown option '[^\n]*'\n*$/.test(error) ? `${error.trimEnd()}${elsewhere}\n` : error;

/** Variables by which the Pulumi CLI takes flags. */
const flagVariable = /^PULUMI_(OPTION_\w+|SKIP_CONFIRMATIONS|PARALLEL|CONTINUE_ON_ERROR|RUN_PROGRAM)$/;

/** Refuses the variables that the Pulumi CLI takes flags from: here the command line alone has them. */
export function refuseVariables(environment: NodeJS.ProcessEnv): void {
  const isSet = (name: string): boolean => !["", "false", "0"].includes((environment[name] ?? "").toLowerCase());
  const variable = Object.keys(environment).find((name) => flagVariable.test(name) && isSet(name));
  if (variable === undefined) return;
  throw new EngineError(`${variable}: the embedded engine takes flags from its command line alone: unset it`);
}

/** Git takes it for a merge that failed, and not for one with conflicts, whose other side a careless commit loses. */
const failedMerge = 129;

/** Refuses unknown commands at every level and suggests the one that was probably meant. */
export function refuseUnknownCommands(command: Command): void {
  for (const each of command.commands) {
    if (each.commands.length > 0) refuseUnknownCommands(each);
  }
  command.on("command:*", ([word = ""]: string[]) => refuseUnknown(command, word));
}

/** Lets a command have words and options that {@link refuseWords} refuses: an unknown command before its options. */
export const allowWords = (command: Command): Command => command.allowExcessArguments().allowUnknownOption();

/** Refuses a word after a command that takes only the names of other commands, and an option that it has not. */
export function refuseWords(command: Command): void {
  const [word] = command.args;
  if (word === undefined) return;
  if (!word.startsWith("-")) refuseUnknown(command, word);
  const near = nearest(
    word,
    command.options.flatMap(({ long }) => long ?? []),
  );
  command.error(`error: unknown option '${word}'${near === undefined ? "" : `\n(Did you mean ${near}?)`}`);
}

function refuseUnknown(command: Command, word: string): never {
  const parents = command.parent ? `${command.name()} ` : "";
  const removed = answerRemoved("commands", `${parents}${word}`);
  if (removed !== undefined)
    return command.error(`error: ${removed}`, { exitCode: word === "merge-driver" ? failedMerge : 1 });
  const own = command.commands.flatMap((each) => [each.name(), ...each.aliases()]);
  // Pulumi's import looks like export and report.
  const near = word === "import" ? undefined : nearest(word, own);
  const remedy = near === undefined ? elsewhere : `\n(Did you mean ${parents}${near}?)`;
  return command.error(`error: unknown command '${parents}${word}'${remedy}`);
}

/** What is said of a word of `config set` that begins with `-`. It may be a value, and a secret one: it is not repeated. */
const dashed = "error: use -- before a value that begins with -: config set <key> -- <value>";

/** The text of an error about an unknown option of `config set`. */
export const answerDashedValue = (error: string): string =>
  error.replace(/^error: unknown option '[^]*?'(?=\n|$)/, dashed);

/** Refuses a value that would be taken for `-s<stack>` or `-C<folder>`. For the hook `preSubcommand` of `config`. */
export function refuseDashedValue(config: Command, subcommand: Command): void {
  // Commander keeps the command line, and its types do not say so.
  const { rawArgs = [] } = (config.parent ?? {}) as { rawArgs?: readonly string[] };
  const words = rawArgs.slice(rawArgs.indexOf("set", rawArgs.indexOf(config.name())) + 1);
  const ahead = words.slice(0, [...words, "--"].indexOf("--"));
  if (subcommand.name() === "set" && ahead.some((word) => /^-[sC]./.test(word))) subcommand.error(dashed);
}
