import type { Command } from "commander";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";

/** Git takes it for a merge that failed, and not for one with conflicts, whose other side a careless commit loses. */
const failedMerge = 129;

/** Commands that only Pulumi has, by their group. */
export const onlyPulumi: Readonly<Record<string, readonly string[]>> = {
  "": [
    ...["about", "console", "convert", "deployment", "do", "env", "events", "gen-completion", "insights", "install"],
    ...["login", "logout", "logs", "neo", "new", "org", "package", "plugin", "policy", "project", "query", "schema"],
    ...["template", "version", "watch", "whoami"],
  ],
  stack: [
    ...["change-secrets-provider", "drift", "get", "graph", "history", "import", "migrate", "rename", "schedule"],
    ...["tag", "unselect", "webhook"],
  ],
  state: ["delete", "edit", "move", "protect", "rename", "repair", "taint", "unprotect", "untaint", "upgrade"],
  config: ["copy", "cp", "env", "refresh", "set-all", "remove-all", "rm-all"],
};

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
  const isPulumi = onlyPulumi[command.parent ? command.name() : ""]?.includes(word) === true;
  const near = isPulumi ? undefined : nearest(word, own);
  const remedy = near === undefined ? elsewhere(command, word) : `\n(Did you mean ${parents}${near}?)`;
  return command.error(`error: unknown command '${parents}${word}'${remedy}`);
}

function elsewhere(command: Command, word: string): string {
  const group = command.parent ? command.name() : "";
  const full = (onlyPulumi[group] ?? []).includes(word)
    ? `${group} ${word}`.trim()
    : Object.entries(onlyPulumi).flatMap(([each, words]) =>
        words.includes(word) ? [`${each} ${word}`.trim()] : [],
      )[0];
  return full === undefined ? "" : `\n(The Pulumi CLI has 'pulumi ${full}', on the same state.)`;
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
