import type { Command } from "commander";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { EngineError } from "../errors.ts";

// What the Pulumi CLI has and this command line lacks, by name: a script that was written for the CLI gets the reason and
// the way, and nothing of it is taken in silence.

/** Flags that only Pulumi has, of any command. */
const flagsOfPulumi: ReadonlySet<string> = new Set(
  `-t --target --target-dependents --target-replace --replace -x --exclude --exclude-dependents --exclude-protected
  --ignore-protect --save-plan --strict --policy-pack --policy-pack-config --show-policy-remediations
  --continue-on-error --import-file --import-pending-creates --config-file -c --config --config-path
  --skip-config-validation --override-env --run-program --attach-debugger --remove --show-config --show-full-output
  --show-reads --show-replacement-steps --show-sames --urns --event-log --neo --copilot --client --exec-agent --exec-kind
  -d --debug --remote --suppress-stream-logs -e --emoji -Q --fully-qualify-stack-names --disable-integrity-checking
  --logflow --logtostderr -v --verbose --profiling --tracing --tracing-header --otel-traces --show-ids --show-urns
  --show-name --suppress-outputs --suppress-progress --copy-config-from --remote-config --secrets-provider --teams -a --all -o --organization --project --tag
  --shell --remove-backups --open --type --raw --show-secrets --path -m --message --suppress-permalink
  --skip-plugin-pre-install --skip-pending-creates`.split(/\s+/),
);

/** Commands that only Pulumi has. */
const commandsOfPulumi: readonly string[] = [
  ...["about", "console", "convert", "deployment", "do", "env", "events", "gen-completion", "insights", "install"],
  ...["login", "logout", "logs", "neo", "new", "org", "package", "plugin", "policy", "project", "query", "schema"],
  ...["template", "version", "watch", "whoami", "stack change-secrets-provider", "stack drift", "stack get"],
  ...["stack graph", "stack history", "stack import", "stack migrate", "stack rename", "stack schedule", "stack tag"],
  ...["stack unselect", "stack webhook", "state delete", "state edit", "state move", "state protect", "state rename"],
  ...["state repair", "state taint", "state unprotect", "state untaint", "state upgrade", "config copy", "config cp"],
  ...["import", "config env", "config refresh", "config set-all", "config remove-all", "config rm-all"],
];

/** Variables by which the Pulumi CLI takes flags, of any command and of operations. */
const flagVariable = /^PULUMI_OPTION_/;
const operationVariable = /^PULUMI_(OPTION_\w+|SKIP_CONFIRMATIONS|PARALLEL|CONTINUE_ON_ERROR|RUN_PROGRAM)$/;
const operations: ReadonlySet<string> = new Set(["preview", "up", "refresh", "destroy"]);

const refusal = (name: string): string =>
  `${name}: the embedded engine does not do this; the Pulumi CLI does, on the same state`;

/** The text of an error about an unknown flag, where Pulumi has it; undefined for other errors. */
export function answerFlag(error: string): string | undefined {
  const [, flag = ""] = /^error: unknown option '(--?[\w-]+)/.exec(error) ?? [];
  return flagsOfPulumi.has(flag) ? `error: ${refusal(flag)}\n` : undefined;
}

/** Refuses the variables that the Pulumi CLI takes a command's flags from: here the command line alone has them. */
export function refuseVariables(command: Command, environment: NodeJS.ProcessEnv): void {
  const wanted = operations.has(command.name()) ? operationVariable : flagVariable;
  const isSet = (name: string): boolean => !["", "false", "0"].includes((environment[name] ?? "").toLowerCase());
  const variable = Object.keys(environment).find((name) => wanted.test(name) && isSet(name));
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
  if (word?.startsWith("-")) {
    const near = nearest(
      word,
      command.options.flatMap(({ long }) => long ?? []),
    );
    command.error(`error: unknown option '${word}'${near === undefined ? "" : `\n(Did you mean ${near}?)`}`);
  }
  if (word !== undefined) refuseUnknown(command, word);
}

function refuseUnknown(command: Command, word: string): never {
  const parents = command.parent ? `${command.name()} ` : "";
  const removed = answerRemoved("commands", `${parents}${word}`);
  if (removed !== undefined)
    return command.error(`error: ${removed}`, { exitCode: word === "merge-driver" ? failedMerge : 1 });
  const own = command.commands.flatMap((each) => [each.name(), ...each.aliases()]);
  // A command of Pulumi is no misspelling of another one.
  const full = [`${parents}${word}`, ...commandsOfPulumi.filter((each) => each.endsWith(` ${word}`))];
  const theirs = full.find((each) => commandsOfPulumi.includes(each));
  const near = full[0] === theirs ? undefined : nearest(word, own);
  const there = theirs === undefined ? "" : `\n(The Pulumi CLI has 'pulumi ${theirs}', on the same state.)`;
  const remedy = near === undefined ? there : `\n(Did you mean ${parents}${near}?)`;
  return command.error(`error: unknown command '${parents}${word}'${remedy}`);
}

/**
 * Refuses a word after `config set` that begins with `-` and is no option. It may be a value, and a secret one: it is not
 * repeated. For the hook `preSubcommand` of `config`.
 */
export function refuseDashedValue(config: Command, subcommand: Command): void {
  if (subcommand.name() !== "set") return;
  const options = [subcommand, config, config.parent].flatMap((level) => level?.options ?? []);
  const isOption = (word: string): boolean => {
    const [name = "", value] = word.split("=", 2);
    if (["-h", "--help"].includes(word)) return true;
    return options.some(({ short, long, required }) =>
      value === undefined ? name === short || name === long : name === long && required,
    );
  };
  // Commander keeps the command line, and its types do not say so.
  const { rawArgs = [] } = (config.parent ?? {}) as { rawArgs?: readonly string[] };
  const words = rawArgs.slice(rawArgs.indexOf("set", rawArgs.indexOf(config.name())) + 1);
  const ahead = words.slice(0, [...words, "--"].indexOf("--"));
  const dashed = ahead.find((word) => word.startsWith("-") && word !== "-" && !isOption(word));
  if (dashed === undefined) return;
  const near = nearest(
    dashed,
    options.flatMap(({ long }) => long ?? []),
  );
  const meant = near === undefined ? "" : `\n(Did you mean ${near}?)`;
  subcommand.error(`error: use -- before a value that begins with -: config set <key> -- <value>${meant}`);
}
